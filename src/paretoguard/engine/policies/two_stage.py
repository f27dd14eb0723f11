"""Two-stage (MD-APT + APE): first find the feasible arms, then the Pareto set among them.

Stage 1 pulls, among the arms with gamma_i < 0, the one with the least sqrt(N_i) eta_i, until none is left. Stage 2 runs
APE on the arms found feasible, keeping their samples; K and t count both stages. Stage 1 makes feasibility claims only
and stage 2 pair claims only, so that the evidence needs no further split of delta.

APE, on the arms A found feasible: with OPT = {i : M^-(i,j) > 0 for every other j}, in the form of 2023 the leader is
the arm outside OPT that is likeliest to be optimal, argmax min_j M^+(i,j), or the one with the least min_j M^-(i,j)
when OPT is everything; the challenger c = argmin_j M^-(b,j); the less pulled of the two is pulled (ties: lowest index).
The form "e-cape" takes e-cAPE's leader and challenger with every arm of A feasible, and pulls both. Either stops when
M^-(i,j) >= 0 between all arms of the empirical Pareto set and xi_i >= 0 for every other one.

Since M^+(i,j) = -m^-(i,j), min_j M^+(i,j) = -xi_i: the leader of 2023 is the arm outside OPT with the least xi.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import int64, uint8
from numpy.typing import NDArray

from paretoguard.engine.border import eta_of
from paretoguard.engine.claims import DOMINATED, INFEASIBLE, OPTIMAL
from paretoguard.engine.dominance import beats
from paretoguard.engine.evidence.parts import dominated, undominated
from paretoguard.engine.jit import inner
from paretoguard.engine.policies.parts import answer, decide, queue_unseen, restart, select
from paretoguard.engine.space import Space
from paretoguard.engine.state import QUEUED, State, present, refresh, weight_of

FORMS = ("2023", "e-cape")
_STAGE = 0  # entry of TwoStageMemory.stage


class TwoStageMemory(NamedTuple):
    """Two-stage at work on one problem."""

    both: bool  # e-cAPE's form: pull leader and challenger
    stage: NDArray[int64]  # [1] 1 or 2
    kept: NDArray[uint8]  # [K] 1 for the arms found feasible
    front: NDArray[uint8]  # [K] 1 for the Pareto set of their means


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
        K = space.arms
        flags = np.zeros(K, dtype=uint8), np.zeros(K, dtype=uint8)
        return TwoStageMemory(self.form == "e-cape", np.ones(1, dtype=int64), *flags)


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
        for i in range(space.arms):
            policy.kept[i] = state.inside[i]
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
    """One decision of APE on the arms kept."""
    _find_front(policy, space, state)
    # z: the least xi_i of the arms outside the front; outside: the least xi_i of those not in OPT;
    # pair: the least M^-(i,j) inside the front; close: the least min_j M^-(i,j) of all.
    z, outside, pair, close = math.inf, math.inf, math.inf, math.inf
    excluded, candidate, first, nearest = -1, -1, -1, -1
    for i in range(space.arms):
        if policy.kept[i] == 0:
            continue
        xi, least = -math.inf, math.inf
        for j in range(space.arms):
            if j == i or policy.kept[j] == 0:
                continue
            xi = max(xi, dominated(evidence, now, space, state, i, j))
            ahead = undominated(evidence, now, space, state, i, j)
            least = min(least, ahead)
            if policy.front[i] == 1 and policy.front[j] == 1 and ahead < pair:
                pair, first = ahead, i
        if policy.front[i] == 0 and xi < z:
            z, excluded = xi, i
        if least <= 0.0 and (candidate < 0 or xi < outside):
            outside, candidate = xi, i
        if least < close:
            close, nearest = least, i
    if z >= 0.0 and pair >= 0.0:
        state.tally[QUEUED] = 0
        return 0
    leader = candidate if candidate >= 0 else nearest
    if policy.both:
        leader = excluded if z < 0.0 else first
    return _queue(policy, state, leader, _challenger(policy, evidence, now, space, state, leader))


@inner
def _find_front(policy: TwoStageMemory, space: Space, state: State) -> None:
    for i in range(space.arms):
        policy.front[i] = policy.kept[i]
        for j in range(space.arms):
            if policy.front[i] == 1 and j != i and policy.kept[j] == 1 and beats(space, state, j, i):
                policy.front[i] = 0


@inner
def _challenger(policy: TwoStageMemory, evidence: NamedTuple, now: Any, space: Space, state: State, leader: int) -> int:
    """argmin M^-(leader, j) over the arms kept."""
    least, arm = math.inf, -1
    for j in range(space.arms):
        if j != leader and policy.kept[j] == 1:
            value = undominated(evidence, now, space, state, leader, j)
            if value < least or arm < 0:
                least, arm = value, j
    return arm


@inner
def _queue(policy: TwoStageMemory, state: State, leader: int, challenger: int) -> int:
    """Both arms, or the less pulled of the two (the lower index among equals)."""
    if policy.both:
        state.queue[0], state.queue[1] = leader, challenger
        state.tally[QUEUED] = 2
    else:
        low, high = min(leader, challenger), max(leader, challenger)
        state.queue[0] = low if state.counts[low] <= state.counts[high] else high
        state.tally[QUEUED] = 1
    return int(state.tally[QUEUED])


@answer.register(TwoStageMemory)
def _answer(policy: TwoStageMemory, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    for i in range(space.arms):
        if policy.kept[i] == 0:
            statuses[i] = INFEASIBLE
        elif policy.front[i] == 1:
            statuses[i] = OPTIMAL
        else:
            statuses[i] = DOMINATED
