"""e-cAPE (Kone, Kaufmann, Richert 2025): pull the arm that holds up the stopping rule, and its closest candidate.

Where the paper leaves a choice open: the rule is tested before each pull; ties go to the lowest index (pairs: the first
in lexicographic order); without a challenger only the leader is pulled, and likewise when one sample of the budget is
left (the queue is cut from the back).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy import uint8
from numpy.typing import NDArray

from paretoguard.algorithms.ecape.stopping import (
    Rivals,
    closest_candidate,
    forget,
    new_rivals,
    partition,
    weakest_excluded,
    weakest_feasible,
    weakest_pair,
)
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import answer, decide, restart, select
from paretoguard.engine.state import QUEUED, State, present, queue_unseen, refresh


class ECapeMemory(NamedTuple):
    """e-cAPE at work on one problem."""

    rivals: Rivals


@dataclass(frozen=True)
class ECape:
    """e-cAPE: the paper's algorithm for the explainable problem."""

    name: ClassVar[str] = "e-cape"

    def fit(self, space: Space) -> ECapeMemory:
        """Room for what the algorithm remembers."""
        return ECapeMemory(new_rivals(space))


@restart.register(ECapeMemory)
def _restart(policy: ECapeMemory) -> None:
    forget(policy.rivals)


@decide.register(ECapeMemory)
def _decide(policy: ECapeMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    return select(policy, evidence, space, state)


@select.register(ECapeMemory)
def _select(policy: ECapeMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    now = present(evidence, state)
    leader = _leader(policy, evidence, now, space, state)
    if leader < 0:
        state.tally[QUEUED] = 0
        return 0
    challenger = closest_candidate(evidence, now, space, state, leader, policy.rivals.challenger[leader])
    policy.rivals.challenger[leader] = challenger
    state.queue[0] = leader
    state.queue[1] = challenger
    state.tally[QUEUED] = 1 if challenger < 0 else 2
    return int(state.tally[QUEUED])


@inner
def _leader(policy: ECapeMemory, evidence: NamedTuple, now: NamedTuple, space: Space, state: State) -> int:
    """The arm that holds up the stopping rule, or -1 when nothing does."""
    z2, excluded = weakest_excluded(evidence, now, space, state, policy.rivals)
    if z2 < 0.0:
        return excluded
    z1_feasible, feasible = weakest_feasible(evidence, now, space, state)
    z1_pair, first = weakest_pair(evidence, now, space, state, policy.rivals)
    if min(z1_feasible, z1_pair) >= 0.0:
        return -1
    return feasible if z1_pair >= z1_feasible else first


@answer.register(ECapeMemory)
def _answer(policy: ECapeMemory, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    partition(present(evidence, state), state, statuses)
