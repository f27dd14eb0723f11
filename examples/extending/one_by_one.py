"""An algorithm: e-cAPE, but measuring only one of its two arms at a time, the leader `ratio` times as often."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from paretoguard.algorithms import ECape
from paretoguard.compiler.jit import inner
from paretoguard.engine.questions import answer, decide, restart, select
from paretoguard.engine.state import UNSEEN


class _Memory(NamedTuple):  # what kernels see: options, and arrays for what a run remembers
    ecape: Any
    ratio: float


@dataclass(frozen=True)
class OneByOne:
    """What users pass; its fields are its options."""

    ratio: float = 1.0
    name: ClassVar[str] = "one-by-one"

    def fit(self, space: Any) -> _Memory:
        return _Memory(ECape().fit(space), self.ratio)


@inner
def _one(memory: _Memory, state: Any, queued: int) -> int:  # of the arms that wait in state.queue; 0: answered
    if queued == 2 and state.tally[UNSEEN] == 0:
        behind = memory.ratio * state.counts[state.queue[1]] < state.counts[state.queue[0]]
        state.queue[0], queued = state.queue[1 if behind else 0], 1
    return queued


decide.register(_Memory, lambda memory, how, on, state: _one(memory, state, decide(memory.ecape, how, on, state)))
select.register(_Memory, lambda memory, how, on, state: _one(memory, state, select(memory.ecape, how, on, state)))
restart.register(_Memory, lambda memory: restart(memory.ecape))
answer.register(_Memory, lambda memory, *rest: answer(memory.ecape, *rest))
