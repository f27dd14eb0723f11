"""What every kind of evidence is, and the form that most have: an estimate minus a width that shrinks with the counts.

    m^-(i,j) = m(i,j) - w_ij      M^-(i,j) = M(i,j) - w_ij      gamma_i = N_i eta_i^2 / (2 sigma_u^2) - g(t)

with w_ij = scale(t) * spread(N_i, N_j) and scale(t) = sqrt(2 f(t)). A kind of evidence of this form registers `moment`
and `spread`, holds `sigma_u` in its kernel record, and calls `use_widths`.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from paretoguard.compiler.jit import inner, part
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import best_lead, eta_of, least_gain
from paretoguard.engine.questions import (
    dominated,
    most_dominated,
    pair_radius,
    radius,
    row_radius,
    undominated,
    weigh,
)
from paretoguard.engine.view import View
from paretoguard.vocabulary import BY_ARRIVAL, HEURISTIC


class Evidence(ABC):
    """Options of a kind of evidence: a frozen dataclass whose fields users set by name.

    `fit` gives the kernel record, for which the questions of evidence are registered (`engine/questions.py`); evidence
    in the form of widths registers two of them.
    """

    name: ClassVar[str] = ""  # of a built-in part; others are called by their place, "module:Class"
    guarantee: ClassVar[str] = HEURISTIC  # the label of its claims: one of vocabulary.GUARANTEES
    basis: ClassVar[str] = "no theorem was stated for this evidence"  # what the label rests on, in one sentence
    learns: ClassVar[bool] = False  # True if it estimates scales of the noise that are not declared
    if_independent: ClassVar[bool] = False  # True if the label holds for independent objectives only
    any_order: ClassVar[bool] = False  # True if the label holds also for results counted in the order asked
    takes_order: ClassVar[bool] = False  # True if it has an option `order` for that
    order: str = BY_ARRIVAL  # one of vocabulary.ORDERS, where it is an option

    @abstractmethod
    def fit(self, delta: float, problem: ProblemArrays) -> NamedTuple:
        """Return the kernel record: thresholds for one `problem` and one `delta`."""


# --- in the form of widths --------------------------------------------------------------------------------------------


@part
def spread(view: View, i: int, j: int) -> float:
    """Return how the width of a pair depends on the counts of its two arms."""


def use_widths(record: type) -> None:
    """Register the width form of every question for a kernel record that has `sigma_u`, `moment` and `spread`."""
    weigh.register(record, _weigh)
    dominated.register(record, lambda view, i, j: least_gain(view.problem, view.state, i, j) - _width(view, i, j))
    most_dominated.register(record, lambda view, i, j: least_gain(view.problem, view.state, i, j))
    undominated.register(record, lambda view, i, j: best_lead(view.problem, view.state, i, j) - _width(view, i, j))
    pair_radius.register(record, lambda view, i, j: _width(view, i, j))
    radius.register(record, lambda view, i, c: view.now.scale * view.state.root[i])
    row_radius.register(record, _row_radius)


@inner
def _width(view: View, i: int, j: int) -> float:
    return view.now.scale * spread(view, i, j)


def _weigh(view: View, i: int) -> float:
    evidence, state = view.evidence, view.state
    eta = eta_of(view.problem, state, i)
    return state.counts[i] * eta * eta / (2.0 * evidence.sigma_u * evidence.sigma_u)


def _row_radius(view: View, i: int, row: int) -> float:
    return view.evidence.sigma_u * math.sqrt(2.0 * view.now.bar) * view.state.root[i]
