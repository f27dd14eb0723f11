"""Types of arrays, each named once, and new arrays of each, filled with zeros."""

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

Floats = NDArray[float64]
Integers = NDArray[int64]
Bytes = NDArray[uint8]


def floats(*shape: int) -> Floats:
    return np.zeros(shape)


def integers(*shape: int) -> Integers:
    return np.zeros(shape, dtype=int64)


def flags(*shape: int) -> Bytes:
    return np.zeros(shape, dtype=uint8)
