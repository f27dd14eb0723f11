"""Python looks for garbage every so many new objects: that takes time where they are made by the million, to stay."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Inside:
    """How many are at it, in all threads: the first turns looking off, the last turns it on again if it was."""

    def __init__(self) -> None:
        self.lock, self.depth, self.was_enabled = threading.Lock(), 0, False


_inside = _Inside()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for none meanwhile."""
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
