"""What an experiment has seen so far: counts, means, where each mean lies, and which means dominate which.

`observe` takes a result in O(d). The rest is worked out by `refresh`, only for arms with new results, when the next
decision needs it: a long history is folded at the price of its sums. Evidence about feasibility waits until it is asked
for (`weight_of`); not where an arm may be certified infeasible by it, which every decision asks.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8, uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.bets import FAILS, GRID, HOLDS
from paretoguard.engine.dominance import rebuild_front, update_front
from paretoguard.engine.feasibility import locate
from paretoguard.engine.questions import is_steady, moment, most_weight, prepare, weigh
from paretoguard.geometry.active_set import Workspace, workspace

LEAST_STAKE, MOST_STAKE = 1e-100, 1e100  # outside, a logarithm is banked
CLOCK, FRESH, QUEUED, BUILT, UNSEEN, CHANGES = 0, 1, 2, 3, 4, 5  # entries of State.tally


class State(NamedTuple):
    """One run in progress. All arrays; counters live in `tally` so that kernels can change them."""

    tally: NDArray[int64]  # [6] results so far, arms with new ones, arms queued, front is built, arms unseen, stamps
    key: NDArray[uint64]  # [2] (seed, run)
    counts: NDArray[int64]  # [K] N_i
    sums: NDArray[float64]  # [K, d]
    means: NDArray[float64]  # [K, d]
    covariance: NDArray[float64]  # [K, noisy, noisy] of the results so far, where scales are learnt; else [K, 0, 0]
    stakes: NDArray[float64]  # [K, B] what each bet has made of 1 …
    banked: NDArray[float64]  # [K, B] … times exp of this
    growth: NDArray[float64]  # [K, B] the logarithm of both, for each result; of bets on the arm's side of P
    inverse: NDArray[float64]  # [K] 1 / N_i
    root: NDArray[float64]  # [K] 1 / sqrt(N_i)
    stamp: NDArray[int64]  # [K] goes up when an arm has a new result, and when a pending one counts or no longer does
    inside: NDArray[uint8]  # [K] 1 for the empirically feasible arms F_t
    lazy_eta: NDArray[float64]  # [K] distance to the boundary of P; NaN: not worked out yet (`border.eta_of`)
    weight: NDArray[float64]  # [K] the part of gamma_i that does not change with time; nan: see `weight_of`
    most_weight: NDArray[float64]  # [K] for i outside P: no less than its weight, known before it
    witness: NDArray[int64]  # [K] for i in F_t: an arm of F_t that dominates i, or -1
    optimal: NDArray[uint8]  # [K] 1 for O_t, the Pareto set of F_t
    fresh: NDArray[int64]  # [K] arms with results not yet worked in
    is_fresh: NDArray[uint8]  # [K]
    queue: NDArray[int64]  # [max(K, 2)] the arms to pull next
    pending: NDArray[int64]  # [K] pulls asked for whose results are not in: they count in sampling, never in evidence
    row: NDArray[float64]  # [d] one reward
    away: NDArray[float64]  # [noisy] scratch
    rhs: NDArray[float64]  # [m] right-hand sides given an arm's exact coordinates
    mark: NDArray[uint8]  # [K] scratch
    group: NDArray[uint8]  # [K] scratch: arms to be looked at together
    work: Workspace


def new_state(space: Space, key: NDArray[uint64]) -> State:
    """An empty state for the problem `space`."""
    K, d = space.arms, space.objectives
    rows, bets = space.region.A.shape[0], space.bets.slope.shape[0]
    learnt = space.noisy if space.learnt.any() else 0

    def floats(*shape: int) -> NDArray[float64]:
        return np.zeros(shape)

    def integers(size: int) -> NDArray[int64]:
        return np.zeros(size, dtype=int64)

    def flags() -> NDArray[uint8]:
        return np.zeros(K, dtype=uint8)

    return State(
        tally=np.array([0, 0, 0, 0, K, 0], dtype=int64),
        key=key.astype(uint64),
        counts=integers(K),
        sums=floats(K, d),
        means=floats(K, d),
        covariance=floats(K, learnt, learnt),
        stakes=np.ones((K, bets)),
        banked=floats(K, bets),
        growth=floats(K, bets),
        inverse=np.full(K, math.inf),
        root=np.full(K, math.inf),
        stamp=integers(K),
        inside=flags(),
        lazy_eta=floats(K),
        weight=np.full(K, -math.inf),
        most_weight=np.full(K, -math.inf),
        witness=np.full(K, -1, dtype=int64),
        optimal=flags(),
        fresh=integers(K),
        is_fresh=flags(),
        queue=integers(max(K, 2)),
        pending=integers(K),
        row=floats(d),
        away=floats(space.noisy),
        rhs=floats(rows),
        mark=flags(),
        group=flags(),
        work=workspace(rows, space.noisy),
    )


@aside
def reset(space: Space, state: State) -> None:
    """Forget everything but the key."""
    for k in range(state.tally.shape[0]):
        state.tally[k] = 0
    state.tally[UNSEEN] = space.arms
    for i in range(space.arms):
        state.counts[i] = 0
        state.inverse[i] = math.inf
        state.root[i] = math.inf
        state.inside[i] = 0
        state.lazy_eta[i] = 0.0
        state.weight[i] = -math.inf
        state.most_weight[i] = -math.inf
        state.witness[i] = -1
        state.optimal[i] = 0
        state.is_fresh[i] = 0
        state.pending[i] = 0
        for c in range(space.objectives):
            state.sums[i, c] = 0.0
            state.means[i, c] = 0.0
        for c in range(state.covariance.shape[1]):
            for k in range(c + 1):
                state.covariance[i, c, k] = 0.0
        for bet in range(state.stakes.shape[1]):
            state.stakes[i, bet] = 1.0
            state.banked[i, bet] = 0.0


@inner
def present(evidence: NamedTuple, state: State) -> Any:
    """The thresholds of now; before the first result, those of time 1."""
    return moment(evidence, max(1, state.tally[CLOCK]))


@inner
def observe(space: Space, state: State, arm: int, row: NDArray[float64]) -> None:
    """Take one result of `arm`; `row` holds its values in the user's order and units."""
    count = state.counts[arm] + 1
    if count == 1:
        state.tally[UNSEEN] -= 1
    state.counts[arm] = count
    state.stamp[arm] += 1
    state.tally[CHANGES] += 1
    state.tally[CLOCK] += 1
    _learn(space, state, arm, row)
    _stake(space, state, arm, row)
    for c in range(space.noisy):
        total = state.sums[arm, c] + row[space.order[c]] * space.scale[c]
        state.sums[arm, c] = total
        state.means[arm, c] = total / count
    for c in range(space.noisy, space.objectives):
        state.means[arm, c] = row[space.order[c]] * space.scale[c]
    state.inverse[arm] = 1.0 / count
    state.root[arm] = math.sqrt(state.inverse[arm])
    if state.is_fresh[arm] == 0:
        state.is_fresh[arm] = 1
        state.fresh[state.tally[FRESH]] = arm
        state.tally[FRESH] += 1


@inner
def _learn(space: Space, state: State, arm: int, row: NDArray[float64]) -> None:
    """Work the result into the covariance of its arm (Welford); means are still those before it."""
    n = float(state.counts[arm])
    if n < 2.0:
        return
    for c in range(state.covariance.shape[1]):
        state.away[c] = row[space.order[c]] * space.scale[c] - state.means[arm, c]
        for k in range(c + 1):
            product = state.away[c] * state.away[k] / n
            state.covariance[arm, c, k] = (n - 2.0) / (n - 1.0) * state.covariance[arm, c, k] + product


@inner
def _stake(space: Space, state: State, arm: int, row: NDArray[float64]) -> None:
    """Pay out every bet on this result; on 0 and 1 the mean says what they have come to."""
    for first in range(0, state.stakes.shape[1], GRID):
        place = space.bets.coordinate[first]
        if space.ranges.binary[place]:
            continue
        value = row[space.order[place]] * space.scale[place]
        for bet in range(first, first + GRID):
            stake = state.stakes[arm, bet] * (1.0 + space.bets.slope[bet] * (value - space.bets.limit[bet]))
            if not LEAST_STAKE < stake < MOST_STAKE:
                state.banked[arm, bet] += math.log(stake)
                stake = 1.0
            state.stakes[arm, bet] = stake


@inner
def _compound(space: Space, state: State, arm: int) -> None:
    """What each bet on the side of P where `arm` is has grown by, for each result."""
    side = HOLDS if state.inside[arm] == 1 else FAILS
    for row in range(space.bets.first.shape[0]):
        first = space.bets.first[row, side]
        if first < 0:
            continue
        place = space.bets.coordinate[first]
        if space.ranges.binary[place]:
            share = 0.5 * (state.means[arm, place] - space.ranges.least[place])
            for bet in range(first, first + GRID):
                state.growth[arm, bet] = space.bets.low[bet] + share * space.bets.step[bet]
        else:
            for bet in range(first, first + GRID):
                total = state.banked[arm, bet] + math.log(state.stakes[arm, bet])
                state.growth[arm, bet] = total / float(state.counts[arm])


@inner
def refresh(evidence: NamedTuple, space: Space, state: State) -> None:
    """Work in the new results: on which side of P each mean is, and the Pareto set of the feasible arms."""
    count = state.tally[FRESH]
    for k in range(count):
        arm = state.fresh[k]
        state.is_fresh[arm] = 0
        locate(space, state, arm)
        _compound(space, state, arm)
        prepare(evidence, state, arm)
        _weigh(evidence, space, state, arm)
    if state.tally[BUILT] == 0:
        rebuild_front(space, state)
        state.tally[BUILT] = 1
    else:
        for k in range(count):
            update_front(space, state, state.fresh[k])
    state.tally[FRESH] = 0


@inner
def _weigh(evidence: NamedTuple, space: Space, state: State, arm: int) -> None:
    """Leave the evidence on which side of P `arm` is to `weight_of`; but not, outside P, what may reach the bar.

    That it does is so for good, or never, where evidence is steady; elsewhere the bar moves, and nothing is left.
    """
    state.weight[arm] = -math.inf
    if state.counts[arm] > 0:
        state.weight[arm] = math.nan
        if state.inside[arm] == 0:
            state.most_weight[arm] = most_weight(evidence, space, state, arm) if is_steady(evidence) else math.inf
            if not state.most_weight[arm] < present(evidence, state).bar:
                state.most_weight[arm] = weight_of(evidence, space, state, arm)


@inner
def weight_of(evidence: NamedTuple, space: Space, state: State, i: int) -> float:
    """The part of gamma_i that does not change with time: worked out when first asked for."""
    if state.weight[i] != state.weight[i]:
        value = weigh(evidence, space, state, i)
        state.weight[i] = value if value == value else -math.inf  # what is no number is no evidence
    return float(state.weight[i])


@inner
def is_outside(now: Any, state: State, i: int) -> bool:
    """Is i certified infeasible?  Evidence that is left for later (nan) does not reach the bar."""
    return bool(state.inside[i] == 0 and state.weight[i] >= now.bar)


@inner
def recount(evidence: NamedTuple, space: Space, state: State, arm: int, more: int) -> None:
    """Change the count of an arm by `more` without results: its means stay, its evidence follows."""
    count = state.counts[arm] + more
    state.counts[arm] = count
    state.stamp[arm] += 1
    state.tally[CHANGES] += 1
    state.tally[CLOCK] += more
    state.inverse[arm] = 1.0 / count if count > 0 else math.inf
    state.root[arm] = math.sqrt(state.inverse[arm])
    prepare(evidence, state, arm)
    _weigh(evidence, space, state, arm)


@inner
def queue_unseen(space: Space, state: State) -> int:
    """Queue every arm that was never pulled, in order; return how many."""
    if state.tally[UNSEEN] == 0:
        return 0
    queued = 0
    for i in range(space.arms):
        if state.counts[i] == 0:
            state.queue[queued] = i
            queued += 1
    state.tally[QUEUED] = queued
    return queued
