"""Evidence that claims too much, on purpose: calibration tests must catch each of these."""

import math
from typing import Any, NamedTuple

from paretoguard.engine.arrays import Space
from paretoguard.engine.feasibility import eta_of
from paretoguard.engine.questions import Moment, moment, weigh
from paretoguard.engine.state import State
from paretoguard.evidence.widths import spread, use_widths


class NoRootLevels(NamedTuple):
    """Widths without their square root: 1/N_i + 1/N_j instead of sqrt(1/N_i + 1/N_j)."""

    delta: float
    sigma_u: float


class NoRoot:
    name = "no-root"

    def fit(self, delta: float, space: Space) -> NoRootLevels:
        return NoRootLevels(delta, 1.0)


class DoubleRowsLevels(NamedTuple):
    """Feasibility judged as if every arm had eight times its pulls."""

    delta: float
    sigma_u: float


class DoubleRows:
    name = "double-rows"

    def fit(self, delta: float, space: Space) -> DoubleRowsLevels:
        return DoubleRowsLevels(delta, 1.0)


def _moment(evidence: Any, t: int) -> Moment:
    level = math.log(max(1.0, math.log(max(t, 1))) / evidence.delta)
    return Moment(math.sqrt(2.0 * level), level)


def _no_root(evidence: NoRootLevels, state: State, i: int, j: int) -> float:
    return state.inverse[i] + state.inverse[j]


def _root(evidence: DoubleRowsLevels, state: State, i: int, j: int) -> float:
    return math.sqrt(state.inverse[i] + state.inverse[j])


def _eightfold(evidence: DoubleRowsLevels, space: Space, state: State, i: int) -> float:
    eta = eta_of(space, state, i)
    return 8.0 * state.counts[i] * eta * eta / 2.0


moment.register(NoRootLevels, _moment)
spread.register(NoRootLevels, _no_root)
use_widths(NoRootLevels)
moment.register(DoubleRowsLevels, _moment)
spread.register(DoubleRowsLevels, _root)
use_widths(DoubleRowsLevels)
weigh.register(DoubleRowsLevels, _eightfold)
