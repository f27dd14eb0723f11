"""Names as users write them: which are usable, which one was probably meant, and the class at "mymodule:MyClass"."""

import importlib
import os
import sys
import types
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from paretoguard.errors import ProblemError, SettingsError

SHOWN = 8  # names listed in a message before it says how many more there are


def listed(names: Iterable[str]) -> str:
    """Return the names in quotes, shortened when there are many.

    >>> listed(["cost", "latency"])
    "'cost', 'latency'"
    """
    known = list(names)
    shown = ", ".join(f"'{name}'" for name in known[:SHOWN])
    return shown if len(known) <= SHOWN else f"{shown} and {len(known) - SHOWN} more"


def suggestion(word: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known name, or else those that are known.

    >>> suggestion("safty", ["efficacy", "safety"])
    "did you mean 'safety'?"
    """
    known = list(names)
    near = get_close_matches(word, known, n=1) or get_close_matches(word.lower(), known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"expected one of {listed(known)}" if known else "there are none here"


def check_name(what: str, name: Any) -> str:
    """Return the name of a `what` (an arm, an objective, a constraint). Raise ProblemError if it is unusable."""
    if not isinstance(name, str):
        raise ProblemError(f"{what} {name!r} is not a name: got {type(name).__name__}, expected a string")
    if not name.strip():
        raise ProblemError(f"{what} {name!r} is empty; give it a name")
    if name != name.strip():
        raise ProblemError(f"{what} {name!r} begins or ends with a space; write {name.strip()!r}")
    if not name.isprintable():
        raise ProblemError(f"{what} {name!r} holds a character that cannot be printed; remove it")
    return name


def check_names(what: str, names: Iterable[Any]) -> tuple[str, ...]:
    checked: dict[str, int] = {}
    for place, name in enumerate(names):
        if check_name(what, name) in checked:
            raise ProblemError(
                f"{what} '{name}' is given twice, at places {checked[name] + 1} and {place + 1}; remove or rename one"
            )
        checked[name] = place
    return tuple(checked)


def find_class(module: str, place: str, what: str) -> type:
    """Return the class at `place` ("MyAlgorithm") in a module, which may lie in the current folder."""
    text = f"{what} '{module}:{place}'"
    if module == "__main__" or "<locals>" in place:
        where = "inside a function" if "<locals>" in place else "in the program that was started"
        raise SettingsError(f"{text} was defined {where}, where nothing can import it; put it in a module of its own")
    found: Any = _imported(module, text)
    for name in place.split("."):
        if not hasattr(found, name):
            known = [key for key, value in vars(found).items() if isinstance(value, type) and not key.startswith("_")]
            raise SettingsError(f"{text}: there is no {name!r} in {found.__name__!r}; {suggestion(name, known)}")
        found = getattr(found, name)
    if not isinstance(found, type):
        raise SettingsError(f"{text} is {found!r}, expected a class")
    return found


def _imported(module: str, text: str) -> types.ModuleType:
    """Import a module; as with `python -m`, the current folder comes first on Python's path from now on."""
    here = os.getcwd()
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)
    try:
        importlib.invalidate_caches()
        return importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
            raise SettingsError(f"{text}: there is no module {error.name!r} in {here} or on Python's path") from None
        raise SettingsError(f"{text}: importing {module!r} failed with {type(error).__name__}: {error}") from error
