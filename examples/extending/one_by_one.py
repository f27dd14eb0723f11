"""An algorithm: e-cAPE, but measuring only one of its two arms at a time, the leader `ratio` times as often."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import paretoguard as pg
from paretoguard.extend import Algorithm, ProblemArrays, View, choose, queue_one


class _Memory(NamedTuple):  # what kernels see: options, and arrays for what a run remembers
    ecape: Any
    ratio: float


@dataclass(frozen=True)
class OneByOne(Algorithm):
    """What users pass; its fields are its options."""

    ratio: float = 1.0

    def fit(self, problem: ProblemArrays) -> _Memory:
        return _Memory(pg.algorithms.ECape().fit(problem), self.ratio)


@choose.register(_Memory)
def _choose(memory: _Memory, view: View) -> int:
    queued = choose(memory.ecape, view)
    if queued < 2:  # 0: the answer is found; 1: the leader has no challenger
        return queued
    leader, challenger = view.state.queue[0], view.state.queue[1]
    behind = memory.ratio * view.state.counts[challenger] < view.state.counts[leader]
    return queue_one(view, challenger if behind else leader)
