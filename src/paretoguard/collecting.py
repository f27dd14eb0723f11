"""Python looks for garbage every so many new objects: that takes time where they are made by the million, to stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for none meanwhile."""
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()
