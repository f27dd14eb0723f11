"""What is certain at any time, also before an answer is found: each arm's status by chains of certified claims.

- infeasible: outside P, with its evidence;
- dominated: a chain i < j1 < ... < jk of certified dominances that ends in an arm certified feasible; or by at least
  one of several arms certified feasible;
- optimal: certified feasible and, for each other arm j: j infeasible, or i certified not dominated by j, or a chain
  from j that ends in i or in an arm k with i certified not dominated by k.
"""

from typing import Any, NamedTuple

from numpy import int64, uint8
from numpy.typing import NDArray

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import below_some, dominated, looks_at_sets, undominated
from paretoguard.engine.state import State, is_outside, weight_of

UNDECIDED, OPTIMAL, DOMINATED, INFEASIBLE = 0, 1, 2, 3
NOBODY, SEVERAL = -1, -2  # entries of `via` that name no arm


@aside
def settle(
    evidence: NamedTuple, now: Any, space: Space, state: State, statuses: NDArray[uint8], via: NDArray[int64]
) -> None:
    """Write each arm's certified status and, for a dominated one, the next arm of its chain, or SEVERAL."""
    for i in range(space.arms):
        out = is_outside(now, state, i)
        statuses[i] = INFEASIBLE if out else UNDECIDED
        via[i] = _someone_above(evidence, now, space, state, i)
    for i in range(space.arms):
        if is_feasible(evidence, now, space, state, i) and _is_unbeaten(evidence, now, space, state, statuses, via, i):
            statuses[i] = OPTIMAL
    for i in range(space.arms):
        via[i] = NOBODY
    _spread_dominance(evidence, now, space, state, statuses, via)
    for i in range(space.arms):
        if statuses[i] == UNDECIDED and some_above(evidence, now, space, state, i, state.group):
            statuses[i] = DOMINATED
            via[i] = SEVERAL


@inner
def is_feasible(evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> bool:
    """Is i certified feasible?"""
    return bool(state.inside[i] == 1 and weight_of(evidence, space, state, i) >= now.bar)


@inner
def some_above(evidence: NamedTuple, now: Any, space: Space, state: State, i: int, members: NDArray[uint8]) -> bool:
    """Is i certified to be dominated by at least one of the arms of O that are certified feasible?  Marks which."""
    if state.counts[i] == 0 or not looks_at_sets(evidence):
        return False
    for k in range(space.arms):
        taken = k != i and state.optimal[k] == 1 and is_feasible(evidence, now, space, state, k)
        members[k] = 1 if taken else 0
    return below_some(evidence, now, space, state, i, members)


@inner
def _someone_above(evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> int:
    """An arm that i is certified to be dominated by, feasible or not; NOBODY if there is none."""
    for k in range(space.arms):
        if k != i and _is_below(evidence, now, space, state, i, k):
            return k
    return NOBODY


@inner
def _is_below(evidence: NamedTuple, now: Any, space: Space, state: State, i: int, j: int) -> bool:
    """Is i certified to be dominated by j?  Of arms never pulled nothing is certain."""
    seen = state.counts[i] > 0 and state.counts[j] > 0
    return seen and bool(dominated(evidence, now, space, state, i, j) >= 0.0)


@inner
def _is_not_below(evidence: NamedTuple, now: Any, space: Space, state: State, i: int, j: int) -> bool:
    """Is i certified not to be dominated by j?"""
    seen = state.counts[i] > 0 and state.counts[j] > 0
    return seen and bool(undominated(evidence, now, space, state, i, j) >= 0.0)


@inner
def _is_unbeaten(
    evidence: NamedTuple,
    now: Any,
    space: Space,
    state: State,
    statuses: NDArray[uint8],
    above: NDArray[int64],
    i: int,
) -> bool:
    """Is i certified undominated by every arm that may be feasible?  Scratch: mark (1 = j is harmless), queue."""
    pending, left = 0, 0
    for j in range(space.arms):  # the usual reason why not: an arm nothing is certified above, not known harmless
        open_arm = j != i and above[j] == NOBODY and statuses[j] != INFEASIBLE
        if open_arm and not _is_not_below(evidence, now, space, state, i, j):
            return False
    for j in range(space.arms):
        harmless = j == i or _is_not_below(evidence, now, space, state, i, j)
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
        for j in range(space.arms):
            if state.mark[j] == 0 and _is_harmless(evidence, now, space, state, i, j, k):
                state.mark[j] = 1
                state.queue[pending] = j
                pending += 1
                if statuses[j] != INFEASIBLE:
                    left -= 1
    return left == 0


@inner
def _is_harmless(evidence: NamedTuple, now: Any, space: Space, state: State, i: int, j: int, k: int) -> bool:
    """Is j certified below k, which i is not below?  Below i itself counts unless j is certified equal (exact ties)."""
    if not _is_below(evidence, now, space, state, j, k):
        return False
    return k != i or not _is_below(evidence, now, space, state, i, j)


@inner
def _spread_dominance(
    evidence: NamedTuple, now: Any, space: Space, state: State, statuses: NDArray[uint8], via: NDArray[int64]
) -> None:
    """Mark as dominated whatever a chain leads down to from an arm certified feasible.

    Chains that end in an optimal arm come first: they make the better explanation. Each arm is expanded once (mark); an
    arm where a chain began is itself dominated if a later chain comes down to it.
    """
    for i in range(space.arms):
        state.mark[i] = 0
    for wanted in (True, False):
        for source in range(space.arms):
            if state.mark[source] == 1 or not is_feasible(evidence, now, space, state, source):
                continue
            if (statuses[source] == OPTIMAL) != wanted:
                continue
            state.mark[source] = 1
            state.queue[0], pending = source, 1
            while pending > 0:
                pending -= 1
                k = state.queue[pending]
                for i in range(space.arms):
                    if i == k or (state.mark[i] == 1 and statuses[i] != UNDECIDED):
                        continue
                    if _is_below(evidence, now, space, state, i, k):
                        via[i] = k
                        if statuses[i] == UNDECIDED:
                            statuses[i] = DOMINATED
                        if state.mark[i] == 0:
                            state.mark[i] = 1
                            state.queue[pending] = i
                            pending += 1
