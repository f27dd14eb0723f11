"""Where machine code is kept between processes, and how it is known to be current.

numba's own disk cache looks at one source file and not at what that file calls, so an edited inner function would leave
stale machine code behind. Here the folder's name holds a digest of the engine's files, and the key of each kernel the
fingerprint of every body from outside the engine that is compiled into it: after an edit of a user's part the kernels
with that part are compiled anew, and no others.
"""

import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import serialize
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from paretoguard.compiler.fingerprint import ROOMS, fingerprint, is_of_engine

FOLDERS_KEPT = 6
VERSIONS_KEPT = 8  # of one kernel, with records that look the same but whose bodies differ
_PACKAGE = Path(__file__).parent.parent
_bodies: defaultdict[type, list[Callable[..., Any]]] = defaultdict(list)  # from outside the engine, by record
_for_all: list[Callable[..., Any]] = []  # from outside the engine, for records of the engine


def note_body(record: type, body: Callable[..., Any]) -> None:
    """Note that kernels with this record hold the code of this body."""
    if not is_of_engine(getattr(body, "py_func", body)):
        (_for_all if record is object or is_of_engine(record) else _bodies[record]).append(body)


def outside_bodies(kinds: Any) -> list[Any]:
    """Return what is compiled, from outside the engine, into a kernel for arguments of these numba types."""
    found: list[Any] = list(_for_all)
    for record in dict.fromkeys(_records(kinds)):
        if record in _bodies:
            found += [record, *_bodies[record]]
    return found


def _records(kinds: Any) -> Iterator[type]:
    """Yield the records among some numba types, also inside others, with the classes they derive from."""
    for kind in kinds:
        yield from getattr(kind, "instance_class", object).__mro__
        yield from _records(getattr(kind, "types", ()))


def cache_folder() -> Path | None:
    """Return the folder that holds machine code, or None where nothing can be written."""
    home = os.environ.get("PARETOGUARD_CACHE_DIR")
    if home is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "paretoguard")
    return _prepared(Path(home) / f"kernels-{engine_digest()}")


@functools.cache
def engine_digest() -> str:
    """Return a digest of the compiler and the engine's files."""
    state = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(path for path in _PACKAGE.rglob("*.py") if _room(path) in ROOMS):
        state.update(str(source.relative_to(_PACKAGE)).encode())
        state.update(source.read_bytes())
    return state.hexdigest()[:16]


def _room(path: Path) -> str:
    return path.relative_to(_PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def _prepared(folder: Path) -> Path | None:
    """Make the folder, mark it as used, and delete those unused for longest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return None
    for old in sorted(folder.parent.glob("kernels-*"), key=_age)[FOLDERS_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _age(path: Path) -> float:
    """Return the seconds before now, but for a constant; a file that another process has just deleted is the oldest."""
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Places all machine code in our one folder; its name already stands for the source."""

    def __init__(self) -> None:
        self.folder = cache_folder() or Path()
        self._py_file = __file__

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


class FilePerSignature:
    """Stores each compiled signature in a file of its own, with the key inside: no shared index to race for."""

    def __init__(self, folder: str, base: str) -> None:
        self.folder, self.base = Path(folder), base

    def _path(self, key: Any) -> Path:
        *kind, bodies = key
        return self.folder / f"{self.base}.{hashlib.sha256(repr(kind).encode()).hexdigest()[:20]}.{bodies}.nbc"

    def load(self, key: Any) -> Any:
        """Return what was saved under this key, or None."""
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
            for old in sorted(versions, key=_age)[VERSIONS_KEPT:]:
                old.unlink(missing_ok=True)
        except OSError:  # a full disk, a folder gone: the kernel works all the same
            if name is not None:
                Path(name).unlink(missing_ok=True)

    def flush(self) -> None:
        """Delete everything of this kernel."""
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            path.unlink(missing_ok=True)


class DiskCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one kernel, kept here."""

    _impl_class = _OneLocator

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._own = [] if is_of_engine(function) else [function]
        self._cache_file = FilePerSignature(self._cache_path, self._impl.filename_base)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        bodies = [*self._own, *outside_bodies(signature)]
        return (*super()._index_key(signature, codegen), fingerprint(bodies) if bodies else "engine")
