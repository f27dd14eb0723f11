"""Uniform: round robin with e-cAPE's stopping rule, tested after every pull once every arm has one."""

from dataclasses import dataclass
from typing import ClassVar

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.stopping import RuleMemory, new_rivals
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import select
from paretoguard.engine.view import View, pulls_so_far, queue_one


class UniformMemory(RuleMemory):
    """Round robin on one problem."""


@dataclass(frozen=True)
class Uniform(Algorithm):
    """Round robin: every arm in turn."""

    name: ClassVar[str] = "uniform"
    by_position: ClassVar[bool] = True

    def fit(self, problem: ProblemArrays) -> UniformMemory:
        return UniformMemory(new_rivals(problem))


@select.register(UniformMemory)
def _select(memory: UniformMemory, view: View) -> int:
    return queue_one(view, pulls_so_far(view) % view.problem.arms)
