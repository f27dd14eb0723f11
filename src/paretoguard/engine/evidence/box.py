"""What evidence can come to while two arms are pulled: bounds for every state in a box.

A box has room for `more` results of each of two arms, and for their means to move by `reach` in every coordinate; other
arms stay as they are, and time may be between now and the end of the box, `later`. Evidence that `can_hold` bounds its
questions there, rounding apart; see `holding`, which leaves out decisions that are certain to repeat the last one.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.engine.dominance import best_lead
from paretoguard.engine.jit import inner, part
from paretoguard.engine.space import Space

if TYPE_CHECKING:
    from paretoguard.engine.state import State


class Box(NamedTuple):
    """Where the two arms may go."""

    first: int
    second: int  # -1 for none
    reach: float
    more: int


@inner
def is_moving(box: Box, i: int) -> bool:
    """Is i one of the two?"""
    return i in (box.first, box.second)


@inner
def reach_of(box: Box, i: int) -> float:
    """By how much each coordinate of the mean of i may move."""
    return box.reach if is_moving(box, i) else 0.0


@inner
def most_count(box: Box, state: "State", i: int) -> float:
    """The results that i may come to have."""
    return float(state.counts[i] + (box.more if is_moving(box, i) else 0))


@inner
def leads_more(space: Space, state: "State", box: Box, j: int, narrow: float, wide: float, room: float) -> bool:
    """Is M(b,j) - wide > M(b,c) - narrow + room everywhere in the box?

    In each coordinate: where the same one counts for both, the mean of b does not matter; or else by all of M(b,j).
    """
    b, c = box.first, box.second
    least = best_lead(space, state, b, j) - box.reach - wide
    for k in range(space.compared):
        lead = state.means[b, k] - state.means[c, k] + space.tolerance[k]
        is_by_itself = state.means[c, k] - state.means[j, k] - box.reach - wide + narrow > room
        if not (is_by_itself or least > lead + 2.0 * box.reach - narrow + room):
            return False
    return True


@part
def can_hold(evidence: NamedTuple, space: Space) -> bool:
    """Are the bounds below to be had for this problem? Without a body, no; asked by Python."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `can_hold`")


@part
def dominated_at_most(evidence: NamedTuple, now: Any, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    """No less than m^-(i,j) anywhere in the box."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `dominated_at_most`")


@part
def dominated_at_least(
    evidence: NamedTuple, later: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """No more than m^-(i,j) anywhere in the box."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `dominated_at_least`")


@part
def undominated_at_most(
    evidence: NamedTuple, now: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """No less than M^-(i,j) anywhere in the box."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `undominated_at_most`")


@part
def undominated_at_least(
    evidence: NamedTuple, later: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """No more than M^-(i,j) anywhere in the box."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `undominated_at_least`")


@part
def is_further(
    evidence: NamedTuple, now: Any, later: Any, space: Space, state: "State", box: Box, j: int, room: float
) -> bool:
    """Is M^-(b,j) > M^-(b,c) everywhere in the box, for its arms b and c and an arm j that stays?

    False where in doubt. Asked where bounds do not tell: what b does is common to both.
    """
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `is_further`")


@part
def weight_at_most(evidence: NamedTuple, space: Space, state: "State", box: Box, i: int) -> float:
    """No less than weigh(i) anywhere in the box, for a moving arm that stays on its side of P."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `weight_at_most`")


@part
def weight_at_least(evidence: NamedTuple, space: Space, state: "State", box: Box, i: int) -> float:
    """No more than weigh(i) anywhere in the box, for a moving arm that stays inside P."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `weight_at_least`")
