"""The nearest way to be wrong: the means closest to the given ones, in weighted distance, for which the answer changes.

For an answer O (the Pareto set of the arms inside P) and weights w, the least of sum_i w_i/2 |mean_i - moved_i|^2 over
all means `moved` with another answer. Some arm changes its place:

- an arm of O leaves P: the nearest row;
- an arm of O becomes dominated by another of O: both meet where the first leads;
- an arm i outside O enters P and is dominated by no arm of O. Each arm j of O then falls to the level of i in one
  objective c(j). Which maps c can be best is decided by the means of O alone: for some point x, c(j) is the objective
  in which j is least ahead of x. These maps are the cells of an arrangement of p tropical hyperplanes: at
  most C(p+d-1, d-1) of them. They are walked through one arm of O after another, leaving out what is no cell and
  what costs more than the best found so far; for each, a convex problem is solved exactly.

The value is linear in w for fixed means `moved`, so that its gradient is `half`: value = sum_i w_i half_i.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.engine.active_set import Workspace, beyond_rows, workspace
from paretoguard.engine.geometry import BOX, FREE, Polyhedron
from paretoguard.engine.jit import aside, entry, inner

Floats = NDArray[float64]
Integers = NDArray[int64]
LEAST_WEIGHT = 1e-13  # of the largest; an arm of no weight counts as much where a problem would not have one solution
STEPS = 100


class Alternative(NamedTuple):
    """The answer in the first two, scratch in the rest; one per thread."""

    half: Floats  # [K] half the squared distance that each arm moves: the gradient
    moved: Floats  # [K, d] the means with another answer (or on the border of one)
    point: Floats  # [d] where the entering arm goes, of the best map
    entered: Floats  # [d] … of the best map of the arm at hand
    trial: Floats  # [d] … of the map at hand
    target: Floats  # [d]
    slope: Floats  # [d]
    low: Floats  # [d] of a box
    high: Floats  # [d]
    members: Integers  # [K] the arms of O
    order: Integers  # [d, K] places in `members`, the largest mean of an objective first
    choice: Integers  # [K] the map at hand, by place in `members`
    best: Integers  # [K] the best map
    after: Integers  # [K + 1] the objective to try next
    cells: Floats  # [K + 1, d, d] upper bounds of x_b - x_a that the choices so far imply
    row: Floats  # [d]
    costs: Floats  # [K + 1, d] of each objective
    A: Floats  # [m, d] rows in the metric of the problem at hand
    rhs: Floats  # [m]
    work: Workspace


def alternative(arms: int, objectives: int, rows: int) -> Alternative:
    """Memory for `nearest`."""
    K, d = arms, objectives

    def floats(*shape: int) -> Floats:
        return np.zeros(shape)

    def integers(*shape: int) -> Integers:
        return np.zeros(shape, dtype=int64)

    return Alternative(
        half=floats(K),
        moved=floats(K, d),
        point=floats(d),
        entered=floats(d),
        trial=floats(d),
        target=floats(d),
        slope=floats(d),
        low=floats(d),
        high=floats(d),
        members=integers(K),
        order=integers(d, K),
        choice=integers(K),
        best=integers(K),
        after=integers(K + 1),
        cells=floats(K + 1, d, d),
        row=floats(d),
        costs=floats(K + 1, d),
        A=floats(rows, d),
        rhs=floats(rows),
        work=workspace(rows, d),
    )


@entry
def nearest_alternative(
    region: Polyhedron, means: Floats, optimal: NDArray[uint8], w: Floats, found: Alternative
) -> float:
    """The value, for means [K, d], the answer optimal [K] and weights w [K] >= 0; +inf if no means have another."""
    return nearest(region, means, optimal, w, found)


@entry
def entering_alternative(
    region: Polyhedron, means: Floats, optimal: NDArray[uint8], w: Floats, i: int, found: Alternative
) -> float:
    """The value of arm i, outside O, entering P undominated by O; for P the whole space, only the latter."""
    prepare(region, means, optimal, found)
    value = enter(region, means, w, i, math.inf, found)
    _write_entered(means, i, found)
    return value


@inner
def nearest(region: Polyhedron, means: Floats, optimal: NDArray[uint8], w: Floats, found: Alternative) -> float:
    """The least weighted distance to means with another answer."""
    prepare(region, means, optimal, found)
    value, kind, first, second = math.inf, 0, -1, -1
    size = int(found.after[means.shape[0]])
    for k in range(size):
        i = found.members[k]
        row = _nearest_row(region, means, i)
        if row >= 0:
            slack = _slack(region, means, i, row)
            if 0.5 * w[i] * slack * slack < value:
                value, kind, first, second = 0.5 * w[i] * slack * slack, 1, i, row
        for other in range(size):
            j = found.members[other]
            if j != i:
                cost = meeting(means, w, i, j)
                if cost < value:
                    value, kind, first, second = cost, 2, i, j
    for i in range(means.shape[0]):
        if optimal[i] == 0:
            cost = enter(region, means, w, i, value, found)
            if cost < value:
                value, kind, first = cost, 3, i
                for c in range(means.shape[1]):
                    found.point[c] = found.entered[c]
    _forget(means, found)
    if kind == 1:
        _leave(region, means, first, second, found)
    elif kind == 2:
        _meet(means, w, first, second, found)
    elif kind == 3:
        _enter_at(means, first, size, found)
    return value


@inner
def prepare(region: Polyhedron, means: Floats, optimal: NDArray[uint8], found: Alternative) -> None:
    """List the arms of O, and sort them in each objective."""
    K, d = means.shape
    size = 0
    for i in range(K):
        if optimal[i] == 1:
            found.members[size] = i
            size += 1
    found.after[K] = size
    for c in range(d):
        for k in range(size):
            place = k
            while place > 0 and means[found.members[found.order[c, place - 1]], c] < means[found.members[k], c]:
                found.order[c, place] = found.order[c, place - 1]
                place -= 1
            found.order[c, place] = k
        found.low[c], found.high[c] = -math.inf, math.inf
    if region.shape == BOX or (region.A.shape[0] == 1 and region.axis[0] >= 0):
        for row in range(region.A.shape[0]):
            c = region.axis[row]
            if region.A[row, c] > 0.0:
                found.high[c] = min(found.high[c], region.b[row] / region.A[row, c])
            else:
                found.low[c] = max(found.low[c], region.b[row] / region.A[row, c])


# --- an arm of O leaves ----------------------------------------------------------------------------------------------


@inner
def _slack(region: Polyhedron, means: Floats, i: int, row: int) -> float:
    slack: float = region.b[row]
    for c in range(region.A.shape[1]):
        slack -= region.A[row, c] * means[i, c]
    return slack


@inner
def _nearest_row(region: Polyhedron, means: Floats, i: int) -> int:
    least, nearest_row = math.inf, -1
    for row in range(region.A.shape[0]):
        slack = _slack(region, means, i, row)
        if slack < least:
            least, nearest_row = slack, row
    return nearest_row


@inner
def meeting(means: Floats, w: Floats, i: int, j: int) -> float:
    """What it costs that i is dominated by j."""
    total = w[i] + w[j]
    share = w[i] * w[j] / total if total > 0.0 else 0.0
    square = 0.0
    for c in range(means.shape[1]):
        lead = max(0.0, means[i, c] - means[j, c])
        square += lead * lead
    return 0.5 * share * square


@inner
def _forget(means: Floats, found: Alternative) -> None:
    for i in range(means.shape[0]):
        found.half[i] = 0.0
        for c in range(means.shape[1]):
            found.moved[i, c] = means[i, c]


@inner
def _leave(region: Polyhedron, means: Floats, i: int, row: int, found: Alternative) -> None:
    slack = _slack(region, means, i, row)
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


@aside
def enter(region: Polyhedron, means: Floats, w: Floats, i: int, limit: float, found: Alternative) -> float:
    """What it costs that i enters P and no arm of O dominates it, if less than `limit`; else +inf.

    Leaves the point in found.entered and the map in found.best.
    """
    K, d = means.shape
    size, level, best = int(found.after[K]), 0, limit
    is_general = region.shape != FREE and region.shape != BOX and not (region.A.shape[0] == 1 and region.axis[0] >= 0)
    for a in range(d):
        found.costs[0, a] = _axis(means, w, i, a, -1, found)
        for b in range(d):
            found.cells[0, a, b] = 0.0 if a == b else math.inf
    found.after[0] = 0
    while level >= 0:
        total = 0.0
        for c in range(d):
            total += found.costs[level, c]
        if total >= best or (level < size and found.after[level] == d):
            level -= 1
            continue
        if level == size:
            if is_general:
                total = _constrained(region, means, w, i, size, found)
            else:
                for c in range(d):
                    found.trial[c] = _least_point(means, w, i, c, size - 1, found)
            if total < best:
                best = total
                for c in range(d):
                    found.entered[c] = found.trial[c]
                for k in range(size):
                    found.best[k] = found.choice[k]
            level -= 1
            continue
        c = found.after[level]
        found.after[level] = c + 1
        found.choice[level] = c
        if _narrow(means, found.members[level], level, c, found):
            for a in range(d):
                found.costs[level + 1, a] = found.costs[level, a]
            found.costs[level + 1, c] = _axis(means, w, i, c, level, found)
            level += 1
            found.after[level] = 0
    return best if best < limit else math.inf


@inner
def _narrow(means: Floats, j: int, level: int, c: int, found: Alternative) -> bool:
    """Add to the cell that j is least ahead in objective c; False if it has no inside."""
    d = means.shape[1]
    now, then = found.cells[level], found.cells[level + 1]
    for b in range(d):
        found.row[b] = now[c, b]
        for a in range(d):
            bound = min(now[c, a], means[j, a] - means[j, c]) if a != c else 0.0
            found.row[b] = min(found.row[b], bound + now[a, b])
    for a in range(d):
        if a != c and found.row[a] + now[a, c] <= 0.0:
            return False
    for a in range(d):
        for b in range(d):
            then[a, b] = min(now[a, b], now[a, c] + found.row[b]) if a != c else found.row[b]
    return True


@inner
def _least_point(means: Floats, w: Floats, i: int, c: int, level: int, found: Alternative) -> float:
    """Where the entering arm goes in objective c, given the choices up to a level."""
    x, weight, moment = means[i, c], w[i], w[i] * means[i, c]
    for rank in range(found.after[means.shape[0]]):
        k = found.order[c, rank]
        if k <= level and found.choice[k] == c:
            j = found.members[k]
            if means[j, c] <= x:
                break
            weight += w[j]
            moment += w[j] * means[j, c]
            x = moment / weight if weight > 0.0 else means[j, c]
    return min(max(x, found.low[c]), found.high[c])


@inner
def _axis(means: Floats, w: Floats, i: int, c: int, level: int, found: Alternative) -> float:
    """The cost of objective c, given the choices up to a level."""
    x = _least_point(means, w, i, c, level, found)
    cost = w[i] * (means[i, c] - x) * (means[i, c] - x)
    for k in range(level + 1):
        if found.choice[k] == c:
            j = found.members[k]
            gap = max(0.0, means[j, c] - x)
            cost += w[j] * gap * gap
    return 0.5 * cost


@inner
def _constrained(region: Polyhedron, means: Floats, w: Floats, i: int, size: int, found: Alternative) -> float:
    """The same in all objectives together, within a general polyhedron, for a whole map; the point in found.trial.

    The cost is convex, quadratic in pieces, and its slope continuous. Each step minimises the piece at hand within P, a
    projection in its metric, and goes there as far as the cost falls. At the minimum of its own piece it ends.
    """
    d = means.shape[1]
    most = w[i]
    for k in range(size):
        most = max(most, w[found.members[k]])
    own = max(w[i], LEAST_WEIGHT * most) if most > 0.0 else 1.0
    for c in range(d):
        found.slope[c] = 1.0
        found.target[c] = _least_point(means, w, i, c, size - 1, found)
    _project(region, found)
    for c in range(d):
        found.trial[c] = found.work.point[c]
    for _ in range(STEPS):
        for c in range(d):
            found.slope[c] = own
            found.target[c] = own * means[i, c]
        for k in range(size):
            j, c = found.members[k], found.choice[k]
            if means[j, c] > found.trial[c]:
                found.slope[c] += w[j]
                found.target[c] += w[j] * means[j, c]
        for c in range(d):
            found.target[c] /= found.slope[c]
        _project(region, found)
        step = _farthest(means, w, i, own, size, found)
        change, length = 0.0, 0.0
        for c in range(d):
            move = step * (found.work.point[c] - found.trial[c])
            change, length = max(change, abs(move)), max(length, abs(found.trial[c]))
            found.trial[c] += move
        if change <= 1e-15 * (1.0 + length):
            break
    cost = 0.0
    for c in range(d):
        cost += w[i] * (means[i, c] - found.trial[c]) * (means[i, c] - found.trial[c])
    for k in range(size):
        j, c = found.members[k], found.choice[k]
        gap = max(0.0, means[j, c] - found.trial[c])
        cost += w[j] * gap * gap
    return 0.5 * cost


@inner
def _project(region: Polyhedron, found: Alternative) -> None:
    """The point of P nearest to found.target in the metric found.slope, in found.work.point."""
    m, d = region.A.shape
    for row in range(m):
        square = 0.0
        for c in range(d):
            found.A[row, c] = region.A[row, c] / math.sqrt(found.slope[c])
            square += found.A[row, c] * found.A[row, c]
        norm = math.sqrt(square)
        found.rhs[row] = region.b[row] / norm
        for c in range(d):
            found.A[row, c] /= norm
    for c in range(d):
        found.row[c] = found.target[c] * math.sqrt(found.slope[c])
        found.work.point[c] = found.row[c]
    beyond_rows(found.A, found.rhs, found.row, found.work)
    for c in range(d):
        found.work.point[c] /= math.sqrt(found.slope[c])


@inner
def _farthest(means: Floats, w: Floats, i: int, own: float, size: int, found: Alternative) -> float:
    """How far from found.trial (0) to found.work.point (1) the cost falls: where its slope, piecewise linear, is 0."""
    low, high, step = 0.0, 1.0, 1.0
    for _ in range(STEPS):
        slope, bend = 0.0, 0.0
        for c in range(means.shape[1]):
            move = found.work.point[c] - found.trial[c]
            slope += own * move * (found.trial[c] + step * move - means[i, c])
            bend += own * move * move
        for k in range(size):
            j, c = found.members[k], found.choice[k]
            move = found.work.point[c] - found.trial[c]
            gap = means[j, c] - found.trial[c] - step * move
            if gap > 0.0:
                slope -= w[j] * move * gap
                bend += w[j] * move * move
        if slope <= 0.0:
            if step == 1.0:
                return 1.0
            low = step
        else:
            high = step
        following = step - slope / bend if bend > 0.0 else 0.5 * (low + high)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - step) <= 1e-15:
            return following
        step = following
    return step


@inner
def _enter_at(means: Floats, i: int, size: int, found: Alternative) -> None:
    for c in range(means.shape[1]):
        found.moved[i, c] = found.point[c]
        found.half[i] += 0.5 * (means[i, c] - found.point[c]) * (means[i, c] - found.point[c])
    for k in range(size):
        j, c = found.members[k], found.best[k]
        gap = max(0.0, means[j, c] - found.point[c])
        found.moved[j, c] -= gap
        found.half[j] += 0.5 * gap * gap


@inner
def _write_entered(means: Floats, i: int, found: Alternative) -> None:
    for c in range(means.shape[1]):
        found.point[c] = found.entered[c]
    _forget(means, found)
    _enter_at(means, i, int(found.after[means.shape[0]]), found)
