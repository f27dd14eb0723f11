"""The pitfall: the easiest way in which the empirical answer could still be wrong.

Of the elementary ways of `costs`, to be wrong about an arm that is outside P and below O takes two, to enter and to
rise: the larger of its two costs counts. Which reason an arm is given is decided here, one arm at a time. For the plain
problem (`plain`) an arm outside O must enter P and be undominated at once, which is one cost.

A way is open while the evidence has not closed it: by likelihood ratio where it has that form (`ratio_bar`), else by
its claim. The pitfall is the open way of least cost, with two corrections:

- of an arm with two reasons, the one that takes fewer pulls is worked on (`_is_dearer`, `_better_reason`): the larger
  cost alone would hold on to what it began with;
- unless the pitfall is that an arm below O rises, arms that may yet dominate the arm in question come first (`_doubt`).

Costs are looked at through lower bounds: of an arm that rises, the cost of rising above the arm of O remembered for it;
of one that must enter P as well, that of entering P. Only the arms that these leave as possible minimisers, one or two
a decision, need the walk through all maps.
"""

import math

from paretoguard.algorithms.pitfall.costs import (
    ARM,
    DOUBT,
    ENTERS,
    FALLS,
    KIND,
    LEAVES,
    NONE,
    RISES,
    SIZE,
    Pitfalls,
    begin_search,
    could_dominate,
    crossing,
    falling,
    rising,
    rising_above,
    rising_bound,
    share_out,
    share_rise,
    smallest_lead,
    take,
)
from paretoguard.compiler.jit import entry, inner
from paretoguard.engine.questions import below_some, dominated, is_steady, ratio_bar, undominated
from paretoguard.engine.view import View, at_now, is_candidate, is_outside, pulls_so_far, weight_of
from paretoguard.numeric import Bytes

_ROUNDING = 1e-12  # relative; two formulas of one cost differ by less, and exp of a log may come out above itself
_BUSY = 1.2  # times the pulls of the arm in question: the other is pulled for other ends too


@inner
def find_pitfall(view: View, pitfalls: Pitfalls) -> int:
    """Find the open way of least cost, and the shares of its arms; return its kind.

    NONE: every way is closed. DOUBT: another arm is to be pulled before more is spent on it.
    """
    problem, state = view.problem, view.state
    begin_search(problem, state, pitfalls)
    bar = ratio_bar(view)
    least = _weakest_member(view, pitfalls, bar)
    least = _weakest_pair(view, pitfalls, bar, least)
    least = _weakest_outside(view, pitfalls, bar, least)
    if pitfalls.found[KIND] == RISES and _is_dearer(view, pitfalls, least):
        pitfalls.found[KIND] = ENTERS
    kind, arm = pitfalls.found[KIND], pitfalls.found[ARM]
    if kind != NONE and not (kind == RISES and rising_bound(problem, state, pitfalls, arm) > 0.0):
        _doubt(view, pitfalls)
    share_out(pitfalls)
    return int(pitfalls.found[KIND])


@inner
def _weakest_member(view: View, pitfalls: Pitfalls, bar: float) -> float:
    """Return the least cost of an arm of O that leaves P; costs from `bar` on are closed."""
    least = bar
    for k in range(pitfalls.found[SIZE]):
        i = pitfalls.front[k]
        cost = crossing(view, pitfalls, i)
        if cost < least and (bar < math.inf or not weight_of(view, i) >= view.now.bar):
            least = cost
            take(pitfalls, LEAVES, i, -1)
    return least


@inner
def _weakest_pair(view: View, pitfalls: Pitfalls, bar: float, least: float) -> float:
    """Return the least cost, below `least`, of an arm of O that becomes dominated by another.

    A row, the least open cost of one arm, changes with the results of its arm, and by each other arm with results.
    Where nothing else changes it, rows are remembered, from below: O(|O| d), and one or two rows worked out anew.
    """
    if (bar == math.inf and not is_steady(view)) or view.state.covariance.shape[1] > 0:
        for k in range(pitfalls.found[SIZE]):
            pitfalls.stamp[pitfalls.front[k]] = -1
    _mend_rows(view, pitfalls, bar)
    while True:
        arm, lowest = -1, least
        for k in range(pitfalls.found[SIZE]):
            i = pitfalls.front[k]
            if pitfalls.fall[i] < lowest:
                arm, lowest = i, pitfalls.fall[i]
        if arm < 0:
            return least
        if pitfalls.to[arm] >= 0:
            take(pitfalls, FALLS, arm, pitfalls.to[arm])
            return lowest
        _work_out_row(view, pitfalls, bar, arm)


@inner
def _mend_rows(view: View, pitfalls: Pitfalls, bar: float) -> None:
    """Make the remembered rows bounds from below again, and know those by no arm that has new results."""
    state = view.state
    for i in range(view.problem.arms):
        if state.optimal[i] == 0:
            pitfalls.stamp[i] = -1
        elif pitfalls.stamp[i] == -1:
            pitfalls.fall[i] = -math.inf
            pitfalls.to[i] = -1
    for k in range(pitfalls.found[SIZE]):
        j = pitfalls.front[k]
        if pitfalls.stamp[j] == state.stamp[j]:
            continue
        pitfalls.stamp[j] = state.stamp[j]
        pitfalls.fall[j] = -math.inf
        pitfalls.to[j] = -1
        for other in range(pitfalls.found[SIZE]):
            i = pitfalls.front[other]
            if i != j and pitfalls.fall[i] > -math.inf:
                _compare(view, pitfalls, bar, i, j)
    for k in range(pitfalls.found[SIZE]):
        i = pitfalls.front[k]
        if pitfalls.to[i] >= 0 and state.optimal[pitfalls.to[i]] == 0:
            pitfalls.to[i] = -1


@inner
def _compare(view: View, pitfalls: Pitfalls, bar: float, i: int, j: int) -> None:
    """Work the new results of j into the row of i."""
    cost = _open_falling(view, pitfalls, bar, i, j)
    if cost < pitfalls.fall[i] or (cost == pitfalls.fall[i] < math.inf and j < pitfalls.to[i]):
        pitfalls.fall[i] = cost
        pitfalls.to[i] = j
    elif pitfalls.to[i] == j and cost > pitfalls.fall[i]:
        pitfalls.to[i] = -1  # another may have less now


@inner
def _work_out_row(view: View, pitfalls: Pitfalls, bar: float, i: int) -> None:
    least, arm = math.inf, i
    for k in range(pitfalls.found[SIZE]):
        j = pitfalls.front[k]
        if j != i:
            cost = _open_falling(view, pitfalls, bar, i, j)
            if cost < least:
                least, arm = cost, j
    pitfalls.fall[i] = least
    pitfalls.to[i] = arm


@inner
def _open_falling(view: View, pitfalls: Pitfalls, bar: float, i: int, j: int) -> float:
    """Return what it costs that i falls to j; +inf where the claim that it does not is closed."""
    is_closed = bar == math.inf and undominated(view, i, j) >= 0.0
    return math.inf if is_closed else falling(view.problem, view.state, pitfalls, i, j)


@inner
def _weakest_outside(view: View, pitfalls: Pitfalls, bar: float, least: float) -> float:
    """Return the least cost, below `least`, of an arm outside O that belongs into it after all."""
    problem, state = view.problem, view.state
    for i in range(problem.arms):
        pitfalls.bound[i] = math.inf
        if state.optimal[i] == 0:
            pitfalls.own[i] = _entering(view, pitfalls, i, bar)
            if pitfalls.own[i] < least:
                bound = rising_bound(problem, state, pitfalls, i)
                if pitfalls.plain and state.inside[i] == 0 and state.covariance.shape[1] == 0:  # units are the same
                    bound = max(bound, crossing(view, pitfalls, i))
                pitfalls.bound[i] = max(pitfalls.own[i], (1.0 - _ROUNDING) * bound)
    while True:
        arm, lowest = -1, least
        for i in range(problem.arms):
            if pitfalls.bound[i] < lowest or (pitfalls.bound[i] == lowest and _is_earlier(pitfalls, i)):
                arm, lowest = i, pitfalls.bound[i]
        if arm < 0:
            return least
        pitfalls.bound[arm] = math.inf
        if problem.compared == 0 and _is_below_exactly(view, pitfalls, bar, arm):
            continue
        if bar < math.inf or not _is_below_front(view, pitfalls, arm):
            cost = max(pitfalls.own[arm], rising(problem, state, pitfalls, arm, least * (1.0 + _ROUNDING)))
            if cost < least or (cost == least and _is_earlier(pitfalls, arm)):
                least = cost
                take(pitfalls, ENTERS if cost == pitfalls.own[arm] else RISES, arm, -1)
                if cost > pitfalls.own[arm]:
                    share_rise(pitfalls, arm)  # the next arm walks in the same memory


@inner
def _is_earlier(pitfalls: Pitfalls, i: int) -> bool:
    """True if i comes before the arm outside O that is the pitfall so far: of equal costs the lowest index counts."""
    return bool(pitfalls.found[KIND] in (RISES, ENTERS) and i < pitfalls.found[ARM])


@inner
def _entering(view: View, pitfalls: Pitfalls, i: int, bar: float) -> float:
    """Return what it costs that i enters P; +inf where the claim that it is outside is closed."""
    state = view.state
    if state.inside[i] == 1:
        return 0.0
    if state.lazy_eta[i] == math.inf or (bar == math.inf and is_outside(view, i)):
        return math.inf
    return 0.0 if pitfalls.plain else crossing(view, pitfalls, i)


@inner
def _is_below_front(view: View, pitfalls: Pitfalls, i: int) -> bool:
    """True if i is certified to be dominated by an arm of O, or by at least one of them."""
    for k in range(pitfalls.found[SIZE]):
        if dominated(view, i, pitfalls.front[k]) >= 0.0:
            return True
        pitfalls.above[pitfalls.front[k]] = 1
    return below_some(view, i, pitfalls.above)


@inner
def _is_below_exactly(view: View, pitfalls: Pitfalls, bar: float, i: int) -> bool:
    """True if another arm that may be feasible dominates i, where all that is compared is exact.

    Arms outside O count too: equal arms are both outside it.
    """
    problem, state = view.problem, view.state
    for j in range(problem.arms):
        is_open = state.optimal[j] == 1 or pitfalls.own[j] < bar if bar < math.inf else is_candidate(view, j)
        if j != i and is_open and could_dominate(problem, state, j, i):
            return True
    return False


# --- what comes first -------------------------------------------------------------------------------------------------


@inner
def _doubt(view: View, pitfalls: Pitfalls) -> None:
    """Let an arm that may yet dominate the arm in question, i, catch up.

    If it dominates, nothing else about i has to be known; while it lacks pulls, its mean may be off and hide that. In
    doubt is an arm j, not certified infeasible, if being above i would cost less than log t and N_j < N_i^catch_up: it
    takes a vanishing share of the pulls.
    """
    problem, state = view.problem, view.state
    i = pitfalls.found[ARM]
    arm = _better_reason(view, pitfalls, i) if pitfalls.found[KIND] == ENTERS else -1
    if arm >= 0:
        take(pitfalls, DOUBT, arm, i)
        return
    least, arm = math.log(float(pulls_so_far(view))), -1
    enough = pitfalls.counts[i]
    if pitfalls.catch_up < 1.0:
        enough = (1.0 - _ROUNDING) * math.exp(pitfalls.catch_up * math.log(enough))
    for j in range(problem.arms):
        if j != i and pitfalls.counts[j] < enough and is_candidate(view, j):
            cost = falling(problem, state, pitfalls, i, j)
            if cost < least:
                least, arm = cost, j
    if arm >= 0:
        take(pitfalls, DOUBT, arm, i)


@inner
def _better_reason(view: View, pitfalls: Pitfalls, i: int) -> int:
    """Return an arm of O with fewer pulls than i that rules it out with fewer pulls than the constraints do, or -1.

    For each unit of evidence, with g the least lead of j: dominance takes x pulls of i and m of j where x m/(x + m) is
    2/g^2; m is what j needs anyway, or both are 4/g^2. Counts that grew for the other reason hide that.
    """
    arm = -1
    if pitfalls.plain or not pitfalls.own[i] > 0.0:
        return arm
    fewest = math.inf
    for k in range(pitfalls.found[SIZE]):
        j = pitfalls.front[k]
        if pitfalls.counts[j] < pitfalls.counts[i] and could_dominate(view.problem, view.state, j, i):
            gap = smallest_lead(pitfalls, i, j)
            if 0.0 < gap < math.inf:
                m, least = _own_pulls(view, pitfalls, j), 2.0 / (gap * gap)
                more = least * m / (m - least) if m >= 2.0 * least else 4.0 * least - m
                if more < fewest and more < pitfalls.counts[i] / pitfalls.own[i]:
                    fewest, arm = more, j
    return arm


@inner
def _is_dearer(view: View, pitfalls: Pitfalls, cost: float) -> bool:
    """True if it takes more pulls to keep the arm from rising, at this cost, than from entering P.

    False where an arm above it has many more pulls: those were made for other claims. The pulls that an arm above
    needs for its own feasibility are not counted.
    """
    i = pitfalls.found[ARM]
    if not pitfalls.own[i] > 0.0:
        return False
    to_rise, to_enter = pitfalls.counts[i] / cost, pitfalls.counts[i] / pitfalls.own[i]
    for j in range(pitfalls.share.shape[0]):
        if j != i and pitfalls.share[j] > 0.0:
            if pitfalls.counts[j] > _BUSY * pitfalls.counts[i]:
                return False
            to_rise += pitfalls.counts[j] / cost
            to_enter += _own_pulls(view, pitfalls, j)
    return to_rise > to_enter


@inner
def _own_pulls(view: View, pitfalls: Pitfalls, j: int) -> float:
    """Return how many pulls an arm of O takes for each unit of evidence that it is feasible."""
    cost = crossing(view, pitfalls, j)
    return pitfalls.counts[j] / cost if cost > 0.0 else 0.0


# --- explanations -----------------------------------------------------------------------------------------------------


@entry
def ratio_dominators(view: View, pitfalls: Pitfalls, i: int, members: Bytes) -> None:
    """Mark the arms of O that keep i from rising by likelihood ratio: one alone, or all above i together; or none."""
    view = at_now(view)
    problem, state = view.problem, view.state
    bar = ratio_bar(view)
    for j in range(problem.arms):
        members[j] = 0
    if bar == math.inf or state.optimal[i] == 1:
        return
    begin_search(problem, state, pitfalls)
    if rising(problem, state, pitfalls, i, bar) < math.inf:
        return
    j = pitfalls.rival[i]
    is_enough = j >= 0 and rising_above(problem, state, pitfalls, i, j) >= bar
    for k in range(problem.arms):
        members[k] = 1 if (k == j if is_enough else pitfalls.above[k] == 1) else 0
