"""The tree is the map: a module's name and a public name stand for one thing, and CONTRIBUTING shows the rooms."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "paretoguard"
OF_ONE_SHAPE = {"papers", "reference", "cli"}  # a script for each result, a twin of the engine, a file for each command


def _modules() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in OF_ONE_SHAPE and not path.stem.startswith("__"):
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
        places[path.stem].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_public_name_is_defined_in_one_module() -> None:
    places = defaultdict(set)
    for path in _modules():
        for name in _defined(path):
            places[name].add(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
