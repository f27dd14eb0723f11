"""APE (Kone, Kaufmann, Richert 2023): who leads, who challenges, and when to stop, among some of the arms.

With A those arms, OPT = {i : M^-(i,j) > 0 for every other j of A} and xi_i = max_j m^-(i,j), in the form of 2023 the
leader is the arm outside OPT that is likeliest to be optimal, argmax min_j M^+(i,j), or the one with the least
min_j M^-(i,j) when OPT is everything; the challenger is argmin_j M^-(b,j). Since M^+(i,j) = -m^-(i,j), the leader is
the arm outside OPT with the least xi. All is settled when M^-(i,j) >= 0 between all arms of the empirical Pareto set
and xi_i >= 0 for every other one.

xi_i is a maximum and OPT asks for a minimum over all others, so that one rival bounds the first from below, and one
rival can show that an arm is not in OPT. Each arm remembers both: only the arms of OPT, and one or two others, need a
look at every rival, and those of the Pareto set one at who may beat them: usually a few times K d a decision. What is
remembered changes the speed only, never the outcome.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.dominance import beats
from paretoguard.engine.questions import dominated, most_dominated, undominated, undominated_below
from paretoguard.engine.state import State

OUT, BOUND, WHOLE = 0, 1, 2  # an arm that is out of the question; whose xi is bounded from below; is known


class Ape(NamedTuple):
    """APE at work on some of the arms."""

    members: NDArray[uint8]  # [K] 1 for the arms that take part
    front: NDArray[uint8]  # [K] 1 for the Pareto set of their means
    beaten_by: NDArray[int64]  # [K] an arm whose mean dominated that of i, or -1
    rival: NDArray[int64]  # [K] the arm that last gave xi_i, or -1
    closest: NDArray[int64]  # [K] an arm j with a small M^-(i,j), or -1
    last: NDArray[int64]  # [2] a pair of the front that was not settled, or -1
    known: NDArray[uint8]  # [K] OUT, BOUND or WHOLE
    xi: NDArray[float64]  # [K] or its bound


def new_ape(space: Space) -> Ape:
    """Nobody takes part yet."""
    K = space.arms
    return Ape(
        members=np.zeros(K, dtype=uint8),
        front=np.zeros(K, dtype=uint8),
        beaten_by=np.full(K, -1, dtype=int64),
        rival=np.full(K, -1, dtype=int64),
        closest=np.full(K, -1, dtype=int64),
        last=np.full(2, -1, dtype=int64),
        known=np.zeros(K, dtype=uint8),
        xi=np.zeros(K),
    )


@inner
def begin(ape: Ape, members: NDArray[uint8]) -> None:
    """Let the arms marked take part, and remember nothing."""
    for i in range(members.shape[0]):
        ape.members[i] = members[i]
        ape.beaten_by[i], ape.rival[i], ape.closest[i] = -1, -1, -1
    ape.last[0], ape.last[1] = -1, -1


@inner
def find_front(ape: Ape, space: Space, state: State) -> None:
    """The empirical Pareto set."""
    for i in range(space.arms):
        ape.front[i] = ape.members[i]
        if ape.members[i] == 0:
            continue
        known = ape.beaten_by[i]
        if known >= 0 and beats(space, state, known, i):
            ape.front[i] = 0
            continue
        for j in range(space.arms):
            if j != i and ape.members[j] == 1 and beats(space, state, j, i):
                ape.front[i] = 0
                ape.beaten_by[i] = j
                break


@inner
def lead(ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, both: bool) -> int:
    """The leader, or -1 where all is settled; in e-cAPE's form (`both`) it is what holds up the rule.

    One loop, as what it asks of the evidence is then compiled once: first for the leader of 2023, then for the rule.
    """
    leader = -1
    for step in range(1 if both else 0, 2):
        arm = _weakest(ape, evidence, now, space, state, step == 1)
        if step == 0:
            leader = arm if arm >= 0 else _closest_pair(ape, evidence, now, space, state, ape.members)[1]
            if _is_surely_open(ape, evidence, now, space, state, leader):
                return leader
            continue
        if arm < 0:
            least, arm = _closest_pair(ape, evidence, now, space, state, ape.front)
            if not least < 0.0:
                return -1
        if both:
            leader = arm
    return leader


@inner
def _is_surely_open(ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, leader: int) -> bool:
    """Does the leader of 2023, or the pair remembered, show at a glance that not all is settled?"""
    if leader >= 0 and ape.front[leader] == 0 and ape.known[leader] == WHOLE and ape.xi[leader] < 0.0:
        return True
    i, j = ape.last[0], ape.last[1]
    is_pair = i >= 0 and ape.front[i] == 1 and ape.front[j] == 1
    return bool(is_pair and undominated(evidence, now, space, state, i, j) < 0.0)


@inner
def _weakest(ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, is_rule: bool) -> int:
    """The arm with the least xi, or -1: for the rule, of those outside the front if below 0; else of those outside OPT.

    Bounds come first: the arm with the least bound is the one once its bound is its xi.
    """
    for i in range(space.arms):
        is_asked = ape.members[i] == 1 and not (is_rule and ape.front[i] == 1)
        ape.known[i] = BOUND if is_asked else OUT
        if is_asked:
            j = ape.rival[i]
            ape.xi[i] = dominated(evidence, now, space, state, i, j) if j >= 0 else -math.inf
    while True:
        arm = _least(ape, space)
        if arm < 0 or (is_rule and not ape.xi[arm] < 0.0):
            return -1
        if ape.known[arm] == WHOLE:
            return arm
        if not is_rule and _is_optimal(ape, evidence, now, space, state, arm):
            ape.known[arm] = OUT
        else:
            _work_out(ape, evidence, now, space, state, arm)


@inner
def _least(ape: Ape, space: Space) -> int:
    """The arm with the least xi, or bound of it; the lowest index among equals, -1 where all are out."""
    arm = -1
    for i in range(space.arms):
        if ape.known[i] != OUT and (arm < 0 or ape.xi[i] < ape.xi[arm]):
            arm = i
    return arm


@inner
def _work_out(ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> None:
    """xi_i, from its bound on, and the rival that gives it."""
    first = ape.rival[i]
    for j in range(space.arms):
        if j in (i, first) or ape.members[j] == 0:
            continue
        if most_dominated(evidence, space, state, i, j) > ape.xi[i]:
            value = dominated(evidence, now, space, state, i, j)
            if value > ape.xi[i]:
                ape.xi[i] = value
                ape.rival[i] = j
    ape.known[i] = WHOLE


@inner
def _is_optimal(ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> bool:
    """Is i in OPT: M^-(i,j) > 0 for every other arm?  The arm remembered comes first: it may be enough."""
    first = ape.closest[i]
    for k in range(-1, space.arms):
        j = first if k < 0 else k
        if j < 0 or j == i or (k >= 0 and j == first) or ape.members[j] == 0:
            continue
        if undominated(evidence, now, space, state, i, j) <= 0.0:
            ape.closest[i] = j
            return False
    return True


@inner
def _closest_pair(
    ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, members: NDArray[uint8]
) -> tuple[float, int]:
    """The least M^-(i,j) between arms marked, and i: the first in lexicographic order among equals."""
    least, first = math.inf, -1
    for i in range(space.arms):
        for j in range(space.arms):
            if j != i and members[i] == 1 and members[j] == 1:
                value = undominated_below(evidence, now, space, state, i, j, least)
                if first < 0 or value < least:
                    least, first = value, i
                    ape.last[0], ape.last[1] = i, j
    return least, first


@inner
def challenger(ape: Ape, evidence: NamedTuple, now: Any, space: Space, state: State, leader: int) -> int:
    """argmin M^-(leader, j); the one remembered comes first: few others can be below it."""
    least, arm, first = math.inf, -1, ape.closest[leader]
    for k in range(-1, space.arms):
        j = first if k < 0 else k
        if j < 0 or j == leader or (k >= 0 and j == first) or ape.members[j] == 0:
            continue
        value = undominated_below(evidence, now, space, state, leader, j, least)
        if value < least or arm < 0 or (value == least and j < arm):
            least, arm = value, j
    ape.closest[leader] = arm
    return arm
