"""One experiment, ready to go: what the algorithm remembers, what it sees, and how both begin anew."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy import int64, uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import prepare
from paretoguard.engine.state import new_state
from paretoguard.engine.view import View
from paretoguard.numeric import Integers

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
    """Yield the arrays of a record, and of the records in it."""
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
