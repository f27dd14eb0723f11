"""The folder that holds machine code between processes: where it is, for which source, and who may write there.

Its name holds a digest of the engine's files: after an edit another folder is used. Machine code runs in this process,
so that a folder or a file that others may write is not used.
"""

import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from paretoguard.compiler.fingerprint import ROOMS

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FOLDERS_KEPT = 6
LOCK_SECONDS = 300.0  # how long to wait for another process that compiles the same kernel
PAUSE = 0.05  # between two looks
_PACKAGE = Path(__file__).parent.parent
_OTHERS_MAY_WRITE = 0o022


def cache_folder() -> Path | None:
    """Return the folder that holds machine code, or None where nothing can be written, or where others may write."""
    home = os.environ.get("PARETOGUARD_CACHE_DIR")
    if home is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "paretoguard")
    return _prepared(Path(home) / f"kernels-{engine_digest()}")


@functools.cache
def engine_digest() -> str:
    """Return a digest of the compiler and the engine's files."""
    state = hashlib.sha256(f"{version('numba')} {sys.version}".encode())
    for source in sorted(path for path in _PACKAGE.rglob("*.py") if _room(path) in ROOMS):
        state.update(str(source.relative_to(_PACKAGE)).encode())
        state.update(source.read_bytes())
    return state.hexdigest()[:16]


def _room(path: Path) -> str:
    return path.relative_to(_PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def _prepared(folder: Path) -> Path | None:
    """Make the folder, mark it as used, and delete those unused for longest."""
    home = folder.parent
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        for each in (home, folder):
            each.mkdir(mode=0o700, exist_ok=True)
            if not is_private(each):
                warnings.warn(
                    f"machine code is not kept in {each}, as others own it or may write there: each process compiles "
                    f"anew. To mend this: chmod go-w {each}, or let PARETOGUARD_CACHE_DIR name a folder of your own",
                    stacklevel=2,
                )
                return None
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return None
    for old in sorted(home.glob("kernels-*"), key=age)[FOLDERS_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def is_private(path: Path) -> bool:
    """True if the file or folder is this user's own and nobody else may write it."""
    if not hasattr(os, "geteuid"):  # Windows, where a user's folders are private
        return True
    found = path.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_MAY_WRITE


def age(path: Path) -> float:
    """Return the seconds before now, but for a constant; a file that another process has just deleted is the oldest."""
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def compiling_alone(name: str) -> Iterator[None]:
    """Wait while another process compiles the kernel of this name; it may take LOCK_SECONDS, then both compile."""
    folder = cache_folder()
    if folder is None or fcntl is None:
        yield
        return
    try:
        file = (folder / f"{name}.lock").open("wb")
    except OSError:  # a full disk, a folder gone: nobody to wait for
        yield
        return
    with file:
        end = time.monotonic() + LOCK_SECONDS
        while not _is_locked(file.fileno()) and time.monotonic() < end:
            time.sleep(PAUSE)
        yield


def _is_locked(number: int) -> bool:
    """Return whether this process has the lock now; the lock ends with the file or the process."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
