"""Types of arrays, each named once."""

from numpy import float64, int64, uint8
from numpy.typing import NDArray

Floats = NDArray[float64]
Integers = NDArray[int64]
Bytes = NDArray[uint8]
