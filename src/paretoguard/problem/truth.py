"""The truth, and whether an answer is right, computed from the definitions in the user's units.

Comparisons are exact: an arm on a boundary is feasible, equal means dominate each other, and nothing is rounded.
Memory stays near K·d: no K × K array is held.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy import bool_
from numpy.typing import NDArray

from paretoguard.numeric import Floats
from paretoguard.vocabulary import CPSI, DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED

Booleans = NDArray[bool_]

CELLS = 4_000_000  # entries of the largest table of comparisons held at once


@dataclass(frozen=True)
class Truth:
    """The feasible arms at given means, the Pareto set among them, and the dominated arms (SubOpt).

    An arm may be both dominated and infeasible. The arrays [K] say the same in arm order.
    """

    feasible: tuple[str, ...]
    pareto: tuple[str, ...]
    dominated: tuple[str, ...]
    is_feasible: Booleans = field(repr=False, compare=False)
    is_pareto: Booleans = field(repr=False, compare=False)
    is_dominated: Booleans = field(repr=False, compare=False)


class Scores(NamedTuple):
    """Means with larger = better, breach = A x − b in the user's units, and the tolerances."""

    gains: Floats  # [K, d]
    breach: Floats  # [K, m]
    tolerance: Floats  # [d]
    row_tolerance: Floats  # [m]


def breaches(means: Floats, A: Floats, b: Floats) -> Floats:
    """Return A x − b of every arm and row, [K, m]: positive if the arm violates the row.

    Summed objective by objective, so that the last bit is the same on every machine.
    """
    total = np.zeros((len(means), len(b)))
    for c in range(means.shape[1]):
        total += means[:, c, None] * A[None, :, c]
    return total - b


def true_sets(scores: Scores) -> tuple[Booleans, Booleans, Booleans]:
    """Return which arms are feasible (the boundary included), dominated by another feasible arm, and Pareto-optimal."""
    feasible = np.all(scores.breach <= 0, axis=1)
    dominated = beaten_arms(scores.gains, feasible, np.zeros_like(scores.tolerance))
    return feasible, dominated, feasible & ~dominated


def beaten_arms(gains: Floats, feasible: Booleans, tolerance: Floats) -> Booleans:
    """Return which arms some *other* feasible arm beats by more than the tolerance in every objective, [K].

    With tolerance 0 a tie counts as beaten, as in the exact definition. It is enough to compare with the maximal
    points among the feasible arms.

    >>> beaten_arms(np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]), np.array([True, True, False]), np.zeros(2))
    array([False,  True,  True])
    """
    points, counts = np.unique(gains[feasible] + 0.0, axis=0, return_counts=True)
    front, shared = _maximal(points, counts)
    answer = np.zeros(len(gains), dtype=bool_)
    for rows in _slices(len(gains), len(front)):
        # A maximal point beats its own arm only through another feasible arm with the same means.
        lone = feasible[rows, None] & (shared == 1)
        beaten = np.ones(lone.shape, dtype=bool_)
        for c, allowed in enumerate(tolerance):
            lead = front[:, c] - gains[rows, c, None]
            beaten &= lead > allowed if allowed > 0 else lead >= 0
            lone &= lead == 0
        answer[rows] = np.any(beaten & ~lone, axis=1)
    return answer


def wrong_answers(statuses: NDArray[np.integer], scores: Scores, task: str) -> Booleans:
    """Return which of the answers, statuses [runs, K], make a false claim at these means, [runs].

    Without tolerances (spec §1): e-cpsi asks for O ⊂ O*, S ⊂ SubOpt, I ⊂ F^c; cpsi asks that returned arms are in O*
    and no other arm of O* is ruled out. If no arm is undecided this is the full definition, O = O* included.
    """
    if np.any(scores.tolerance > 0) or np.any(scores.row_tolerance > 0):
        return _wrong_within_tolerance(statuses, scores, task)
    feasible, dominated, pareto = true_sets(scores)
    returned, called_dominated, called_infeasible = _claims(statuses)
    if task == CPSI:
        false = (returned & ~pareto) | ((called_dominated | called_infeasible) & pareto)
    else:
        false = (returned & ~pareto) | (called_dominated & ~dominated) | (called_infeasible & feasible)
    return np.asarray(np.any(false, axis=1), dtype=bool_)


def _wrong_within_tolerance(statuses: NDArray[np.integer], scores: Scores, task: str) -> Booleans:
    """Spec §8 (5): returned arms are within tolerance; S is exactly dominated by returned arms; I exactly infeasible.

    While some arm is undecided, the arm that dominates one of S need not be returned yet: any arm that is feasible
    within tolerance will do, since a verdict claims no more by then.
    """
    feasible = np.all(scores.breach <= 0, axis=1)
    nearly = np.all(scores.breach <= scores.row_tolerance, axis=1)
    acceptable = nearly & ~beaten_arms(scores.gains, feasible, scores.tolerance)
    returned, called_dominated, called_infeasible = _claims(statuses)
    complete = ~np.any(statuses == UNDECIDED, axis=1)
    rivals = np.where(complete[:, None], returned, nearly)
    out = (called_dominated | called_infeasible) if task == CPSI else called_dominated
    justified = _dominated_by(rivals, scores.gains, out)
    if task == CPSI:
        false = (returned & ~acceptable) | (out & feasible & ~justified)
    else:
        false = (returned & ~acceptable) | (called_dominated & ~justified) | (called_infeasible & feasible)
    return np.asarray(np.any(false, axis=1), dtype=bool_)


def _claims(statuses: NDArray[np.integer]) -> tuple[Booleans, Booleans, Booleans]:
    return statuses == OPTIMAL, statuses == DOMINATED, statuses == INFEASIBLE


def _dominated_by(rivals: Booleans, gains: Floats, asked: Booleans) -> Booleans:
    """Return for each run which of the asked arms some other arm among its rivals dominates exactly, [runs, K]."""
    columns, asked_arms = np.flatnonzero(np.any(rivals, axis=0)), np.flatnonzero(np.any(asked, axis=0))
    answer = np.zeros(asked.shape, dtype=bool_)
    weights = rivals[:, columns].astype(np.float32)
    for part in _slices(len(asked_arms), len(columns) + len(asked)):
        rows = asked_arms[part]
        above = rows[:, None] != columns
        for c in range(gains.shape[1]):
            above &= gains[columns, c] >= gains[rows, c, None]
        answer[:, rows] = weights @ above.T.astype(np.float32) > 0
    return answer


def _maximal(points: Floats, counts: NDArray[np.integer]) -> tuple[Floats, NDArray[np.integer]]:
    """Return the maximal points, with their counts; points are distinct and in lexicographic order.

    A point that dominates another comes after it in lexicographic order, so a walk from the end meets it first.
    """
    kept = np.zeros(0, dtype=np.intp)
    step = 256
    for stop in range(len(points), 0, -step):
        block = np.arange(stop - 1, max(stop - step, 0) - 1, -1)
        for candidates in (kept, block):
            dominated = np.zeros(len(block), dtype=bool_)
            for part in _slices(len(block), len(candidates)):
                above = block[part, None] != candidates
                for c in range(points.shape[1]):
                    above &= points[candidates, c] >= points[block[part], c, None]
                dominated[part] = np.any(above, axis=1)
            block = block[~dominated]
        kept = np.concatenate([kept, block])
    return points[kept], counts[kept]


def _slices(rows: int, columns: int) -> Iterator[slice]:
    """Cut the rows so that a table of rows × columns keeps within CELLS."""
    step = max(1, CELLS // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, start + step)
