"""Classes in modules of the user's own, found by text: "mymodule:MyPolicy"."""

import importlib
import os
import sys
import types
from typing import Any

from paretoguard.errors import SettingsError
from paretoguard.problem.names import suggestion


def find_class(module: str, place: str, what: str) -> type:
    """The class at `place` ("MyPolicy") in a module, which may lie in the current folder."""
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
