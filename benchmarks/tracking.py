"""An algorithm that is told how to share its samples out: what a sampling rule could reach that knew the truth.

It pulls the arm that is furthest behind its share, and stops as Game-cPSI does, or as pitfall does where arms are to be
explained.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

import paretoguard as pg
from paretoguard.algorithms.game import Game, is_certain
from paretoguard.algorithms.pitfall.costs import NONE
from paretoguard.algorithms.pitfall.pitfall import Pitfall
from paretoguard.algorithms.pitfall.search import find_pitfall
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import answer, decide, restart, select
from paretoguard.engine.state import CLOCK, QUEUED, present, queue_unseen, refresh
from paretoguard.evidence.glr import Glr


class GameMemory(NamedTuple):
    """What kernels see, for the plain problem."""

    game: Any
    weights: NDArray[float64]


class PitfallMemory(NamedTuple):
    """What kernels see, for the explainable problem."""

    pitfall: Any
    weights: NDArray[float64]


@dataclass(frozen=True)
class Tracking:
    """Samples of the plain problem in proportion to given weights."""

    weights: tuple[float, ...]
    name: ClassVar[str] = "tracking"
    evidence: ClassVar[type] = Glr
    task: ClassVar[str] = "cpsi"
    by_position: ClassVar[bool] = True

    def fit(self, space: Space) -> GameMemory:
        return GameMemory(Game().fit(space), np.array(self.weights))


@dataclass(frozen=True)
class TrackingExplained:
    """Samples of the explainable problem in proportion to given weights."""

    weights: tuple[float, ...]
    name: ClassVar[str] = "oracle"
    by_position: ClassVar[bool] = True

    def fit(self, space: Space) -> PitfallMemory:
        return PitfallMemory(Pitfall().fit(space), np.array(self.weights))


def oracle(instance: pg.Instance, task: str = "cpsi") -> Tracking | TrackingExplained:
    """With the weights of the lower bound, which nobody knows who does not know the means."""
    weights = pg.theory.lower_bound(instance, task=task, time_limit=math.inf).weights
    shares = tuple(weights[arm] for arm in instance.problem.arms)
    return Tracking(shares) if task == "cpsi" else TrackingExplained(shares)


@inner
def _furthest_behind(weights: Any, space: Any, state: Any) -> int:
    most = -math.inf
    for i in range(space.arms):
        behind = weights[i] * state.tally[CLOCK] - state.counts[i]
        if behind > most:
            most, state.queue[0] = behind, i
    state.tally[QUEUED] = 1
    return 1


@inner
def _stop(state: Any) -> int:
    state.tally[QUEUED] = 0
    return 0


@select.register(GameMemory)
def _select_plain(policy: Any, evidence: Any, space: Any, state: Any) -> int:
    if is_certain(policy.game, evidence, space, state):
        return _stop(state)
    return _furthest_behind(policy.weights, space, state)


@select.register(PitfallMemory)
def _select_explained(policy: Any, evidence: Any, space: Any, state: Any) -> int:
    if find_pitfall(evidence, present(evidence, state), space, state, policy.pitfall.pitfalls) == NONE:
        return _stop(state)
    return _furthest_behind(policy.weights, space, state)


def _decide(policy: Any, evidence: Any, space: Any, state: Any) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    return select(policy, evidence, space, state)


for _kind in (GameMemory, PitfallMemory):
    decide.register(_kind, _decide)
restart.register(GameMemory, lambda memory: restart(memory.game))
restart.register(PitfallMemory, lambda memory: restart(memory.pitfall))
answer.register(GameMemory, lambda memory, *rest: answer(memory.game, *rest))
answer.register(PitfallMemory, lambda memory, *rest: answer(memory.pitfall, *rest))
