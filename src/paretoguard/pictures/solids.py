"""The part of a box in which three objectives satisfy all constraints: its corners, and its faces as polygons."""

from collections.abc import Sequence

import numpy as np
from numpy import float64

from paretoguard.numeric import Floats
from paretoguard.problem import Problem

NEAR = 1e-9


def faces(problem: Problem, ranges: Sequence[tuple[float, float]]) -> list[Floats]:
    """Corners [n, 3] of each face, in order around it; none where nothing is feasible."""
    A, b = _half_spaces(problem, ranges)
    points = _corners(A, b)
    found = []
    for normal, bound in zip(A, b, strict=True):
        here = points[np.abs(points @ normal - bound) <= NEAR * (1.0 + abs(bound))]
        if len(here) >= 3:
            found.append(_around(here, normal))
    return found


def corners(problem: Problem) -> Floats:
    """Corners [n, 3] of the whole solid; none where it has none."""
    return _corners(*_half_spaces(problem, ()))


def _half_spaces(problem: Problem, ranges: Sequence[tuple[float, float]]) -> tuple[Floats, Floats]:
    """The constraints and the sides of the box, as A x <= b with rows of length 1, none twice."""
    rows = [(np.array(one.coefficients, dtype=float64), one.bound) for one in problem.constraints]
    for place, (low, high) in enumerate(ranges):
        axis = np.eye(3)[place]
        rows += [(axis, high), (-axis, -low)]
    scaled = [np.append(row, bound) / np.linalg.norm(row) for row, bound in rows]
    planes = np.unique(np.array(scaled).reshape(len(rows), 4).round(12), axis=0)
    return planes[:, :3], planes[:, 3]


def _corners(A: Floats, b: Floats) -> Floats:
    """Where three planes meet and every other half-space holds."""
    found: list[Floats] = []
    for i in range(len(A)):
        for j in range(i):
            for k in range(j):
                rows = [i, j, k]
                if abs(np.linalg.det(A[rows])) < NEAR:
                    continue
                point = np.asarray(np.linalg.solve(A[rows], b[rows]), dtype=float64)
                new = all(np.abs(point - other).max() > NEAR for other in found)
                if new and np.all(A @ point <= b + NEAR * (1.0 + np.abs(b))):
                    found.append(point)
    return np.array(found).reshape(len(found), 3)


def _around(points: Floats, normal: Floats) -> Floats:
    """Sorted by angle around their middle, seen along the normal."""
    out = points - points.mean(axis=0)
    first = out[0] / np.linalg.norm(out[0])
    second = np.cross(normal, first)
    angle: Floats = np.arctan2(out @ second, out @ first)
    return points[np.argsort(angle)]
