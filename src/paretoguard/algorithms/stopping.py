"""e-cAPE's stopping rule, and the arms that hold it up.

With F_t the empirically feasible arms, O_t their Pareto set, G_t the others not yet certified infeasible and
C_t = F_t + G_t the candidates:

    xi_i = max over j in C_t, j != i, of m^-(i,j)
    Z1F  = min over i in O_t of gamma_i
    Z1P  = min over ordered pairs of O_t of M^-(i,j)
    Z2   = min over i in C_t, not in O_t, of (xi_i if i in F_t, else max(gamma_i, xi_i))

The rule stops when all three are >= 0. APE (`two_stage.py`) asks for Z1P and Z2 among the arms that it takes to
be feasible, by pairs alone: `members` stands for C_t then, and `front` for O_t.

xi_i is a maximum, so m^-(i,j) at any one candidate j bounds it from below: each arm remembers its best rival, and xi_i
is worked out in full only for the arms that this bound leaves as possible minimisers. One or two arms a decision need
it. Z1P, asked for only once Z2 >= 0, is the least of the rows min_j M^-(i,j): for each a lower bound is kept too, its
minimum when last worked out, lowered by what results and time may have changed since. O(K d) altogether, with no K x K
table.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import (
    choose,
    dominated,
    is_dominated_above,
    is_steady,
    moment,
    most_dominated,
    select,
    undominated,
    undominated_below,
    widening,
)
from paretoguard.engine.state import CLOCK, State
from paretoguard.engine.view import NOTHING, View, is_candidate, weight_of
from paretoguard.numeric import Bytes, Floats, Integers, flags, floats, integers

BY_FEASIBILITY, AT_A_GLANCE, REMEMBERED, WHOLE = 0, 1, 2, 3  # what a bound is from; at a glance: it is not reached
_FEW = 8  # up to so many arms in O_t, comparing all pairs is quicker than remembering


class Rivals(NamedTuple):
    """The arms compared, and what the rule remembers of them; what it remembers changes the speed only."""

    members: Any  # Bytes [K], 1 for the arms compared, by pairs alone; None: those of C_t, with their feasibility
    rival: Integers  # [K] the member that last gave xi_i, or -1
    below: Floats  # [K] m^-(i, rival) as it was …
    stamps: Integers  # [K, 2] … with these results of the two; kept for evidence that is steady
    bound: Floats  # [K] lower bounds of the terms of Z2
    challenger: Integers  # [K] the member that last came closest to dominating i, or -1
    known: Bytes  # [K] what a bound is from; WHOLE: it is the term itself
    weakest: Integers  # [1] the last minimiser of Z2, or -1
    listed: Integers  # [K] the arms of O_t, in order
    lead: Floats  # [K] for i in O_t: a lower bound of min_j M^-(i,j), as it was at the time `last`
    seen: Integers  # [K] and with these results, by their stamp (-1: not in O_t then)
    last: Integers  # [1]


def new_rivals(problem: ProblemArrays, *, by_pairs: bool = False) -> Rivals:
    """Return memory in which nothing is remembered."""
    K = problem.arms
    return Rivals(
        members=flags(K) if by_pairs else None,
        rival=np.full(K, -1, dtype=int64),
        below=floats(K),
        stamps=integers(K, 2),
        bound=floats(K),
        challenger=np.full(K, -1, dtype=int64),
        known=flags(K),
        weakest=np.full(1, -1, dtype=int64),
        listed=integers(K),
        lead=floats(K),
        seen=np.full(K, -1, dtype=int64),
        last=integers(1),
    )


class RuleMemory(NamedTuple):
    """What an algorithm remembers that stops by this rule: its own record derives from it and registers `select`."""

    rivals: Rivals


@choose.register(RuleMemory)
def _choose(memory: RuleMemory, view: View) -> int:
    return NOTHING if rule_stops(view, memory.rivals) else select(memory, view)


@inner
def _is_compared(view: View, members: Bytes | None, j: int) -> bool:
    """True if j is one of the arms compared. The branch that does not apply is not compiled."""
    if members is None:
        return is_candidate(view, j)
    return bool(members[j] == 1)


@inner
def rule_stops(view: View, rivals: Rivals) -> bool:
    """True if Z1F, Z2 and Z1P are all >= 0. A negative term ends the test: that of last time, then the cheapest."""
    front, last = view.state.optimal, rivals.weakest[0]
    for k in range(-1, view.problem.arms):
        if k == 0 and weakest_feasible(view)[0] < 0.0:
            return False
        i = last if k < 0 else k
        is_asked = i >= 0 and front[i] == 0 and _is_compared(view, rivals.members, i)
        if is_asked and _lower_bound(view, rivals, i) < 0.0 and _full_term(view, rivals, i) < 0.0:
            rivals.weakest[0] = i
            return False
    return bool(weakest_pair(view, rivals, front)[0] >= 0.0)


# --- Z2 --------------------------------------------------------------------------------------------------------------


@inner
def _lower_bound(view: View, rivals: Rivals, i: int) -> float:
    """Return a lower bound of the term of Z2 for the arm i, from its remembered rival: O(d)."""
    j = rivals.rival[i]
    if j < 0 or not _is_compared(view, rivals.members, j):
        rivals.rival[i] = -1
        rivals.below[i] = -math.inf
        return -math.inf
    if _is_remembered(view, rivals, i, j):
        return float(rivals.below[i])
    value = dominated(view, i, j)
    _keep(view.state, rivals, i, j, value)
    return value


@inner
def _is_remembered(view: View, rivals: Rivals, i: int, j: int) -> bool:
    """True if m^-(i,j) is still what is remembered."""
    state = view.state
    same = rivals.stamps[i, 0] == state.stamp[i] and rivals.stamps[i, 1] == state.stamp[j]
    return bool(is_steady(view) and same)


@inner
def _keep(state: State, rivals: Rivals, i: int, j: int, value: float) -> None:
    """Remember j as the rival of i, with m^-(i,j)."""
    rivals.rival[i] = j
    rivals.below[i] = value
    rivals.stamps[i, 0] = state.stamp[i]
    rivals.stamps[i, 1] = state.stamp[j]


@inner
def _full_term(view: View, rivals: Rivals, i: int) -> float:
    """Return the term of Z2 for the arm i, and remember the rival that gives xi_i: O(K d). After `_lower_bound`."""
    best, first = rivals.below[i], rivals.rival[i]  # few others can be above it
    for j in range(view.problem.arms):
        if j in (i, first) or not _is_compared(view, rivals.members, j):
            continue
        if most_dominated(view, i, j) > best:
            value = dominated(view, i, j)
            if value > best:
                best = value
                _keep(view.state, rivals, i, j, value)
    return _or_outside(view, rivals, i, best)


@inner
def _or_outside(view: View, rivals: Rivals, i: int, value: float) -> float:
    """Return the larger of a value and, for i outside P, gamma_i: worked out only where it may be that."""
    bar, state = view.now.bar, view.state
    if state.inside[i] == 0 and rivals.members is None and state.most_weight[i] - bar > value:
        return max(value, weight_of(view, i) - bar)
    return value


@inner
def weakest_excluded(view: View, rivals: Rivals, front: Bytes) -> tuple[float, int]:
    """Return Z2 and its minimiser (lowest index among equals); (+inf, -1) when O_t is everything."""
    problem, state = view.problem, view.state
    least, arm, last = math.inf, -1, rivals.weakest[0]
    for k in range(-1, problem.arms):  # the last minimiser comes first: few others can be below it
        i = last if k < 0 else k
        if i < 0 or (k >= 0 and i == last):
            continue
        rivals.bound[i] = math.inf
        rivals.known[i] = BY_FEASIBILITY
        if front[i] == 0 and _is_compared(view, rivals.members, i):
            rivals.bound[i] = -math.inf
            if state.inside[i] == 0 and rivals.members is None and state.weight[i] == state.weight[i]:
                rivals.bound[i] = state.weight[i] - view.now.bar
            if rivals.bound[i] < least:  # else its feasibility alone takes it out of the question
                if _is_rival_enough(view, rivals, i, least):
                    rivals.bound[i] = least
                    rivals.known[i] = AT_A_GLANCE
                else:
                    _look_at_rival(view, rivals, i)
            if rivals.bound[i] < least or (rivals.bound[i] == least and i < arm and rivals.known[i] != AT_A_GLANCE):
                least, arm = rivals.bound[i], i
    # The arm with the least bound is the minimiser once its bound is its term: every other term is at least its own
    # bound, and an equal term of a lower index would have been met first (one seen at a glance is above its bound).
    while arm >= 0 and rivals.known[arm] != WHOLE:
        if rivals.known[arm] == REMEMBERED:
            rivals.bound[arm] = _full_term(view, rivals, arm)
            rivals.known[arm] = WHOLE
        else:
            _look_at_rival(view, rivals, arm)
        least, arm = math.inf, -1
        for i in range(problem.arms):
            if rivals.bound[i] < least or (rivals.bound[i] == least < math.inf and rivals.known[arm] == AT_A_GLANCE):
                least, arm = rivals.bound[i], i
    rivals.weakest[0] = arm
    return least, arm


@inner
def _is_rival_enough(view: View, rivals: Rivals, i: int, floor: float) -> bool:
    """True if the remembered rival shows, at a glance, that the term of i is above `floor`; not where more is known."""
    j = rivals.rival[i]
    if j < 0 or not _is_compared(view, rivals.members, j) or _is_remembered(view, rivals, i, j):
        return False
    return is_dominated_above(view, i, j, floor)


@inner
def _look_at_rival(view: View, rivals: Rivals, i: int) -> None:
    """Raise the bound of i to that of its remembered rival."""
    value = max(rivals.bound[i], _lower_bound(view, rivals, i))
    rivals.bound[i] = _or_outside(view, rivals, i, value)
    rivals.known[i] = REMEMBERED


# --- Z1 --------------------------------------------------------------------------------------------------------------


@inner
def weakest_feasible(view: View) -> tuple[float, int]:
    """Return Z1F and its minimiser (lowest index among equals); (+inf, -1) when O_t is empty."""
    state = view.state
    least, arm = math.inf, -1
    for i in range(state.optimal.shape[0]):
        if state.optimal[i] == 1:
            value = weight_of(view, i) - view.now.bar
            if value < least:
                least, arm = value, i
    return least, arm


@inner
def weakest_pair(view: View, rivals: Rivals, front: Bytes) -> tuple[float, int]:
    """Return Z1P and the first arm of the pair that gives it (first in lexicographic order among equals)."""
    size = 0
    for i in range(view.problem.arms):
        if front[i] == 1:
            rivals.listed[size] = i
            size += 1
    if size > _FEW or is_steady(view):
        return _weakest_row(view, rivals, front, size)
    least, arm = math.inf, -1
    for k in range(size):
        value = _least_lead(view, rivals, size, rivals.listed[k])
        if value < least:
            least, arm = value, rivals.listed[k]
    return least, arm


@inner
def _weakest_row(view: View, rivals: Rivals, front: Bytes, size: int) -> tuple[float, int]:
    """As `weakest_excluded`: the row with the least bound is the minimiser once its bound is its minimum."""
    _mend_leads(view, rivals, front, size)
    while True:
        least, arm = math.inf, -1
        for k in range(size):
            i = rivals.listed[k]
            if rivals.lead[i] < least:
                least, arm = rivals.lead[i], i
        if arm < 0 or rivals.known[arm] == WHOLE:
            return least, arm
        rivals.lead[arm] = _least_lead(view, rivals, size, arm)
        rivals.known[arm] = WHOLE


@inner
def _least_lead(view: View, rivals: Rivals, size: int, i: int) -> float:
    """Return the least M^-(i,j) over the other arms j of O_t."""
    least = math.inf
    for k in range(size):
        j = rivals.listed[k]
        if j != i:
            least = min(least, undominated_below(view, i, j, least))
    return least


@inner
def _mend_leads(view: View, rivals: Rivals, front: Bytes, size: int) -> None:
    """Make the remembered bounds hold now.

    - The row of an arm that has changed, or is new in O_t, is unknown: its bound is -inf.
    - Other rows are lowered to M^-(i,j) for every such arm j. Elsewhere only time has passed: M^-(i,j) may have fallen
      by no more than `_fall` says, rounding apart.
    - An arm that left O_t can only have raised a minimum.
    """
    state = view.state
    fall = _fall(view, rivals, size)
    rivals.last[0] = state.tally[CLOCK]
    for i in range(view.problem.arms):
        rivals.known[i] = REMEMBERED
        if front[i] == 0:
            rivals.seen[i] = -1
        elif rivals.seen[i] == state.stamp[i]:
            rivals.lead[i] -= fall
        else:
            rivals.lead[i] = -math.inf
    for k in range(size):
        j = rivals.listed[k]
        if rivals.seen[j] != state.stamp[j]:
            rivals.seen[j] = state.stamp[j]
            for other in range(size):
                i = rivals.listed[other]
                if rivals.lead[i] > -math.inf:
                    rivals.lead[i] = min(rivals.lead[i], undominated(view, i, j))


@inner
def _fall(view: View, rivals: Rivals, size: int) -> float:
    """Return by how much M^-(i,j) may have fallen since the time `last` at arms of O_t that have not changed.

    The interval of a pair widens by no more than that of its wider arm with itself (see `engine.questions`). Not less
    than 0: where pending pulls no longer count, time has gone back, and widths have shrunk.
    """
    then = View(view.evidence, moment(view.evidence, max(1, rivals.last[0])), view.problem, view.state)
    fall = 0.0
    for k in range(size):
        fall = max(fall, widening(view, then, rivals.listed[k]))
    return fall


@inner
def closest_member(view: View, rivals: Rivals, b: int) -> int:
    """Return the member j != b with the least M^-(b,j) (lowest index among equals), or -1.

    The last one comes first: the rest then need be known only as far as they may be less.
    """
    least, arm, last = math.inf, -1, rivals.challenger[b]
    for k in range(-1, view.problem.arms):
        j = last if k < 0 else k
        if j < 0 or j == b or (k >= 0 and j == last) or not _is_compared(view, rivals.members, j):
            continue
        value = undominated_below(view, b, j, least)
        if value < least or (value == least and (arm < 0 or j < arm)):
            least, arm = value, j
    rivals.challenger[b] = arm
    return arm
