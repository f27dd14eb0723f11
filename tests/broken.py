"""Evidence that claims too much, on purpose: calibration tests must catch each of these."""

import math
from typing import Any, ClassVar, NamedTuple

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import eta_of
from paretoguard.engine.questions import Moment, moment, weigh
from paretoguard.engine.view import View
from paretoguard.evidence import Evidence
from paretoguard.evidence.kind import spread, use_widths


class NoRootLevels(NamedTuple):
    """Widths without their square root: 1/N_i + 1/N_j instead of sqrt(1/N_i + 1/N_j)."""

    delta: float
    sigma_u: float


class NoRoot(Evidence):
    name: ClassVar[str] = "no-root"

    def fit(self, delta: float, problem: ProblemArrays) -> NoRootLevels:
        return NoRootLevels(delta, 1.0)


class DoubleRowsLevels(NamedTuple):
    """Feasibility judged as if every arm had eight times its pulls."""

    delta: float
    sigma_u: float


class DoubleRows(Evidence):
    name: ClassVar[str] = "double-rows"

    def fit(self, delta: float, problem: ProblemArrays) -> DoubleRowsLevels:
        return DoubleRowsLevels(delta, 1.0)


def _moment(evidence: Any, t: int) -> Moment:
    level = math.log(max(1.0, math.log(max(t, 1))) / evidence.delta)
    return Moment(math.sqrt(2.0 * level), level)


def _no_root(view: View, i: int, j: int) -> float:
    state = view.state
    return state.inverse[i] + state.inverse[j]


def _root(view: View, i: int, j: int) -> float:
    state = view.state
    return math.sqrt(state.inverse[i] + state.inverse[j])


def _eightfold(view: View, i: int) -> float:
    eta = eta_of(view.problem, view.state, i)
    return 8.0 * view.state.counts[i] * eta * eta / 2.0


moment.register(NoRootLevels, _moment)
spread.register(NoRootLevels, _no_root)
use_widths(NoRootLevels)
moment.register(DoubleRowsLevels, _moment)
spread.register(DoubleRowsLevels, _root)
use_widths(DoubleRowsLevels)
weigh.register(DoubleRowsLevels, _eightfold)
