"""Slack, distance to a polyhedron and projection onto it, with the multipliers that prove the answer.

A polyhedron is {x : A x <= b} with m rows of unit norm in d coordinates; slack is b - A x, never the other sign.
Half-spaces and boxes have closed forms; the general case is in `active_set`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import float64, int64
from numpy.typing import ArrayLike

from paretoguard.compiler.jit import entry, inner
from paretoguard.geometry.active_set import ROUNDING, Workspace, beyond_rows, declare_empty, workspace
from paretoguard.numeric import Floats, Integers

FREE, HALFSPACE, BOX, GENERAL = 0, 1, 2, 3


class Polyhedron(NamedTuple):
    """{x : A x <= b} with unit rows; make one with `polyhedron`."""

    A: Floats  # [m, d]
    b: Floats  # [m]
    shape: int  # FREE, HALFSPACE, BOX or GENERAL: which formula projects
    axis: Integers  # [m] the coordinate a row touches when it touches just one, else -1


@dataclass(frozen=True)
class Projection:
    """A nearest point with its certificate: the three residuals are 0, but for rounding, if and only if it is right.

    An empty set has none: point is NaN, distance and violation are +inf, and the multipliers prove it, with
    stationarity = |A' multipliers| zero and complementarity = b · multipliers negative: rows that weigh > 0 clash.
    """

    point: Floats  # [d]
    distance: float  # |x - point|
    multipliers: Floats  # [m] >= 0
    violation: float  # max_l (a_l · point - b_l)_+
    stationarity: float  # |x - point - A' multipliers|
    complementarity: float  # max_l |multipliers_l (b_l - a_l · point)|


def polyhedron(A: ArrayLike, b: ArrayLike) -> Polyhedron:
    """Name the shape of {x : A x <= b}, A [m, d] with unit rows and b [m], so that the cheapest exact formula is used.

    >>> polyhedron([[1.0, 0.0], [0.0, -1.0]], [0.0, 0.0]).shape == BOX
    True
    """
    A, b = np.array(A, dtype=float64, order="C"), np.array(b, dtype=float64)
    if A.ndim != 2 or b.shape != A.shape[:1]:
        raise ValueError(f"got A of shape {A.shape} and b of shape {b.shape}, expected (m, d) and (m,)")
    if not np.all(np.abs(np.sqrt((A * A).sum(axis=1)) - 1) < 1e-12):
        raise ValueError("every row of A must have norm 1: divide each row, and its entry of b, by the row's norm")
    touched = A != 0
    axis = np.where(touched.sum(axis=1) == 1, touched.argmax(axis=1) if A.size else 0, -1).astype(int64)
    shape = FREE if len(b) == 0 else HALFSPACE if len(b) == 1 else BOX if np.all(axis >= 0) else GENERAL
    return Polyhedron(A, b, shape, axis)


def project(region: Polyhedron, x: ArrayLike) -> Projection:
    """The point of the region nearest to x [d], with the residuals of the conditions that make it so (KKT).

    >>> project(polyhedron([[0.8, 0.6], [0.0, -1.0]], [0.0, 0.0]), [3.0, -4.0]).distance
    5.0
    """
    m, d = region.A.shape
    x = np.array(x, dtype=float64)
    if x.shape != (d,):
        raise ValueError(f"got a point of shape {x.shape}, expected ({d},)")
    work = workspace(m, d)
    distance = _outside(region, region.b, x, work)
    pull = region.A.T @ work.multipliers
    if distance == math.inf:
        clash = float(region.b @ work.multipliers)
        return Projection(work.point, distance, work.multipliers, math.inf, float(np.linalg.norm(pull)), clash)
    slack = region.b - region.A @ work.point
    return Projection(
        point=work.point,
        distance=distance,
        multipliers=work.multipliers,
        violation=max(0.0, float(np.max(-slack, initial=0.0))),
        stationarity=float(np.linalg.norm(x - work.point - pull)),
        complementarity=float(np.max(np.abs(work.multipliers * slack), initial=0.0)),
    )


def has_point(A: Floats, b: Floats, slop: float) -> bool:
    """True if a point satisfies A x <= b, each row up to `slop` of its norm. False proves nothing.

    >>> has_point(np.array([[2.0, 0.0], [-1.0, -1.0]]), np.array([4.0, -1.0]), 1e-12)
    True
    """
    norms = np.linalg.norm(A, axis=1)
    if not (np.all(norms > 0) and np.all(np.isfinite(b))):
        return False
    rows = A / norms[:, None]
    rows /= np.linalg.norm(rows, axis=1)[:, None]  # once more: to the last bit
    return project(polyhedron(rows, b / norms), np.zeros(A.shape[1])).violation <= slop


@entry
def _outside(region: Polyhedron, rhs: Floats, x: Floats, work: Workspace) -> float:
    return outside(region, rhs, x, work)


@inner
def within(region: Polyhedron, rhs: Floats, tolerance: Floats, x: Floats) -> tuple[bool, float]:
    """Is x inside, and how far from breaking a row: min_l slack_l, the distance to the complement.

    With a tolerance [m], x may be outside by half of it, and the distance is to breaking a row by all of it:
    slack_l >= -tolerance_l / 2 for every l, and min_l (slack_l + tolerance_l). rhs [m] takes the place of region.b,
    x [>= d] (only the first d entries count). Without rows: inside, +inf.
    """
    inside, least = True, math.inf
    for row in range(region.A.shape[0]):
        slack = row_slack(region.A, rhs, x, row)
        inside = inside and slack >= -0.5 * tolerance[row]
        least = min(least, slack + tolerance[row])
    return inside, least


@inner
def row_slack(A: Floats, rhs: Floats, x: Floats, row: int) -> float:
    slack: float = rhs[row]
    for c in range(A.shape[1]):
        slack -= A[row, c] * x[c]
    return slack


@inner
def distance(region: Polyhedron, rhs: Floats, x: Floats, work: Workspace) -> float:
    """Return what `outside` does, where no certificate is asked for: closed forms are quicker without."""
    if region.shape == HALFSPACE:
        return max(0.0, -row_slack(region.A, rhs, x, 0))
    if region.shape == BOX:
        return _distance_to_box(region, rhs, x)
    return outside(region, rhs, x, work)


@inner
def _distance_to_box(region: Polyhedron, rhs: Floats, x: Floats) -> float:
    m, d = region.A.shape
    square = 0.0
    for c in range(d):
        low, high = -math.inf, math.inf
        for row in range(m):
            if region.axis[row] == c:  # its only entry is 1 or -1, as rows have unit norm
                if region.A[row, c] > 0.0:
                    high = min(high, rhs[row])
                else:
                    low = max(low, -rhs[row])
        if low > high and low - high > ROUNDING * (2.0 + abs(low) + abs(high)):
            return math.inf
        gap = max(low - x[c], x[c] - high, 0.0)
        square += gap * gap
    return math.sqrt(square)


@inner
def outside(region: Polyhedron, rhs: Floats, x: Floats, work: Workspace) -> float:
    """Euclidean distance from x to {y : A y <= rhs}: 0.0 where no slack is negative, +inf if the set is empty.

    rhs [m] takes the place of region.b, x [>= d] (only the first d entries count). Fills work.point [d], the nearest
    point, and work.multipliers [m] >= 0 with x - point = A' multipliers, zero where a row has slack.

    If the set is empty, point is NaN and the multipliers prove it: A' multipliers = 0 and rhs · multipliers < 0, so the
    rows with a positive one clash. Rows that clash by less than some 1e-14 (1 + |rhs| + |x|) touch: no slack is known
    better, and the unit is a standard deviation.
    """
    m, d = region.A.shape
    for c in range(d):
        work.point[c] = x[c]
    for row in range(m):
        work.multipliers[row] = 0.0
    if region.shape == FREE:
        return 0.0
    if region.shape == HALFSPACE:
        return _beyond_half_space(region.A, rhs, x, work)
    if region.shape == BOX:
        return _beyond_box(region, rhs, x, work)
    return beyond_rows(region.A, rhs, x, work)


@inner
def _beyond_half_space(A: Floats, rhs: Floats, x: Floats, work: Workspace) -> float:
    slack = row_slack(A, rhs, x, 0)
    if slack >= 0.0:
        return 0.0
    work.multipliers[0] = -slack
    for c in range(A.shape[1]):
        work.point[c] = x[c] + slack * A[0, c]
    return -slack


@inner
def _beyond_box(region: Polyhedron, rhs: Floats, x: Floats, work: Workspace) -> float:
    """Clamp each coordinate between its tightest bounds."""
    m, d = region.A.shape
    square = 0.0
    for c in range(d):
        low, high, low_row, high_row = -math.inf, math.inf, -1, -1
        for row in range(m):
            if region.axis[row] == c:
                bound = rhs[row] / region.A[row, c]
                if region.A[row, c] > 0.0 and bound < high:
                    high, high_row = bound, row
                elif region.A[row, c] < 0.0 and bound > low:
                    low, low_row = bound, row
        if low - high > ROUNDING * (2.0 + abs(low) + abs(high)):
            declare_empty(work)
            work.multipliers[low_row], work.multipliers[high_row] = 1.0, 1.0
            return math.inf
        if x[c] > high:
            work.point[c], work.multipliers[high_row] = high, x[c] - high
            square += (x[c] - high) * (x[c] - high)
        elif x[c] < low:
            work.point[c], work.multipliers[low_row] = low, low - x[c]
            square += (low - x[c]) * (low - x[c])
    return math.sqrt(square)
