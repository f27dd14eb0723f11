"""What comes before the pitfall: the easier of an arm's two reasons, and arms that could make the question idle.

To rule an arm out that is outside P and below O takes one of two reasons. Worked on is the one that takes fewer pulls
(`is_dearer`, `_better_reason`): the larger cost alone would hold on to what it began with. Unless the pitfall is that
an arm below O rises, `doubt` looks after arms that may yet dominate the arm in question.
"""

import math

from paretoguard.algorithms.pitfall.costs import (
    ARM,
    DOUBT,
    ENTERS,
    KIND,
    RISES,
    SIZE,
    Pitfalls,
    could_dominate,
    crossing,
    falling,
    rising_bound,
    smallest_lead,
    take,
)
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.state import State
from paretoguard.engine.view import View, is_candidate, pulls_so_far

_ROUNDING = 1e-12  # of exp and log: a whole power must not come out above itself
BUSY = 1.2  # times the pulls of the arm in question: the other is pulled for other ends too


@inner
def rises_from_below(problem: ProblemArrays, state: State, pitfalls: Pitfalls, i: int) -> bool:
    """Is the pitfall that i rises, from below an arm of O?"""
    return bool(pitfalls.found[KIND] == RISES and rising_bound(problem, state, pitfalls, i) > 0.0)


@inner
def doubt(view: View, pitfalls: Pitfalls) -> None:
    """Let an arm that may yet dominate the arm in question catch up.

    Were it to dominate, nothing else about the arm would have to be known: but while it lacks pulls its mean may be off
    and hide that. In doubt is an arm j, not certified infeasible, if being above i would cost less than log t and
    N_j < N_i^catch_up: it takes a vanishing share of the pulls.
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
        if pitfalls.counts[j] < pitfalls.counts[i] and could_dominate(view.problem, view.state, j, i):
            gap = smallest_lead(pitfalls, i, j)
            if 0.0 < gap < math.inf:
                m, least = _own_pulls(view, pitfalls, j), 2.0 / (gap * gap)
                more = least * m / (m - least) if m >= 2.0 * least else 4.0 * least - m
                if more < fewest and more < pitfalls.counts[i] / pitfalls.own[i]:
                    fewest, arm = more, j
    return arm


@inner
def is_dearer(view: View, pitfalls: Pitfalls, cost: float) -> bool:
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
            entering += _own_pulls(view, pitfalls, j)
    return rising > entering


@inner
def _own_pulls(view: View, pitfalls: Pitfalls, j: int) -> float:
    """How many pulls an arm of O takes for each unit of evidence that it is feasible."""
    cost = crossing(view, pitfalls, j)
    return pitfalls.counts[j] / cost if cost > 0.0 else 0.0
