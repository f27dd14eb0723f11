"""The claims that an undecided arm still lacks, and about how many more pulls they would take."""

import math

import numpy as np

from paretoguard.engine.explain import (
    DOMINATION,
    FEASIBILITY,
    NON_DOMINATION,
    claim,
    closest_rival,
    likeliest_dominator,
)
from paretoguard.verdict.result import Missing
from paretoguard.verdict.snapshot import Snapshot, unvaried

MOST_PULLS = 10**12  # more than this is "no number of pulls would do"


def _is_certified(numbers: Snapshot, kind: int, i: int, j: int, level: int = 0) -> bool:
    """True if a claim would be certified at the present means, with at least `level` pulls of i and j."""
    counts = numbers.view.state.counts
    pulls = max(int(counts[i]), level), max(int(counts[j]), level)
    return bool(claim(numbers.view, kind, (i, j), pulls) >= 0.0)


def _pulls_needed(numbers: Snapshot, kind: int, i: int, j: int) -> dict[str, int]:
    """Return how many more pulls of i (and j) would certify a claim at the present means; {} if no number would.

    The arm with fewer pulls is raised to the other's count first, then both together.
    """
    counts = numbers.view.state.counts
    high = max(int(min(counts[i], counts[j])), 1)
    while not _is_certified(numbers, kind, i, j, high):
        high *= 2
        if high > MOST_PULLS:
            return {}
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_certified(numbers, kind, i, j, middle) else (middle, high)
    needed = {numbers.problem.arms[k]: max(0, high - int(counts[k])) for k in {i: None, j: None}}
    return {arm: number for arm, number in needed.items() if number > 0}


def _missing(numbers: Snapshot, kind: int, i: int, j: int, text: str) -> Missing:
    if pulls := _pulls_needed(numbers, kind, i, j):
        return Missing(text, pulls)
    if i == j:
        return Missing(text, {}, unvaried(numbers, i))
    compared = numbers.problem.compared  # of two arms only what is compared counts
    names = (name for arm in (i, j) for name in unvaried(numbers, arm) if name in compared)
    return Missing(text, {}, tuple(dict.fromkeys(names)))


def open_claims(numbers: Snapshot, i: int, row: int | None) -> tuple[str, list[Missing]]:
    """Return what arm i looks like, and the claims that would settle it, the decisive one first."""
    arms, state = numbers.problem.arms, numbers.view.state
    text = "" if row is None else str(numbers.problem.constraints[row])
    if state.optimal[i] == 1:
        rival = closest_rival(numbers.view, i)
        options = []
        if not _is_certified(numbers, FEASIBILITY, i, i):
            options.append(_missing(numbers, FEASIBILITY, i, i, f"that {text} holds"))
        if rival >= 0 and not _is_certified(numbers, NON_DOMINATION, i, rival):
            options.append(_missing(numbers, NON_DOMINATION, i, rival, f"that {arms[rival]} does not dominate it"))
        return "looks optimal", sorted(options, key=_cost, reverse=True)  # all are needed: the dearest decides
    by = likeliest_dominator(numbers.view, i)
    below: list[Missing] = []
    if by >= 0 and not _is_certified(numbers, DOMINATION, i, by):
        below.append(_missing(numbers, DOMINATION, i, by, f"that {arms[by]} dominates it"))
    elif by >= 0:
        side = f"on which side of the constraints {arms[by]}, which dominates it, lies"
        below.append(_missing(numbers, FEASIBILITY, by, by, side))
    if state.inside[i] == 1:
        return (f"ties with {arms[by]}" if by >= 0 and _ties(numbers, i, by) else "looks dominated"), below
    # One claim is enough for an arm outside: the cheaper decides.
    fails = _missing(numbers, FEASIBILITY, i, i, f"that {text} fails")
    if below and _cost(below[0]) < _cost(fails):
        return "looks dominated and infeasible", below
    return "looks infeasible", [fails]


def _ties(numbers: Snapshot, i: int, j: int) -> bool:
    places = [c for c, name in enumerate(numbers.problem.objectives) if name in numbers.problem.compared]
    return bool(np.allclose(numbers.means[i, places], numbers.means[j, places], rtol=1e-12, atol=0.0))


def _cost(missing: Missing) -> float:
    return float(sum(missing.pulls.values())) if missing.pulls else math.inf
