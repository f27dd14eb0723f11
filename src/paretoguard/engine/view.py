"""What an algorithm sees: a `View` of the results so far, with the thresholds of now.

`refresh` works new results into the state, only for arms that have some: a long history is folded at the price of its
sums. Evidence about feasibility waits until `weight_of` asks for it; not where an arm may be certified infeasible by
it, which every decision asks.
"""

import math
from typing import Any, NamedTuple

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import FAILS, GRID, HOLDS, ProblemArrays
from paretoguard.engine.draws import DECISIONS, uniforms
from paretoguard.engine.means import locate, rebuild_front, update_front
from paretoguard.engine.questions import answer, is_steady, moment, most_weight, prepare, weigh
from paretoguard.engine.state import BUILT, CLOCK, FRESH, UNSEEN, State
from paretoguard.numeric import Bytes
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL

NOTHING = 0  # arms queued: the answer is found or, in a sampling rule, there is no wish


class View(NamedTuple):
    """One experiment at one moment."""

    evidence: Any  # the kernel record of the evidence
    now: Any  # its thresholds of now: a record with a field `bar`; None until `at_now` sets them
    problem: ProblemArrays
    state: State


@inner
def at_now(view: View) -> View:
    """Return the view with the thresholds of now; before the first result, with those of time 1."""
    evidence, state = view.evidence, view.state
    return View(evidence, moment(evidence, max(1, state.tally[CLOCK])), view.problem, state)


@inner
def refresh(view: View) -> None:
    """Work in the new results: on which side of P each mean is, and the Pareto set of the feasible arms."""
    problem, state = view.problem, view.state
    count = state.tally[FRESH]
    for k in range(count):
        arm = state.fresh[k]
        state.is_fresh[arm] = 0
        locate(problem, state, arm)
        _compound(problem, state, arm)
        prepare(view.evidence, state, arm)
        _weigh(view, arm)
    if state.tally[BUILT] == 0:
        rebuild_front(problem, state)
        state.tally[BUILT] = 1
    else:
        for k in range(count):
            update_front(problem, state, state.fresh[k])
    state.tally[FRESH] = 0


@inner
def _compound(problem: ProblemArrays, state: State, arm: int) -> None:
    """Work out, for each result, the log growth of each bet on the side of P where `arm` is."""
    side = HOLDS if state.inside[arm] == 1 else FAILS
    for row in range(problem.bets.first.shape[0]):
        first = problem.bets.first[row, side]
        if first < 0:
            continue
        place = problem.bets.coordinate[first]
        if problem.ranges.binary[place]:
            share = 0.5 * (state.means[arm, place] - problem.ranges.least[place])
            for bet in range(first, first + GRID):
                state.growth[arm, bet] = problem.bets.low[bet] + share * problem.bets.step[bet]
        else:
            for bet in range(first, first + GRID):
                total = state.banked[arm, bet] + math.log(state.stakes[arm, bet])
                state.growth[arm, bet] = total / float(state.counts[arm])


@inner
def _weigh(view: View, arm: int) -> None:
    """Leave the evidence on which side of P `arm` is to `weight_of`; but not, outside P, what may reach the bar.

    Where evidence is steady, it reaches the bar for good or never; elsewhere the bar moves, and nothing is left.
    """
    state = view.state
    state.weight[arm] = -math.inf
    if state.counts[arm] > 0:
        state.weight[arm] = math.nan
        if state.inside[arm] == 0:
            state.most_weight[arm] = most_weight(view, arm) if is_steady(view) else math.inf
            if not state.most_weight[arm] < view.now.bar:
                state.most_weight[arm] = weight_of(view, arm)


@inner
def weight_of(view: View, i: int) -> float:
    """Return the part of gamma_i that does not change with time; it is worked out when first asked for."""
    state = view.state
    if state.weight[i] != state.weight[i]:
        value = weigh(view, i)
        state.weight[i] = value if value == value else -math.inf  # what is no number is no evidence
    return float(state.weight[i])


@inner
def is_outside(view: View, i: int) -> bool:
    """True if i is certified infeasible. Evidence that is left for later (nan) does not reach the bar."""
    return bool(view.state.inside[i] == 0 and view.state.weight[i] >= view.now.bar)


@inner
def is_candidate(view: View, j: int) -> bool:
    """True if j is in C_t: feasible so far, or not yet certified infeasible."""
    return not is_outside(view, j)


@inner
def partition(view: View, statuses: Bytes) -> None:
    """Write the answer read off the means: O_t, then C_t without O_t, then the rest."""
    for i in range(statuses.shape[0]):
        if view.state.optimal[i] == 1:
            statuses[i] = OPTIMAL
        elif is_candidate(view, i):
            statuses[i] = DOMINATED
        else:
            statuses[i] = INFEASIBLE


answer.register(object, lambda memory, view, statuses: partition(view, statuses))


@inner
def recount(view: View, arm: int, more: int) -> None:
    """Change the count of an arm by `more` without results: its means stay, its evidence follows."""
    state = view.state
    count = state.counts[arm] + more
    state.counts[arm] = count
    state.stamp[arm] += 1
    state.tally[CLOCK] += more
    state.inverse[arm] = 1.0 / count if count > 0 else math.inf
    state.root[arm] = math.sqrt(state.inverse[arm])
    prepare(view.evidence, state, arm)
    _weigh(at_now(view), arm)


@inner
def pulls_so_far(view: View) -> int:
    """Return the number of results; pulls that are pending count where the sampling rule is asked."""
    return int(view.state.tally[CLOCK])


@inner
def draw_for_decision(view: View) -> float:
    """Return a number in [0, 1) for the decision of now: the same for the same run and the same number of results."""
    u, _ = uniforms(view.state.key, 0, view.state.tally[CLOCK], 0, DECISIONS)
    return u


# --- what an algorithm queues ----------------------------------------------------------------------------------------


@inner
def queue_one(view: View, arm: int) -> int:
    """Queue one arm; return 1."""
    view.state.queue[0] = arm
    return 1


@inner
def queue_two(view: View, first: int, second: int) -> int:
    """Queue two arms, in this order; return 2."""
    view.state.queue[0], view.state.queue[1] = first, second
    return 2


@inner
def queue_unseen(view: View) -> int:
    """Queue every arm that was never pulled, in order; return how many."""
    state, queued = view.state, 0
    if state.tally[UNSEEN] == 0:
        return 0
    for i in range(view.problem.arms):
        if state.counts[i] == 0:
            state.queue[queued] = i
            queued += 1
    return queued
