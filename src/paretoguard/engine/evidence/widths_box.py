"""Evidence in the form of widths within a box: widths fall with the counts and grow with time."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.engine.border import eta_of
from paretoguard.engine.dominance import best_lead, least_gain
from paretoguard.engine.evidence.box import (
    Box,
    can_hold,
    dominated_at_least,
    dominated_at_most,
    is_further,
    leads_more,
    most_count,
    reach_of,
    undominated_at_least,
    undominated_at_most,
    weight_at_least,
    weight_at_most,
)
from paretoguard.engine.evidence.parts import Moment
from paretoguard.engine.evidence.widths import spread
from paretoguard.engine.jit import inner, part
from paretoguard.engine.space import Space

if TYPE_CHECKING:
    from paretoguard.engine.state import State


@part
def least_spread(evidence: NamedTuple, first: float, second: float) -> float:
    """`spread` of two arms with so many results, which must fall as they grow."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `least_spread`")


def _can_hold(evidence: Any, space: Space) -> bool:
    return True


@inner
def _slop(box: Box, i: int, j: int) -> float:
    return reach_of(box, i) + reach_of(box, j)


def _dominated_at_most(evidence: Any, now: Moment, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    width = now.scale * least_spread(evidence, most_count(box, state, i), most_count(box, state, j))
    return least_gain(space, state, i, j) + _slop(box, i, j) - width


def _dominated_at_least(evidence: Any, later: Moment, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    return least_gain(space, state, i, j) - _slop(box, i, j) - later.scale * spread(evidence, state, i, j)


def _undominated_at_most(evidence: Any, now: Moment, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    width = now.scale * least_spread(evidence, most_count(box, state, i), most_count(box, state, j))
    return best_lead(space, state, i, j) + _slop(box, i, j) - width


def _undominated_at_least(
    evidence: Any, later: Moment, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    return best_lead(space, state, i, j) - _slop(box, i, j) - later.scale * spread(evidence, state, i, j)


def _is_further(
    evidence: Any, now: Moment, later: Moment, space: Space, state: "State", box: Box, j: int, room: float
) -> bool:
    b, c = box.first, box.second
    narrow = now.scale * least_spread(evidence, most_count(box, state, b), most_count(box, state, c))
    return leads_more(space, state, box, j, narrow, later.scale * spread(evidence, state, b, j), room)


def _weight_at_most(evidence: Any, space: Space, state: "State", box: Box, i: int) -> float:
    eta = eta_of(space, state, i) + math.sqrt(space.noisy) * reach_of(box, i)
    return most_count(box, state, i) * eta * eta / (2.0 * evidence.sigma_u * evidence.sigma_u)


def _weight_at_least(evidence: Any, space: Space, state: "State", box: Box, i: int) -> float:
    eta = max(0.0, eta_of(space, state, i) - math.sqrt(space.noisy) * reach_of(box, i))
    return state.counts[i] * eta * eta / (2.0 * evidence.sigma_u * evidence.sigma_u)


def hold_widths(record: type) -> None:
    """Register the bounds for a kernel record of `use_widths` whose `spread` is bounded by a `least_spread`."""
    can_hold.register(record, _can_hold)
    dominated_at_most.register(record, _dominated_at_most)
    dominated_at_least.register(record, _dominated_at_least)
    undominated_at_most.register(record, _undominated_at_most)
    undominated_at_least.register(record, _undominated_at_least)
    is_further.register(record, _is_further)
    weight_at_most.register(record, _weight_at_most)
    weight_at_least.register(record, _weight_at_least)
