"""Game-cPSI (Kone, Kaufmann, Richert 2025): the sampling weights of a learner against the nearest other answer.

Each step: stop if the distance to the nearest means with another answer exceeds the threshold of `glr`; else take the
learner's weights w, find the nearest other answer for them, let the learner see how much each arm tells it apart,

    gain_i = (|mean_i - moved_i| + sqrt(2 c_i/N_i))^2,

and pull an arm drawn from w. The learner is AdaHedge, with losses -gain_i. The bonus c_i covers what the means may
still be off: by a bound for each arm (`bonus` "arm"), or as in the paper by one for all together:

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
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import DOMINATED, INFEASIBLE, OPTIMAL
from paretoguard.engine.draws import DECISIONS, uniforms
from paretoguard.engine.questions import answer, decide, restart, select
from paretoguard.engine.state import CLOCK, QUEUED, State, queue_unseen, refresh
from paretoguard.errors import SettingsError
from paretoguard.evidence.glr import Glr, GlrLevels, needed
from paretoguard.evidence.lil import threshold
from paretoguard.geometry.nearest_alternative import Alternative, alternative, nearest

BONUSES = ("arm", "all")
LATEST = 1e15  # results for which the bonus is worked out
KNOTS = 400
SEEN, RESPONDED, TESTED, STOPPED = 0, 1, 2, 3  # entries of GameMemory.when


class GameMemory(NamedTuple):
    """Game-cPSI at work on one problem."""

    respond: int
    test: int
    by_arm: bool
    when: NDArray[int64]  # [4] results at the last step, response and test; and whether that test stopped
    weights: NDArray[float64]  # [K] w
    total: NDArray[float64]  # [K] gains so far
    gap: NDArray[float64]  # [1] AdaHedge's mixability gaps so far
    counts: NDArray[float64]  # [K] scratch
    gains: NDArray[float64]  # [K] scratch
    tail: NDArray[float64]  # [KNOTS] the part of the bonus with C_G, evenly in log t
    found: Alternative


@dataclass(frozen=True)
class Game:
    """Game-cPSI: asymptotically optimal for the plain problem; the reasons it gives are heuristic."""

    respond: int = 1
    test: int = 1
    bonus: str = "arm"
    name: ClassVar[str] = "game-cpsi"
    evidence: ClassVar[type] = Glr
    task: ClassVar[str] = "cpsi"
    by_position: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, given in (("respond", self.respond), ("test", self.test)):
            if isinstance(given, bool) or not isinstance(given, Integral) or not given >= 1:
                raise ValueError(f"{name} is {given!r}, expected a whole number of at least 1")
        if self.bonus not in BONUSES:
            raise ValueError(f"bonus is {self.bonus!r}, expected one of {', '.join(BONUSES)}")

    def fit(self, space: Space) -> GameMemory:
        """Room for the learner and for alternatives."""
        if space.compared < space.objectives or np.any(space.tolerance > 0) or np.any(space.row_tolerance > 0):
            raise SettingsError(
                "algorithm 'game-cpsi' knows neither exact objectives, nor such as only guard, nor tolerances; use "
                "'pitfall', or leave them out"
            )
        K, d = space.arms, space.noisy
        times = np.geomspace(1.0, LATEST, KNOTS)
        size, ways, power = (d, K, 1.2) if self.bonus == "arm" else (K * d, 1, 3.0)
        tail = [size * threshold(max(math.log(ways * t**power), 1e-3) / size) for t in times]
        return GameMemory(
            respond=self.respond,
            test=self.test,
            by_arm=self.bonus == "arm",
            when=np.zeros(4, dtype=int64),
            weights=np.full(K, 1.0 / K),
            total=np.zeros(K),
            gap=np.zeros(1),
            counts=np.zeros(K),
            gains=np.zeros(K),
            tail=np.array(tail),
            found=alternative(K, d, space.region.A.shape[0]),
        )


@restart.register(GameMemory)
def _restart(policy: GameMemory) -> None:
    policy.gap[0] = 0.0
    for k in range(policy.when.shape[0]):
        policy.when[k] = 0
    for i in range(policy.total.shape[0]):
        policy.total[i] = 0.0
        policy.weights[i] = 1.0 / policy.total.shape[0]


@decide.register(GameMemory)
def _decide(policy: GameMemory, evidence: GlrLevels, space: Space, state: State) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    t = state.tally[CLOCK]
    if policy.when[SEEN] < t:  # asked twice, it answers the same
        policy.when[SEEN] = t
        if policy.when[TESTED] == 0 or t - policy.when[TESTED] >= policy.test:
            policy.when[TESTED] = t
            policy.when[STOPPED] = 1 if is_certain(policy, evidence, space, state) else 0
        due = policy.when[RESPONDED] == 0 or t - policy.when[RESPONDED] >= policy.respond
        if policy.when[STOPPED] == 0 and due:
            policy.when[RESPONDED] = t
            _learn(policy, space, state)
    if policy.when[STOPPED] == 1 and policy.when[TESTED] == t:
        state.tally[QUEUED] = 0
        return 0
    return select(policy, evidence, space, state)


@inner
def is_certain(policy: GameMemory, evidence: GlrLevels, space: Space, state: State) -> bool:
    """Are all means with another answer too far away?"""
    for i in range(space.arms):
        policy.counts[i] = float(state.counts[i])
    value = nearest(space.region, state.means, state.optimal, policy.counts, policy.found)
    return bool(value > needed(evidence, state))


@inner
def _learn(policy: GameMemory, space: Space, state: State) -> None:
    """Take the learner's weights, and let it see what each arm would have told of the nearest other answer."""
    K = space.arms
    _weigh_arms(policy)
    nearest(space.region, state.means, state.optimal, policy.weights, policy.found)
    t = float(state.tally[CLOCK])
    tail = _tail(policy, t)
    for i in range(K):
        if policy.by_arm:
            level = tail + 2.0 * space.noisy * math.log(4.0 + math.log(float(state.counts[i])))
        else:
            level = tail + 2.0 * K * space.noisy * math.log(4.0 + math.log(max(1.0, t * t / K)))
        gain = math.sqrt(2.0 * policy.found.half[i]) + math.sqrt(2.0 * level / state.counts[i])
        policy.gains[i] = gain * gain
    _see(policy)


@inner
def _weigh_arms(policy: GameMemory) -> None:
    """AdaHedge: proportional to exp(eta total), eta = log K / gap; before any gap, the best so far alike."""
    K = policy.total.shape[0]
    best, whole = -math.inf, 0.0
    for i in range(K):
        best = max(best, policy.total[i])
    for i in range(K):
        if policy.gap[0] > 0.0:
            policy.weights[i] = math.exp(math.log(float(K)) / policy.gap[0] * (policy.total[i] - best))
        else:
            policy.weights[i] = 1.0 if policy.total[i] == best else 0.0
        whole += policy.weights[i]
    for i in range(K):
        policy.weights[i] /= whole


@inner
def _see(policy: GameMemory) -> None:
    """Add the gains, and the gap between the mean gain and its exponential mean."""
    K = policy.total.shape[0]
    most, mean, mixed = -math.inf, 0.0, 0.0
    for i in range(K):
        if policy.weights[i] > 0.0:
            most = max(most, policy.gains[i])
    for i in range(K):
        mean += policy.weights[i] * policy.gains[i]
        policy.total[i] += policy.gains[i]
    if policy.gap[0] > 0.0 and K > 1:
        rate = math.log(float(K)) / policy.gap[0]
        for i in range(K):
            mixed += policy.weights[i] * math.exp(rate * (policy.gains[i] - most))
        most += math.log(mixed) / rate
    policy.gap[0] += max(0.0, most - mean)


@inner
def _tail(policy: GameMemory, t: float) -> float:
    """The part of the bonus with C_G, between the knots by a straight line."""
    place = min(math.log(t) / math.log(LATEST), 1.0) * (KNOTS - 1)
    knot = min(int(place), KNOTS - 2)
    share = place - knot
    return float((1.0 - share) * policy.tail[knot] + share * policy.tail[knot + 1])


@select.register(GameMemory)
def _select(policy: GameMemory, evidence: GlrLevels, space: Space, state: State) -> int:
    """An arm drawn from the weights."""
    u, _ = uniforms(state.key, 0, state.tally[CLOCK], 0, DECISIONS)
    arm, reached = space.arms - 1, 0.0
    for i in range(space.arms):
        reached += policy.weights[i]
        if u < reached:
            arm = i
            break
    state.queue[0] = arm
    state.tally[QUEUED] = 1
    return 1


@answer.register(GameMemory)
def _answer(policy: GameMemory, evidence: GlrLevels, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    for i in range(space.arms):
        statuses[i] = OPTIMAL if state.optimal[i] == 1 else DOMINATED if state.inside[i] == 1 else INFEASIBLE
