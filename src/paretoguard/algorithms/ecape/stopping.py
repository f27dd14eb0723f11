"""e-cAPE's stopping rule, and the arms that hold it up.

With F_t the empirically feasible arms, O_t their Pareto set, G_t the others not yet certified infeasible and
C_t = F_t + G_t the candidates:

    xi_i = max over j in C_t, j != i, of m^-(i,j)
    Z1F  = min over i in O_t of gamma_i
    Z1P  = min over ordered pairs of O_t of M^-(i,j)
    Z2   = min over i not in O_t of (xi_i if i in F_t, else max(gamma_i, xi_i))

The rule stops when all three are >= 0. xi_i is a maximum, so m^-(i,j) at any one candidate j bounds it from below: each
arm remembers its best rival, and xi_i is worked out in full only for the arms that this bound leaves as possible
minimisers. One or two arms a decision need it. Z1P, asked for only once Z2 >= 0, is the least of the rows
min_j M^-(i,j): for each a lower bound is kept too, its minimum when last worked out, lowered by what results and time
may have changed since. O(K d) altogether, with no K x K table.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import (
    ROUNDING,
    dominated,
    is_dominated_above,
    is_steady,
    moment,
    most_dominated,
    undominated,
    undominated_below,
    widening,
)
from paretoguard.engine.state import CLOCK, State, is_outside, weight_of

BY_FEASIBILITY, AT_A_GLANCE, REMEMBERED, WHOLE = 0, 1, 2, 3  # what a bound is from; at a glance: it is not reached
SMALL = 8  # up to so many arms in O_t, comparing all pairs is quicker than remembering


class Rivals(NamedTuple):
    """What the rule remembers between decisions; it changes the speed only, never the outcome."""

    rival: NDArray[int64]  # [K] the candidate that last gave xi_i, or -1
    below: NDArray[float64]  # [K] m^-(i, rival) as it was …
    stamps: NDArray[int64]  # [K, 2] … with these results of the two; kept for evidence that is steady
    bound: NDArray[float64]  # [K] lower bounds of the terms of Z2
    challenger: NDArray[int64]  # [K] the candidate that last came closest to dominating i, or -1
    known: NDArray[uint8]  # [K] what a bound is from; WHOLE: it is the term itself
    weakest: NDArray[int64]  # [1] the last minimiser of Z2, or -1
    front: NDArray[int64]  # [K] the arms of O_t, in order
    lead: NDArray[float64]  # [K] for i in O_t: a lower bound of min_j M^-(i,j), as it was at the time `last`
    seen: NDArray[int64]  # [K] and with these results, by their stamp (-1: not in O_t then)
    last: NDArray[int64]  # [1]


def new_rivals(space: Space) -> Rivals:
    """Nothing remembered yet."""
    K = space.arms
    return Rivals(
        rival=np.full(K, -1, dtype=int64),
        below=np.zeros(K),
        stamps=np.zeros((K, 2), dtype=int64),
        bound=np.zeros(K),
        challenger=np.full(K, -1, dtype=int64),
        known=np.zeros(K, dtype=uint8),
        weakest=np.full(1, -1, dtype=int64),
        front=np.zeros(K, dtype=int64),
        lead=np.zeros(K),
        seen=np.full(K, -1, dtype=int64),
        last=np.zeros(1, dtype=int64),
    )


@inner
def forget(rivals: Rivals) -> None:
    """Begin anew."""
    rivals.weakest[0] = -1
    for i in range(rivals.rival.shape[0]):
        rivals.rival[i] = -1
        rivals.challenger[i] = -1
        rivals.seen[i] = -1


@inner
def is_candidate(now: Any, state: State, j: int) -> bool:
    """Is j in C_t: feasible so far, or not yet certified infeasible?"""
    return not is_outside(now, state, j)


@inner
def lower_bound(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, i: int) -> float:
    """A lower bound of the term of Z2 for the arm i, from its remembered rival: O(d)."""
    j = rivals.rival[i]
    if j < 0 or not is_candidate(now, state, j):
        rivals.rival[i] = -1
        rivals.below[i] = -math.inf
        return -math.inf
    if is_remembered(evidence, state, rivals, i, j):
        return float(rivals.below[i])
    value = dominated(evidence, now, space, state, i, j)
    _keep(state, rivals, i, j, value)
    return value


@inner
def is_remembered(evidence: NamedTuple, state: State, rivals: Rivals, i: int, j: int) -> bool:
    """Is m^-(i,j) still what is remembered?"""
    same = rivals.stamps[i, 0] == state.stamp[i] and rivals.stamps[i, 1] == state.stamp[j]
    return bool(is_steady(evidence) and same)


@inner
def _keep(state: State, rivals: Rivals, i: int, j: int, value: float) -> None:
    """Remember m^-(i,j)."""
    rivals.rival[i] = j
    rivals.below[i] = value
    rivals.stamps[i, 0] = state.stamp[i]
    rivals.stamps[i, 1] = state.stamp[j]


@inner
def full_term(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, i: int) -> float:
    """The term of Z2 for the arm i, remembering the rival that gives xi_i: O(K d). Ask for its `lower_bound` before."""
    best, first = rivals.below[i], rivals.rival[i]  # few others can be above it
    for j in range(space.arms):
        if j in (i, first) or not is_candidate(now, state, j):
            continue
        if most_dominated(evidence, space, state, i, j) > best:
            value = dominated(evidence, now, space, state, i, j)
            if value > best:
                best = value
                _keep(state, rivals, i, j, value)
    return _or_outside(evidence, now, space, state, i, best)


@inner
def _or_outside(evidence: NamedTuple, now: Any, space: Space, state: State, i: int, value: float) -> float:
    """The larger of a value and, for i outside P, gamma_i: worked out only where it may be that."""
    if state.inside[i] == 0 and state.most_weight[i] - now.bar > value:
        return max(value, weight_of(evidence, space, state, i) - now.bar)
    return value


@inner
def weakest_excluded(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals) -> tuple[float, int]:
    """Z2 and its minimiser (lowest index among equals); (+inf, -1) when O_t is everything."""
    least, arm, last = math.inf, -1, rivals.weakest[0]
    for k in range(-1, space.arms):  # the last minimiser comes first: few others can be below it
        i = last if k < 0 else k
        if i < 0 or (k >= 0 and i == last):
            continue
        rivals.known[i] = BY_FEASIBILITY
        rivals.bound[i] = math.inf
        if state.optimal[i] == 0:
            rivals.bound[i] = -math.inf
            if state.inside[i] == 0 and state.weight[i] == state.weight[i]:
                rivals.bound[i] = state.weight[i] - now.bar
            if rivals.bound[i] < least:  # else its feasibility alone takes it out of the question
                if _is_rival_enough(evidence, now, space, state, rivals, i, least):
                    rivals.bound[i] = least
                    rivals.known[i] = AT_A_GLANCE
                else:
                    _look_at_rival(evidence, now, space, state, rivals, i)
            if rivals.bound[i] < least or (rivals.bound[i] == least and i < arm and rivals.known[i] != AT_A_GLANCE):
                least, arm = rivals.bound[i], i
    # The arm with the least bound is the minimiser once its bound is its term: every other term is at least its own
    # bound, and an equal term of a lower index would have been met first (one seen at a glance is above its bound).
    while arm >= 0 and rivals.known[arm] != WHOLE:
        if rivals.known[arm] == REMEMBERED:
            rivals.bound[arm] = full_term(evidence, now, space, state, rivals, arm)
            rivals.known[arm] = WHOLE
        else:
            _look_at_rival(evidence, now, space, state, rivals, arm)
        least, arm = math.inf, -1
        for i in range(space.arms):
            if rivals.bound[i] < least or (rivals.bound[i] == least < math.inf and rivals.known[arm] == AT_A_GLANCE):
                least, arm = rivals.bound[i], i
    rivals.weakest[0] = arm
    return least, arm


@inner
def _is_rival_enough(
    evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, i: int, floor: float
) -> bool:
    """Does the remembered rival show, at a glance, that the term of i is above `floor`?  No, where more is known."""
    j = rivals.rival[i]
    if j < 0 or not is_candidate(now, state, j) or is_remembered(evidence, state, rivals, i, j):
        return False
    return is_dominated_above(evidence, now, space, state, i, j, floor)


@inner
def _look_at_rival(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, i: int) -> None:
    """Raise the bound of i to that of its remembered rival."""
    value = max(rivals.bound[i], lower_bound(evidence, now, space, state, rivals, i))
    rivals.bound[i] = _or_outside(evidence, now, space, state, i, value)
    rivals.known[i] = REMEMBERED


@inner
def weakest_feasible(evidence: NamedTuple, now: Any, space: Space, state: State) -> tuple[float, int]:
    """Z1F and its minimiser (lowest index among equals); (+inf, -1) when O_t is empty."""
    least, arm = math.inf, -1
    for i in range(state.optimal.shape[0]):
        if state.optimal[i] == 1:
            value = weight_of(evidence, space, state, i) - now.bar
            if value < least:
                least, arm = value, i
    return least, arm


@inner
def weakest_pair(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals) -> tuple[float, int]:
    """Z1P and the first arm of the pair that gives it (first in lexicographic order among equals)."""
    size = 0
    for i in range(space.arms):
        if state.optimal[i] == 1:
            rivals.front[size] = i
            size += 1
    if size > SMALL or is_steady(evidence):
        return _weakest_row(evidence, now, space, state, rivals, size)
    least, arm = math.inf, -1
    for k in range(size):
        value = _least_lead(evidence, now, space, state, rivals, size, rivals.front[k])
        if value < least:
            least, arm = value, rivals.front[k]
    return least, arm


@inner
def _weakest_row(
    evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, size: int
) -> tuple[float, int]:
    """As `weakest_excluded`: the row with the least bound is the minimiser once its bound is its minimum."""
    _mend_leads(evidence, now, space, state, rivals, size)
    while True:
        least, arm = math.inf, -1
        for k in range(size):
            i = rivals.front[k]
            if rivals.lead[i] < least:
                least, arm = rivals.lead[i], i
        if arm < 0 or rivals.known[arm] == WHOLE:
            return least, arm
        rivals.lead[arm] = _least_lead(evidence, now, space, state, rivals, size, arm)
        rivals.known[arm] = WHOLE


@inner
def _least_lead(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, size: int, i: int) -> float:
    """The least M^-(i,j) over the other arms j of O_t."""
    least = math.inf
    for k in range(size):
        j = rivals.front[k]
        if j != i:
            least = min(least, undominated_below(evidence, now, space, state, i, j, least))
    return least


@inner
def _mend_leads(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, size: int) -> None:
    """Make the remembered bounds hold now.

    - The row of an arm that has changed, or is new in O_t, is unknown: its bound is -inf.
    - In every other row, M^-(i,j) at such an arm j is looked at anew; at the arms j that have not changed it has fallen
      by no more than `_widening` says, rounding apart.
    - An arm that left O_t can only have raised a minimum.
    """
    fall = _widening(evidence, now, state, rivals, size)
    rivals.last[0] = state.tally[CLOCK]
    for i in range(space.arms):
        rivals.known[i] = REMEMBERED
        if state.optimal[i] == 0:
            rivals.seen[i] = -1
        elif rivals.seen[i] != state.stamp[i]:
            rivals.lead[i] = -math.inf
        elif rivals.lead[i] < math.inf:
            rivals.lead[i] -= fall + ROUNDING * abs(rivals.lead[i])
    for k in range(size):
        j = rivals.front[k]
        if rivals.seen[j] != state.stamp[j]:
            rivals.seen[j] = state.stamp[j]
            for other in range(size):
                i = rivals.front[other]
                if rivals.lead[i] > -math.inf:
                    rivals.lead[i] = min(rivals.lead[i], undominated(evidence, now, space, state, i, j))


@inner
def _widening(evidence: NamedTuple, now: Any, state: State, rivals: Rivals, size: int) -> float:
    """By how much M^-(i,j) may have fallen since the time `last` at arms of O_t that have not changed.

    The interval of a pair widens by no more than that of its wider arm with itself (see `evidence.parts`). Not less
    than 0: where pending pulls no longer count, time has gone back, and widths have shrunk.
    """
    then, fall = moment(evidence, max(1, rivals.last[0])), 0.0
    for k in range(size):
        fall = max(fall, widening(evidence, now, then, state, rivals.front[k]))
    return fall


@inner
def closest_candidate(evidence: NamedTuple, now: Any, space: Space, state: State, b: int, last: int) -> int:
    """The candidate j != b with the least M^-(b,j) (lowest index among equals), or -1.

    A guess (`last`, or -1) comes first: the rest then need be known only as far as they may be less.
    """
    least, arm = math.inf, -1
    for k in range(-1, space.arms):
        j = last if k < 0 else k
        if j < 0 or j == b or (k >= 0 and j == last) or not is_candidate(now, state, j):
            continue
        value = undominated_below(evidence, now, space, state, b, j, least)
        if value < least or (value == least and (arm < 0 or j < arm)):
            least, arm = value, j
    return arm


@inner
def partition(now: Any, state: State, statuses: NDArray[uint8]) -> None:
    """The answer when the rule has stopped: (O_t, C_t without O_t, the rest)."""
    for i in range(statuses.shape[0]):
        if state.optimal[i] == 1:
            statuses[i] = 1
        elif is_candidate(now, state, i):
            statuses[i] = 2
        else:
            statuses[i] = 3
