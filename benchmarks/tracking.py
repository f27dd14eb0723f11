"""An algorithm that is told how to share its samples out: what a sampling rule could reach that knew the truth.

It pulls the arm that is furthest behind its share, and stops as Game-cPSI does, or as pitfall does where arms are to be
explained.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import paretoguard as pg
from paretoguard.algorithms import Algorithm
from paretoguard.algorithms.game import Game, is_certain
from paretoguard.algorithms.pitfall.costs import NONE
from paretoguard.algorithms.pitfall.pitfall import Pitfall
from paretoguard.algorithms.pitfall.search import find_pitfall
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import answer, choose, select
from paretoguard.engine.view import NOTHING, View, pulls_so_far, queue_one
from paretoguard.evidence.kaufmann_koolen import Glr
from paretoguard.numeric import Floats
from paretoguard.vocabulary import CPSI


class GameMemory(NamedTuple):
    """What kernels see, for the plain problem."""

    game: Any
    weights: Floats


class PitfallMemory(NamedTuple):
    """What kernels see, for the explainable problem."""

    pitfall: Any
    weights: Floats


@dataclass(frozen=True)
class Tracking(Algorithm):
    """Samples of the plain problem in proportion to given weights."""

    weights: tuple[float, ...]
    name: ClassVar[str] = "tracking"
    evidence: ClassVar[type] = Glr
    task = CPSI
    by_position: ClassVar[bool] = True

    def fit(self, problem: ProblemArrays) -> GameMemory:
        return GameMemory(Game().fit(problem), np.array(self.weights))


@dataclass(frozen=True)
class TrackingExplained(Algorithm):
    """Samples of the explainable problem in proportion to given weights."""

    weights: tuple[float, ...]
    name: ClassVar[str] = "oracle"
    by_position: ClassVar[bool] = True

    def fit(self, problem: ProblemArrays) -> PitfallMemory:
        return PitfallMemory(Pitfall().fit(problem), np.array(self.weights))


def oracle(instance: pg.Instance, task: str = "cpsi") -> Tracking | TrackingExplained:
    """With the weights of the lower bound, which nobody knows who does not know the means."""
    weights = pg.theory.lower_bound(instance, task=task, time_limit=math.inf).weights
    shares = tuple(weights[arm] for arm in instance.problem.arms)
    return Tracking(shares) if task == "cpsi" else TrackingExplained(shares)


@inner
def _furthest_behind(weights: Floats, view: View) -> int:
    most, arm = -math.inf, 0
    for i in range(view.problem.arms):
        behind = weights[i] * pulls_so_far(view) - view.state.counts[i]
        if behind > most:
            most, arm = behind, i
    return queue_one(view, arm)


@select.register(GameMemory)
@choose.register(GameMemory)
def _choose_plain(memory: GameMemory, view: View) -> int:
    return NOTHING if is_certain(memory.game, view) else _furthest_behind(memory.weights, view)


@select.register(PitfallMemory)
@choose.register(PitfallMemory)
def _choose_explained(memory: PitfallMemory, view: View) -> int:
    is_settled = find_pitfall(view, memory.pitfall.pitfalls) == NONE
    return NOTHING if is_settled else _furthest_behind(memory.weights, view)


answer.register(GameMemory, lambda memory, view, statuses: answer(memory.game, view, statuses))
answer.register(PitfallMemory, lambda memory, view, statuses: answer(memory.pitfall, view, statuses))
