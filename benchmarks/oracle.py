"""An oracle beside `pitfall`: it knows the optimal shares of samples and keeps to them; it stops as `pitfall` does."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.engine.pitfalls import NONE, find_pitfall
from paretoguard.engine.policies.parts import answer, decide, queue_unseen, restart, select
from paretoguard.engine.policies.pitfall import Pitfall
from paretoguard.engine.state import CLOCK, QUEUED, present, refresh


class _Memory(NamedTuple):
    inner: Any
    weights: NDArray[float64]


@dataclass(frozen=True)
class Oracle:
    """`weights`, of all arms, are those of `theory.bounds`."""

    weights: tuple[float, ...]
    name: ClassVar[str] = "oracle"

    def fit(self, space: Any) -> _Memory:
        return _Memory(Pitfall().fit(space), np.array(self.weights))


@decide.register(_Memory)
def _decide(policy: _Memory, evidence: Any, space: Any, state: Any) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    return select(policy, evidence, space, state)


@select.register(_Memory)
def _select(policy: _Memory, evidence: Any, space: Any, state: Any) -> int:
    kind = find_pitfall(evidence, present(evidence, state), space, state, policy.inner.pitfalls)
    if kind == NONE:
        state.tally[QUEUED] = 0
        return 0
    arm, most = 0, -1e300
    for i in range(space.arms):
        behind = policy.weights[i] * float(state.tally[CLOCK] + 1) - float(state.counts[i])
        if behind > most:
            arm, most = i, behind
    state.queue[0] = arm
    state.tally[QUEUED] = 1
    return 1


restart.register(_Memory, lambda memory: restart(memory.inner))
answer.register(_Memory, lambda memory, *rest: answer(memory.inner, *rest))
