"""Lines from outside, of any bytes and any length."""

import sys
from collections.abc import Iterator
from typing import BinaryIO

from paretoguard.errors import FileError


def stdin() -> BinaryIO:
    """Standard input, as bytes."""
    if sys.stdin is None or sys.stdin.closed:
        raise FileError("stdin is closed; give a file or a pipe: … < FILE")
    return sys.stdin.buffer


def pieces(stream: BinaryIO, longest: int) -> Iterator[bytes]:
    """The lines of a stream; of one with more than `longest` bytes only its beginning, one byte longer than that."""
    while line := stream.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):
            line = stream.readline(longest + 1)
