"""The nearest way to be wrong: the means closest to the given ones, in weighted distance, for which the answer changes.

For an answer O (the Pareto set of the arms inside P) and weights w, the least of sum_i w_i/2 |mean_i - moved_i|^2 over
all means `moved` with another answer. Some arm changes its place:

- an arm of O leaves P: the nearest row;
- an arm of O becomes dominated by another of O: both meet where the first leads;
- an arm outside O enters P and is dominated by no arm of O: the best of many maps (`cheapest_entry`).

The value is linear in w for fixed means `moved`, so that its gradient is `half`: value = sum_i w_i half_i.
"""

import math
from typing import NamedTuple

from paretoguard.compiler.jit import entry, inner
from paretoguard.geometry.cheapest_entry import Entrant, Walk, enter, prepare_walk, walk_memory
from paretoguard.geometry.polyhedron import Polyhedron, row_slack
from paretoguard.numeric import Bytes, Floats, floats


class Alternative(NamedTuple):
    """The answer, and memory to find it; one per thread."""

    half: Floats  # [K] half the squared distance that each arm moves: the gradient
    moved: Floats  # [K, d] the means with another answer (or on the border of one)
    slack: Floats  # [d] zeros
    walk: Walk


def alternative(arms: int, objectives: int, rows: int) -> Alternative:
    half, moved, slack = floats(arms), floats(arms, objectives), floats(objectives)
    return Alternative(half, moved, slack, walk_memory(arms, objectives, rows))


@entry
def nearest_alternative(region: Polyhedron, means: Floats, optimal: Bytes, w: Floats, found: Alternative) -> float:
    """Return `nearest`, for means [K, d], the answer optimal [K] and weights w [K] >= 0."""
    return nearest(region, means, optimal, w, found)


@entry
def entering_alternative(entrant: Entrant, optimal: Bytes, found: Alternative) -> float:
    """Return what arm i, outside O, pays to enter P undominated by O; for P all of space, only for the latter."""
    prepare_walk(entrant.region, entrant.means, optimal, found.walk)
    value = enter(entrant, math.inf, found.walk)
    _forget(entrant.means, found)
    _enter_at(entrant.means, entrant.i, found)
    return value


@inner
def nearest(region: Polyhedron, means: Floats, optimal: Bytes, w: Floats, found: Alternative) -> float:
    """Return the least weighted distance to means with another answer; +inf if there are none."""
    prepare_walk(region, means, optimal, found.walk)
    value, kind, first, second = math.inf, 0, -1, -1
    size = int(found.walk.size[0])
    for k in range(size):
        i = found.walk.members[k]
        row = _nearest_row(region, means, i)
        if row >= 0:
            slack = row_slack(region.A, region.b, means[i], row)
            if 0.5 * w[i] * slack * slack < value:
                value, kind, first, second = 0.5 * w[i] * slack * slack, 1, i, row
        for other in range(size):
            j = found.walk.members[other]
            if j != i:
                cost = meeting(means, w, found.slack, i, j)
                if cost < value:
                    value, kind, first, second = cost, 2, i, j
    for i in range(means.shape[0]):
        if optimal[i] == 0:
            cost = enter(Entrant(region, means, w, i), value, found.walk)
            if cost < value:  # only then does the walk write where the arm goes
                value, kind, first = cost, 3, i
    _forget(means, found)
    if kind == 1:
        _leave(region, means, first, second, found)
    elif kind == 2:
        _meet(means, w, first, second, found)
    elif kind == 3:
        _enter_at(means, first, found)
    return value


# --- an arm of O leaves ----------------------------------------------------------------------------------------------


@inner
def _nearest_row(region: Polyhedron, means: Floats, i: int) -> int:
    least, nearest_row = math.inf, -1
    for row in range(region.A.shape[0]):
        slack = row_slack(region.A, region.b, means[i], row)
        if slack < least:
            least, nearest_row = slack, row
    return nearest_row


@inner
def meeting(means: Floats, w: Floats, slack: Floats, i: int, j: int) -> float:
    """Return what it costs that i is dominated by j, by more than `slack` [d]: both meet where i leads."""
    square = 0.0
    for c in range(means.shape[1]):
        lead = max(0.0, means[i, c] - means[j, c] + slack[c])
        square += lead * lead
    return 0.5 * joint_weight(w, i, j) * square


@inner
def joint_weight(w: Floats, i: int, j: int) -> float:
    """Return the weight of the difference of two arms: that of one whose square costs the same as moving both."""
    total = w[i] + w[j]
    return float(w[i] * w[j] / total) if total > 0.0 else 0.0


@inner
def _forget(means: Floats, found: Alternative) -> None:
    for i in range(means.shape[0]):
        found.half[i] = 0.0
        for c in range(means.shape[1]):
            found.moved[i, c] = means[i, c]


@inner
def _leave(region: Polyhedron, means: Floats, i: int, row: int, found: Alternative) -> None:
    slack = row_slack(region.A, region.b, means[i], row)
    found.half[i] = 0.5 * slack * slack
    for c in range(means.shape[1]):
        found.moved[i, c] += slack * region.A[row, c]


@inner
def _meet(means: Floats, w: Floats, i: int, j: int, found: Alternative) -> None:
    total = w[i] + w[j]
    for c in range(means.shape[1]):
        if means[i, c] > means[j, c]:
            common = (w[i] * means[i, c] + w[j] * means[j, c]) / total if total > 0.0 else means[j, c]
            for k in (i, j):
                found.moved[k, c] = common
                found.half[k] += 0.5 * (means[k, c] - common) * (means[k, c] - common)


# --- an arm enters ---------------------------------------------------------------------------------------------------


@inner
def _enter_at(means: Floats, i: int, found: Alternative) -> None:
    point = found.walk.entered
    for c in range(means.shape[1]):
        found.moved[i, c] = point[c]
        found.half[i] += 0.5 * (means[i, c] - point[c]) * (means[i, c] - point[c])
    for k in range(found.walk.size[0]):
        j, c = found.walk.members[k], found.walk.best[k]
        gap = max(0.0, means[j, c] - point[c])
        found.moved[j, c] -= gap
        found.half[j] += 0.5 * gap * gap
