"""A process beside that compiles a kernel to disk. It ends with this one, however that ends.

It is told the kernel and arguments of the kind that it is for, with arrays of no size.
"""

import atexit
import importlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from paretoguard.compiler import marks
from paretoguard.compiler.cache_folder import cache_folder
from paretoguard.errors import NotCompiledError

REFUSED = 3  # exit code: the kernel does not compile
LOWER = 10  # priority of what nobody waits for
HANGS_AFTER = 600.0  # seconds; then it is taken to hang, and ended
IS_BESIDE = "PARETOGUARD_BESIDE"  # set in a process beside, which begins no other one
_HERE = os.getcwd()  # what "" on the path stands for
_PROGRAM = "from paretoguard.compiler.beside import compile_asked; compile_asked()"
_quiet = [0]  # so many blocks want nothing compiled beside them
_running: list["Compiling"] = []
_lock = threading.Lock()


class Compiling:
    """A kernel that a process beside compiles, or could not be asked to."""

    def __init__(self, process: "subprocess.Popen[bytes] | None") -> None:
        self.process = process
        self._begun = time.monotonic()

    @property
    def is_running(self) -> bool:
        if self.process is None or self._ended() is not None:
            return False
        if time.monotonic() - self._begun > HANGS_AFTER:
            self.end()
            return False
        return True

    @property
    def is_done(self) -> bool:
        return self.process is not None and self._ended() == 0

    @property
    def is_refused(self) -> bool:
        """True if the kernel does not compile."""
        return self.process is not None and self._ended() == REFUSED

    def _ended(self) -> int | None:
        assert self.process is not None
        assert self.process.stdin is not None
        code = self.process.poll()
        if code is not None:
            self.process.stdin.close()
        return code

    def end(self) -> None:
        """End the process now."""
        if self.process is not None and self._ended() is None:
            self.process.kill()
            self.process.wait()
            self._ended()


@contextmanager
def nobody_beside() -> Iterator[None]:
    """Let nothing be compiled beside the work in this block: that would disturb what is measured."""
    _quiet[0] += 1
    _end_all()
    try:
        yield
    finally:
        _quiet[0] -= 1


def is_quiet() -> bool:
    """True if nothing is to be compiled beside the work."""
    return _quiet[0] > 0


def has_room() -> bool:
    """True if a process may be begun beside the work."""
    return not is_quiet() and not any(each.is_running for each in _running)


def compile_beside(body: Callable[..., Any], arguments: Sequence[Any], *, politely: bool) -> Compiling:
    """Let a process compile a kernel for arguments of this kind; `politely`: other work of the machine comes first."""
    found = Compiling(_process(body, arguments, LOWER if politely else 0) if cache_folder() is not None else None)
    with _lock:
        _running[:] = [*(each for each in _running if each.is_running), found]
    return found


def _process(body: Callable[..., Any], arguments: Sequence[Any], lower: int) -> "subprocess.Popen[bytes] | None":
    """Return the process; None where it cannot be begun, or could not import what the arguments are made of."""
    modules = marks.modules_with_bodies(_records(arguments))
    is_alone = getattr(sys, "frozen", False) or not sys.executable or IS_BESIDE in os.environ
    if is_alone or "__main__" in (*modules, *(kind.__module__ for kind in _records(arguments))):
        return None
    paths = [os.path.join(_HERE, path) for path in sys.path]
    process = None
    try:
        wanted = pickle.dumps((lower, modules, body.__module__, body.__qualname__, _shrunk(tuple(arguments))))
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {paths!r}; {_PROGRAM}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, IS_BESIDE: "1", "PARETOGUARD_TIER": "interpreted"},
            start_new_session=True,  # Ctrl-C is for the process that asked
        )
        assert process.stdin is not None
        process.stdin.write(len(wanted).to_bytes(8, "little") + wanted)
        process.stdin.flush()  # and left open: the end of it tells the process to end
    except Exception:  # pickle may raise anything, and a pipe may break: then nothing is compiled beside
        if process is not None:
            Compiling(process).end()
        return None
    return process


def _records(arguments: Iterable[Any]) -> Iterable[type]:
    for each in arguments:
        if isinstance(each, tuple):
            yield type(each)
            yield from _records(each)


def _shrunk(value: Any) -> Any:
    """Return arguments of the same kind, with arrays of no size."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("an array of no size has no layout but that of C")
        empty = np.zeros((0,) * value.ndim, value.dtype)
        empty.flags.writeable = value.flags.writeable
        return empty
    if isinstance(value, tuple):
        fields = map(_shrunk, value)
        return type(value)(*fields) if hasattr(value, "_fields") else tuple(fields)
    return value


@atexit.register
def _end_all(parent: int = os.getpid()) -> None:
    if os.getpid() == parent:  # not in a fork of it
        for each in _running:
            each.end()


# --- in the process beside --------------------------------------------------------------------------------------------


def end_with_parent() -> None:
    """End this process when stdin ends, to which nothing more is written: the parent is gone, perhaps killed."""

    def wait() -> None:
        os.read(0, 1)  # not sys.stdin, whose lock would be in the way of a normal end
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _asked() -> bytes:
    size = int.from_bytes(_read(8), "little")
    return _read(size)


def _read(size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = os.read(0, size - len(found))
        if not more:
            os._exit(1)
        found += more
    return found


def compile_asked() -> None:
    """Compile the kernel that stdin names."""
    asked = _asked()
    end_with_parent()
    lower, modules, place, name, arguments = pickle.loads(asked)
    if hasattr(os, "nice"):
        os.nice(lower)
    for module in modules:
        importlib.import_module(module)
    kernel = getattr(importlib.import_module(place), name)
    try:
        kernel.code().compile(arguments)
    except NotCompiledError:
        os._exit(REFUSED)
    os._exit(0)
