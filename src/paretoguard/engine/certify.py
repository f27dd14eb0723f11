"""What is certain at any time, also before an answer is found: each arm's status by chains of certified claims.

- infeasible: outside P, with its evidence;
- dominated: a chain i < j1 < ... < jk of certified dominances that ends in an arm certified feasible; or by at least
  one of several arms certified feasible;
- optimal: certified feasible and, for each other arm j: j infeasible, or i certified not dominated by j, or a chain
  from j that ends in i or in an arm k with i certified not dominated by k.
"""

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.questions import below_some, dominated, undominated
from paretoguard.engine.state import FRESH
from paretoguard.engine.view import View, at_now, is_outside, refresh, weight_of
from paretoguard.numeric import Bytes, Integers
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED

NOBODY, SEVERAL = -1, -2  # entries of `via` that name no arm


@aside
def settle(view: View, statuses: Bytes, via: Integers) -> None:
    """Write each arm's certified status and, for a dominated one, the next arm of its chain, or SEVERAL."""
    problem = view.problem
    for i in range(problem.arms):
        out = is_outside(view, i)
        statuses[i] = INFEASIBLE if out else UNDECIDED
        via[i] = _someone_above(view, i)
    for i in range(problem.arms):
        if is_feasible(view, i) and _is_unbeaten(view, statuses, via, i):
            statuses[i] = OPTIMAL
    for i in range(problem.arms):
        via[i] = NOBODY
    _spread_dominance(view, statuses, via)
    for i in range(problem.arms):
        if statuses[i] == UNDECIDED and some_above(view, i, view.state.group):
            statuses[i] = DOMINATED
            via[i] = SEVERAL


@inner
def settle_anew(seen: View, statuses: Bytes, via: Integers) -> None:
    """Work in the new results, and settle. Inlined: long runs are slower where `settle` works them in."""
    view = at_now(seen)
    if view.state.tally[FRESH] > 0:
        refresh(view)
    settle(view, statuses, via)


@inner
def is_feasible(view: View, i: int) -> bool:
    """True if i is certified feasible."""
    return bool(view.state.inside[i] == 1 and weight_of(view, i) >= view.now.bar)


@inner
def some_above(view: View, i: int, members: Bytes) -> bool:
    """True if i is certified to be dominated by at least one of the arms of O certified feasible: marks which."""
    state = view.state
    if state.counts[i] == 0:
        return False
    for k in range(view.problem.arms):
        taken = k != i and state.optimal[k] == 1 and is_feasible(view, k)
        members[k] = 1 if taken else 0
    return below_some(view, i, members)


@inner
def _someone_above(view: View, i: int) -> int:
    """Return an arm that i is certified to be dominated by, feasible or not; NOBODY if there is none."""
    for k in range(view.problem.arms):
        if k != i and _is_below(view, i, k):
            return k
    return NOBODY


@inner
def _is_below(view: View, i: int, j: int) -> bool:
    """True if i is certified to be dominated by j. Of arms never pulled nothing is certain."""
    state = view.state
    seen = state.counts[i] > 0 and state.counts[j] > 0
    return seen and bool(dominated(view, i, j) >= 0.0)


@inner
def _is_not_below(view: View, i: int, j: int) -> bool:
    """True if i is certified not to be dominated by j."""
    state = view.state
    seen = state.counts[i] > 0 and state.counts[j] > 0
    return seen and bool(undominated(view, i, j) >= 0.0)


@inner
def _is_unbeaten(view: View, statuses: Bytes, above: Integers, i: int) -> bool:
    """True if i is certified undominated by every arm that may be feasible. Scratch: mark (1: j is harmless), queue."""
    problem, state = view.problem, view.state
    pending, left = 0, 0
    for j in range(problem.arms):  # the usual reason why not: an arm nothing is certified above, not known harmless
        open_arm = j != i and above[j] == NOBODY and statuses[j] != INFEASIBLE
        if open_arm and not _is_not_below(view, i, j):
            return False
    for j in range(problem.arms):
        harmless = j == i or _is_not_below(view, i, j)
        state.mark[j] = 1 if harmless else 0
        if harmless:
            state.queue[pending] = j
            pending += 1
        elif statuses[j] != INFEASIBLE:
            left += 1
    # Whatever is dominated by a harmless arm is harmless: if i were below j, it would be below that arm too.
    while pending > 0 and left > 0:
        pending -= 1
        k = state.queue[pending]
        for j in range(problem.arms):
            if state.mark[j] == 0 and _is_harmless(view, i, j, k):
                state.mark[j] = 1
                state.queue[pending] = j
                pending += 1
                if statuses[j] != INFEASIBLE:
                    left -= 1
    return left == 0


@inner
def _is_harmless(view: View, i: int, j: int, k: int) -> bool:
    """True if j is certified below k, which i is not below. Below i itself counts unless j is certified equal."""
    if not _is_below(view, j, k):
        return False
    return k != i or not _is_below(view, i, j)


@inner
def _spread_dominance(view: View, statuses: Bytes, via: Integers) -> None:
    """Mark as dominated whatever a chain leads down to from an arm certified feasible.

    Chains that end in an optimal arm come first: they make the better explanation. Each arm is expanded once (mark); an
    arm where a chain began is itself dominated if a later chain comes down to it.
    """
    problem, state = view.problem, view.state
    for i in range(problem.arms):
        state.mark[i] = 0
    for wanted in (True, False):
        for source in range(problem.arms):
            if state.mark[source] == 1 or not is_feasible(view, source):
                continue
            if (statuses[source] == OPTIMAL) != wanted:
                continue
            state.mark[source] = 1
            state.queue[0], pending = source, 1
            while pending > 0:
                pending -= 1
                k = state.queue[pending]
                for i in range(problem.arms):
                    if i == k or (state.mark[i] == 1 and statuses[i] != UNDECIDED):
                        continue
                    if _is_below(view, i, k):
                        via[i] = k
                        if statuses[i] == UNDECIDED:
                            statuses[i] = DOMINATED
                        if state.mark[i] == 0:
                            state.mark[i] = 1
                            state.queue[pending] = i
                            pending += 1
