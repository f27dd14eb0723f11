"""Do the rows of A x <= b leave anything, within a box low <= x <= high? If not, which rows clash?

Plain numbers in the user's units. Rows that touch a single objective are compared directly; others need linear programs
(HiGHS, imported only then). Everything is first made dimensionless, so that the answer does not depend on the units of
the objectives. A contradiction counts from a relative size of `RELATIVE` on: rounding alone makes none.
"""

import numpy as np
from numpy import float64

from paretoguard.numeric import Floats

RELATIVE = 1e-9
_LARGE = 1e150  # sizes beyond this, or below its inverse, are not divided by: that could overflow


def clash(A: Floats, b: Floats, low: Floats, high: Floats) -> tuple[int, ...]:
    """Return a smallest-by-inclusion set of rows that no x between low and high satisfies together, or ().

    A [m, d], b [m], low and high [d] (may be infinite); no row of A is zero.

    >>> A, b, infinite = np.array([[1.0], [-1.0], [1.0]]), np.array([2.0, -3.0, 9.0]), np.array([np.inf])
    >>> clash(A, b, -infinite, infinite)
    (0, 1)
    """
    if len(b) == 0:
        return ()
    units = _magnitudes(A, b)
    largest = np.abs(A * units).max(axis=1)
    A, b, low, high = A * units / largest[:, None], b / largest, low / units, high / units
    found = _clash_on_one_axis(A, b, low, high)
    if found or np.all((A != 0).sum(axis=1) == 1):
        return found
    excess, weights = _least_excess(A, b, low, high)
    if excess <= RELATIVE:
        return ()
    # Rows with a positive multiplier already contradict each other (Farkas); then drop each row that is not needed.
    kept = [int(row) for row in np.flatnonzero(weights > RELATIVE)]
    if not kept or _least_excess(A[kept], b[kept], low, high)[0] <= RELATIVE:
        kept = list(range(len(b)))
    for row in tuple(kept):
        rest = [other for other in kept if other != row]
        if rest and _least_excess(A[rest], b[rest], low, high)[0] > RELATIVE:
            kept = rest
    return tuple(kept)


def implied(A: Floats, b: Floats, low: Floats, high: Floats) -> tuple[int, ...]:
    """Return rows that may all be left out without changing {x : A x <= b, low <= x <= high}; the last ones first.

    >>> A, b, infinite = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0, 2.0]), np.full(2, np.inf)
    >>> implied(A, b, -infinite, infinite)
    (2,)
    """
    kept = list(range(len(b)))
    dropped: list[int] = []
    sizes = row_sizes(A, b)
    for row in reversed(range(len(b))):
        rest = [other for other in kept if other != row]
        # The row is implied where no point satisfies the rest and breaks the row by a visible amount.
        breach = b[row] + 10 * RELATIVE * sizes[row]
        if clash(np.vstack([A[rest], -A[row]]), np.append(b[rest], -breach), low, high):
            kept, dropped = rest, [*dropped, row]
    return tuple(dropped)


def greatest(row: Floats, low: Floats, high: Floats) -> float:
    """Return the greatest value of row · x over the box; the least is −greatest(−row).

    >>> greatest(np.array([1.0, -2.0]), np.array([0.0, 0.0]), np.array([3.0, np.inf]))
    3.0
    """
    total = 0.0
    for value, least, most in zip(row.tolist(), low.tolist(), high.tolist(), strict=True):
        if value != 0:
            total += value * (most if value > 0 else least)
    return total


def row_sizes(A: Floats, b: Floats) -> Floats:
    """Return the typical size of the two sides of each row, [m]: the unit of a breach of the row."""
    largest: Floats = (np.abs(A) * _magnitudes(A, b)).max(axis=1, initial=0.0)
    return np.maximum(np.abs(b), largest)


def _magnitudes(A: Floats, b: Floats) -> Floats:
    """Return the typical size of each objective, [d]: the largest |b/a| among its rows, 1 if there is none."""
    bounds = np.broadcast_to(np.abs(b)[:, None], A.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.divide(bounds, np.abs(A), out=np.zeros_like(A), where=A != 0).max(axis=0, initial=0.0)
        usable = (sizes > 1 / _LARGE) & (sizes < _LARGE) & np.all(np.isfinite(A * sizes), axis=0)
    return np.where(usable, sizes, 1.0)


def _clash_on_one_axis(A: Floats, b: Floats, low: Floats, high: Floats) -> tuple[int, ...]:
    """Return the clash among rows that touch one objective each: a row and the box, or two rows."""
    for c in range(A.shape[1]):
        rows = np.flatnonzero((A[:, c] != 0) & ((A != 0).sum(axis=1) == 1))
        limits = b[rows] / A[rows, c]
        above, below = rows[A[rows, c] < 0], rows[A[rows, c] > 0]
        floor, ceiling = limits[A[rows, c] < 0], limits[A[rows, c] > 0]
        if len(above) and _exceeds(floor.max(), high[c]):
            return (int(above[floor.argmax()]),)
        if len(below) and _exceeds(low[c], ceiling.min()):
            return (int(below[ceiling.argmin()]),)
        if len(above) and len(below) and _exceeds(floor.max(), ceiling.min()):
            first, second = sorted((int(above[floor.argmax()]), int(below[ceiling.argmin()])))
            return (first, second)
    return ()


def _exceeds(least: float, most: float) -> bool:
    """True if least > most by more than rounding, relative to both: tiny bounds are told apart too."""
    return bool(least - most > RELATIVE * max(abs(least), abs(most)))


def _least_excess(A: Floats, b: Floats, low: Floats, high: Floats) -> tuple[float, Floats]:
    """Return the least t >= 0 with A x <= b + t for some x in the box, and the rows' multipliers [m]."""
    from scipy.optimize import linprog  # a quarter of a second to import, and boxes do not need it

    m, d = A.shape
    answer = linprog(
        c=np.append(np.zeros(d), 1.0),
        A_ub=np.column_stack([A, -np.ones(m)]),
        b_ub=b,
        bounds=[*zip(low, high, strict=True), (0.0, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if answer.status != 0:
        return 0.0, np.zeros(m)  # no proof of a contradiction
    return float(answer.fun), np.asarray(-answer.ineqlin.marginals, dtype=float64)
