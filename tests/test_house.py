"""The tree is the map: a module's name and a public name stand for one thing, and the documents show what there is."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "paretoguard"
OF_ONE_SHAPE = {"papers", "reference"}  # a script for each result, a twin of the engine
COMMANDS = PACKAGE / "cli"  # a file for each command, named as the function that it stands for
TWICE = {"load"}  # pg.load and pg.instances.load are public names
FOR_USERS = ("extend", "testing", "experiment.memory")  # of the package, what parts of users' own import beside `pg`
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
FILE = re.compile(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|md|toml))`")


def _modules() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in OF_ONE_SHAPE and path.stem != "__main__":
            yield path


def _defined(path: Path) -> Iterator[str]:
    """The public names that a module defines at its top level."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        else:
            continue
        yield from (name for name in names if not name.startswith("_"))


def test_the_map_in_contributing_is_that_of_the_contract() -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "map.py", "--check"], check=True)


def test_a_module_name_stands_for_one_module() -> None:
    places = defaultdict(list)
    for path in _modules():
        if path.stem != "__init__" and path.parent != COMMANDS:
            places[path.stem].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_public_name_is_defined_in_one_module() -> None:
    places = defaultdict(set)
    for path in _modules():
        of_command = {path.stem, "EXAMPLES"} if path.parent == COMMANDS else set[str]()
        for name in set(_defined(path)) - of_command:
            places[name].add(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in TWICE} == {}


def _has(document: Path, named: str) -> bool:
    return any(
        (folder / named).exists() for folder in (ROOT, PACKAGE, document.parent, ROOT / "docs", ROOT / "examples")
    )


def test_documents_name_files_that_there_are() -> None:
    texts = {
        document: document.read_text() for document in DOCUMENTS if document.name not in ("CHANGELOG.md", "race.md")
    }
    missing = [
        (document.name, named)
        for document, text in texts.items()
        for named in FILE.findall(text)
        if "/" in named and not _has(document, named)
    ]
    assert missing == []


def _imported(path: Path) -> int:
    """Return how many names of the package a module imports, not counting `pg` itself."""
    froms = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    return sum(len(node.names) for node in froms if (node.module or "").startswith("paretoguard"))


def _imports(text: str) -> Iterator[str]:
    """The modules of the package that a text of Python imports, or imports from."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            named = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "paretoguard":
            named = [f"paretoguard.{each.name}" for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = [node.module or ""]
        else:
            continue
        yield from (name for name in named if name.partition(".")[0] == "paretoguard")


def test_extending_imports_only_what_is_meant_for_users() -> None:
    texts = BLOCK.findall((ROOT / "docs" / "extending.md").read_text())
    texts += [path.read_text() for path in sorted(ROOT.glob("examples/extending/*.py"))]
    found = {name for text in texts for name in _imports(text)}
    assert found == {"paretoguard", *(f"paretoguard.{name}" for name in FOR_USERS)}


def test_contributing_says_how_many_names_an_algorithm_imports() -> None:
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    counts = [int(found) for found in re.findall(r"imports (\d+) ", text)]
    assert counts == [
        _imported(PACKAGE / "algorithms" / "uniform.py"),
        _imported(ROOT / "examples" / "extending" / "one_by_one.py"),
    ]
