"""The constraints as a set {x : A x <= b}: its rows, which share an objective, how far a point is from it."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog, nnls

ROUNDING = 1e-12  # rows that clash by no more touch
EMPTY = 1e-9  # a residual that is none


def needed(A: Sequence[Sequence[float]], b: Sequence[float]) -> list[bool]:
    """Which rows do not follow from the others; of rows that follow from each other one is kept.

    >>> needed([[1.0], [1.0], [-1.0]], [1.0, 2.0, 0.0])
    [True, False, True]
    """
    kept = [True] * len(b)
    if all(sum(entry != 0.0 for entry in row) == 1 for row in A):
        tightest: dict[tuple[int, bool], int] = {}
        for row, entries in enumerate(A):
            (place,) = (c for c, entry in enumerate(entries) if entry)
            side = (place, entries[place] > 0.0)
            other = tightest.setdefault(side, row)
            if b[row] / abs(entries[place]) < b[other] / abs(A[other][place]):
                tightest[side] = row
        return [row in tightest.values() for row in range(len(b))]
    for row in sorted(range(len(b)), key=lambda row: -b[row]):  # the farthest first
        others = [k for k in range(len(b)) if kept[k] and k != row]
        if not others:
            continue
        goal, rows = -np.array(A[row]), np.array([A[k] for k in others])
        most = linprog(goal, A_ub=rows, b_ub=[b[k] for k in others], bounds=(None, None), method="highs")
        kept[row] = not (most.status == 0 and -most.fun <= b[row] + 1e-9 * (1.0 + abs(b[row])))
    return kept


def joined(uses: Sequence[set[int]]) -> list[list[int]]:
    """Groups of rows, given the objectives that each uses: rows that share one are together.

    >>> joined([{0}, {1, 2}, {0}, {2}])
    [[0, 2], [1, 3]]
    """
    groups: list[tuple[set[int], list[int]]] = []
    for row, mine in enumerate(uses):
        apart = [group for group in groups if not group[0] & mine]
        meeting = [group for group in groups if group[0] & mine]
        everything = mine.union(*(group[0] for group in meeting))
        members = sorted([row, *(member for group in meeting for member in group[1])])
        groups = [*apart, (everything, members)]
    return sorted(members for _, members in groups)


def distance(A: Sequence[Sequence[float]], slacks: Sequence[float]) -> float:
    """From a point with these slacks b - A x to the set; +inf if the set is empty.

    The least u with -A u >= -slack is read off the residual of a nonnegative least-squares problem (Lawson and Hanson's
    least-distance programming).

    >>> round(distance([[1.0, 0.0], [0.0, -1.0]], [-3.0, -4.0]), 9)
    5.0
    """
    short = -np.array(slacks) - ROUNDING * (1.0 + np.abs(slacks))
    size = float(short.max(initial=0.0))
    if size <= 0.0:
        return 0.0
    system = np.vstack([-np.array(A).T, short / size])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    residual = system @ nnls(system, goal)[0] - goal
    if float(np.linalg.norm(residual)) < EMPTY:
        return math.inf
    return size * float(np.linalg.norm(residual[:-1])) / abs(float(residual[-1]))
