"""Slack, distance to a polyhedron and projection onto it (placeholder, being written)."""

from typing import NamedTuple

from numpy import float64, int64
from numpy.typing import NDArray


class Polyhedron(NamedTuple):
    """{x : A x <= b} with unit rows."""

    A: NDArray[float64]  # [m, d]
    b: NDArray[float64]  # [m]
    shape: int
    axis: NDArray[int64]  # [m] the coordinate a row touches when it touches just one, else -1
