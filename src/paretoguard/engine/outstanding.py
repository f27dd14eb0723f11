"""Batches: which arms to pull while results are outstanding (a cohort, several workers).

The decision to stop, and every claim, rest on results alone. To choose further arms, the sampling rule is asked again
as if the pending pulls had been made and had left the means where they are: arms already asked for look better known,
so that the rule moves on to the next arm in need.
"""

from typing import NamedTuple

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from paretoguard.compiler.jit import aside, inner, part
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import decide, select
from paretoguard.engine.state import UNSEEN, State, recount


class Single(NamedTuple):
    """Pull each decision as the algorithm makes it."""

    size: int = 1


class Batch(NamedTuple):
    """Pull as many arms as there is room for before the next decision."""

    arms: NDArray[int64]  # [n]


def cohort(size: int) -> Single | Batch:
    """How to pull `size` arms before the next decision."""
    return Single() if size == 1 else Batch(np.zeros(size, dtype=int64))


@part
def choose(pace: NamedTuple, policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, left: int) -> int:
    """Choose the arms to pull before the next decision; return how many (0: the answer is found; -1: no such arms)."""
    raise TypeError(f"{type(pace).__name__} has no registered `choose`")


@part
def chosen(pace: NamedTuple, state: State, k: int) -> int:
    """The k-th arm chosen."""
    raise TypeError(f"{type(pace).__name__} has no registered `chosen`")


@choose.register(Single)
def _choose_single(
    pace: Single, policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, left: int
) -> int:
    queued = int(decide(policy, evidence, space, state))
    return queued if are_arms(space, state, queued) else -1


@inner
def are_arms(space: Space, state: State, queued: int) -> bool:
    """Can what an algorithm has queued be pulled?"""
    if queued < 0 or queued > state.queue.shape[0]:
        return False
    for k in range(queued):
        if state.queue[k] < 0 or state.queue[k] >= space.arms:
            return False
    return True


@chosen.register(Single)
def _chosen_single(pace: Single, state: State, k: int) -> int:
    return int(state.queue[k])


@choose.register(Batch)
def _choose_batch(pace: Batch, policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, left: int) -> int:
    for i in range(space.arms):
        state.pending[i] = 0  # the results of the batch before are in
    batch = pace.arms[: max(left, 1)]
    return fill(policy, evidence, space, state, batch, batch.shape[0])


@chosen.register(Batch)
def _chosen_batch(pace: Batch, state: State, k: int) -> int:
    return int(pace.arms[k])


@aside
def decided(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State) -> int:
    """`decide`, called: once in a kernel that needs it in several places, as it takes long to compile."""
    return int(decide(policy, evidence, space, state))


@inner
def fill(
    policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, batch: NDArray[int64], wanted: int
) -> int:
    """Choose `wanted` arms into `batch`, on top of those pending; return how many (0: answered; -1: no such arms).

    Where the batch has room for more, arms of one decision stay together.

    Until every arm has a result, arms are asked for in turn. Then the first arms of a batch are those of the plain
    decision, and when the rule has no further wish its leader is asked for again.
    """
    queued = decided(policy, evidence, space, state)
    if queued == 0:
        return 0
    chosen = 0
    while chosen < wanted:
        if state.tally[UNSEEN] > 0:
            state.queue[0] = _least_asked(state)
            queued = 1
        elif _is_pending(state):
            queued = _with_pending(policy, evidence, space, state)
            if queued == 0:
                state.queue[0] = batch[0] if chosen > 0 else _least_asked(state)
                queued = 1
        if not are_arms(space, state, queued):
            return -1
        for k in range(min(queued, batch.shape[0] - chosen)):
            batch[chosen] = state.queue[k]
            state.pending[state.queue[k]] += 1
            chosen += 1
    return chosen


@inner
def _least_asked(state: State) -> int:
    """The arm with the fewest pulls, made or pending (lowest index among equals)."""
    arm = 0
    for i in range(state.counts.shape[0]):
        if state.counts[i] + state.pending[i] < state.counts[arm] + state.pending[arm]:
            arm = i
    return arm


@inner
def _is_pending(state: State) -> bool:
    for i in range(state.pending.shape[0]):
        if state.pending[i] > 0:
            return True
    return False


@inner
def _with_pending(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State) -> int:
    """Ask the sampling rule as if the pending pulls had been made."""
    for i in range(space.arms):
        if state.pending[i] > 0:
            recount(evidence, space, state, i, state.pending[i])
    queued = select(policy, evidence, space, state)
    for i in range(space.arms):
        if state.pending[i] > 0:
            recount(evidence, space, state, i, -state.pending[i])
    return int(queued)
