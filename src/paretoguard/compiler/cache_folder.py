"""The folder that holds machine code between processes: where it is, for which source, and who may write there.

Its name holds a digest of the engine's files: after an edit another folder is used. Machine code runs in this process,
so that a folder or a file that others may write is not used.
"""

import functools
import hashlib
import os
import shutil
import stat
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
_BEGUN = time.time()  # the code that runs here is that of the files of this moment
_OTHERS_MAY_WRITE = 0o022


def cache_folder() -> Path | None:
    """Return the folder that holds machine code.

    Return None where nothing can be written, where others may write, and where the engine's files have changed since
    this process began: their machine code would not be that of the code that runs here.
    """
    home = os.environ.get("PARETOGUARD_CACHE_DIR")
    if home is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "paretoguard")
    digest = engine_digest()
    return None if digest is None else _prepared(Path(home) / f"kernels-{digest}")


@functools.cache
def engine_digest() -> str | None:
    """Return a digest of the compiler and the engine's files; None if a file is newer than this process."""
    state = hashlib.sha256(f"{version('numba')} {sys.version}".encode())
    for source in sorted(path for path in _PACKAGE.rglob("*.py") if _room(path) in ROOMS):
        if source.stat().st_mtime > _BEGUN:
            return None
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
            if not is_private(each.lstat()) or not _keeps_names(home.parent):
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


def is_private(found: os.stat_result) -> bool:
    """True if a file or folder with this status is the user's own, no link, and nobody else may write it."""
    if not hasattr(os, "geteuid"):  # Windows, where nothing is checked: docs/speed.md
        return True
    is_own = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
    return is_own and not found.st_mode & _OTHERS_MAY_WRITE


def _keeps_names(parent: Path) -> bool:
    """True if others cannot rename what lies in this folder."""
    mode = parent.stat().st_mode
    return not hasattr(os, "geteuid") or not mode & _OTHERS_MAY_WRITE or bool(mode & stat.S_ISVTX)


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
    """True if this process has the lock now; it ends with the file or the process."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
