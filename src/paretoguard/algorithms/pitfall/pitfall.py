"""pitfall: pull an arm of the easiest way to be wrong, drawn by its share of the information about it.

At equilibrium every way that holds up the answer costs the same, which is what the optimal shares of samples are
defined by; no learner, no rate (information-directed selection: You, Qin, Wang, Yang 2023). Stopping is
`engine.pitfalls`': when no way to be wrong is open. docs/pitfall.md derives it.
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from numpy import uint8
from numpy.typing import NDArray

from paretoguard.algorithms.ecape.stopping import partition
from paretoguard.algorithms.pitfall.costs import NONE, Pitfalls, forget, new_pitfalls
from paretoguard.algorithms.pitfall.search import find_pitfall
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import DOMINATED, INFEASIBLE, OPTIMAL
from paretoguard.engine.draws import DECISIONS, uniforms
from paretoguard.engine.feasibility import called_eta
from paretoguard.engine.questions import answer, decide, ratio_bar, restart, select
from paretoguard.engine.state import CLOCK, QUEUED, State, present, queue_unseen, refresh
from paretoguard.errors import SettingsError
from paretoguard.evidence.estimated_scale import LEAST_PULLS

TASKS = ("e-cpsi", "cpsi")


class PitfallMemory(NamedTuple):
    """`pitfall` at work on one problem."""

    explore: float
    pitfalls: Pitfalls


@dataclass(frozen=True)
class Pitfall:
    """Pulls what tells most about the easiest way to be wrong; `task` "cpsi" finds the set of best arms alone.

    An arm that may dominate the one in question catches up to its count to the power `catch_up` (0: never), and each
    has at least `explore` sqrt(t/K) pulls.
    """

    task: str = "e-cpsi"
    catch_up: float = 0.8
    explore: float = 1.0
    name: ClassVar[str] = "pitfall"
    by_position: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"task is {self.task!r}, expected one of {', '.join(TASKS)}")
        for name, given in (("catch_up", self.catch_up), ("explore", self.explore)):
            if isinstance(given, bool) or not isinstance(given, Real) or not 0.0 <= given <= 1.0:
                raise ValueError(f"{name} is {given!r}, expected a number from 0 to 1")

    def fit(self, space: Space) -> PitfallMemory:
        """Room to find the pitfall."""
        is_loose = np.any(space.tolerance > 0) or np.any(space.row_tolerance > 0)
        if self.task == "cpsi" and (space.compared < space.objectives or is_loose):
            raise SettingsError(
                "algorithm 'pitfall:task=cpsi' knows neither exact objectives, nor such as only guard, nor tolerances; "
                "use 'pitfall', or leave them out"
            )
        pitfalls = new_pitfalls(space, plain=self.task == "cpsi", catch_up=float(self.catch_up))
        return PitfallMemory(float(self.explore), pitfalls)


@restart.register(PitfallMemory)
def _restart(policy: PitfallMemory) -> None:
    forget(policy.pitfalls)


@decide.register(PitfallMemory)
def _decide(policy: PitfallMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    return select(policy, evidence, space, state)


@select.register(PitfallMemory)
def _select(policy: PitfallMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    kind = find_pitfall(evidence, present(evidence, state), space, state, policy.pitfalls)
    if kind == NONE:
        state.tally[QUEUED] = 0
        return 0
    starved = _starved(policy, space, state)
    if starved >= 0:
        state.queue[0] = starved
        state.tally[QUEUED] = 1
        return 1
    u, _ = uniforms(state.key, 0, state.tally[CLOCK], 0, DECISIONS)
    arm, reached = -1, 0.0
    for i in range(space.arms):
        if policy.pitfalls.share[i] > 0.0:
            arm = i
            reached += policy.pitfalls.share[i]
            if u < reached:
                break
    state.queue[0] = arm
    state.tally[QUEUED] = 1
    return 1


@inner
def _starved(policy: PitfallMemory, space: Space, state: State) -> int:
    """The least pulled arm, where it has fewer than explore sqrt(t/K) pulls, or too few to know its scale; else -1.

    Every mean is then right in the end, whatever the first results were; it takes at most sqrt(K t) pulls, and where
    scales are learnt the first results of each arm.
    """
    arm = 0
    for i in range(space.arms):
        if state.counts[i] < state.counts[arm]:
            arm = i
    n = float(state.counts[arm])
    if state.covariance.shape[1] > 0 and n < LEAST_PULLS:
        return arm
    wanted = policy.explore * policy.explore * float(state.tally[CLOCK])
    return arm if n * n * space.arms < wanted else -1


@answer.register(PitfallMemory)
def _answer(policy: PitfallMemory, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    now = present(evidence, state)
    bar = ratio_bar(evidence, now, space, state)
    if bar == math.inf:
        partition(now, state, statuses)
        return
    for i in range(space.arms):
        eta = called_eta(space, state, i)
        cost = 0.5 * float(state.counts[i]) * eta * eta
        outside = state.inside[i] == 0 and (policy.pitfalls.plain or cost >= bar)  # plain: read off the means
        statuses[i] = OPTIMAL if state.optimal[i] == 1 else INFEASIBLE if outside else DOMINATED
