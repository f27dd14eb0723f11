"""One experiment: what the algorithm remembers and sees, how both begin anew, and which arms to pull next.

The decision to stop, and every claim, rest on results alone. To choose further arms while results are outstanding, the
sampling rule is asked again as if the pending pulls had been made and had left the means where they are: arms already
asked for look better known, so that the rule moves on to the next arm in need.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy import int64, uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import aside, inner, part
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import choose, prepare, select
from paretoguard.engine.state import UNSEEN, State, new_state
from paretoguard.engine.view import NOTHING, View, at_now, queue_unseen, recount, refresh
from paretoguard.numeric import Integers, integers

FAULTY = -1  # a decision that cannot be carried out: it names no arms
WORD = 8  # bytes


class Engine(NamedTuple):
    """What kernels work on. The arrays of the memory and of the state lie end to end in `words`."""

    memory: Any  # the kernel record of the algorithm
    seen: View  # what it sees; kernels set the thresholds of now
    words: Integers
    blank: Integers  # `words` before the first result


def new_engine(memory: NamedTuple, evidence: NamedTuple, problem: ProblemArrays, key: NDArray[uint64]) -> Engine:
    """Return an experiment without results, for these kernel records and this key (seed, run)."""
    both = memory, new_state(problem, key)
    words = np.zeros(sum(_words(array) for array in arrays_of(both)), dtype=int64)
    memory, state = _moved(both, words, [0])
    return Engine(memory, View(evidence, None, problem, state), words, words.copy())


def arrays_of(record: Any) -> Iterator[NDArray[Any]]:
    for field in record:
        if isinstance(field, np.ndarray):
            yield field
        elif isinstance(field, tuple):
            yield from arrays_of(field)


def _words(array: NDArray[Any]) -> int:
    return -(-array.nbytes // WORD)


def _moved(value: Any, words: Integers, place: list[int]) -> Any:
    """Return a record whose arrays are copies in `words`, from `place` on."""
    if isinstance(value, np.ndarray):
        copy: NDArray[Any] = np.ndarray(value.shape, value.dtype, words.data, WORD * place[0])
        copy[...] = value
        place[0] += _words(value)
        return copy
    if isinstance(value, tuple):
        fields = [_moved(field, words, place) for field in value]
        return type(value)(*fields) if hasattr(value, "_fields") else tuple(fields)
    return value


@inner
def rewind(engine: Engine) -> None:
    """Begin anew: forget every result, and what was remembered of them."""
    view = engine.seen
    for k in range(engine.words.shape[0]):
        engine.words[k] = engine.blank[k]
    for i in range(view.problem.arms):
        prepare(view.evidence, view.state, i)


# --- which arms to pull next ------------------------------------------------------------------------------------------


class OneDecision(NamedTuple):
    """Pull what one decision names."""

    arms: Integers  # [max(K, 2)] the arms to pull


class Batch(NamedTuple):
    """Pull as many arms as there is room for before the next decision."""

    arms: Integers  # [n] the arms to pull


Pace = OneDecision | Batch


def cohort(size: int, arms: int) -> Pace:
    """Return how `size` of so many arms are pulled before the next decision."""
    return OneDecision(integers(max(arms, 2))) if size == 1 else Batch(integers(size))


@inner
def decide(engine: Engine) -> int:
    """Queue the arms to pull next; return how many (0: answered; FAULTY: no arms). First each arm has its turn."""
    view = at_now(engine.seen)
    queued = queue_unseen(view)
    if queued > 0:
        return queued
    refresh(view)
    queued = int(choose(engine.memory, view))
    return queued if _are_arms(view.state, queued) else FAULTY


@aside
def decided(engine: Engine) -> int:
    """As `decide`, called rather than inlined: for kernels that need it in several places."""
    return decide(engine)


@part
def plan_pulls(pace: Pace, engine: Engine, left: int) -> int:
    """Write the arms to pull before the next decision to `pace.arms`; return how many: 0 answered, FAULTY: no arms."""


@plan_pulls.register(OneDecision)
def _plan_one(pace: OneDecision, engine: Engine, left: int) -> int:
    state = engine.seen.state
    queued = decide(engine)
    for k in range(queued):
        pace.arms[k] = state.queue[k]
    return queued


@plan_pulls.register(Batch)
def _plan_batch(pace: Batch, engine: Engine, left: int) -> int:
    state = engine.seen.state
    for i in range(state.pending.shape[0]):
        state.pending[i] = 0  # the results of the batch before are in
    batch = pace.arms[: max(left, 1)]
    return fill(engine, batch, batch.shape[0])


@inner
def _are_arms(state: State, queued: int) -> bool:
    """True if the arms queued can be pulled."""
    if queued < 0 or queued > state.queue.shape[0]:
        return False
    for k in range(queued):
        if state.queue[k] < 0 or state.queue[k] >= state.counts.shape[0]:
            return False
    return True


@inner
def fill(engine: Engine, batch: Integers, wanted: int) -> int:
    """Choose `wanted` arms into `batch`, on top of those pending; return how many (0: answered; FAULTY: no arms).

    Where the batch has room for more, arms of one decision stay together.

    Until every arm has a result, arms are asked for in turn. Then the first arms of a batch are those of the plain
    decision, and when the rule has no further wish its leader is asked for again.
    """
    state = engine.seen.state
    queued = decided(engine)
    if queued <= 0:
        return queued
    filled = 0
    while filled < wanted:
        if state.tally[UNSEEN] > 0:
            state.queue[0] = _least_asked(state)
            queued = 1
        elif _is_pending(state):
            queued = _with_pending(engine)
            if queued == NOTHING:
                state.queue[0] = batch[0] if filled > 0 else _least_asked(state)
                queued = 1
        if not _are_arms(state, queued):
            for k in range(filled):
                state.pending[batch[k]] -= 1
            return FAULTY
        for k in range(min(queued, batch.shape[0] - filled)):
            batch[filled] = state.queue[k]
            state.pending[state.queue[k]] += 1
            filled += 1
    return filled


@inner
def _least_asked(state: State) -> int:
    """Return the arm with the fewest pulls, made or pending (lowest index among equals)."""
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
def _with_pending(engine: Engine) -> int:
    """Ask the sampling rule as if the pending pulls had been made."""
    view = engine.seen
    pending = view.state.pending
    for i in range(pending.shape[0]):
        if pending[i] > 0:
            recount(view, i, pending[i])
    queued = select(engine.memory, at_now(view))
    for i in range(pending.shape[0]):
        if pending[i] > 0:
            recount(view, i, -pending[i])
    return int(queued)
