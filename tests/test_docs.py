"""The examples in the documents run, and their links lead somewhere."""

import random
import re
import runpy
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from paretoguard.files.problem_file import loads
from shell import run_script

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [*sorted((ROOT / "papers").glob("*/README.md")), *sorted((ROOT / "examples").glob("*/README.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(script))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=lambda page: page.name)
def test_shell_examples_run(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    done = run_script("\n".join(blocks(page, "sh")), folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_readme_example_has_ten_lines_and_the_right_answer() -> None:
    first = blocks(ROOT / "README.md", "python")[0]
    assert len([line for line in first.splitlines() if line.strip()]) == 10
    random.seed(1)
    names: dict[str, Any] = {}
    exec(first, names)
    assert names["result"].pareto == ("medium",)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")], ids=lambda page: page.name)
def test_toml_examples_load(page: Path) -> None:
    for text in blocks(page, "toml"):
        tomllib.loads(text)
        assert loads(text).problem.arms


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
