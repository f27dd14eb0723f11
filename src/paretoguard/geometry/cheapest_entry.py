"""An arm outside the Pareto set enters: the cheapest way, over all maps from the arms of O to objectives.

If arm i enters P and is dominated by no arm of O, each arm j of O falls to the level of i in one objective c(j).
Which maps c can be best is decided by the means of O alone: for some point x, c(j) is the objective in which j is
least ahead of x. These maps are the cells of an arrangement of p tropical hyperplanes: at most C(p+d-1, d-1) of them.
They are walked through one arm of O after another, leaving out what is no cell and what costs more than the best
found so far; for each, a convex problem is solved exactly.
"""

import math
from typing import NamedTuple

from paretoguard.compiler.jit import aside, inner
from paretoguard.geometry.active_set import Workspace, beyond_rows, workspace
from paretoguard.geometry.polyhedron import BOX, FREE, Polyhedron
from paretoguard.numeric import Bytes, Floats, Integers, floats, integers

LEAST_WEIGHT = 1e-13  # of the largest; an arm of no weight counts as much where a problem would not have one solution
STEPS = 100


class Entrant(NamedTuple):
    """Arm i is to enter P: {x : A x <= b}, or all of space."""

    region: Polyhedron  # P
    means: Floats  # [K, d]
    w: Floats  # [K] weights of the arms, >= 0
    i: int


class Walk(NamedTuple):
    """Memory of a walk through the maps; one per thread."""

    members: Integers  # [K] the arms of O
    order: Integers  # [d, K] places in `members`, the largest mean of an objective first
    low: Floats  # [d] of a box
    high: Floats  # [d]
    best: Integers  # [K] the best map, by place in `members`
    entered: Floats  # [d] where the arm goes in it
    choice: Integers  # [K] the map at hand
    trial: Floats  # [d] where the arm goes in it
    after: Integers  # [K + 1] the objective to try next
    size: Integers  # [1] how many arms O has
    cells: Floats  # [K + 1, d, d] upper bounds of x_b - x_a that the choices so far imply
    costs: Floats  # [K + 1, d] of each objective
    row: Floats  # [d]
    target: Floats  # [d] of the piece at hand: its minimum …
    slope: Floats  # [d] … and its curvature
    A: Floats  # [m, d] rows in the metric of the piece at hand
    rhs: Floats  # [m]
    work: Workspace


def walk_memory(arms: int, objectives: int, rows: int) -> Walk:
    K, d = arms, objectives
    return Walk(
        members=integers(K),
        order=integers(d, K),
        low=floats(d),
        high=floats(d),
        best=integers(K),
        entered=floats(d),
        choice=integers(K),
        trial=floats(d),
        after=integers(K + 1),
        size=integers(1),
        cells=floats(K + 1, d, d),
        costs=floats(K + 1, d),
        row=floats(d),
        target=floats(d),
        slope=floats(d),
        A=floats(rows, d),
        rhs=floats(rows),
        work=workspace(rows, d),
    )


@inner
def prepare_walk(region: Polyhedron, means: Floats, optimal: Bytes, walk: Walk) -> None:
    """List the arms of O, and sort them in each objective."""
    K, d = means.shape
    size = 0
    for i in range(K):
        if optimal[i] == 1:
            walk.members[size] = i
            size += 1
    walk.size[0] = size
    for c in range(d):
        for k in range(size):
            place = k
            while place > 0 and means[walk.members[walk.order[c, place - 1]], c] < means[walk.members[k], c]:
                walk.order[c, place] = walk.order[c, place - 1]
                place -= 1
            walk.order[c, place] = k
        walk.low[c], walk.high[c] = -math.inf, math.inf
    if _is_box(region):
        for row in range(region.A.shape[0]):
            c = region.axis[row]
            if region.A[row, c] > 0.0:
                walk.high[c] = min(walk.high[c], region.b[row] / region.A[row, c])
            else:
                walk.low[c] = max(walk.low[c], region.b[row] / region.A[row, c])


@inner
def _is_box(region: Polyhedron) -> bool:
    """True if every row limits one objective."""
    return bool(region.shape == BOX or (region.A.shape[0] == 1 and region.axis[0] >= 0))


@aside
def enter(entrant: Entrant, limit: float, walk: Walk) -> float:
    """Return what it costs that i enters P and no arm of O dominates it, if less than `limit`; else +inf.

    Leaves the point in walk.entered and the map in walk.best.
    """
    region, means = entrant.region, entrant.means
    d = means.shape[1]
    size, level, best = int(walk.size[0]), 0, limit
    is_general = region.shape != FREE and not _is_box(region)
    for a in range(d):
        walk.costs[0, a] = _axis(entrant, a, -1, walk)
        for b in range(d):
            walk.cells[0, a, b] = 0.0 if a == b else math.inf
    walk.after[0] = 0
    while level >= 0:
        total = 0.0
        for c in range(d):
            total += walk.costs[level, c]
        if total >= best or (level < size and walk.after[level] == d):
            level -= 1
            continue
        if level == size:
            if is_general:
                total = _constrained(entrant, size, walk)
            else:
                for c in range(d):
                    walk.trial[c] = _least_point(entrant, c, size - 1, walk)
            if total < best:
                best = total
                for c in range(d):
                    walk.entered[c] = walk.trial[c]
                for k in range(size):
                    walk.best[k] = walk.choice[k]
            level -= 1
            continue
        c = walk.after[level]
        walk.after[level] = c + 1
        walk.choice[level] = c
        if _narrow(means, walk.members[level], level, c, walk):
            for a in range(d):
                walk.costs[level + 1, a] = walk.costs[level, a]
            walk.costs[level + 1, c] = _axis(entrant, c, level, walk)
            level += 1
            walk.after[level] = 0
    return best if best < limit else math.inf


@inner
def _narrow(means: Floats, j: int, level: int, c: int, walk: Walk) -> bool:
    """Add to the cell that j is least ahead in objective c; False if it has no inside."""
    d = means.shape[1]
    now, then = walk.cells[level], walk.cells[level + 1]
    for b in range(d):
        walk.row[b] = now[c, b]
        for a in range(d):
            bound = min(now[c, a], means[j, a] - means[j, c]) if a != c else 0.0
            walk.row[b] = min(walk.row[b], bound + now[a, b])
    for a in range(d):
        if a != c and walk.row[a] + now[a, c] <= 0.0:
            return False
    for a in range(d):
        for b in range(d):
            then[a, b] = min(now[a, b], now[a, c] + walk.row[b]) if a != c else walk.row[b]
    return True


@inner
def _least_point(entrant: Entrant, c: int, level: int, walk: Walk) -> float:
    """Return where the entering arm goes in objective c, given the choices up to a level."""
    means, w, i = entrant.means, entrant.w, entrant.i
    x, weight, moment = means[i, c], w[i], w[i] * means[i, c]
    for rank in range(walk.size[0]):
        k = walk.order[c, rank]
        if k <= level and walk.choice[k] == c:
            j = walk.members[k]
            if means[j, c] <= x:
                break
            weight += w[j]
            moment += w[j] * means[j, c]
            x = moment / weight if weight > 0.0 else means[j, c]
    return min(max(x, walk.low[c]), walk.high[c])


@inner
def _axis(entrant: Entrant, c: int, level: int, walk: Walk) -> float:
    """Return the cost of objective c, given the choices up to a level."""
    means, w, i = entrant.means, entrant.w, entrant.i
    x = _least_point(entrant, c, level, walk)
    cost = w[i] * (means[i, c] - x) * (means[i, c] - x)
    for k in range(level + 1):
        if walk.choice[k] == c:
            j = walk.members[k]
            gap = max(0.0, means[j, c] - x)
            cost += w[j] * gap * gap
    return 0.5 * cost


@inner
def _constrained(entrant: Entrant, size: int, walk: Walk) -> float:
    """Return the cost of all objectives together, within a general polyhedron, for a whole map; point in walk.trial.

    The cost is convex, quadratic in pieces, and its slope continuous. Each step minimises the piece at hand within P, a
    projection in its metric, and goes there as far as the cost falls. At the minimum of its own piece it ends.
    """
    means, w, i = entrant.means, entrant.w, entrant.i
    d = means.shape[1]
    most = w[i]
    for k in range(size):
        most = max(most, w[walk.members[k]])
    own = max(w[i], LEAST_WEIGHT * most) if most > 0.0 else 1.0
    for c in range(d):
        walk.slope[c] = 1.0
        walk.target[c] = _least_point(entrant, c, size - 1, walk)
    _project(entrant.region, walk)
    for c in range(d):
        walk.trial[c] = walk.work.point[c]
    for _ in range(STEPS):
        for c in range(d):
            walk.slope[c] = own
            walk.target[c] = own * means[i, c]
        for k in range(size):
            j, c = walk.members[k], walk.choice[k]
            if means[j, c] > walk.trial[c]:
                walk.slope[c] += w[j]
                walk.target[c] += w[j] * means[j, c]
        for c in range(d):
            walk.target[c] /= walk.slope[c]
        _project(entrant.region, walk)
        step = _farthest(entrant, own, size, walk)
        change, length = 0.0, 0.0
        for c in range(d):
            move = step * (walk.work.point[c] - walk.trial[c])
            change, length = max(change, abs(move)), max(length, abs(walk.trial[c]))
            walk.trial[c] += move
        if change <= 1e-15 * (1.0 + length):
            break
    cost = 0.0
    for c in range(d):
        cost += w[i] * (means[i, c] - walk.trial[c]) * (means[i, c] - walk.trial[c])
    for k in range(size):
        j, c = walk.members[k], walk.choice[k]
        gap = max(0.0, means[j, c] - walk.trial[c])
        cost += w[j] * gap * gap
    return 0.5 * cost


@inner
def _project(region: Polyhedron, walk: Walk) -> None:
    """Write into walk.work.point the point of P nearest to walk.target in the metric walk.slope."""
    m, d = region.A.shape
    for row in range(m):
        square = 0.0
        for c in range(d):
            walk.A[row, c] = region.A[row, c] / math.sqrt(walk.slope[c])
            square += walk.A[row, c] * walk.A[row, c]
        norm = math.sqrt(square)
        walk.rhs[row] = region.b[row] / norm
        for c in range(d):
            walk.A[row, c] /= norm
    for c in range(d):
        walk.row[c] = walk.target[c] * math.sqrt(walk.slope[c])
        walk.work.point[c] = walk.row[c]
    beyond_rows(walk.A, walk.rhs, walk.row, walk.work)
    for c in range(d):
        walk.work.point[c] /= math.sqrt(walk.slope[c])


@inner
def _farthest(entrant: Entrant, own: float, size: int, walk: Walk) -> float:
    """Return how far from walk.trial (0) to walk.work.point (1) the cost falls: where its slope is 0."""
    means, w, i = entrant.means, entrant.w, entrant.i
    low, high, step = 0.0, 1.0, 1.0
    for _ in range(STEPS):
        slope, bend = 0.0, 0.0
        for c in range(means.shape[1]):
            move = walk.work.point[c] - walk.trial[c]
            slope += own * move * (walk.trial[c] + step * move - means[i, c])
            bend += own * move * move
        for k in range(size):
            j, c = walk.members[k], walk.choice[k]
            move = walk.work.point[c] - walk.trial[c]
            gap = means[j, c] - walk.trial[c] - step * move
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
