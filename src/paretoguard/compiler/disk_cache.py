"""How machine code is kept between processes, and how it is known to be current.

numba's own disk cache looks at one source file and not at what that file calls, so an edited inner function would leave
stale machine code behind. Here the folder's name holds a digest of the engine's files, and the key of each kernel the
fingerprint of every body from outside the engine that is compiled into it: after an edit of a user's part the kernels
with that part are compiled anew, and no others.
"""

import hashlib
import os
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import serialize
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from paretoguard.compiler import marks
from paretoguard.compiler.cache_folder import age, cache_folder, is_private
from paretoguard.compiler.fingerprint import fingerprint, is_of_engine

VERSIONS_KEPT = 8  # of one kernel, with records that look the same but whose bodies differ


def outside_bodies(kinds: Any) -> list[Any]:
    """Return what is compiled, from outside the engine, into a kernel for arguments of these numba types."""
    found: list[Any] = list(marks.for_all)
    for record in dict.fromkeys(_records(kinds)):
        if record in marks.bodies:
            found += [record, *marks.bodies[record]]
    return found


def _records(kinds: Any) -> Iterator[type]:
    """Yield the records among some numba types, also inside others, with the classes they derive from."""
    for kind in kinds:
        yield from getattr(kind, "instance_class", object).__mro__
        yield from _records(getattr(kind, "types", ()))


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

    def name(self, key: Any) -> str:
        """Return the name of the file for this key."""
        *kind, bodies = key
        return f"{self.base}.{hashlib.sha256(repr(kind).encode()).hexdigest()[:20]}.{bodies}.nbc"

    def load(self, key: Any) -> Any:
        """Return what was saved under this key, or None."""
        path = self.folder / self.name(key)
        try:
            with path.open("rb") as file:
                if not is_private(os.fstat(file.fileno())):
                    return None
                stored_key, payload = pickle.loads(file.read())
        except Exception:  # missing, cut short or damaged: pickle may raise anything, and compiling again is the answer
            return None
        return payload if stored_key == key else None

    def save(self, key: Any, payload: Any) -> None:
        name, path = None, self.folder / self.name(key)
        try:
            handle, name = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(serialize.dumps((key, payload)))
            os.replace(name, path)
            versions = self.folder.glob(f"{path.name.rsplit('.', 2)[0]}.*.nbc")
            for old in sorted(versions, key=age)[VERSIONS_KEPT:]:
                old.unlink(missing_ok=True)
                old.with_name(f"{old.name}.lock").unlink(missing_ok=True)
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

    def file_name(self, signature: Any, codegen: Any) -> str:
        """Return the name of the file for arguments of these types."""
        return self._cache_file.name(self._index_key(signature, codegen))
