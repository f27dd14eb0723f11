"""How kernels compile and where machine code is kept: the one place that says so.

Four decorators:

- `inner`: a function used inside kernels; always inlined, never cached by itself, may not allocate;
- `aside`: the same, called rather than inlined, for long functions off the hot path;
- `entry`: a kernel called from Python; its machine code is kept on disk;
- `part`: a function whose body is chosen by the *type* of its first argument, a NamedTuple. Bodies are added with
  `@name.register(Record)`, also from outside this package, and compile together with the kernel that uses them.

numba's own disk cache looks at one source file and not at what that file calls, so an edited inner function would leave
stale machine code behind. Here the folder's name holds a digest of the whole engine and of every outside file that
registers a part: any edit means a new folder. Each signature has a file of its own, so processes that compile at the
same time cannot mix up their results.
"""

import functools
import hashlib
import inspect
import os
import pickle
import shutil
import sys
import tempfile
import typing
from collections.abc import Callable
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
# The wrappers that numba makes for calls from C, and for inner functions from Python, take most of the time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INNER_OPTIONS = {**_OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
_ENGINE = Path(__file__).parent
_outside: set[str] = set()
_entries: list[Any] = []


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
        _point_to_disk(kernel)
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
        _remember_source(body)
        return original_register(record, body)

    generic.register = register
    return cast(Part, generic)


def cache_folder() -> Path | None:
    """The folder that holds machine code, or None where nothing can be written."""
    home = os.environ.get("PARETOGUARD_CACHE_DIR")
    if home is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "paretoguard")
    return _prepared(Path(home) / f"kernels-{_digest(frozenset(_outside))}")


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
    state = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in [*sorted(_ENGINE.rglob("*.py")), *sorted(Path(name) for name in outside)]:
        state.update(str(source).encode())
        state.update(source.read_bytes())
    return state.hexdigest()[:16]


def _remember_source(body: Callable[..., Any]) -> None:
    source = inspect.getsourcefile(inspect.unwrap(getattr(body, "py_func", body)))
    if source is None or not os.path.exists(source) or Path(source).is_relative_to(_ENGINE):
        return
    if source not in _outside:
        _outside.add(source)
        for kernel in _entries:
            _point_to_disk(kernel)


def _point_to_disk(kernel: Any) -> None:
    folder = cache_folder()
    if folder is not None:
        _Locator.folder = folder
        kernel._cache = _DiskCache(kernel.py_func)


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
        located = cls()
        located.folder = cls.folder
        return located


class _OneLocator(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _FilePerSignature:
    """Stores each compiled signature in a file of its own, with the key inside: no shared index to race for."""

    def __init__(self, folder: str, base: str) -> None:
        self.folder, self.base = Path(folder), base

    def _path(self, key: Any) -> Path:
        return self.folder / f"{self.base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"

    def load(self, key: Any) -> Any:
        try:
            stored_key, payload = pickle.loads(self._path(key).read_bytes())
        except Exception:  # missing, cut short or damaged: pickle may raise anything, and compiling again is the answer
            return None
        return payload if stored_key == key else None

    def save(self, key: Any, payload: Any) -> None:
        name = None
        try:
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(serialize.dumps((key, payload)))
            os.replace(name, self._path(key))
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
