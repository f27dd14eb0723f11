"""What an experiment has seen so far: counts, means, where each mean lies, and which means dominate which.

`observe` takes a result in O(d). `engine.view` works out the rest when the next decision needs it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import int64, uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import GRID, ProblemArrays
from paretoguard.geometry.active_set import Workspace, workspace
from paretoguard.numeric import Bytes, Floats, Integers, flags, floats, integers

LEAST_STAKE, MOST_STAKE = 1e-100, 1e100  # outside, a logarithm is banked
CLOCK, FRESH, BUILT, UNSEEN = 0, 1, 2, 3  # entries of State.tally


class State(NamedTuple):
    """One run in progress. All arrays; counters live in `tally` so that kernels can change them."""

    tally: Integers  # [4] results so far, arms with new ones, is the front built, arms unseen
    key: NDArray[uint64]  # [2] (seed, run)
    counts: Integers  # [K] N_i
    sums: Floats  # [K, d]
    means: Floats  # [K, d]
    covariance: Floats  # [K, noisy, noisy] of the results so far, where scales are learnt; else [K, 0, 0]
    stakes: Floats  # [K, B] what each bet has made of 1 …
    banked: Floats  # [K, B] … times exp of this
    growth: Floats  # [K, B] the logarithm of both, for each result; of bets on the arm's side of P
    inverse: Floats  # [K] 1 / N_i
    root: Floats  # [K] 1 / sqrt(N_i)
    stamp: Integers  # [K] goes up when an arm has a new result, and when a pending one counts or no longer does
    inside: Bytes  # [K] 1 for the empirically feasible arms F_t
    lazy_eta: Floats  # [K] distance to the boundary of P; NaN: not worked out yet (`eta_of`)
    weight: Floats  # [K] the part of gamma_i that does not change with time; nan: see `weight_of`
    most_weight: Floats  # [K] for i outside P: no less than its weight, known before it
    witness: Integers  # [K] for i in F_t: an arm of F_t that dominates i, or -1
    optimal: Bytes  # [K] 1 for O_t, the Pareto set of F_t
    fresh: Integers  # [K] arms with results not yet worked in
    is_fresh: Bytes  # [K]
    queue: Integers  # [max(K, 2)] the arms to pull next
    pending: Integers  # [K] pulls asked for whose results are not in: they count in sampling, never in evidence
    row: Floats  # [d] one reward
    away: Floats  # [noisy] scratch
    rhs: Floats  # [m] right-hand sides given an arm's exact coordinates
    mark: Bytes  # [K] scratch
    group: Bytes  # [K] scratch: arms to be looked at together
    work: Workspace


def new_state(problem: ProblemArrays, key: NDArray[uint64]) -> State:
    K, d = problem.arms, problem.objectives
    rows, bets = problem.region.A.shape[0], problem.bets.slope.shape[0]
    learnt = problem.noisy if problem.learnt.any() else 0
    return State(
        tally=np.array([0, 0, 0, K], dtype=int64),
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
        inside=flags(K),
        lazy_eta=floats(K),
        weight=np.full(K, -math.inf),
        most_weight=np.full(K, -math.inf),
        witness=np.full(K, -1, dtype=int64),
        optimal=flags(K),
        fresh=integers(K),
        is_fresh=flags(K),
        queue=integers(max(K, 2)),
        pending=integers(K),
        row=floats(d),
        away=floats(problem.noisy),
        rhs=floats(rows),
        mark=flags(K),
        group=flags(K),
        work=workspace(rows, problem.noisy),
    )


@inner
def observe(problem: ProblemArrays, state: State, arm: int, row: Floats) -> None:
    """Take one result of `arm`; `row` holds its values in the user's order and units."""
    count = state.counts[arm] + 1
    if count == 1:
        state.tally[UNSEEN] -= 1
    state.counts[arm] = count
    state.stamp[arm] += 1
    state.tally[CLOCK] += 1
    _learn(problem, state, arm, row)
    _stake(problem, state, arm, row)
    for c in range(problem.noisy):
        total = state.sums[arm, c] + row[problem.order[c]] * problem.scale[c]
        state.sums[arm, c] = total
        state.means[arm, c] = total / count
    for c in range(problem.noisy, problem.objectives):
        state.means[arm, c] = row[problem.order[c]] * problem.scale[c]
    state.inverse[arm] = 1.0 / count
    state.root[arm] = math.sqrt(state.inverse[arm])
    if state.is_fresh[arm] == 0:
        state.is_fresh[arm] = 1
        state.fresh[state.tally[FRESH]] = arm
        state.tally[FRESH] += 1


@inner
def _learn(problem: ProblemArrays, state: State, arm: int, row: Floats) -> None:
    """Work the result into the covariance of its arm (Welford); means are still those before it."""
    n = float(state.counts[arm])
    if n < 2.0:
        return
    for c in range(state.covariance.shape[1]):
        state.away[c] = row[problem.order[c]] * problem.scale[c] - state.means[arm, c]
        for k in range(c + 1):
            product = state.away[c] * state.away[k] / n
            state.covariance[arm, c, k] = (n - 2.0) / (n - 1.0) * state.covariance[arm, c, k] + product


@inner
def _stake(problem: ProblemArrays, state: State, arm: int, row: Floats) -> None:
    """Pay out every bet on this result; on 0 and 1 the mean says what they have come to."""
    for first in range(0, state.stakes.shape[1], GRID):
        place = problem.bets.coordinate[first]
        if problem.ranges.binary[place]:
            continue
        value = row[problem.order[place]] * problem.scale[place]
        for bet in range(first, first + GRID):
            stake = state.stakes[arm, bet] * (1.0 + problem.bets.slope[bet] * (value - problem.bets.limit[bet]))
            if not LEAST_STAKE < stake < MOST_STAKE:
                state.banked[arm, bet] += math.log(stake)
                stake = 1.0
            state.stakes[arm, bet] = stake
