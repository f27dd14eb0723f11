"""Uniform: round robin with e-cAPE's stopping rule, tested after every pull once every arm has one."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy import uint8
from numpy.typing import NDArray

from paretoguard.algorithms.ecape.stopping import (
    Rivals,
    forget,
    full_term,
    lower_bound,
    new_rivals,
    partition,
    weakest_feasible,
    weakest_pair,
)
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import answer, decide, restart, select
from paretoguard.engine.state import CLOCK, QUEUED, State, present, queue_unseen, refresh


class UniformMemory(NamedTuple):
    """Round robin on one problem."""

    rivals: Rivals


@dataclass(frozen=True)
class Uniform:
    """Round robin: every arm in turn."""

    name: ClassVar[str] = "uniform"
    by_position: ClassVar[bool] = True

    def fit(self, space: Space) -> UniformMemory:
        """Room for what the stopping rule remembers."""
        return UniformMemory(new_rivals(space))


@restart.register(UniformMemory)
def _restart(policy: UniformMemory) -> None:
    forget(policy.rivals)


@decide.register(UniformMemory)
def _decide(policy: UniformMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    now = present(evidence, state)
    if _stops(policy, evidence, now, space, state):
        state.tally[QUEUED] = 0
        return 0
    return select(policy, evidence, space, state)


@select.register(UniformMemory)
def _select(policy: UniformMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    state.queue[0] = state.tally[CLOCK] % space.arms
    state.tally[QUEUED] = 1
    return 1


@inner
def _stops(policy: UniformMemory, evidence: NamedTuple, now: NamedTuple, space: Space, state: State) -> bool:
    """Are Z1F, Z2 and Z1P all >= 0?  A negative term ends the test: first that of last time, then the cheapest."""
    last = policy.rivals.weakest[0]
    for k in range(-1, space.arms):
        if k == 0 and weakest_feasible(evidence, now, space, state)[0] < 0.0:
            return False
        i = last if k < 0 else k
        if (
            i >= 0
            and state.optimal[i] == 0
            and lower_bound(evidence, now, space, state, policy.rivals, i) < 0.0
            and full_term(evidence, now, space, state, policy.rivals, i) < 0.0
        ):
            policy.rivals.weakest[0] = i
            return False
    return bool(weakest_pair(evidence, now, space, state, policy.rivals)[0] >= 0.0)


@answer.register(UniformMemory)
def _answer(policy: UniformMemory, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    partition(present(evidence, state), state, statuses)
