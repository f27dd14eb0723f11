"""pitfall: pull an arm of the easiest way to be wrong, drawn by its share of the information about it.

At equilibrium every way that holds up the answer costs the same, which is what the optimal shares of samples are
defined by; no learner, no rate (information-directed selection: You, Qin, Wang, Yang 2023). Stopping is
`search`'s: when no way to be wrong is open. docs/pitfall.md derives it.
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.pitfall.costs import NONE, Pitfalls, new_pitfalls
from paretoguard.algorithms.pitfall.search import find_pitfall
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import called_eta
from paretoguard.engine.questions import answer, choose, ratio_bar, select
from paretoguard.engine.view import NOTHING, View, draw_for_decision, partition, pulls_so_far, queue_one
from paretoguard.errors import SettingsError
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.numeric import Bytes
from paretoguard.vocabulary import CPSI, DOMINATED, E_CPSI, INFEASIBLE, OPTIMAL, TASKS


class PitfallMemory(NamedTuple):
    """`pitfall` at work on one problem."""

    explore: float
    pitfalls: Pitfalls


@dataclass(frozen=True)
class Pitfall(Algorithm):
    """Pulls what tells most about the easiest way to be wrong.

    Parameters
    ----------
    task
        What is found. "e-cpsi": the best arms, with a reason for every other arm; "cpsi": the best arms alone.
    catch_up
        An arm that may dominate the one in question catches up to its count to this power, from 0 (never) to 1.
    explore
        Each arm has at least `explore` sqrt(t/K) pulls after t results; from 0 to 1.
    """

    task: str = E_CPSI
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

    def fit(self, problem: ProblemArrays) -> PitfallMemory:
        is_loose = np.any(problem.tolerance > 0) or np.any(problem.row_tolerance > 0)
        if self.task == CPSI and (problem.compared < problem.objectives or is_loose):
            raise SettingsError(
                "algorithm 'pitfall:task=cpsi' knows neither exact objectives, nor such as only guard, nor tolerances; "
                "use 'pitfall', or leave them out"
            )
        pitfalls = new_pitfalls(problem, plain=self.task == CPSI, catch_up=float(self.catch_up))
        return PitfallMemory(float(self.explore), pitfalls)


@select.register(PitfallMemory)
@choose.register(PitfallMemory)
def _choose(memory: PitfallMemory, view: View) -> int:
    if find_pitfall(view, memory.pitfalls) == NONE:
        return NOTHING
    starved = _starved(memory, view)
    if starved >= 0:
        return queue_one(view, starved)
    u = draw_for_decision(view)
    arm, reached = -1, 0.0
    for i in range(view.problem.arms):
        if memory.pitfalls.share[i] > 0.0:
            arm = i
            reached += memory.pitfalls.share[i]
            if u < reached:
                break
    return queue_one(view, arm)


@inner
def _starved(memory: PitfallMemory, view: View) -> int:
    """Return the least pulled arm, if it has fewer than explore sqrt(t/K) pulls, or too few to know its scale; else -1.

    Every mean is then right in the end, whatever the first results were; it takes at most sqrt(K t) pulls, and where
    scales are learnt the first results of each arm.
    """
    state, arm = view.state, 0
    for i in range(view.problem.arms):
        if state.counts[i] < state.counts[arm]:
            arm = i
    n = float(state.counts[arm])
    if state.covariance.shape[1] > 0 and n < LEAST_PULLS:
        return arm
    wanted = memory.explore * memory.explore * float(pulls_so_far(view))
    return arm if n * n * view.problem.arms < wanted else -1


@answer.register(PitfallMemory)
def _answer(memory: PitfallMemory, view: View, statuses: Bytes) -> None:
    problem, state = view.problem, view.state
    bar = ratio_bar(view)
    if bar == math.inf:
        partition(view, statuses)
        return
    for i in range(problem.arms):
        eta = called_eta(problem, state, i)
        cost = 0.5 * float(state.counts[i]) * eta * eta
        outside = state.inside[i] == 0 and (memory.pitfalls.plain or cost >= bar)  # plain: read off the means
        statuses[i] = OPTIMAL if state.optimal[i] == 1 else INFEASIBLE if outside else DOMINATED
