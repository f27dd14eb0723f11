"""The examples of races run to their end, or to a budget, as their first lines say."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paretoguard.cli.app import app
from shell import ROOT, run_script

EXAMPLES = ROOT / "examples"


def copied(name: str, folder: Path) -> Path:
    place = folder / name
    shutil.copytree(EXAMPLES / name, place, ignore=shutil.ignore_patterns("corpus", "*.db*", "*.csv", "*.html"))
    return place


def raced(path: Path, *options: str) -> dict[str, object]:
    done = CliRunner().invoke(app, ["run", str(path), "--json", *options])
    assert done.exit_code in (0, 1), done.output
    return dict(json.loads(done.stdout))


def test_compressors_are_raced_as_far_as_the_machine_has_them(tmp_path: Path) -> None:
    place = copied("compression", tmp_path)
    assert run_script(f'python3 "{place}/corpus.py" "{place}/corpus" 3', folder=place).returncode == 0
    text = (place / "levels.toml").read_text(encoding="utf-8")
    arms = tomllib.loads(text)["arms"]
    missing = {arm: source["with"]["tool"] for arm, source in arms.items() if not shutil.which(source["with"]["tool"])}
    if len(arms) - len(missing) < 3:
        pytest.skip(f"too few compressors: there is no {', '.join(sorted(set(missing.values())))}")
    kept = [line for line in text.splitlines() if line.partition(" ")[0] not in missing]
    (place / "levels.toml").write_text("\n".join(kept), encoding="utf-8")
    found = raced(place / "levels.toml", "--budget", "120", "--jobs", "2")
    assert found["samples"] == 120
    verdicts = found["verdicts"]
    assert isinstance(verdicts, dict)
    means = {arm: verdict["mean"] for arm, verdict in verdicts.items()}
    assert all(0.2 < mean["saved"] < 0.9 and mean["speed"] > 0.1 and 0 <= mean["heavy"] <= 1 for mean in means.values())
    if "gzip-1" in means and "gzip-9" in means:
        assert means["gzip-1"]["saved"] < means["gzip-9"]["saved"]


def test_recorded_scores_give_the_answer_from_fewer_rows(tmp_path: Path) -> None:
    place = copied("evaluation", tmp_path)
    assert run_script(f'python3 "{place}/scores.py" "{place}/scores.csv"', folder=place).returncode == 0
    found = raced(place / "models.toml")
    race = found["race"]
    assert found["pareto"] == ["small", "medium", "large"]
    assert found["guarantee"] == "finite-sample"
    assert isinstance(race, dict)
    assert race["drawn"] < race["rows"] == 24_000


def test_functions_are_raced_to_the_end(tmp_path: Path) -> None:
    found = raced(copied("sorting", tmp_path) / "sorts.toml")
    assert found["stopped"] == "answered"
    assert "built-in" in str(found["pareto"])


def test_the_readme_says_what_the_race_of_compressors_found() -> None:
    """The numbers in the documents are those of the data beside the report."""
    place = EXAMPLES / "compression"
    race, equal = (json.loads((place / name).read_text(encoding="utf-8")) for name in ("race.json", "equal.json"))
    found, other = race["answer"]["result"], equal["answer"]["result"]
    samples = [found["samples"], other["samples"]]
    assert (found["stopped"], other["stopped"]) == ("answered", "answered")
    assert found["pareto"] == other["pareto"]
    saved = 1 - samples[0] / samples[1]
    for page in (ROOT / "README.md", place / "README.md"):
        text = page.read_text(encoding="utf-8")
        for number in samples:
            assert f"{number:,}" in text
        assert f"{saved:.0%}" in text
        for arm in found["pareto"]:
            assert arm in text
    html = (place / "report.html").read_text(encoding="utf-8")
    assert race["protocol"]["status"]["hash"] in html
