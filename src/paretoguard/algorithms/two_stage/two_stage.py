"""Two-stage (MD-APT + APE): first find the feasible arms, then the Pareto set among them.

Stage 1 pulls, among the arms with gamma_i < 0, the one with the least sqrt(N_i) eta_i, until none is left. Stage 2 runs
APE on the arms found feasible, keeping their samples; K and t count both stages. Stage 1 makes feasibility claims only
and stage 2 pair claims only, so that the evidence needs no further split of delta.

APE (`ape`) has two forms. In that of 2023, the less pulled of its leader and challenger is pulled (ties: lowest
index). The form "e-cape" takes e-cAPE's leader and challenger with every arm found feasible, and pulls both.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy import int64

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.ecape.stopping import closest_member
from paretoguard.algorithms.two_stage.ape import Ape, find_front, lead, new_ape
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.feasibility import eta_of
from paretoguard.engine.questions import answer, choose, select
from paretoguard.engine.view import NOTHING, View, queue_one, queue_two, weight_of
from paretoguard.numeric import Bytes, Integers
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL

_FORMS = ("2023", "e-cape")
_STAGE = 0  # entry of TwoStageMemory.stage


class TwoStageMemory(NamedTuple):
    """Two-stage at work on one problem."""

    both: bool  # e-cAPE's form: pull leader and challenger
    stage: Integers  # [1] 1 or 2
    ape: Ape  # on the arms found feasible


@dataclass(frozen=True)
class TwoStage(Algorithm):
    """MD-APT, then APE on the arms found feasible; `form` is "2023" (default) or "e-cape"."""

    form: str = "2023"
    name: ClassVar[str] = "two-stage"

    def __post_init__(self) -> None:
        if self.form not in _FORMS:
            raise ValueError(f"form is {self.form!r}; expected one of {', '.join(_FORMS)}")

    def fit(self, problem: ProblemArrays) -> TwoStageMemory:
        return TwoStageMemory(self.form == "e-cape", np.ones(1, dtype=int64), new_ape(problem))


@choose.register(TwoStageMemory)
def _choose(memory: TwoStageMemory, view: View) -> int:
    if memory.stage[_STAGE] == 1:
        if _classify(view) > 0:
            return 1
        memory.stage[_STAGE] = 2
        for i in range(view.problem.arms):
            memory.ape.rivals.members[i] = view.state.inside[i]
    return _explore(memory, view)


@select.register(TwoStageMemory)
def _select(memory: TwoStageMemory, view: View) -> int:
    return _explore(memory, view) if memory.stage[_STAGE] == 2 else _classify(view)


@inner
def _classify(view: View) -> int:
    """Make one decision of MD-APT: of the arms with gamma_i < 0, queue the one with the least sqrt(N_i) eta_i."""
    problem, state = view.problem, view.state
    least, arm = math.inf, -1
    for i in range(problem.arms):
        if weight_of(view, i) < view.now.bar:
            value = math.sqrt(state.counts[i]) * eta_of(problem, state, i)
            if value < least:
                least, arm = value, i
    return queue_one(view, arm) if arm >= 0 else NOTHING


@inner
def _explore(memory: TwoStageMemory, view: View) -> int:
    """Make one decision of APE on the arms found feasible."""
    find_front(memory.ape, view.problem, view.state)
    leader = lead(memory.ape, view, memory.both)
    if leader < 0:
        return NOTHING
    other = closest_member(view, memory.ape.rivals, leader)
    if memory.both:
        return queue_two(view, leader, other)
    low, high, counts = min(leader, other), max(leader, other), view.state.counts
    return queue_one(view, low if counts[low] <= counts[high] else high)


@answer.register(TwoStageMemory)
def _answer(memory: TwoStageMemory, view: View, statuses: Bytes) -> None:
    for i in range(view.problem.arms):
        if memory.ape.rivals.members[i] == 0:
            statuses[i] = INFEASIBLE
        elif memory.ape.front[i] == 1:
            statuses[i] = OPTIMAL
        else:
            statuses[i] = DOMINATED
