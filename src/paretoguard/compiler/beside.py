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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from paretoguard.compiler import marks
from paretoguard.compiler.cache_folder import cache_folder
from paretoguard.errors import NotCompiledError

REFUSED = 3  # exit code: the kernel does not compile
LOWER = 10  # priority of what nobody waits for
_quiet = [0]  # so many blocks want nothing compiled beside them
_running: list["Making"] = []


class Making:
    """A kernel that a process beside makes, or could not be asked to make."""

    def __init__(self, process: "subprocess.Popen[bytes] | None") -> None:
        self.process = process

    @property
    def is_running(self) -> bool:
        return self.process is not None and self._ended() is None

    @property
    def is_made(self) -> bool:
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
        if self.is_running and self.process is not None:
            self.process.kill()
            self.process.wait()
            self._ended()


@contextmanager
def nobody_beside() -> Iterator[None]:
    """Let nothing be compiled beside the work in this block: that would disturb what is measured."""
    _quiet[0] += 1
    try:
        yield
    finally:
        _quiet[0] -= 1


def has_room() -> bool:
    """True if a process may be begun beside the work."""
    return _quiet[0] == 0 and not any(each.is_running for each in _running)


def make(body: Callable[..., Any], arguments: Sequence[Any], *, politely: bool) -> Making:
    """Let a process compile a kernel for arguments of this kind; `politely`: other work of the machine comes first."""
    found = Making(_process(body, arguments, LOWER if politely else 0) if cache_folder() is not None else None)
    _running[:] = [*(each for each in _running if each.is_running), found]
    return found


def _process(body: Callable[..., Any], arguments: Sequence[Any], lower: int) -> "subprocess.Popen[bytes] | None":
    """Return the process; None where it cannot be begun, or could not import what the arguments are made of."""
    modules = marks.modules_with_bodies(_records(arguments))
    if "__main__" in (*modules, *(kind.__module__ for kind in _records(arguments))):
        return None
    try:
        wanted = pickle.dumps((lower, modules, body.__module__, body.__qualname__, _shrunk(tuple(arguments))))
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "paretoguard.compiler.beside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            start_new_session=True,  # Ctrl-C is for the process that asked
        )
        assert process.stdin is not None
        process.stdin.write(len(wanted).to_bytes(8, "little") + wanted)
        process.stdin.flush()  # and left open: the end of it tells the process to end
    except (OSError, pickle.PicklingError, AttributeError, TypeError):
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


def compile_the_asked() -> None:
    """Compile the kernel that stdin names."""
    lower, modules, place, name, arguments = pickle.loads(_asked())
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(lower)
    for module in modules:
        importlib.import_module(module)
    kernel = getattr(importlib.import_module(place), name)
    try:
        kernel.code().make(arguments)
    except NotCompiledError:
        os._exit(REFUSED)
    os._exit(0)


if __name__ == "__main__":
    compile_the_asked()
