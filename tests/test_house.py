"""The tree is the map: a module's name and a public name stand for one thing, and the documents show what there is."""

import ast
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import paretoguard as pg
from paretoguard import extend

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "paretoguard"
OF_ONE_SHAPE = {"papers", "reference"}  # a script for each result, a twin of the engine
COMMANDS = PACKAGE / "cli"  # a file for each command, named as the function that it stands for
INSIDE = {"Engine", "EngineRow"}  # public names return them to other rooms, not to users
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


# --- docstrings of public names ---------------------------------------------------------------------------------------

SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|^>>>|\Z)", re.MULTILINE | re.DOTALL)
RETURNS = re.compile(r"^Returns\n-+\n|\bReturn |\breturn |^True if", re.MULTILINE)


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a module of `pg`, and of the modules that are its public names, by name."""
    exported = getattr(module, "__all__", None)
    for name in exported or vars(module):
        item = getattr(module, name)
        if inspect.ismodule(item) and module is pg:
            yield from ((f"{name}.{inner}", found) for inner, found in _public(item))
        elif name.startswith("_") or not (inspect.isclass(item) or inspect.isfunction(item)):
            continue
        elif exported or item.__module__ == module.__name__:
            yield name, item


def _defined_on(owner: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    for name, item in vars(owner).items():
        if not name.startswith("_") and (inspect.isroutine(item) or isinstance(item, property | cached_property)):
            yield name, getattr(owner, name)


def _is_made_by_users(owner: type) -> bool:
    init = vars(owner).get("__init__")
    is_written = inspect.isfunction(init) and init.__code__.co_filename == inspect.getfile(owner)
    return is_written or issubclass(owner, pg.Noise | pg.algorithms.Algorithm | pg.evidence.Evidence)


def _parameters(item: Any) -> list[str]:
    return [name for name in inspect.signature(item).parameters if name not in ("self", "cls")]


def _unsaid(item: Any, given: Sequence[str]) -> list[str]:
    """Return the parameters that a docstring neither lists in a section nor names in backticks."""
    text = inspect.getdoc(item) or ""
    listed = {
        name.strip(" *")
        for section in SECTION.findall(text)
        for line in section.splitlines()
        if not line.startswith(" ")
        for name in line.split(",")
    }
    return [name for name in given if name not in listed and f"`{name}`" not in text]


def _faults(name: str, item: Any) -> Iterator[str]:
    text = inspect.getdoc(item)
    if not text:
        yield f"{name} has no docstring"
    elif inspect.isclass(item):
        unsaid = _unsaid(item, _parameters(item)) if _is_made_by_users(item) else []
        yield from (f"{name} does not say what {parameter} is" for parameter in unsaid)
        for inner, method in _defined_on(item):
            yield from _faults(f"{name}.{inner}", method)
    elif inspect.isfunction(item) or inspect.ismethod(item):
        given = _parameters(item)
        unsaid = _unsaid(item, given) if len(given) > 1 else []
        yield from (f"{name} does not say what {parameter} is" for parameter in unsaid)
        if inspect.signature(item).return_annotation not in (None, "None") and not RETURNS.search(text):
            yield f"{name} does not say what it returns"


def test_public_names_say_what_they_take_and_return() -> None:
    """A parameter is in the section Parameters, or in backticks; one obvious parameter may go without."""
    assert [fault for name, item in _public(pg) for fault in _faults(name, item)] == []


def _classes(annotation: Any) -> Iterator[type]:
    """The classes of this package in an annotation."""
    for inner in get_args(annotation):
        yield from _classes(inner)
    if inspect.isclass(annotation) and annotation.__module__.startswith("paretoguard"):
        yield annotation


def _returned(item: Any) -> Any:
    """Return the annotation of what a function, method or property gives."""
    getter: Any = item.fget if isinstance(item, property) else item.func if isinstance(item, cached_property) else item
    return inspect.signature(getter, eval_str=True, locals={"Figure": None, "Table": None}).return_annotation


def test_what_public_names_return_can_be_imported() -> None:
    public = dict(_public(pg))
    extensions = [item for item in vars(extend).values() if inspect.isclass(item)]
    givers = {name: item for name, item in public.items() if inspect.isfunction(item)}
    for name, owner in public.items():
        if inspect.isclass(owner):
            givers |= {f"{name}.{inner}": item for inner, item in _defined_on(owner)}
    hidden = [
        f"{name} returns {found.__qualname__}"
        for name, item in givers.items()
        if not name.endswith(".fit")  # kernel records, for the engine
        for found in _classes(_returned(item))
        if found not in (*public.values(), *extensions) and found.__name__ not in INSIDE
    ]
    assert hidden == []
