"""Two-stage (MD-APT + APE): first find the feasible arms, then the Pareto set among them.

Stage 1 pulls, among the arms with gamma_i < 0, the one with the least sqrt(N_i) eta_i, until none is left. Stage 2 runs
APE on the arms found feasible, keeping their samples; K and t count both stages. Stage 1 makes feasibility claims only
and stage 2 pair claims only, so that the evidence needs no further split of delta.

APE (`engine.ape`) has two forms. In that of 2023, the less pulled of its leader and challenger is pulled (ties: lowest
index). The form "e-cape" takes e-cAPE's leader and challenger with every arm found feasible, and pulls both.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import int64, uint8
from numpy.typing import NDArray

from paretoguard.algorithms.two_stage.ape import Ape, begin, challenger, find_front, lead, new_ape
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import DOMINATED, INFEASIBLE, OPTIMAL
from paretoguard.engine.feasibility import eta_of
from paretoguard.engine.questions import answer, decide, restart, select
from paretoguard.engine.state import QUEUED, State, present, queue_unseen, refresh, weight_of

FORMS = ("2023", "e-cape")
_STAGE = 0  # entry of TwoStageMemory.stage


class TwoStageMemory(NamedTuple):
    """Two-stage at work on one problem."""

    both: bool  # e-cAPE's form: pull leader and challenger
    stage: NDArray[int64]  # [1] 1 or 2
    ape: Ape  # on the arms found feasible


@dataclass(frozen=True)
class TwoStage:
    """MD-APT, then APE on the arms found feasible; `form` is "2023" (default) or "e-cape"."""

    form: str = "2023"
    name: ClassVar[str] = "two-stage"

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form is {self.form!r}; expected one of {', '.join(FORMS)}")

    def fit(self, space: Space) -> TwoStageMemory:
        """Room for what was found."""
        return TwoStageMemory(self.form == "e-cape", np.ones(1, dtype=int64), new_ape(space))


@restart.register(TwoStageMemory)
def _restart(policy: TwoStageMemory) -> None:
    policy.stage[_STAGE] = 1


@decide.register(TwoStageMemory)
def _decide(policy: TwoStageMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    now = present(evidence, state)
    if policy.stage[_STAGE] == 1:
        if _classify(evidence, now, space, state) > 0:
            return 1
        policy.stage[_STAGE] = 2
        begin(policy.ape, state.inside)
    return _explore(policy, evidence, now, space, state)


@select.register(TwoStageMemory)
def _select(policy: TwoStageMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    now = present(evidence, state)
    if policy.stage[_STAGE] == 2:
        return _explore(policy, evidence, now, space, state)
    return _classify(evidence, now, space, state)


@inner
def _classify(evidence: NamedTuple, now: Any, space: Space, state: State) -> int:
    """One decision of MD-APT: of the arms with gamma_i < 0, the one with the least sqrt(N_i) eta_i; 0 without one."""
    least, arm = math.inf, -1
    for i in range(space.arms):
        if weight_of(evidence, space, state, i) < now.bar:
            value = math.sqrt(state.counts[i]) * eta_of(space, state, i)
            if value < least:
                least, arm = value, i
    state.queue[0] = arm
    state.tally[QUEUED] = 1 if arm >= 0 else 0
    return int(state.tally[QUEUED])


@inner
def _explore(policy: TwoStageMemory, evidence: NamedTuple, now: Any, space: Space, state: State) -> int:
    """One decision of APE on the arms found feasible."""
    find_front(policy.ape, space, state)
    leader = lead(policy.ape, evidence, now, space, state, policy.both)
    if leader < 0:
        state.tally[QUEUED] = 0
        return 0
    return _queue(policy, state, leader, challenger(policy.ape, evidence, now, space, state, leader))


@inner
def _queue(policy: TwoStageMemory, state: State, leader: int, other: int) -> int:
    """Both arms, or the less pulled of the two (the lower index among equals)."""
    if policy.both:
        state.queue[0], state.queue[1] = leader, other
        state.tally[QUEUED] = 2
    else:
        low, high = min(leader, other), max(leader, other)
        state.queue[0] = low if state.counts[low] <= state.counts[high] else high
        state.tally[QUEUED] = 1
    return int(state.tally[QUEUED])


@answer.register(TwoStageMemory)
def _answer(policy: TwoStageMemory, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    for i in range(space.arms):
        if policy.ape.members[i] == 0:
            statuses[i] = INFEASIBLE
        elif policy.ape.front[i] == 1:
            statuses[i] = OPTIMAL
        else:
            statuses[i] = DOMINATED
