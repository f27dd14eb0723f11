"""The pitfall: the easiest way in which the empirical answer could still be wrong.

With N the pull counts, each elementary way has a cost, half the weighted squared distance to the nearest means for
which it is true:

- an arm of O leaves P: N_i/2 times the squared slack of the nearest row;
- an arm of O becomes dominated by another of O: both meet where the first leads;
- an arm outside O rises: it becomes undominated by every arm of O (`engine.entering`, in the whole space);
- an arm outside P enters: N_i/2 times its squared distance to P.

To be wrong about an arm that is outside P and below O takes both, so that the larger of its two costs counts: which
reason an arm is given is never decided but here, one arm at a time. For the plain problem (`plain`) an arm outside O
must enter P and be undominated at once, which is one cost.

A way is open while the evidence has not closed it: by likelihood ratio where it has that form (`ratio_bar`), else by
its claim. The pitfall is the open way of least cost. The cost is 1-homogeneous in N, so that the shares
N_a (d cost / d N_a) / cost of the arms in it add up to 1. Which of its two reasons an arm is worked on for is the one
that takes fewer pulls (`_is_dearer`, `_better_reason`): the larger cost alone would hold on to what it began with.
Unless the pitfall is that an arm below O rises, `_doubt` looks after what could make the question idle.

Costs are looked at through lower bounds: of an arm that rises, the cost of rising above the arm of O remembered for it.
Only the arms that these leave as possible minimisers, one or two a decision, need the walk through all maps.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.engine.dominance import best_lead
from paretoguard.engine.entering import Walk, enter, prepare, walk_memory
from paretoguard.engine.evidence.learnt import NEVER
from paretoguard.engine.evidence.parts import below_some, dominated, ratio_bar, undominated
from paretoguard.engine.geometry import Polyhedron, polyhedron
from paretoguard.engine.jit import inner
from paretoguard.engine.space import Space
from paretoguard.engine.state import CLOCK, State, weight_of
from paretoguard.engine.stopping import is_candidate

Floats = NDArray[float64]
NONE, LEAVES, FALLS, RISES, ENTERS, DOUBT = 0, 1, 2, 3, 4, 5
KIND, ARM, OTHER, SIZE = 0, 1, 2, 3  # entries of Pitfalls.found
ROUNDING = 1e-12  # relative; two formulas of one cost differ by less
BUSY = 1.2  # times the pulls of the arm in question: the other is pulled for other ends too
LATER = 1e300  # a cost that comes after all others
NOTHING = 1e-20  # a cost that is 0 but for rounding: it has no shares


class Pitfalls(NamedTuple):
    """Memory to find the pitfall with; what is remembered between decisions changes the speed only."""

    plain: bool  # the plain problem?
    catch_up: float  # see `_doubt`
    region: Polyhedron  # where an arm must be to be among the best: P in the plain problem, else anywhere
    found: NDArray[int64]  # [4] the pitfall: its kind and up to two arms; and how many arms O has
    front: NDArray[int64]  # [K] the arms of O
    counts: Floats  # [K]
    unit: Floats  # [compared]
    points: Floats  # [K, compared] the means in which arms are compared
    share: Floats  # [K] of each arm in the information about the pitfall
    own: Floats  # [K] the cost of entering P; 0 inside
    bound: Floats  # [K] of the cost of each arm outside O, from below; +inf: it is closed, or too dear
    rival: NDArray[int64]  # [K] an arm of O for the bound, or -1
    above: NDArray[uint8]  # [K] the arms of O that dominate the arm at hand, or may do so together
    walk: Walk


def new_pitfalls(space: Space, *, plain: bool, catch_up: float) -> Pitfalls:
    """Nothing remembered yet."""
    K, d = space.arms, space.compared
    region = space.region if plain else polyhedron(np.zeros((0, d)), np.zeros(0))
    return Pitfalls(
        plain=plain,
        catch_up=catch_up,
        region=region,
        found=np.zeros(4, dtype=int64),
        front=np.zeros(K, dtype=int64),
        counts=np.zeros(K),
        unit=np.ones(d),
        points=np.zeros((K, d)),
        share=np.zeros(K),
        own=np.zeros(K),
        bound=np.zeros(K),
        rival=np.full(K, -1, dtype=int64),
        above=np.zeros(K, dtype=uint8),
        walk=walk_memory(K, d, len(region.b)),
    )


@inner
def forget(pitfalls: Pitfalls) -> None:
    """Begin anew."""
    for i in range(pitfalls.rival.shape[0]):
        pitfalls.rival[i] = -1


@inner
def find_pitfall(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls) -> int:
    """Find the open way of least cost, and the shares of its arms; return its kind.

    NONE: every way is closed. DOUBT: another arm is to be pulled before more is spent on it.
    """
    _look(space, state, pitfalls)
    bar = ratio_bar(evidence, now, space, state)
    least = _weakest_member(evidence, now, space, state, pitfalls, bar)
    least = _weakest_pair(evidence, now, space, state, pitfalls, bar, least)
    least = _weakest_outside(evidence, now, space, state, pitfalls, bar, least)
    if pitfalls.found[KIND] == RISES and _is_dearer(evidence, now, space, state, pitfalls, least):
        pitfalls.found[KIND] = ENTERS
    if pitfalls.found[KIND] != NONE and not _rises_from_below(space, state, pitfalls, pitfalls.found[ARM]):
        _doubt(evidence, now, space, state, pitfalls)
    _write_shares(pitfalls)
    return int(pitfalls.found[KIND])


@inner
def _look(space: Space, state: State, pitfalls: Pitfalls) -> None:
    """Copy what the costs depend on, and list O."""
    size = 0
    _measure(space, state, pitfalls)
    for i in range(space.arms):
        pitfalls.counts[i] = float(state.counts[i])
        pitfalls.above[i] = 0
        for c in range(space.compared):
            pitfalls.points[i, c] = state.means[i, c] / pitfalls.unit[c]
        if state.optimal[i] == 1:
            pitfalls.front[size] = i
            size += 1
    pitfalls.found[KIND] = NONE
    pitfalls.found[SIZE] = size
    if pitfalls.plain:
        prepare(pitfalls.region, pitfalls.points, state.optimal, pitfalls.walk)


@inner
def _measure(space: Space, state: State, pitfalls: Pitfalls) -> None:
    """Where scales are learnt, the unit of a coordinate is its standard deviation, over all arms."""
    for c in range(min(state.covariance.shape[1], space.compared)):
        if space.learnt[c] == 1:
            total = 0.0
            for i in range(space.arms):
                total += state.covariance[i, c, c]
            pitfalls.unit[c] = math.sqrt(total / space.arms) if total > 0.0 else 1.0


@inner
def _take(pitfalls: Pitfalls, kind: int, arm: int, other: int) -> None:
    pitfalls.found[KIND], pitfalls.found[ARM], pitfalls.found[OTHER] = kind, arm, other


# --- arms of O -------------------------------------------------------------------------------------------------------


@inner
def _weakest_member(
    evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, bar: float
) -> float:
    """The least cost of an arm of O that leaves P; costs from `bar` on are closed."""
    least = bar
    for k in range(pitfalls.found[SIZE]):
        i = pitfalls.front[k]
        cost = _crossing(evidence, now, space, state, pitfalls, i)
        if cost < least and (bar < math.inf or not weight_of(evidence, space, state, i) >= now.bar):
            least = cost
            _take(pitfalls, LEAVES, i, -1)
    return least


@inner
def _crossing(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, i: int) -> float:
    """What it costs that i is on the other side of P; where scales are learnt, the evidence against it.

    Where results do not vary their scale is never known, and more of them are of no use: any other way comes first.
    """
    if state.covariance.shape[1] > 0:
        weight = weight_of(evidence, space, state, i)
        return LATER if 0.0 < now.bar - weight <= 2.0 * NEVER else max(0.0, weight)
    return 0.5 * pitfalls.counts[i] * state.eta[i] * state.eta[i]


@inner
def _weakest_pair(
    evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, bar: float, least: float
) -> float:
    """The least cost, below `least`, of an arm of O that becomes dominated by another."""
    for k in range(pitfalls.found[SIZE]):
        i = pitfalls.front[k]
        for other in range(pitfalls.found[SIZE]):
            j = pitfalls.front[other]
            if j != i:
                cost = _falling(space, state, pitfalls, i, j)
                if cost < least and (bar < math.inf or not undominated(evidence, now, space, state, i, j) >= 0.0):
                    least = cost
                    _take(pitfalls, FALLS, i, j)
    return least


@inner
def _falling(space: Space, state: State, pitfalls: Pitfalls, i: int, j: int) -> float:
    """What it costs that i is dominated by j, by more than the tolerance."""
    if space.compared_exact > 0 and best_lead(space, state, i, j) == math.inf:
        return math.inf
    n, m, square = pitfalls.counts[i], pitfalls.counts[j], 0.0
    for c in range(space.compared):
        lead = max(0.0, pitfalls.points[i, c] - pitfalls.points[j, c] + space.tolerance[c] / pitfalls.unit[c])
        square += lead * lead
    return 0.5 * (n * m / (n + m)) * square


# --- arms outside O --------------------------------------------------------------------------------------------------


@inner
def _weakest_outside(
    evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, bar: float, least: float
) -> float:
    """The least cost, below `least`, of an arm outside O that belongs into it after all."""
    for i in range(space.arms):
        pitfalls.bound[i] = math.inf
        if state.optimal[i] == 0:
            pitfalls.own[i] = _entering(evidence, now, space, state, pitfalls, i, bar)
            if pitfalls.own[i] < least:
                bound = (1.0 - ROUNDING) * _rising_bound(space, state, pitfalls, i)
                pitfalls.bound[i] = max(pitfalls.own[i], bound)
    while True:
        arm, lowest = -1, least
        for i in range(space.arms):
            if pitfalls.bound[i] < lowest or (pitfalls.bound[i] == lowest and _is_earlier(pitfalls, i)):
                arm, lowest = i, pitfalls.bound[i]
        if arm < 0:
            return least
        pitfalls.bound[arm] = math.inf
        if bar < math.inf or not _is_below_front(evidence, now, space, state, pitfalls, arm):
            cost = max(pitfalls.own[arm], _rising(space, state, pitfalls, arm, least * (1.0 + ROUNDING)))
            if cost < least or (cost == least and _is_earlier(pitfalls, arm)):
                least = cost
                _take(pitfalls, ENTERS if cost == pitfalls.own[arm] else RISES, arm, -1)
                if cost > pitfalls.own[arm]:
                    _share_rise(pitfalls, arm)  # the next arm walks in the same memory


@inner
def _is_earlier(pitfalls: Pitfalls, i: int) -> bool:
    """Does i come before the arm outside O that is the pitfall so far?  Of equal costs the lowest index counts."""
    return bool(pitfalls.found[KIND] in (RISES, ENTERS) and i < pitfalls.found[ARM])


@inner
def _entering(
    evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, i: int, bar: float
) -> float:
    """What it costs that i enters P; +inf where the claim that it is outside is closed."""
    if state.inside[i] == 1:
        return 0.0
    if state.eta[i] == math.inf or (bar == math.inf and state.weight[i] >= now.bar):
        return math.inf
    return 0.0 if pitfalls.plain else _crossing(evidence, now, space, state, pitfalls, i)


@inner
def _could_dominate(space: Space, state: State, j: int, i: int) -> bool:
    """Do the exact objectives allow that j dominates i?"""
    for c in range(space.noisy, space.noisy + space.compared_exact):
        if state.means[i, c] > state.means[j, c]:
            return False
    return True


@inner
def _rising_bound(space: Space, state: State, pitfalls: Pitfalls, i: int) -> float:
    """A lower bound of what it costs that i rises, from its remembered rival."""
    j = pitfalls.rival[i]
    return 0.0 if j < 0 or state.optimal[j] == 0 else _rising_above(space, state, pitfalls, i, j)


@inner
def _rising_above(space: Space, state: State, pitfalls: Pitfalls, i: int, j: int) -> float:
    """What it costs that i is not dominated by j."""
    if not _could_dominate(space, state, j, i):
        return 0.0
    n, m, least = pitfalls.counts[i], pitfalls.counts[j], max(0.0, _least_lead(pitfalls, i, j))
    return 0.5 * (n * m / (n + m)) * least * least if least < math.inf else math.inf


@inner
def _least_lead(pitfalls: Pitfalls, i: int, j: int) -> float:
    """By how much j is better than i where it is least so; +inf where nothing noisy is compared."""
    least = math.inf
    for c in range(pitfalls.points.shape[1]):
        least = min(least, pitfalls.points[j, c] - pitfalls.points[i, c])
    return least


@inner
def _rising(space: Space, state: State, pitfalls: Pitfalls, i: int, limit: float) -> float:
    """What it costs that i rises, if less than `limit`, else +inf; and the rival that bounds it best from below."""
    best = -1.0
    for k in range(pitfalls.found[SIZE]):
        j = pitfalls.front[k]
        value = _rising_above(space, state, pitfalls, i, j)
        pitfalls.above[j] = 1 if value > 0.0 else 0
        if value > best:
            best = value
            pitfalls.rival[i] = j
    if best >= limit:
        return math.inf
    if not pitfalls.plain:  # it only rises: an arm that is not above it now costs nothing
        prepare(pitfalls.region, pitfalls.points, pitfalls.above, pitfalls.walk)
    return enter(pitfalls.region, pitfalls.points, pitfalls.counts, i, limit, pitfalls.walk)


@inner
def _is_below_front(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, i: int) -> bool:
    """Is i certified to be dominated by an arm of O, or by at least one of them?"""
    for k in range(pitfalls.found[SIZE]):
        if dominated(evidence, now, space, state, i, pitfalls.front[k]) >= 0.0:
            return True
        pitfalls.above[pitfalls.front[k]] = 1
    return below_some(evidence, now, space, state, i, pitfalls.above)


@inner
def mark_rivals(
    evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, i: int, members: NDArray[uint8]
) -> None:
    """Mark the arms of O that keep i from rising by likelihood ratio: one alone, or all above i together; or none."""
    bar = ratio_bar(evidence, now, space, state)
    for j in range(space.arms):
        members[j] = 0
    if bar == math.inf or state.optimal[i] == 1:
        return
    _look(space, state, pitfalls)
    if _rising(space, state, pitfalls, i, bar) < math.inf:
        return
    j = pitfalls.rival[i]
    is_enough = j >= 0 and _rising_above(space, state, pitfalls, i, j) >= bar
    for k in range(space.arms):
        members[k] = 1 if (k == j if is_enough else pitfalls.above[k] == 1) else 0


# --- doubt -----------------------------------------------------------------------------------------------------------


@inner
def _rises_from_below(space: Space, state: State, pitfalls: Pitfalls, i: int) -> bool:
    """Is the pitfall that i rises, from below an arm of O?"""
    return bool(pitfalls.found[KIND] == RISES and _rising_bound(space, state, pitfalls, i) > 0.0)


@inner
def _doubt(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls) -> None:
    """Let an arm that may yet dominate the arm in question catch up.

    Were it to dominate, nothing else about the arm would have to be known: but while it lacks pulls its mean may be off
    and hide that. In doubt is an arm j, not certified infeasible, if being above i would cost less than log t and
    N_j < N_i^catch_up: it takes a vanishing share of the pulls.
    """
    i = pitfalls.found[ARM]
    arm = _better_reason(evidence, now, space, state, pitfalls, i) if pitfalls.found[KIND] == ENTERS else -1
    if arm >= 0:
        _take(pitfalls, DOUBT, arm, i)
        return
    least, arm = math.log(float(state.tally[CLOCK])), -1
    enough = pitfalls.counts[i] ** pitfalls.catch_up
    for j in range(space.arms):
        if j != i and pitfalls.counts[j] < enough and is_candidate(now, state, j):
            cost = _falling(space, state, pitfalls, i, j)
            if cost < least:
                least, arm = cost, j
    if arm >= 0:
        _take(pitfalls, DOUBT, arm, i)


@inner
def _is_dearer(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, cost: float) -> bool:
    """Does it take more pulls to keep the arm from rising, at this cost, than from entering P?

    Asked where no arm above it has many more pulls than it: where one has, they serve other ends, and come for free.
    So do, of each, the pulls that it needs to be feasible itself.
    """
    i = pitfalls.found[ARM]
    if not pitfalls.own[i] > 0.0:
        return False
    rising, entering = pitfalls.counts[i] / cost, pitfalls.counts[i] / pitfalls.own[i]
    for j in range(pitfalls.share.shape[0]):
        if j != i and pitfalls.share[j] > 0.0:
            if pitfalls.counts[j] > BUSY * pitfalls.counts[i]:
                return False
            rising += pitfalls.counts[j] / cost
            entering += _own_pulls(evidence, now, space, state, pitfalls, j)
    return rising > entering


@inner
def _better_reason(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, i: int) -> int:
    """An arm of O with fewer pulls than i that would rule it out with fewer pulls than the constraints do, or -1.

    For each unit of evidence, with g the least lead of j: dominance takes x pulls of i and m of j where x m/(x + m) is
    2/g^2; m is what j needs anyway, or both are 4/g^2. Counts that grew for the other reason hide that.
    """
    arm = -1
    if pitfalls.plain or not pitfalls.own[i] > 0.0:
        return arm
    fewest = math.inf
    for k in range(pitfalls.found[SIZE]):
        j = pitfalls.front[k]
        if pitfalls.counts[j] < pitfalls.counts[i] and _could_dominate(space, state, j, i):
            gap = _least_lead(pitfalls, i, j)
            if 0.0 < gap < math.inf:
                m, least = _own_pulls(evidence, now, space, state, pitfalls, j), 2.0 / (gap * gap)
                more = least * m / (m - least) if m >= 2.0 * least else 4.0 * least - m
                if more < fewest and more < pitfalls.counts[i] / pitfalls.own[i]:
                    fewest, arm = more, j
    return arm


@inner
def _own_pulls(evidence: NamedTuple, now: Any, space: Space, state: State, pitfalls: Pitfalls, j: int) -> float:
    """How many pulls an arm of O takes for each unit of evidence that it is feasible."""
    cost = _crossing(evidence, now, space, state, pitfalls, j)
    return pitfalls.counts[j] / cost if cost > 0.0 else 0.0


# --- shares ----------------------------------------------------------------------------------------------------------


@inner
def _write_shares(pitfalls: Pitfalls) -> None:
    """N_a (d cost / d N_a) / cost of each arm a; those of an arm that rises are written when it is found."""
    kind, i, j = pitfalls.found[KIND], pitfalls.found[ARM], pitfalls.found[OTHER]
    if kind == RISES:
        return
    _clear(pitfalls)
    if kind == FALLS:
        total = pitfalls.counts[i] + pitfalls.counts[j]
        pitfalls.share[i] = pitfalls.counts[j] / total
        pitfalls.share[j] = pitfalls.counts[i] / total
    elif kind != NONE:
        pitfalls.share[i] = 1.0


@inner
def _clear(pitfalls: Pitfalls) -> None:
    for a in range(pitfalls.share.shape[0]):
        pitfalls.share[a] = 0.0


@inner
def _share_rise(pitfalls: Pitfalls, i: int) -> None:
    walk, points, moved = pitfalls.walk, pitfalls.points, 0.0
    _clear(pitfalls)
    for c in range(points.shape[1]):
        move = points[i, c] - walk.entered[c]
        moved += move * move
    total = pitfalls.counts[i] * moved
    pitfalls.share[i] = total
    for k in range(walk.size[0]):
        j, c = walk.members[k], walk.best[k]
        gap = max(0.0, points[j, c] - walk.entered[c])
        pitfalls.share[j] = pitfalls.counts[j] * gap * gap
        total += pitfalls.share[j]
    if not total > NOTHING:
        _clear(pitfalls)
        pitfalls.share[i], total = 1.0, 1.0
    for a in range(points.shape[0]):
        pitfalls.share[a] /= total
