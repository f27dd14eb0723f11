"""Two-stage (MD-APT + APE): first find the feasible arms, then the Pareto set among them.

Stage 1 pulls, among the arms with gamma_i < 0, the one with the least sqrt(N_i) eta_i, until none is left. Stage 2 runs
APE (Kone, Kaufmann, Richert 2023) on the arms found feasible, keeping their samples; K and t count both stages. Stage 1
makes feasibility claims only and stage 2 pair claims only, so that the evidence needs no further split of delta.

With A the arms found feasible, OPT = {i : M^-(i,j) > 0 for every other j of A} and xi_i = max_j m^-(i,j), APE stops if
M^-(i,j) >= 0 between all arms of the empirical Pareto set and xi_i >= 0 for every other one: e-cAPE's rule by pairs
alone. It has two forms:

- "2023": the leader b is the arm outside OPT that is likeliest to be optimal, argmax min_j M^+(i,j), or the one with
  the least min_j M^-(i,j) when OPT is everything; the challenger is argmin_j M^-(b,j); the less pulled of the two is
  pulled (ties: lowest index). Since M^+(i,j) = -m^-(i,j), the leader is the arm outside OPT with the least xi;
- "e-cape": e-cAPE's leader and challenger among A, and both are pulled.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy import int64

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.stopping import Rivals, closest_member, new_rivals, weakest_excluded, weakest_pair
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import beats, eta_of
from paretoguard.engine.questions import answer, choose, select, undominated
from paretoguard.engine.view import NOTHING, View, queue_one, queue_two, weight_of
from paretoguard.numeric import Bytes, Integers, flags
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL

_FORMS = ("2023", "e-cape")
_STAGE = 0  # entry of TwoStageMemory.stage


class Ape(NamedTuple):
    """APE at work on A."""

    rivals: Rivals  # its members are A
    front: Bytes  # [K] 1 for the Pareto set of the means of A
    beaten_by: Integers  # [K] an arm whose mean dominated that of i, or -1
    certain: Bytes  # [K] 1 for arms known to be in OPT
    closest: Integers  # [K] an arm j that showed i to be outside OPT, or -1: it may be enough again


class TwoStageMemory(NamedTuple):
    """Two-stage at work on one problem."""

    both: bool  # e-cAPE's form: pull leader and challenger
    stage: Integers  # [1] 1 or 2
    ape: Ape


@dataclass(frozen=True)
class TwoStage(Algorithm):
    """MD-APT, then APE on the arms found feasible.

    Parameters
    ----------
    form
        How APE pulls. "2023": the less pulled arm of leader and challenger; "e-cape": e-cAPE's leader and challenger,
        both.
    """

    form: str = "2023"
    name: ClassVar[str] = "two-stage"

    def __post_init__(self) -> None:
        if self.form not in _FORMS:
            raise ValueError(f"form is {self.form!r}; expected one of {', '.join(_FORMS)}")

    def fit(self, problem: ProblemArrays) -> TwoStageMemory:
        K = problem.arms
        ape = Ape(
            rivals=new_rivals(problem, by_pairs=True),
            front=flags(K),
            beaten_by=np.full(K, -1, dtype=int64),
            certain=flags(K),
            closest=np.full(K, -1, dtype=int64),
        )
        return TwoStageMemory(self.form == "e-cape", np.ones(1, dtype=int64), ape)


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


@answer.register(TwoStageMemory)
def _answer(memory: TwoStageMemory, view: View, statuses: Bytes) -> None:
    for i in range(view.problem.arms):
        if memory.ape.rivals.members[i] == 0:
            statuses[i] = INFEASIBLE
        elif memory.ape.front[i] == 1:
            statuses[i] = OPTIMAL
        else:
            statuses[i] = DOMINATED


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
    """Make one decision of APE."""
    _find_front(memory.ape, view)
    leader = _lead(memory.ape, view, memory.both)
    if leader < 0:
        return NOTHING
    other = closest_member(view, memory.ape.rivals, leader)
    if memory.both:
        return queue_two(view, leader, other)
    low, high, counts = min(leader, other), max(leader, other), view.state.counts
    return queue_one(view, low if counts[low] <= counts[high] else high)


@inner
def _find_front(ape: Ape, view: View) -> None:
    """Write the empirical Pareto set of A."""
    problem, state, members = view.problem, view.state, ape.rivals.members
    for i in range(problem.arms):
        ape.front[i] = members[i]
        if members[i] == 0:
            continue
        known = ape.beaten_by[i]
        if known >= 0 and beats(problem, state, known, i):
            ape.front[i] = 0
            continue
        for j in range(problem.arms):
            if j != i and members[j] == 1 and beats(problem, state, j, i):
                ape.front[i] = 0
                ape.beaten_by[i] = j
                break


@inner
def _lead(ape: Ape, view: View, both: bool) -> int:
    """Return the leader, or -1 where nothing holds up the stopping rule.

    First for the leader of 2023, then for the rule: one loop, as what it asks of the evidence is then compiled once.
    """
    leader = -1
    for step in range(1 if both else 0, 2):
        is_rule = step == 1
        least, arm = _weakest(ape, view, is_rule)
        if arm < 0 or (is_rule and not least < 0.0):
            least, arm = weakest_pair(view, ape.rivals, ape.front if is_rule else ape.rivals.members)
        elif not is_rule and _holds_up_rule(ape, view, least, arm):
            return arm
        if is_rule and not least < 0.0:
            return -1
        if both or not is_rule:
            leader = arm
    return leader


@inner
def _weakest(ape: Ape, view: View, is_rule: bool) -> tuple[float, int]:
    """Return the least xi and its arm: for the rule, of those outside the front; else of those outside OPT.

    OPT is found on the way: first its arms of last time are looked at again, then each arm that comes into question.
    """
    looked_at, K = 0, view.problem.arms
    while True:
        least, arm = math.inf, looked_at
        if is_rule or looked_at == K:
            least, arm = weakest_excluded(view, ape.rivals, ape.front if is_rule else ape.certain)
            if is_rule or arm < 0:
                return least, arm
        else:
            looked_at += 1
            if ape.certain[arm] == 0:
                continue
        was_certain = ape.certain[arm] == 1
        ape.certain[arm] = 1 if _is_certain(ape, view, arm) else 0
        if not was_certain and ape.certain[arm] == 0:
            return least, arm


@inner
def _holds_up_rule(ape: Ape, view: View, least: float, arm: int) -> bool:
    """True if an arm outside OPT, with its xi, alone shows that the rule does not hold."""
    if ape.front[arm] == 0:
        return least < 0.0
    j = ape.closest[arm]
    return bool(ape.front[j] == 1 and undominated(view, arm, j) < 0.0)


@inner
def _is_certain(ape: Ape, view: View, i: int) -> bool:
    """True if i is in OPT: M^-(i,j) > 0 for every other arm j of A. The arm remembered comes first."""
    first = ape.closest[i]
    for k in range(-1, view.problem.arms):
        j = first if k < 0 else k
        if j < 0 or j == i or (k >= 0 and j == first) or ape.rivals.members[j] == 0:
            continue
        if undominated(view, i, j) <= 0.0:
            ape.closest[i] = j
            return False
    return True
