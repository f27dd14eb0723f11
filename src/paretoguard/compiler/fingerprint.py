"""What a function does, as a digest: its code, and everything that code refers to, as far as it goes.

Two functions with the same fingerprint compile to the same machine code: constants, globals, defaults, closures and
the functions called are all in it, wherever they come from and whatever has happened to their files. Functions of the
engine count by name: the digest of the engine's own files stands for them.
"""

import hashlib
import os
import pickle
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

ROOMS = ("compiler", "geometry", "engine", "evidence", "algorithms", "vocabulary")  # what is compiled
_PACKAGE = __name__.partition(".")[0]
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def is_of_engine(value: Any) -> bool:
    """True if this function or class was written in a module of the engine."""
    package, _, inside = (getattr(value, "__module__", None) or "").partition(".")
    return package == _PACKAGE and inside.partition(".")[0] in ROOMS


def fingerprint(values: Iterable[Any]) -> str:
    """Return a digest of some functions, records or constants."""
    reader = _Reader()
    for value in values:
        reader.read(value)
    return reader.digest.hexdigest()[:20]


class _Reader:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: set[int] = set()

    def note(self, *words: object) -> None:
        self.digest.update("\0".join(map(str, words)).encode() + b"\1")

    def read(self, value: Any) -> None:
        function = getattr(value, "py_func", value)  # of a numba dispatcher
        if isinstance(value, _PLAIN):
            self.note(type(value).__name__, repr(value))
        elif isinstance(value, np.ndarray | np.generic):
            self.note("array", value.dtype, value.shape)
            self.digest.update(value.tobytes())
        elif isinstance(value, type | BuiltinFunctionType) or hasattr(value, "dispatch"):  # a class, a part
            self.note(value.__module__, value.__qualname__, getattr(value, "_fields", ""))
        elif isinstance(function, FunctionType):
            self.read_function(function)
        elif isinstance(value, CodeType):
            self.read_code(value)
        elif isinstance(value, tuple | list):
            self.read_all(type(value).__name__, value)
        elif isinstance(value, dict):
            self.read_all("dict", (part for item in value.items() for part in item))
        elif isinstance(value, set | frozenset):
            self.note("set", *sorted(fingerprint([part]) for part in value))
        elif isinstance(value, ModuleType):
            self.note("module", value.__name__)
        else:
            self.read_other(value)

    def read_all(self, kind: str, values: Iterable[Any]) -> None:
        self.note(kind)
        for value in values:
            self.read(value)
        self.note("end")

    def read_function(self, function: FunctionType) -> None:
        if is_of_engine(function) or id(function) in self.seen:
            self.note(function.__module__, function.__qualname__)
            return
        self.seen.add(id(function))
        self.note("function", function.__qualname__)
        self.read_code(function.__code__)
        self.read_all("defaults", [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())])
        self.read_all("closure", [cell.cell_contents for cell in function.__closure__ or ()])
        names = sorted(set(_names(function.__code__)))
        for name in names:
            if name in function.__globals__:
                self.note("global", name)
                self.read_named(function.__globals__[name], names)

    def read_named(self, value: Any, names: list[str]) -> None:
        """Read a global; of a module, only what the function's code can name in it."""
        self.read(value)
        if not isinstance(value, ModuleType) or id(value) in self.seen:
            return
        self.seen.add(id(value))
        for name in names:
            if name in vars(value):
                self.note("attribute", name)
                self.read_named(vars(value)[name], names)

    def read_code(self, code: CodeType) -> None:
        self.note("code", code.co_argcount, code.co_flags, *code.co_names, *code.co_varnames)
        self.digest.update(code.co_code)
        self.read_all("constants", code.co_consts)

    def read_other(self, value: Any) -> None:
        try:
            self.digest.update(pickle.dumps(value))
        except Exception:  # pickle may raise anything; what cannot be read is never the same
            self.digest.update(os.urandom(16))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
