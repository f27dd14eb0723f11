"""e-cAPE (Kone, Kaufmann, Richert 2025): pull the arm that holds up the stopping rule, and its closest candidate.

Where the paper leaves a choice open: the rule is tested before each pull; ties go to the lowest index (pairs: the first
in lexicographic order); without a challenger only the leader is pulled, and likewise when one sample of the budget is
left (the queue is cut from the back).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.stopping import (
    Rivals,
    closest_member,
    new_rivals,
    weakest_excluded,
    weakest_feasible,
    weakest_pair,
)
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import choose
from paretoguard.engine.view import NOTHING, View, queue_one, queue_two


class ECapeMemory(NamedTuple):
    """e-cAPE at work on one problem."""

    rivals: Rivals


@dataclass(frozen=True)
class ECape(Algorithm):
    """e-cAPE: the paper's algorithm for the explainable problem."""

    name: ClassVar[str] = "e-cape"

    def fit(self, problem: ProblemArrays) -> ECapeMemory:
        return ECapeMemory(new_rivals(problem))


@choose.register(ECapeMemory)
def _choose(memory: ECapeMemory, view: View) -> int:
    leader = _leader(memory.rivals, view)
    if leader < 0:
        return NOTHING
    challenger = closest_member(view, memory.rivals, leader)
    return queue_one(view, leader) if challenger < 0 else queue_two(view, leader, challenger)


@inner
def _leader(rivals: Rivals, view: View) -> int:
    """Return the arm that holds up the stopping rule, or -1 when nothing does."""
    z2, excluded = weakest_excluded(view, rivals, view.state.optimal)
    if z2 < 0.0:
        return excluded
    z1_feasible, feasible = weakest_feasible(view)
    z1_pair, first = weakest_pair(view, rivals, view.state.optimal)
    if min(z1_feasible, z1_pair) >= 0.0:
        return -1
    return feasible if z1_pair >= z1_feasible else first
