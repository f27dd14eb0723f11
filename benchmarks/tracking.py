"""An algorithm that is told how to share its samples out: what a sampling rule could reach that knew the truth.

It pulls the arm that is furthest behind its share, and stops as Game-cPSI does.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

import paretoguard as pg
from paretoguard.engine.evidence.glr import Glr
from paretoguard.engine.policies.game import Game, is_certain
from paretoguard.engine.policies.parts import answer, decide, queue_unseen, restart, select
from paretoguard.engine.space import Space
from paretoguard.engine.state import CLOCK, QUEUED, refresh


class Memory(NamedTuple):
    """What kernels see."""

    game: Any
    weights: NDArray[float64]


@dataclass(frozen=True)
class Tracking:
    """Samples in proportion to given weights."""

    weights: tuple[float, ...]
    name: ClassVar[str] = "tracking"
    evidence: ClassVar[type] = Glr
    task: ClassVar[str] = "cpsi"
    by_position: ClassVar[bool] = True

    def fit(self, space: Space) -> Memory:
        return Memory(Game().fit(space), np.array(self.weights))


def oracle(instance: pg.Instance) -> Tracking:
    """With the weights of the lower bound, which nobody knows who does not know the means."""
    weights = pg.theory.lower_bound(instance, task="cpsi").weights
    return Tracking(tuple(weights[arm] for arm in instance.problem.arms))


@decide.register(Memory)
def _decide(policy: Any, evidence: Any, space: Any, state: Any) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    if is_certain(policy.game, evidence, space, state):
        state.tally[QUEUED] = 0
        return 0
    return select(policy, evidence, space, state)


@select.register(Memory)
def _select(policy: Any, evidence: Any, space: Any, state: Any) -> int:
    most = -math.inf
    for i in range(space.arms):
        behind = policy.weights[i] * state.tally[CLOCK] - state.counts[i]
        if behind > most:
            most, state.queue[0] = behind, i
    state.tally[QUEUED] = 1
    return 1


restart.register(Memory, lambda memory: restart(memory.game))
answer.register(Memory, lambda memory, *rest: answer(memory.game, *rest))
