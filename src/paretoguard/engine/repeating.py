"""Where e-cAPE is certain to repeat its decision, leader b and challenger c: everywhere in a box (`evidence.box`)

- b and c stay on their side of P, no arm comes to be certified infeasible or stops being it, and O_t stays as it is:
  each arm in it unbeaten, each other feasible one beaten by its witness;
- b holds up the stopping rule: where it is not in O_t, its term of Z2 stays below 0 and below every other; where it is,
  Z2 stays >= 0, and a score of b below 0 and below those of all others in O_t;
- M^-(b,c) stays below M^-(b,j) for every other candidate j.

All by bounds that hold in the whole box; `room` is left for rounding.
"""

import math
from typing import Any, NamedTuple

from paretoguard.engine.evidence.box import (
    Box,
    dominated_at_least,
    dominated_at_most,
    is_further,
    is_moving,
    reach_of,
    undominated_at_least,
    undominated_at_most,
    weight_at_least,
    weight_at_most,
)
from paretoguard.engine.evidence.parts import is_steady, moment
from paretoguard.engine.jit import inner
from paretoguard.engine.space import Space
from paretoguard.engine.state import CLOCK, State, is_outside, present, weight_of
from paretoguard.engine.stopping import Rivals, is_candidate, is_remembered

MOST_PAIRS = 16  # arms of O_t whose pairs are all looked at
CLEARLY = 1e-6  # less than the bar: room for the rounding of evidence


@inner
def decision_stays(evidence: NamedTuple, space: Space, state: State, rivals: Rivals, box: Box, room: float) -> bool:
    """Is the decision just made, about the arms of the box, made again everywhere in it?  False where in doubt."""
    now, later = present(evidence, state), moment(evidence, state.tally[CLOCK] + 2 * box.more)
    if not (_stay_inside(space, state, box) and _stay_in_front(space, state, box)):
        return False
    if not _stay_candidates(evidence, now, later, space, state, box):
        return False
    if state.optimal[box.first] == 0:
        is_leader = _stays_weakest(evidence, now, later, space, state, rivals, box, room)
    else:
        is_leader = _stays_in_doubt(evidence, now, later, space, state, rivals, box, room)
    return is_leader and _stays_closest(evidence, now, later, space, state, box, room)


@inner
def _stay_inside(space: Space, state: State, box: Box) -> bool:
    """Do the two stay on their side of P?"""
    for i in (box.first, box.second):
        if i < 0:
            continue
        inside, outside = True, False
        for row in range(space.region.A.shape[0]):
            past, reach = space.region.b[row] + 0.5 * space.row_tolerance[row], 0.0
            for c in range(space.noisy):
                past -= space.region.A[row, c] * state.means[i, c]
                reach += abs(space.region.A[row, c]) * box.reach
            inside = inside and past > reach
            outside = outside or past < -reach
        if not (inside if state.inside[i] == 1 else outside):
            return False
    return True


@inner
def _ahead(space: Space, state: State, j: int, i: int) -> float:
    """By how much j beats i; negative where it does not."""
    least = math.inf
    for c in range(space.compared):
        least = min(least, state.means[j, c] - state.means[i, c] - 0.5 * space.tolerance[c])
    return least


@inner
def _stay_in_front(space: Space, state: State, box: Box) -> bool:
    """Does O_t stay as it is?"""
    for i in range(space.arms):
        if state.inside[i] == 0:
            continue
        if state.optimal[i] == 0:
            j = state.witness[i]
            reach = reach_of(box, i) + reach_of(box, j)
            if reach > 0.0 and not _ahead(space, state, j, i) > reach:
                return False
            continue
        for j in range(space.arms):
            reach = reach_of(box, i) + reach_of(box, j)
            if reach > 0.0 and j != i and state.inside[j] == 1 and not _ahead(space, state, j, i) < -reach:
                return False
    return True


@inner
def _stay_candidates(evidence: NamedTuple, now: Any, later: Any, space: Space, state: State, box: Box) -> bool:
    """Does no arm come to be certified infeasible, or stop being it?  Bars may only grow."""
    for i in range(space.arms):
        if state.inside[i] == 1:
            continue
        if is_outside(now, state, i):
            if is_moving(box, i) or not state.weight[i] >= later.bar:
                return False
        elif is_moving(box, i) and not weight_at_most(evidence, space, state, box, i) < now.bar - CLEARLY:
            return False
    return True


@inner
def _stays_weakest(
    evidence: NamedTuple, now: Any, later: Any, space: Space, state: State, rivals: Rivals, box: Box, room: float
) -> bool:
    """Of a leader that is not in O_t: does its term stay the least, and below 0?"""
    b, most = box.first, -math.inf
    for j in range(space.arms):
        if j != b and is_candidate(now, state, j):
            most = max(most, dominated_at_most(evidence, now, space, state, box, b, j))
            if not most + room < 0.0:
                return False
    if state.inside[b] == 0:
        most = max(most, weight_at_most(evidence, space, state, box, b) - now.bar)
    if not most + room < 0.0:
        return False
    for i in range(space.arms):
        if i == b or state.optimal[i] == 1:
            continue
        if not _term_at_least(evidence, now, later, space, state, rivals, box, i) > most + room:
            return False
    return True


@inner
def _term_at_least(
    evidence: NamedTuple, now: Any, later: Any, space: Space, state: State, rivals: Rivals, box: Box, i: int
) -> float:
    """No more than the term of Z2 for the arm i: by its feasibility, or by its remembered rival."""
    value = -math.inf
    if state.inside[i] == 0 and not is_moving(box, i) and state.weight[i] == state.weight[i]:
        value = state.weight[i] - later.bar
    j = rivals.rival[i]
    if j >= 0 and is_candidate(now, state, j):
        value = max(value, dominated_at_least(evidence, later, space, state, box, i, j))
        if not is_moving(box, i) and not is_moving(box, j) and is_remembered(evidence, state, rivals, i, j):
            value = max(value, rivals.below[i])
    return value


@inner
def _stays_in_doubt(
    evidence: NamedTuple, now: Any, later: Any, space: Space, state: State, rivals: Rivals, box: Box, room: float
) -> bool:
    """Of a leader in O_t: does Z2 stay >= 0, and a score of its own the least of all in O_t, and below 0?"""
    floor = 0.0 if is_steady(evidence) else room
    for i in range(space.arms):
        if state.optimal[i] == 1:
            continue
        if not _term_at_least(evidence, now, later, space, state, rivals, box, i) >= floor:
            return False
    b, size = box.first, 0
    most = weight_at_most(evidence, space, state, box, b) - now.bar
    for j in range(space.arms):
        if state.optimal[j] == 1:
            size += 1
            if j != b:
                most = min(most, undominated_at_most(evidence, now, space, state, box, b, j))
    most += room
    if not most < 0.0 or size > MOST_PAIRS:
        return False
    for i in range(space.arms):
        if i == b or state.optimal[i] == 0:
            continue
        weight = weight_of(evidence, space, state, i)
        if is_moving(box, i):
            weight = weight_at_least(evidence, space, state, box, i)
        if not weight - later.bar > most:
            return False
        for j in range(space.arms):
            if j == i or state.optimal[j] == 0:
                continue
            if not undominated_at_least(evidence, later, space, state, box, i, j) > most:
                return False
    return True


@inner
def _stays_closest(
    evidence: NamedTuple, now: Any, later: Any, space: Space, state: State, box: Box, room: float
) -> bool:
    """Does the challenger stay the closest candidate?"""
    if box.second < 0:
        return True
    most = undominated_at_most(evidence, now, space, state, box, box.first, box.second) + room
    for j in range(space.arms):
        if not is_moving(box, j) and is_candidate(now, state, j):
            is_above = undominated_at_least(evidence, later, space, state, box, box.first, j) > most
            if not (is_above or is_further(evidence, now, later, space, state, box, j, room)):
                return False
    return True
