"""Most decisions of e-cAPE repeat the last one. Those that are certain to are not worked out: the last one is *held*.

A decision about one or two arms is held in a box (`evidence.box`): while only these have new results, each no more than
a stride of them, and their means stay within a reach of where they were. Whether it is repeated everywhere in the box
is for the algorithm to say (`repeats`). What is remembered changes the speed only, never the outcome.

`Patient` is the pace of long simulated runs, one decision at a time. Strides grow while holding goes well.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.engine.batches import Batch, Single, are_arms, choose, chosen, cohort
from paretoguard.engine.evidence.box import Box, can_hold
from paretoguard.engine.jit import inner
from paretoguard.engine.loop import LONG
from paretoguard.engine.policies.parts import decide, repeats
from paretoguard.engine.space import Space
from paretoguard.engine.state import CHANGES, QUEUED, State

HELD, STRIDE, WAIT, PAUSE, CHANGED = 0, 1, 2, 3, 4  # entries of Patient.numbers
SHORTEST, LONGEST = 8, 4096  # strides worth a look, and at most
FEWEST = 256  # results of each arm before a try: with fewer, holding rarely goes well
BRIEFEST, LONGER = 8, 256  # decisions to wait where one could not be held: twice as many each time
REACH = 1.0  # in standard deviations of how far a mean moves in a stride
ROOM = 1e-3  # of the reach, left for rounding …
ROUNDING = 1e-13  # … which moves a mean by no more than this part of it


class Patient(NamedTuple):
    """The decision held, and how well holding has gone."""

    numbers: NDArray[int64]  # [5] is it held; stride; decisions left to wait; to wait next time; changes seen
    arms: NDArray[int64]  # [2] of the last decision, the second -1 if there is none
    counts: NDArray[int64]  # [2] their results when it was made
    stamps: NDArray[int64]  # [2]
    means: NDArray[float64]  # [2, noisy]
    reach: NDArray[float64]  # [1]


def pace_of(size: int, budget: int, policy: NamedTuple, evidence: NamedTuple, space: Space) -> Single | Batch | Patient:
    """How to pull `size` arms before the next decision, in runs of up to `budget` samples.

    Records that inherit from one whose decisions can be held may decide otherwise: theirs are all worked out.
    """
    is_known = repeats.has_own_body(type(policy)) and can_hold.has_own_body(type(evidence))
    if size > 1 or budget < LONG or space.noisy < space.objectives or not (is_known and can_hold(evidence, space)):
        return cohort(size)
    return Patient(
        numbers=np.array([0, SHORTEST, 0, BRIEFEST, 0], dtype=int64),
        arms=np.full(2, -1, dtype=int64),
        counts=np.zeros(2, dtype=int64),
        stamps=np.zeros(2, dtype=int64),
        means=np.zeros((2, space.noisy)),
        reach=np.zeros(1),
    )


@choose.register(Patient)
def _choose_patiently(
    pace: Patient, policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, left: int
) -> int:
    if _is_held(pace, state):
        return int(state.tally[QUEUED])
    queued = int(decide(policy, evidence, space, state))
    if not are_arms(space, state, queued):
        return -1
    if 0 < queued <= 2:
        _consider(pace, policy, evidence, space, state, queued)
    return queued


@chosen.register(Patient)
def _chosen_patiently(pace: Patient, state: State, k: int) -> int:
    return int(state.queue[k])


@inner
def _is_held(pace: Patient, state: State) -> bool:
    """Does the last decision hold?  If so, it is queued again. A new run has fewer results, and nothing held."""
    if pace.numbers[HELD] == 0:
        return False
    pace.numbers[HELD] = 0
    changes, size = state.tally[CHANGES] - pace.numbers[CHANGED], 2 if pace.arms[1] >= 0 else 1
    for k in range(size):
        arm = pace.arms[k]
        more = state.counts[arm] - pace.counts[k]
        if more < 0:
            return False
        if more >= pace.numbers[STRIDE]:
            pace.numbers[STRIDE] = min(LONGEST, 2 * pace.numbers[STRIDE])
            return False
        changes -= state.stamp[arm] - pace.stamps[k]
        for c in range(pace.means.shape[1]):
            if not abs(state.means[arm, c] - pace.means[k, c]) <= pace.reach[0]:
                return False
    if changes != 0:  # of other arms
        return False
    pace.numbers[HELD] = 1
    for k in range(size):
        state.queue[k] = pace.arms[k]
    state.tally[QUEUED] = size
    return True


@inner
def _consider(pace: Patient, policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, queued: int) -> None:
    """Hold the decision just made, if it repeats the last one and is certain to be repeated for a while."""
    first, second = state.queue[0], state.queue[1] if queued > 1 else -1
    is_new = pace.arms[0] != first or pace.arms[1] != second
    pace.arms[0], pace.arms[1] = first, second
    if is_new:
        return
    if pace.numbers[WAIT] > 0:
        pace.numbers[WAIT] -= 1
        return
    _try(pace, policy, evidence, space, state)


@inner
def _try(pace: Patient, policy: NamedTuple, evidence: NamedTuple, space: Space, state: State) -> None:
    first, second = pace.arms[0], pace.arms[1]
    least = state.counts[first]
    if second >= 0:
        least = min(least, state.counts[second])
    if least < FEWEST:
        pace.numbers[WAIT] = BRIEFEST
        return
    stride = min(pace.numbers[STRIDE], least // 4)
    reach = REACH * math.sqrt(float(stride)) / float(least)
    box = Box(first, second, (1.0 + ROOM) * reach, stride)
    if not (_is_fine(space, state, reach) and repeats(policy, evidence, space, state, box, ROOM * reach)):
        if stride == SHORTEST:
            pace.numbers[WAIT] = pace.numbers[PAUSE]
            pace.numbers[PAUSE] = min(LONGER, 2 * pace.numbers[PAUSE])
        pace.numbers[STRIDE] = max(SHORTEST, stride // 2)
        return
    pace.numbers[HELD], pace.numbers[STRIDE], pace.numbers[PAUSE] = 1, stride, BRIEFEST
    pace.numbers[CHANGED] = state.tally[CHANGES]
    pace.reach[0] = reach
    for k in range(1 if second < 0 else 2):
        arm = pace.arms[k]
        pace.counts[k] = state.counts[arm]
        pace.stamps[k] = state.stamp[arm]
        for c in range(space.noisy):
            pace.means[k, c] = state.means[arm, c]


@inner
def _is_fine(space: Space, state: State, reach: float) -> bool:
    """Is rounding small beside the room for it?"""
    size = 1.0
    for c in range(space.noisy):
        size = max(size, space.tolerance[c])
    for row in range(space.region.b.shape[0]):
        size = max(size, abs(space.region.b[row]), space.row_tolerance[row])
    for i in range(space.arms):
        for c in range(space.noisy):
            size = max(size, abs(state.means[i, c]))
    return ROOM * reach > ROUNDING * size
