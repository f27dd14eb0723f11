"""Constraints as a user gives them, read into rows over the objectives; which of them clash; and notes on odd ones.

Every row reads coefficients · x <= bound in the user's units and signs: a minimised objective is not negated here.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import ArrayLike

from paretoguard.errors import ProblemError
from paretoguard.geometry.polyhedron import has_point
from paretoguard.numeric import Floats
from paretoguard.problem.grammar import number, parse, render
from paretoguard.problem.names import check_names
from paretoguard.problem.noise import Noise

ConstraintsGiven = Sequence[str] | Mapping[str, str] | tuple[ArrayLike, ArrayLike]

RELATIVE = 1e-9  # size of a contradiction, relative to the rows: rounding alone makes none
_LARGE = 1e150  # sizes beyond this, or below its inverse, are not divided by: that could overflow


@dataclass(frozen=True)
class Constraint:
    """One row: coefficients · x <= bound. The two halves of `0.15 <= x <= 1` share their label.

    `label` is the name the user gave, or else the constraint as written; `text` is the comparison of this row.
    """

    label: str
    text: str
    coefficients: tuple[float, ...]
    bound: float

    def __str__(self) -> str:
        return f"'{self.text}'" if self.text in self.label else f"'{self.label}' ({self.text})"


def constraint_texts(given: Any, objectives: Sequence[str]) -> dict[str, str]:
    """Return the constraints as label -> text; rows of (A, b) are written out.

    >>> constraint_texts(([[1, 0], [0, -1]], [10, -0.4]), ["cost", "safety"])
    {'cost <= 10': 'cost <= 10', 'safety >= 0.4': 'safety >= 0.4'}
    """
    if isinstance(given, tuple) and len(given) == 2 and not any(isinstance(part, str) for part in given):
        return {text: text for text in _rows_written_out(*given, objectives)}
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise ProblemError(
            f"constraints are {given!r}, expected a list of texts, a mapping from names to texts, or a pair (A, b); "
            "one constraint is a list of one text"
        )
    if isinstance(given, Mapping):
        check_names("constraint", given)
        return {name: _one_line(text, f"constraint '{name}'") for name, text in given.items()}
    texts = [_one_line(text, f"constraint {place}") for place, text in enumerate(given, start=1)]
    for place, text in enumerate(texts):
        if text in texts[:place]:
            first = texts.index(text) + 1
            raise ProblemError(
                f"constraint '{text}' is given twice, at places {first} and {place + 1}; remove or change one"
            )
    return {text: text for text in texts}


def read_constraints(texts: Mapping[str, str], objectives: Sequence[str]) -> tuple[Constraint, ...]:
    """Parse the texts into rows; rows without an objective are dropped, unless they can never hold.

    >>> read_constraints({"box": "0.15 <= x <= 1"}, ["x"])[1]
    Constraint(label='box', text='x <= 1', coefficients=(1.0,), bound=1.0)
    """
    rows = []
    for label, text in texts.items():
        for half in parse(text, objectives, "" if label == text else label):
            row = Constraint(
                label, half.text, tuple(half.coefficients.get(name, 0.0) + 0.0 for name in objectives), half.bound
            )
            largest = max(map(abs, row.coefficients))
            if largest > 0 and math.isinf(row.bound / largest):
                raise ProblemError(f"constraint {row} bounds an objective by a number too large to compute with")
            if largest == 0 and row.bound < 0:
                raise ProblemError(f"constraint {row} can never hold, whatever is measured; remove or correct it")
            if largest > 0:
                rows.append(row)
    return tuple(rows)


def matrix(rows: Sequence[Constraint], objectives: int) -> tuple[Floats, Floats]:
    """Return (A [m, d], b [m]) of the rows, in the user's units."""
    A = np.array([row.coefficients for row in rows], dtype=float64).reshape(len(rows), objectives)
    return A, np.array([row.bound for row in rows], dtype=float64)


def _one_line(text: Any, what: str) -> str:
    if not isinstance(text, str):
        raise ProblemError(f"{what} is {text!r}, expected a text such as 'cost <= 10'")
    return re.sub(r"[\t\r\n]", " ", text).strip()


def _rows_written_out(A: ArrayLike, b: ArrayLike, objectives: Sequence[str]) -> list[str]:
    try:
        matrix, bounds = np.asarray(A, dtype=float64), np.asarray(b, dtype=float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"constraints (A, b) are not arrays of numbers: {error}") from error
    d = len(objectives)
    if matrix.size == 0 and bounds.size == 0:
        return []
    if matrix.ndim != 2 or matrix.shape[1] != d or bounds.shape != matrix.shape[:1]:
        raise ProblemError(
            f"constraints (A, b) have shapes {matrix.shape} and {bounds.shape}, expected (m, {d}) and (m,): "
            f"one column for each of the {d} objectives, one entry of b for each row"
        )
    for row in range(len(bounds)):
        if not (np.all(np.isfinite(matrix[row])) and np.isfinite(bounds[row])):
            raise ProblemError(
                f"constraints (A, b), row {row}: got {matrix[row].tolist()} and {bounds[row]}, "
                "expected finite numbers; leave out a row that bounds nothing"
            )
    return [render(values, bound, objectives) for values, bound in zip(matrix.tolist(), bounds.tolist(), strict=True)]


# --- notes and contradictions -----------------------------------------------------------------------------------------


def check_consistent(rows: Sequence[Constraint], objectives: int) -> None:
    """Raise ProblemError if no point satisfies all constraints; it names a smallest set of them that clash."""
    A, b = matrix(rows, objectives)
    infinite = np.full(objectives, np.inf)
    clashing = [rows[row] for row in clash(A, b, -infinite, infinite)]
    if not clashing:
        return
    if len({row.label for row in clashing}) == 1:
        raise ProblemError(f"constraint '{clashing[0].label}' contradicts itself; correct its bounds")
    others = "" if len(clashing) == 2 else ", though they could without any one of them"
    raise ProblemError(f"{_together(clashing)} cannot hold together{others}; remove or relax one")


def constraint_notes(
    texts: Mapping[str, str], rows: Sequence[Constraint], noise: Mapping[str, Noise], row_tolerance: Sequence[float]
) -> tuple[str, ...]:
    """Return notes on constraints that are usable but odd: never binding, never met, or without room."""
    A, b = matrix(rows, len(noise))
    low, high = (np.array([model.support[side] for model in noise.values()]) for side in (0, 1))
    labels = {row.label for row in rows}
    notes = [f"constraint '{label}' always holds and is left out" for label in texts if label not in labels]
    clashing = clash(A, b, low, high)
    if clashing:
        named = _together([rows[row] for row in clashing])
        return (*notes, f"no arm can satisfy {named}: {_ranges(A[list(clashing)], noise)}")
    noisy = np.array([model.sigma != 0 for model in noise.values()])
    pinched = [row for row in range(len(rows)) if np.any(A[row, noisy]) and row_tolerance[row] == 0]
    narrowed = b.copy()
    narrowed[pinched] -= 2 * RELATIVE * row_sizes(A, b)[pinched]
    tight = clash(A, narrowed, low, high)
    if tight:
        named = _together([rows[row] for row in tight])
        leave = "leave" if named.startswith("constraints") else "leaves"
        notes.append(f"{named} {leave} no room: noisy measurements can never certify an arm there; give a tolerance")
    by_range = [row for row in range(len(rows)) if greatest(A[row], low, high) <= b[row]]
    rest = [row for row in range(len(rows)) if row not in by_range]
    by_others = sorted({rest[row] for row in implied(A[rest], b[rest], low, high)})
    notes += [f"constraint {rows[row]} never binds: {_ranges(A[[row]], noise)}" for row in by_range]
    notes += [f"constraint {rows[row]} never binds: the other constraints already imply it" for row in by_others]
    return tuple(notes)


def _ranges(A: Floats, noise: Mapping[str, Noise]) -> str:
    reasons = []
    for touched, (name, model) in zip(np.any(A != 0, axis=0), noise.items(), strict=True):
        low, high = model.support
        if touched and np.isfinite(low):
            reasons.append(f"{name} is {type(model).__name__}, so between {number(low)} and {number(high)}")
    return "; ".join(reasons)


def _together(rows: Sequence[Constraint]) -> str:
    named = list(dict.fromkeys(str(row) for row in rows))
    if len(named) == 1:
        return f"constraint {named[0]}"
    return f"constraints {', '.join(named[:-1])} and {named[-1]}"


# --- whether rows A x <= b leave anything within a box low <= x <= high -----------------------------------------------
#
# Rows that touch a single objective are compared directly; of others mostly a point is found. Where none is, linear
# programs prove it (HiGHS, imported only then: that takes a quarter of a second).
# Everything is first made dimensionless, so that the answer does not depend on the units of the objectives.


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
    sides = np.eye(A.shape[1])
    rows = np.vstack([A, sides[np.isfinite(high)], -sides[np.isfinite(low)]])
    if has_point(rows, np.concatenate([b, high[np.isfinite(high)], -low[np.isfinite(low)]]), 0.01 * RELATIVE):
        return ()
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
    """True if least > most by more than rounding, relative to both, so that tiny bounds count."""
    return bool(least - most > RELATIVE * max(abs(least), abs(most)))


def _least_excess(A: Floats, b: Floats, low: Floats, high: Floats) -> tuple[float, Floats]:
    """Return the least t >= 0 with A x <= b + t for some x in the box, and the rows' multipliers [m]."""
    from scipy.optimize import linprog

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
