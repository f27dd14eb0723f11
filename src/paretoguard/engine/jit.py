"""How kernels compile and where machine code is kept: the one place that says so.

Four decorators:

- `inner`: a function used inside kernels; always inlined, never cached by itself, may not allocate;
- `aside`: the same, called rather than inlined, for long functions off the hot path;
- `entry`: a kernel called from Python; its machine code is kept on disk;
- `part`: a function whose body is chosen by the *type* of its first argument, a NamedTuple. Bodies are added with
  `@name.register(Record)`, also from outside this package, and compile together with the kernel that uses them.

numba's own disk cache looks at one source file and not at what that file calls, so an edited inner function would leave
stale machine code behind. Here the folder's name holds a digest of the whole engine, and each file's name one of the
sources outside it that its records bring in (files with bodies for them, and what these import): after an edit of a
user's part the kernels with that part are compiled anew, and no others.
"""

import ast
import functools
import hashlib
import importlib.util
import inspect
import os
import pickle
import shutil
import sys
import sysconfig
import tempfile
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numba
from numba.core import config, serialize
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])


class Part(Protocol):
    """A function with one body per record type."""

    def __call__(self, record: Any, *arguments: Any) -> Any:
        """Run the body registered for the type of `record`."""

    @typing.overload
    def register(self, record: type, body: F) -> F:
        """Add the body for a record type."""

    @typing.overload
    def register(self, record: type) -> Callable[[F], F]:
        """The same as a decorator."""


COMPILED = not config.DISABLE_JIT
FOLDERS_KEPT = 6
VERSIONS_KEPT = 8  # of one kernel, with records that look the same but have other sources
# The wrappers that numba makes for calls from C, and for inner functions from Python, take most of the time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INNER_OPTIONS = {**_OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
_ENGINE = Path(__file__).parent
_PYTHON = sysconfig.get_paths()["stdlib"]
_entries: list[Any] = []

# What is compiled into kernels from outside the engine: the module of a record (a name) uses the files (paths) with
# bodies for it, a file uses the modules that it imports, and these use their files.
_EVERY_KERNEL, _NO_FILE = "", "?"
_uses: defaultdict[str, set[str]] = defaultdict(set)
_held: dict[str, bytes] = {_NO_FILE: os.urandom(16)}  # file -> its text when it was imported; typed in: never the same


def inner(function: F) -> F:
    """Compile a function for use inside kernels only: inlined, allocation refused at compile time."""
    return cast(F, _kernels_only(numba.njit(**_INNER_OPTIONS)(function)))


def aside(function: F) -> F:
    """As `inner`, but called rather than inlined: for long functions off the hot path, which compile once this way."""
    return cast(F, _kernels_only(numba.njit(**{**_INNER_OPTIONS, "forceinline": False})(function)))


def _kernels_only(function: Any) -> Any:
    """Refuse calls from Python: the wrapper that they would need is not made (see _OPTIONS)."""
    if COMPILED:

        def keep(compiled: Any) -> None:
            function.overloads[tuple(compiled.signature.args)] = compiled

        def refuse(*arguments: Any, **named: Any) -> None:
            raise TypeError(f"{function.__name__} is for use inside kernels; call a function marked `entry` instead")

        function.add_overload = keep
        function._compile_for_args = refuse
    return function


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it releases the GIL and its machine code is kept on disk."""
    kernel = numba.njit(**_OPTIONS)(function)
    if COMPILED:
        _entries.append(kernel)
        if (folder := cache_folder()) is not None:
            _Locator.folder = folder
            kernel._cache = _DiskCache(function)
    return cast(F, kernel)


def part(stub: Callable[..., Any]) -> Part:
    """Declare a function whose body is chosen by the type of its first argument (a NamedTuple).

    The stub's own body runs when no body is registered: let it raise TypeError.
    """
    generic: Any = functools.singledispatch(stub)
    original_register = generic.register

    @overload(generic, strict=False, jit_options=_INNER_OPTIONS)  # type: ignore[untyped-decorator]
    def choose(record: Any, *arguments: Any) -> Any:
        chosen = generic.dispatch(getattr(record, "instance_class", object))
        return None if chosen is stub else chosen

    def register(record: type, body: Callable[..., Any] | None = None) -> Any:
        if body is None:
            return lambda body: register(record, body)
        _remember_source(record, body)
        return original_register(record, body)

    generic.register = register
    return cast(Part, generic)


def cache_folder() -> Path | None:
    """The folder that holds machine code, or None where nothing can be written."""
    home = os.environ.get("PARETOGUARD_CACHE_DIR")
    if home is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "paretoguard")
    return _prepared(Path(home) / f"kernels-{_digest(frozenset())}")


@functools.cache
def _prepared(folder: Path) -> Path | None:
    """Make the folder, mark it as used, and delete those unused for longest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
        by_age = sorted(folder.parent.glob("kernels-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return None
    for old in by_age[FOLDERS_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def cache_hits() -> tuple[int, int]:
    """(kernels loaded from disk, kernels compiled) in this process."""
    stats = [kernel.stats for kernel in _entries]
    return sum(s.cache_hits.total() for s in stats), sum(s.cache_misses.total() for s in stats)


@functools.cache
def _digest(outside: frozenset[str]) -> str:
    """Stands for the compiler, the engine and the given files outside it."""
    state = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in [*sorted(_ENGINE.rglob("*.py")), *sorted(Path(name) for name in outside)]:
        state.update(str(source).encode())
        state.update(_held.get(str(source)) or source.read_bytes())
    return state.hexdigest()[:16]


def _remember_source(record: type, body: Callable[..., Any]) -> None:
    """Note that kernels with this record hold the code of this body's file."""
    plain = inspect.unwrap(getattr(body, "py_func", body))
    file = inspect.getsourcefile(plain) or ""
    if Path(file).is_relative_to(_ENGINE):
        return
    if is_file := os.path.exists(file):
        _note(file, plain.__module__)
    owner = _EVERY_KERNEL if record.__module__.startswith("paretoguard.engine.") else record.__module__
    _uses[owner].add(file if is_file else _NO_FILE)


def _note(file: str, module: str) -> None:
    """Keep what a file holds now, while it is imported, and which modules it imports, but those installed by others."""
    _held[file] = Path(file).read_bytes()
    _digest.cache_clear()
    _uses[file].clear()
    for name in _imported(_held[file], getattr(sys.modules.get(module), "__package__", None) or ""):
        source = getattr(sys.modules.get(name), "__file__", None) or ""
        installed = source.startswith(_PYTHON) or "-packages" in source
        top = name.split(".")[0]
        theirs = top == "paretoguard" or (installed and top != module.split(".")[0])
        if source.endswith(".py") and not theirs:
            _uses[file].add(name)
            _uses[name].add(source)
            if source not in _held:
                _note(source, name)


def _imported(text: bytes, package: str) -> Iterator[str]:
    """The names of modules, and of some things that are none, which the source of a module of `package` imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            level, module = getattr(node, "level", 0), getattr(node, "module", None) or ""
            base = importlib.util.resolve_name("." * level + module, package) if level else module
            for one in node.names:
                yield from accumulate(f"{base}.{one.name}".strip(".").split("."), "{}.{}".format)


def _outside(kinds: Any) -> frozenset[str]:
    """The files outside the engine whose code is compiled into a kernel for arguments of these types."""
    todo, seen = {_EVERY_KERNEL, *_modules(kinds)}, set[str]()
    while todo:
        seen |= todo
        todo = {used for name in todo for used in _uses.get(name, ())} - seen
    return frozenset(seen & _held.keys())


def _modules(kinds: Any) -> Iterator[str]:
    """Where the records among some types are defined."""
    for kind in kinds:
        for record in getattr(kind, "instance_class", object).__mro__:
            yield record.__module__
        yield from _modules(getattr(kind, "types", ()))


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Places all machine code in our one folder; its name already stands for the source."""

    folder: Path
    _py_file = __file__

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.folder.name

    def get_disambiguator(self) -> str:
        return ""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls()


class _OneLocator(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _FilePerSignature:
    """Stores each compiled signature in a file of its own, with the key inside: no shared index to race for."""

    def __init__(self, folder: str, base: str) -> None:
        self.folder, self.base = Path(folder), base

    def _path(self, key: Any) -> Path:
        *kind, sources = key
        return self.folder / f"{self.base}.{hashlib.sha256(repr(kind).encode()).hexdigest()[:20]}.{sources}.nbc"

    def load(self, key: Any) -> Any:
        try:
            stored_key, payload = pickle.loads(self._path(key).read_bytes())
        except Exception:  # missing, cut short or damaged: pickle may raise anything, and compiling again is the answer
            return None
        return payload if stored_key == key else None

    def save(self, key: Any, payload: Any) -> None:
        name, path = None, self._path(key)
        try:
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(serialize.dumps((key, payload)))
            os.replace(name, path)
            versions = self.folder.glob(f"{path.name.rsplit('.', 2)[0]}.*.nbc")
            for old in sorted(versions, key=os.path.getmtime, reverse=True)[VERSIONS_KEPT:]:
                old.unlink()
        except OSError:  # a full disk, a folder gone: the kernel works all the same
            if name is not None:
                Path(name).unlink(missing_ok=True)

    def flush(self) -> None:
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            path.unlink(missing_ok=True)


class _DiskCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _OneLocator

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _FilePerSignature(self._cache_path, self._impl.filename_base)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        outside = _outside(signature)
        return (*super()._index_key(signature, codegen), _digest(outside) if outside else "engine")
