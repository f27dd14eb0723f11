"""Pause Python's garbage collector while millions of long-lived objects are created."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Inside:
    """Counts nested uses across threads: the first disables collection, the last restores it."""

    def __init__(self) -> None:
        self.lock, self.depth, self.was_enabled = threading.Lock(), 0, False


_inside = _Inside()


@contextmanager
def without_collecting() -> Iterator[None]:
    with _inside.lock:
        if _inside.depth == 0:
            _inside.was_enabled = gc.isenabled()
            gc.disable()
        _inside.depth += 1
    try:
        yield
    finally:
        with _inside.lock:
            _inside.depth -= 1
            if _inside.depth == 0 and _inside.was_enabled:
                gc.enable()
