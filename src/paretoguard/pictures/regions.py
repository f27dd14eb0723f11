"""Where in a view of one or two objectives the constraints hold: half-planes clipped to a rectangle, exactly."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.problem.constraints import Constraint


class View(NamedTuple):
    """The rectangle on show, in the user's units; a single objective is shown as (low, high) × (0, 1)."""

    left: float
    right: float
    bottom: float
    top: float

    def corners(self) -> Floats:
        """Its corners [4, 2], counter-clockwise from the lower left."""
        left, right, bottom, top = self
        return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


class HalfPlane(NamedTuple):
    """a · (x, y) <= b, with the words a label shows."""

    a: tuple[float, float]
    b: float
    text: str


def half_planes(
    constraints: Sequence[Constraint], x: int, y: int | None = None
) -> tuple[list[HalfPlane], list[Constraint]]:
    """The constraints that touch no other objective than x and y, as half-planes; and the rest."""
    shown, rest = [], []
    for row in constraints:
        others = [value for place, value in enumerate(row.coefficients) if place not in (x, y)]
        if any(value != 0 for value in others):
            rest.append(row)
        else:
            a = (row.coefficients[x], 0.0 if y is None else row.coefficients[y])
            shown.append(HalfPlane(a, row.bound, row.text))
    return shown, rest


def feasible_polygon(planes: Sequence[HalfPlane], view: View) -> Floats:
    """The part of the view where every half-plane holds: its corners [n, 2] in order; n = 0 where there is none.

    Sutherland–Hodgman: each half-plane cuts what the ones before it left.

    >>> feasible_polygon([HalfPlane((-1.0, 0.0), -0.5, "x >= 0.5")], View(0, 1, 0, 1)).tolist()
    [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
    """
    corners = view.corners()
    for plane in planes:
        corners = _cut(corners, np.asarray(plane.a), plane.b)
    return corners


def _cut(corners: Floats, a: Floats, b: float) -> Floats:
    """Keep the part of a convex polygon where a · x <= b."""
    excess = corners @ a - b
    kept: list[Floats] = []
    for here in range(len(corners)):
        there = (here + 1) % len(corners)
        if excess[here] <= 0:
            kept.append(corners[here])
        if np.sign(excess[here]) * np.sign(excess[there]) < 0:
            kept.append(_crossing(corners[here], corners[there], excess[here], excess[there]))
    return np.array(kept).reshape(len(kept), 2)


def boundary(plane: HalfPlane, view: View) -> Floats | None:
    """The piece of the line a · x = b inside the view, [2, 2], with the feasible side on its left; None if outside."""
    a = np.asarray(plane.a)
    corners = view.corners()
    excess = corners @ a - plane.b
    ends: list[Floats] = []
    for here in range(4):
        there = (here + 1) % 4
        if excess[here] == 0:
            ends.append(corners[here])
        elif np.sign(excess[here]) * np.sign(excess[there]) < 0:
            ends.append(_crossing(corners[here], corners[there], excess[here], excess[there]))
    if len(ends) != 2:  # it misses the view, or touches a corner only
        return None
    first, last = ends
    along = last - first
    left_normal = np.array([-along[1], along[0]])
    return np.array([first, last] if left_normal @ a < 0 else [last, first])


def _crossing(here: Floats, there: Floats, excess_here: float, excess_there: float) -> Floats:
    """Where the segment between two points with excesses of opposite sign meets the line."""
    share = excess_here / (excess_here - excess_there)
    return here + share * (there - here)
