"""The questions that every algorithm answers. Each is chosen by the type of the kernel record.

An algorithm sees the state and the evidence only: it never draws rewards, prints, reads a clock or knows the truth.
"""

from typing import NamedTuple

from numpy import uint8
from numpy.typing import NDArray

from paretoguard.engine.jit import inner, part
from paretoguard.engine.space import Space
from paretoguard.engine.state import QUEUED, UNSEEN, State


@part
def restart(policy: NamedTuple) -> None:
    """Forget what was remembered: a new run begins."""
    raise TypeError(f"policy {type(policy).__name__} has no registered `restart`")


@part
def decide(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State) -> int:
    """Queue the arms to pull next in `state.queue` and return how many; 0 means that the answer is found."""
    raise TypeError(f"policy {type(policy).__name__} has no registered `decide`")


@part
def select(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State) -> int:
    """The sampling rule alone, for an up-to-date state: queue arms and return how many; it may claim nothing.

    While results are outstanding it is asked again with the pending pulls counted as if they had been made, the means
    unchanged. 0 means that it has no wish.
    """
    raise TypeError(f"policy {type(policy).__name__} has no registered `select`")


@part
def answer(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    """Write the status of each arm once `decide` has returned 0: 1 optimal, 2 dominated, 3 infeasible."""
    raise TypeError(f"policy {type(policy).__name__} has no registered `answer`")


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
