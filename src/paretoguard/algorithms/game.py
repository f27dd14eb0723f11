"""Game-cPSI (Kone, Kaufmann, Richert 2025): the sampling weights of a learner against the nearest other answer.

Each step: stop if the distance to the nearest means with another answer exceeds the threshold of `glr`; else take the
learner's weights w, find the nearest other answer for them, let the learner see how much each arm tells it apart,

    gain_i = (|mean_i - moved_i| + sqrt(2 c_i/N_i))^2,

and pull an arm drawn from w. The learner is AdaHedge (de Rooij, van Erven, Grünwald, Koolen 2014), with losses -gain_i.
The bonus c_i covers what the means may still be off: by a bound for each arm (`bonus` "arm"), or as in the paper by one
for all together:

    arm: c_i = 2 d log(4 + log N_i) + d C_G(log(K t^1.2)/d)
    all: c_i = h(t^2, 1/t^3)

Both hold at all times. The first fails after t^0.9 with probability at most t^-1.08, whose sum over t is finite: that
is what the argument for asymptotic optimality asks for, as the first t^0.9 of t results weigh nothing in the end.

`respond` and `test` say after how many results the nearest answer is looked for anew, for the learner and for stopping;
in between, arms are drawn from the same weights. None of the three changes what an answer promises.

What it promises is the set of best arms. Which others are dominated and which infeasible is read off the means.
"""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, NamedTuple

import numpy as np

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import answer, choose, select
from paretoguard.engine.view import NOTHING, View, draw_for_decision, pulls_so_far, queue_one
from paretoguard.errors import SettingsError
from paretoguard.evidence.kaufmann_koolen import Glr, needed, threshold
from paretoguard.geometry.nearest_alternative import Alternative, alternative, nearest
from paretoguard.numeric import Bytes, Floats, Integers, floats, integers
from paretoguard.vocabulary import CPSI, DOMINATED, INFEASIBLE, OPTIMAL

BONUSES = ("arm", "all")
LATEST = 1e15  # results for which the bonus is worked out
KNOTS = 400
_SEEN, _RESPONDED, _TESTED, _STOPPED = 0, 1, 2, 3  # entries of GameMemory.when


class AdaHedge(NamedTuple):
    """The learner: weights of arms that follow what each arm has gained."""

    weights: Floats  # [K] w
    gains: Floats  # [K] of this step
    total: Floats  # [K] gains so far
    gap: Floats  # [1] mixability gaps so far


class GameMemory(NamedTuple):
    """Game-cPSI at work on one problem."""

    respond: int
    test: int
    by_arm: bool
    when: Integers  # [4] results at the last step, response and test; and whether that test stopped
    learner: AdaHedge
    counts: Floats  # [K] scratch
    tail: Floats  # [KNOTS] the part of the bonus with C_G, evenly in log t
    found: Alternative


@dataclass(frozen=True)
class Game(Algorithm):
    """Game-cPSI: asymptotically optimal for the plain problem; the reasons it gives are heuristic.

    Parameters
    ----------
    respond
        After how many results the learner looks for the nearest other answer anew.
    test
        After how many results the stopping rule is tested anew.
    bonus
        What covers the error of the means: "arm", a bound for each arm, or "all", the paper's for all together.
    """

    respond: int = 1
    test: int = 1
    bonus: str = "arm"
    name: ClassVar[str] = "game-cpsi"
    evidence: ClassVar[type] = Glr
    task = CPSI
    by_position: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, given in (("respond", self.respond), ("test", self.test)):
            if isinstance(given, bool) or not isinstance(given, Integral) or not given >= 1:
                raise ValueError(f"{name} is {given!r}, expected a whole number of at least 1")
        if self.bonus not in BONUSES:
            raise ValueError(f"bonus is {self.bonus!r}, expected one of {', '.join(BONUSES)}")

    def fit(self, problem: ProblemArrays) -> GameMemory:
        if problem.compared < problem.objectives or np.any(problem.tolerance > 0) or np.any(problem.row_tolerance > 0):
            raise SettingsError(
                "algorithm 'game-cpsi' knows neither exact objectives, nor such as only guard, nor tolerances; use "
                "'pitfall', or leave them out"
            )
        K, d = problem.arms, problem.noisy
        times = np.geomspace(1.0, LATEST, KNOTS)
        size, ways, power = (d, K, 1.2) if self.bonus == "arm" else (K * d, 1, 3.0)
        tail = [size * threshold(max(math.log(ways * t**power), 1e-3) / size) for t in times]
        return GameMemory(
            respond=self.respond,
            test=self.test,
            by_arm=self.bonus == "arm",
            when=integers(4),
            learner=AdaHedge(np.full(K, 1.0 / K), floats(K), floats(K), floats(1)),
            counts=floats(K),
            tail=np.array(tail),
            found=alternative(K, d, problem.region.A.shape[0]),
        )


@choose.register(GameMemory)
def _choose(memory: GameMemory, view: View) -> int:
    t = pulls_so_far(view)
    if memory.when[_SEEN] < t:  # asked twice, it answers the same
        memory.when[_SEEN] = t
        if memory.when[_TESTED] == 0 or t - memory.when[_TESTED] >= memory.test:
            memory.when[_TESTED] = t
            memory.when[_STOPPED] = 1 if is_certain(memory, view) else 0
        due = memory.when[_RESPONDED] == 0 or t - memory.when[_RESPONDED] >= memory.respond
        if memory.when[_STOPPED] == 0 and due:
            memory.when[_RESPONDED] = t
            _learn(memory, view)
    if memory.when[_STOPPED] == 1 and memory.when[_TESTED] == t:
        return NOTHING
    return select(memory, view)


@inner
def is_certain(memory: GameMemory, view: View) -> bool:
    """True if all means with another answer are too far away."""
    problem, state = view.problem, view.state
    for i in range(problem.arms):
        memory.counts[i] = float(state.counts[i])
    value = nearest(problem.region, state.means, state.optimal, memory.counts, memory.found)
    return bool(value > needed(view))


@inner
def _learn(memory: GameMemory, view: View) -> None:
    """Take the learner's weights, and let it see what each arm would have told of the nearest other answer."""
    problem, state = view.problem, view.state
    K = problem.arms
    learner = memory.learner
    _weigh_arms(learner)
    nearest(problem.region, state.means, state.optimal, learner.weights, memory.found)
    t = float(pulls_so_far(view))
    tail = _tail(memory, t)
    for i in range(K):
        if memory.by_arm:
            level = tail + 2.0 * problem.noisy * math.log(4.0 + math.log(float(state.counts[i])))
        else:
            level = tail + 2.0 * K * problem.noisy * math.log(4.0 + math.log(max(1.0, t * t / K)))
        gain = math.sqrt(2.0 * memory.found.half[i]) + math.sqrt(2.0 * level / state.counts[i])
        learner.gains[i] = gain * gain
    _take_gains(learner)


@inner
def _tail(memory: GameMemory, t: float) -> float:
    """Return the part of the bonus with C_G, between the knots by a straight line."""
    place = min(math.log(t) / math.log(LATEST), 1.0) * (KNOTS - 1)
    knot = min(int(place), KNOTS - 2)
    share = place - knot
    return float((1.0 - share) * memory.tail[knot] + share * memory.tail[knot + 1])


@select.register(GameMemory)
def _select(memory: GameMemory, view: View) -> int:
    """Queue an arm drawn from the weights."""
    u = draw_for_decision(view)
    arm, reached = view.problem.arms - 1, 0.0
    for i in range(view.problem.arms):
        reached += memory.learner.weights[i]
        if u < reached:
            arm = i
            break
    return queue_one(view, arm)


@answer.register(GameMemory)
def _answer(memory: GameMemory, view: View, statuses: Bytes) -> None:
    state = view.state
    for i in range(view.problem.arms):
        statuses[i] = OPTIMAL if state.optimal[i] == 1 else DOMINATED if state.inside[i] == 1 else INFEASIBLE


# --- the learner ------------------------------------------------------------------------------------------------------


@inner
def _weigh_arms(learner: AdaHedge) -> None:
    """Set the weights proportional to exp(eta total), eta = log K / gap; before any gap, to the best so far alike."""
    K = learner.total.shape[0]
    best, whole = -math.inf, 0.0
    for i in range(K):
        best = max(best, learner.total[i])
    for i in range(K):
        if learner.gap[0] > 0.0:
            learner.weights[i] = math.exp(math.log(float(K)) / learner.gap[0] * (learner.total[i] - best))
        else:
            learner.weights[i] = 1.0 if learner.total[i] == best else 0.0
        whole += learner.weights[i]
    for i in range(K):
        learner.weights[i] /= whole


@inner
def _take_gains(learner: AdaHedge) -> None:
    """Add the gains, and the gap between the mean gain and its exponential mean."""
    K = learner.total.shape[0]
    most, mean, mixed = -math.inf, 0.0, 0.0
    for i in range(K):
        if learner.weights[i] > 0.0:
            most = max(most, learner.gains[i])
    for i in range(K):
        mean += learner.weights[i] * learner.gains[i]
        learner.total[i] += learner.gains[i]
    if learner.gap[0] > 0.0 and K > 1:
        rate = math.log(float(K)) / learner.gap[0]
        for i in range(K):
            mixed += learner.weights[i] * math.exp(rate * (learner.gains[i] - most))
        most += math.log(mixed) / rate
    learner.gap[0] += max(0.0, most - mean)
