"""Elementary ways in which the empirical answer could be wrong, and what each costs.

With N the pull counts, the cost of a way is half the weighted squared distance to the nearest means for which it is
true:

- an arm of O leaves P: N_i/2 times the squared slack of the nearest row;
- an arm of O becomes dominated by another of O: both meet where the first leads;
- an arm outside O rises: it becomes undominated by every arm of O (`geometry.cheapest_entry`, in the whole space);
- an arm outside P enters: N_i/2 times its squared distance to P.

A cost is 1-homogeneous in N, so that the shares N_a (d cost / d N_a) / cost of the arms in it add up to 1.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import int64

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import best_lead, called_eta
from paretoguard.engine.state import State
from paretoguard.engine.view import View, weight_of
from paretoguard.evidence.estimated_scale import NEVER
from paretoguard.geometry.cheapest_entry import Entrant, Walk, enter, prepare_walk, walk_memory
from paretoguard.geometry.nearest_alternative import joint_weight, meeting
from paretoguard.geometry.polyhedron import Polyhedron, polyhedron
from paretoguard.numeric import Bytes, Floats, Integers, flags, floats, integers

NONE, LEAVES, FALLS, RISES, ENTERS, DOUBT = 0, 1, 2, 3, 4, 5
KIND, ARM, _OTHER, SIZE = 0, 1, 2, 3  # entries of Pitfalls.found
LATER = 1e300  # a cost that comes after all others
_NO_COST = 1e-20  # a cost that is 0 but for rounding: it has no shares


class Pitfalls(NamedTuple):
    """Memory to find the pitfall with; what is remembered between decisions changes the speed only."""

    plain: bool  # the plain problem?
    catch_up: float  # see `doubt`
    region: Polyhedron  # where an arm must be to be among the best: P in the plain problem, else anywhere
    found: Integers  # [4] the pitfall: its kind and up to two arms; and how many arms O has
    front: Integers  # [K] the arms of O
    counts: Floats  # [K]
    unit: Floats  # [compared]
    slack: Floats  # [compared] the tolerance, in units
    points: Floats  # [K, compared] the means in which arms are compared
    share: Floats  # [K] of each arm in the information about the pitfall
    own: Floats  # [K] the cost of entering P; 0 inside
    bound: Floats  # [K] of the cost of each arm outside O, from below; +inf: it is closed, or too dear
    rival: Integers  # [K] an arm of O for the bound, or -1
    above: Bytes  # [K] the arms of O that dominate the arm at hand, or may do so together
    fall: Floats  # [K] for i in O: the least open cost of falling to another arm of O, from below …
    to: Integers  # [K] … the arm of O that has it, once it is worked out, else -1 …
    stamp: Integers  # [K] … with these results of i (-1: not in O then)
    walk: Walk


def new_pitfalls(problem: ProblemArrays, *, plain: bool, catch_up: float) -> Pitfalls:
    K, d = problem.arms, problem.compared
    region = problem.region if plain else polyhedron(floats(0, d), floats(0))
    return Pitfalls(
        plain=plain,
        catch_up=catch_up,
        region=region,
        found=integers(4),
        front=integers(K),
        counts=floats(K),
        unit=np.ones(d),
        slack=problem.tolerance[:d].copy(),
        points=floats(K, d),
        share=floats(K),
        own=floats(K),
        bound=floats(K),
        rival=np.full(K, -1, dtype=int64),
        above=flags(K),
        fall=floats(K),
        to=np.full(K, -1, dtype=int64),
        stamp=np.full(K, -1, dtype=int64),
        walk=walk_memory(K, d, len(region.b)),
    )


@inner
def begin_search(problem: ProblemArrays, state: State, pitfalls: Pitfalls) -> None:
    """Copy what the costs depend on, and list O."""
    size = 0
    _measure(problem, state, pitfalls)
    for i in range(problem.arms):
        pitfalls.counts[i] = float(state.counts[i])
        pitfalls.above[i] = 0
        for c in range(problem.compared):
            pitfalls.points[i, c] = state.means[i, c] / pitfalls.unit[c]
        if state.optimal[i] == 1:
            pitfalls.front[size] = i
            size += 1
    pitfalls.found[KIND] = NONE
    pitfalls.found[SIZE] = size
    if pitfalls.plain:
        prepare_walk(pitfalls.region, pitfalls.points, state.optimal, pitfalls.walk)


@inner
def _measure(problem: ProblemArrays, state: State, pitfalls: Pitfalls) -> None:
    """Take as unit of a coordinate whose scale is learnt its standard deviation, over all arms."""
    for c in range(min(state.covariance.shape[1], problem.compared)):
        if problem.learnt[c] == 1:
            total = 0.0
            for i in range(problem.arms):
                total += state.covariance[i, c, c]
            pitfalls.unit[c] = math.sqrt(total / problem.arms) if total > 0.0 else 1.0
            pitfalls.slack[c] = problem.tolerance[c] / pitfalls.unit[c]


@inner
def take(pitfalls: Pitfalls, kind: int, arm: int, other: int) -> None:
    pitfalls.found[KIND], pitfalls.found[ARM], pitfalls.found[_OTHER] = kind, arm, other


@inner
def crossing(view: View, pitfalls: Pitfalls, i: int) -> float:
    """Return what it costs that i is on the other side of P; where scales are learnt, the evidence against it."""
    state = view.state
    if state.covariance.shape[1] > 0:
        return _crossing_in_evidence(view, i)
    eta = called_eta(view.problem, state, i)
    return 0.5 * pitfalls.counts[i] * eta * eta


@aside
def _crossing_in_evidence(view: View, i: int) -> float:
    """Where results do not vary their scale is never known, and more of them are of no use: any other way comes first.

    Called, as evidence takes long to compile and `crossing` is in many places.
    """
    weight = weight_of(view, i)
    return LATER if 0.0 < view.now.bar - weight <= 2.0 * NEVER else max(0.0, weight)


@inner
def falling(problem: ProblemArrays, state: State, pitfalls: Pitfalls, i: int, j: int) -> float:
    """Return what it costs that i is dominated by j, by more than the tolerance."""
    if problem.compared_exact > 0 and best_lead(problem, state, i, j) == math.inf:
        return math.inf
    return meeting(pitfalls.points, pitfalls.counts, pitfalls.slack, i, j)


@inner
def could_dominate(problem: ProblemArrays, state: State, j: int, i: int) -> bool:
    """True if the exact objectives allow that j dominates i."""
    for c in range(problem.noisy, problem.noisy + problem.compared_exact):
        if state.means[i, c] > state.means[j, c]:
            return False
    return True


@inner
def rising_above(problem: ProblemArrays, state: State, pitfalls: Pitfalls, i: int, j: int) -> float:
    """Return what it costs that i is not dominated by j."""
    if not could_dominate(problem, state, j, i):
        return 0.0
    least = max(0.0, smallest_lead(pitfalls, i, j))
    return 0.5 * joint_weight(pitfalls.counts, i, j) * least * least if least < math.inf else math.inf


@inner
def smallest_lead(pitfalls: Pitfalls, i: int, j: int) -> float:
    """Return by how much j is better than i where it is least so; +inf where nothing noisy is compared."""
    least = math.inf
    for c in range(pitfalls.points.shape[1]):
        least = min(least, pitfalls.points[j, c] - pitfalls.points[i, c])
    return least


@inner
def rising_bound(problem: ProblemArrays, state: State, pitfalls: Pitfalls, i: int) -> float:
    """Return a lower bound of what it costs that i rises, from its remembered rival."""
    j = pitfalls.rival[i]
    return 0.0 if j < 0 or state.optimal[j] == 0 else rising_above(problem, state, pitfalls, i, j)


@inner
def rising(problem: ProblemArrays, state: State, pitfalls: Pitfalls, i: int, limit: float) -> float:
    """Return what it costs that i rises, if less than `limit`, else +inf; remember the rival with the best bound."""
    best = -1.0
    for k in range(pitfalls.found[SIZE]):
        j = pitfalls.front[k]
        value = rising_above(problem, state, pitfalls, i, j)
        pitfalls.above[j] = 1 if value > 0.0 else 0
        if value > best:
            best = value
            pitfalls.rival[i] = j
    if best >= limit:
        return math.inf
    if not pitfalls.plain:  # it only rises: an arm that is not above it now costs nothing
        prepare_walk(pitfalls.region, pitfalls.points, pitfalls.above, pitfalls.walk)
    return enter(Entrant(pitfalls.region, pitfalls.points, pitfalls.counts, i), limit, pitfalls.walk)


# --- shares -----------------------------------------------------------------------------------------------------------


@inner
def share_out(pitfalls: Pitfalls) -> None:
    """Write N_a (d cost / d N_a) / cost of each arm a; for an arm that rises it is written when that is found."""
    kind, i, j = pitfalls.found[KIND], pitfalls.found[ARM], pitfalls.found[_OTHER]
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
def share_rise(pitfalls: Pitfalls, i: int) -> None:
    """Write the shares of the arms in the rise of i that the walk has just found."""
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
    if not total > _NO_COST:
        _clear(pitfalls)
        pitfalls.share[i], total = 1.0, 1.0
    for a in range(points.shape[0]):
        pitfalls.share[a] /= total
