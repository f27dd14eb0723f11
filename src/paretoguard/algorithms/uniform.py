"""Uniform: round robin with e-cAPE's stopping rule, tested after every pull once every arm has one."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.ecape.stopping import Rivals, new_rivals, rule_stops
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import choose, select
from paretoguard.engine.view import NOTHING, View, pulls_so_far, queue_one


class UniformMemory(NamedTuple):
    """Round robin on one problem."""

    rivals: Rivals


@dataclass(frozen=True)
class Uniform(Algorithm):
    """Round robin: every arm in turn."""

    name: ClassVar[str] = "uniform"
    by_position: ClassVar[bool] = True

    def fit(self, problem: ProblemArrays) -> UniformMemory:
        return UniformMemory(new_rivals(problem))


@choose.register(UniformMemory)
def _choose(memory: UniformMemory, view: View) -> int:
    return NOTHING if rule_stops(view, memory.rivals) else select(memory, view)


@select.register(UniformMemory)
def _select(memory: UniformMemory, view: View) -> int:
    return queue_one(view, pulls_so_far(view) % view.problem.arms)
