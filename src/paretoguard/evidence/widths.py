"""Evidence in the form of widths: an estimate minus a width that shrinks with the counts.

    m^-(i,j) = m(i,j) - w_ij      M^-(i,j) = M(i,j) - w_ij      gamma_i = N_i eta_i^2 / (2 sigma_u^2) - g(t)

with w_ij = scale(t) * spread(N_i, N_j) and scale(t) = sqrt(2 f(t)). A kind of evidence of this form registers `moment`
and `spread`, holds `sigma_u` in its kernel record, and calls `use_widths`.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.compiler.jit import part
from paretoguard.engine.arrays import Space
from paretoguard.engine.dominance import best_lead, least_gain
from paretoguard.engine.feasibility import eta_of
from paretoguard.engine.questions import (
    Moment,
    dominated,
    most_dominated,
    pair_radius,
    radius,
    row_radius,
    undominated,
    weigh,
)

if TYPE_CHECKING:
    from paretoguard.engine.state import State


@part
def spread(evidence: NamedTuple, state: "State", i: int, j: int) -> float:
    """How the width of a pair depends on the counts of its two arms."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `spread`")


def _weigh(evidence: Any, space: Space, state: "State", i: int) -> float:
    eta = eta_of(space, state, i)
    return state.counts[i] * eta * eta / (2.0 * evidence.sigma_u * evidence.sigma_u)


def _dominated(evidence: Any, now: Moment, space: Space, state: "State", i: int, j: int) -> float:
    return least_gain(space, state, i, j) - now.scale * spread(evidence, state, i, j)


def _most_dominated(evidence: Any, space: Space, state: "State", i: int, j: int) -> float:
    return least_gain(space, state, i, j)


def _undominated(evidence: Any, now: Moment, space: Space, state: "State", i: int, j: int) -> float:
    return best_lead(space, state, i, j) - now.scale * spread(evidence, state, i, j)


def _radius(evidence: Any, now: Moment, space: Space, state: "State", i: int, c: int) -> float:
    return now.scale * state.root[i]


def _row_radius(evidence: Any, now: Moment, space: Space, state: "State", i: int, row: int) -> float:
    return evidence.sigma_u * math.sqrt(2.0 * now.bar) * state.root[i]


def _pair_radius(evidence: Any, now: Moment, state: "State", i: int, j: int) -> float:
    return now.scale * spread(evidence, state, i, j)


def use_widths(record: type) -> None:
    """Register the width form of every question for a kernel record that has `sigma_u`, `moment` and `spread`."""
    weigh.register(record, _weigh)
    dominated.register(record, _dominated)
    most_dominated.register(record, _most_dominated)
    undominated.register(record, _undominated)
    radius.register(record, _radius)
    row_radius.register(record, _row_radius)
    pair_radius.register(record, _pair_radius)
