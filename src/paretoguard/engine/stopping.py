"""e-cAPE's stopping rule, and the arms that hold it up.

With F_t the empirically feasible arms, O_t their Pareto set, G_t the others not yet certified infeasible and
C_t = F_t + G_t the candidates:

    xi_i = max over j in C_t, j != i, of m^-(i,j)
    Z1F  = min over i in O_t of gamma_i
    Z1P  = min over ordered pairs of O_t of M^-(i,j)
    Z2   = min over i not in O_t of (xi_i if i in F_t, else max(gamma_i, xi_i))

The rule stops when all three are >= 0. xi_i is a maximum, so m^-(i,j) at any one candidate j bounds it from below: each
arm remembers its best rival, and xi_i is worked out in full only for the arms that this bound leaves as possible
minimisers. One or two arms a decision need it: O(K d) altogether, with no K x K table. Z1P costs O(d) for each pair of
O_t, and is asked for only once Z2 >= 0.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.engine.evidence.parts import dominated, undominated
from paretoguard.engine.jit import inner
from paretoguard.engine.space import Space
from paretoguard.engine.state import State


class Rivals(NamedTuple):
    """What the rule remembers between decisions; it changes the speed only, never the outcome."""

    rival: NDArray[int64]  # [K] the candidate that last gave xi_i, or -1
    bound: NDArray[float64]  # [K] lower bounds of the terms of Z2
    known: NDArray[uint8]  # [K] 1 where the bound is the term itself


def new_rivals(space: Space) -> Rivals:
    """Nothing remembered yet."""
    K = space.arms
    return Rivals(np.full(K, -1, dtype=int64), np.zeros(K), np.zeros(K, dtype=uint8))


@inner
def forget(rivals: Rivals) -> None:
    """Begin anew."""
    for i in range(rivals.rival.shape[0]):
        rivals.rival[i] = -1


@inner
def is_candidate(now: Any, state: State, j: int) -> bool:
    """Is j in C_t: feasible so far, or not yet certified infeasible?"""
    return bool(state.inside[j] == 1 or state.weight[j] < now.bar)


@inner
def lower_bound(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, i: int) -> float:
    """A lower bound of the term of Z2 for the arm i, from its remembered rival: O(d)."""
    j = rivals.rival[i]
    value = dominated(evidence, now, space, state, i, j) if j >= 0 and is_candidate(now, state, j) else -math.inf
    if state.inside[i] == 0:
        value = max(value, state.weight[i] - now.bar)
    return value


@inner
def full_term(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals, i: int) -> float:
    """The term of Z2 for the arm i, remembering the rival that gives xi_i: O(K d)."""
    best = -math.inf
    for j in range(space.arms):
        if j != i and is_candidate(now, state, j):
            value = dominated(evidence, now, space, state, i, j)
            if value > best:
                best = value
                rivals.rival[i] = j
    if state.inside[i] == 0:
        best = max(best, state.weight[i] - now.bar)
    return best


@inner
def weakest_excluded(evidence: NamedTuple, now: Any, space: Space, state: State, rivals: Rivals) -> tuple[float, int]:
    """Z2 and its minimiser (lowest index among equals); (+inf, -1) when O_t is everything."""
    for i in range(space.arms):
        rivals.known[i] = 0
        if state.optimal[i] == 1:
            rivals.bound[i] = math.inf
        else:
            rivals.bound[i] = lower_bound(evidence, now, space, state, rivals, i)
    while True:
        # The arm with the least bound is the minimiser once its bound is its term: every other term is at least its
        # own bound, and an equal term of a lower index would have been met first.
        least, arm = math.inf, -1
        for i in range(space.arms):
            if rivals.bound[i] < least:
                least, arm = rivals.bound[i], i
        if arm < 0 or rivals.known[arm] == 1:
            return least, arm
        rivals.bound[arm] = full_term(evidence, now, space, state, rivals, arm)
        rivals.known[arm] = 1


@inner
def weakest_feasible(now: Any, state: State) -> tuple[float, int]:
    """Z1F and its minimiser (lowest index among equals); (+inf, -1) when O_t is empty."""
    least, arm = math.inf, -1
    for i in range(state.optimal.shape[0]):
        if state.optimal[i] == 1 and state.weight[i] - now.bar < least:
            least, arm = state.weight[i] - now.bar, i
    return least, arm


@inner
def weakest_pair(evidence: NamedTuple, now: Any, space: Space, state: State) -> tuple[float, int]:
    """Z1P and the first arm of the pair that gives it (first in lexicographic order among equals)."""
    least, arm = math.inf, -1
    for i in range(space.arms):
        if state.optimal[i] == 1:
            for j in range(space.arms):
                if j != i and state.optimal[j] == 1:
                    value = undominated(evidence, now, space, state, i, j)
                    if value < least:
                        least, arm = value, i
    return least, arm


@inner
def closest_candidate(evidence: NamedTuple, now: Any, space: Space, state: State, b: int) -> int:
    """The candidate j != b with the least M^-(b,j) (lowest index among equals), or -1."""
    least, arm = math.inf, -1
    for j in range(space.arms):
        if j != b and is_candidate(now, state, j):
            value = undominated(evidence, now, space, state, b, j)
            if value < least or arm < 0:
                least, arm = value, j
    return arm


@inner
def partition(now: Any, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    """The answer when the rule has stopped: (O_t, C_t without O_t, the rest)."""
    for i in range(space.arms):
        if state.optimal[i] == 1:
            statuses[i] = 1
        elif is_candidate(now, state, i):
            statuses[i] = 2
        else:
            statuses[i] = 3
