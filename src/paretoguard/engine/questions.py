"""The questions that every kind of evidence answers. Each is chosen by the type of the kernel record.

Signs: a claim is certified when its number is >= 0. For arms i, j at time t (results so far):

- feasibility score    gamma_i = weigh(i) - moment(t).bar, for the side of P on which the mean of i lies;
- i is dominated by j  m^-(i,j) = dominated(i, j);
- i is not dominated by j  M^-(i,j) = undominated(i, j).

`weigh` may depend on arm i alone, neither on time nor on other arms: the engine asks for it when it needs it, and keeps
it until the arm has a new result. The thresholds may only grow with time: while nothing is measured, M^-(i,j) falls by
no more than widening(i) or widening(j), whichever is more. These are laws (`paretoguard.testing`), as is that shortcuts
say what is true: `most_weight`, `most_dominated`, `is_dominated_above`, `undominated_below` and `is_steady`.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.compiler.jit import part
from paretoguard.engine.arrays import Space

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

    from paretoguard.engine.state import State


ROUNDING = 1e-14  # relative; more than it can move one M^-(i,j)


class Moment(NamedTuple):
    """What depends on time alone, worked out once a decision."""

    scale: float  # widths are scale * (a function of the counts)
    bar: float  # what a feasibility weight must reach


@part
def moment(evidence: NamedTuple, t: int) -> Any:
    """The part of the thresholds that depends on the time t alone; a record with a field `bar`."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `moment`")


@part
def prepare(evidence: NamedTuple, state: "State", i: int) -> None:
    """Keep what the questions below need of arm i; called when its count changes, also to 0. By default, nothing."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `prepare`")


@part
def weigh(evidence: NamedTuple, space: Space, state: "State", i: int) -> float:
    """The evidence for the side of P on which the mean of i lies, before the threshold."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `weigh`")


@part
def most_weight(evidence: NamedTuple, space: Space, state: "State", i: int) -> float:
    """No less than weigh(i), for an arm outside P, at a glance. By default, +inf: it is worked out at once.

    Asked for only where `is_steady`: elsewhere what a weight must reach moves, and it is worked out in any case.
    """
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `most_weight`")


@part
def dominated(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int) -> float:
    """m^-(i,j): evidence that i is dominated by j."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `dominated`")


@part
def undominated(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int) -> float:
    """M^-(i,j): evidence that i is not dominated by j (up to the tolerance)."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `undominated`")


@part
def most_dominated(evidence: NamedTuple, space: Space, state: "State", i: int, j: int) -> float:
    """No less than m^-(i,j), at a glance. By default, +inf."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `most_dominated`")


@part
def is_dominated_above(
    evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int, floor: float
) -> bool:
    """Is m^-(i,j) above a negative `floor`?  At a glance; False where in doubt. By default, False."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `is_dominated_above`")


@part
def undominated_below(
    evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int, ceiling: float
) -> float:
    """M^-(i,j) where it is at most `ceiling`; else anything above that. By default, M^-(i,j)."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `undominated_below`")


@part
def below_some(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, members: "NDArray[uint8]") -> bool:
    """Is it certified that i is dominated by at least one of the arms marked [K], also where by none of them alone?

    If so, only those that it takes stay marked; if not, the marks are of no use. By default, no.
    """
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `below_some`")


@part
def looks_at_sets(evidence: NamedTuple) -> bool:
    """Can `below_some` say yes? By default, no."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `looks_at_sets`")


@part
def is_steady(evidence: NamedTuple) -> bool:
    """Does nothing change with time: neither m^- and M^- of two arms, nor what a weight must reach? By default, no."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `is_steady`")


@part
def ratio_bar(evidence: NamedTuple, now: Any, space: Space, state: "State") -> float:
    """What half the weighted squared distance to means that make a claim wrong must reach, for every claim.

    By default +inf: claims are looked at one by one.
    """
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `ratio_bar`")


@part
def radius(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, c: int) -> float:
    """Half-width of the confidence interval of coordinate c of arm i, in engine units."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `radius`")


@part
def row_radius(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, row: int) -> float:
    """Half-width of the confidence interval of arm i along a noisy row of the constraints, in engine units."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `row_radius`")


@part
def gap_radius(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int, c: int) -> float:
    """Half-width of the confidence interval of a difference in coordinate c. By default, pair_radius."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `gap_radius`")


@part
def pair_radius(evidence: NamedTuple, now: Any, state: "State", i: int, j: int) -> float:
    """The difference of arms i and j in one coordinate at which it counts as certain, in engine units."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `pair_radius`")


@part
def lead_radius(evidence: NamedTuple, now: Any, state: "State", i: int, j: int) -> float:
    """The same where the coordinate is the one in which i leads most. By default, the same."""
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `lead_radius`")


@part
def widening(evidence: NamedTuple, now: Any, then: Any, state: "State", i: int) -> float:
    """By how much M^- of two arms like i may have fallen since the moment `then`, while neither was pulled.

    By default, what the interval of i with itself has grown by.
    """
    raise TypeError(f"evidence {type(evidence).__name__} has no registered `widening`")


@prepare.register(object)
def _keep_nothing(evidence: NamedTuple, state: "State", i: int) -> None:
    return None


@most_weight.register(object)
def _any_weight(evidence: NamedTuple, space: Space, state: "State", i: int) -> float:
    return math.inf


@most_dominated.register(object)
def _anything(evidence: NamedTuple, space: Space, state: "State", i: int, j: int) -> float:
    return math.inf


@is_dominated_above.register(object)
def _in_doubt(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int, floor: float) -> bool:
    return False


@undominated_below.register(object)
def _in_any_case(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int, ceiling: float) -> float:
    return undominated(evidence, now, space, state, i, j)


@below_some.register(object)
def _one_at_a_time(
    evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, members: "NDArray[uint8]"
) -> bool:
    return False


@looks_at_sets.register(object)
def _at_no_sets(evidence: NamedTuple) -> bool:
    return False


@is_steady.register(object)
def _depends_on_time(evidence: NamedTuple) -> bool:
    return False


@ratio_bar.register(object)
def _one_by_one(evidence: NamedTuple, now: Any, space: Space, state: "State") -> float:
    return math.inf


@gap_radius.register(object)
def _as_certain(evidence: NamedTuple, now: Any, space: Space, state: "State", i: int, j: int, c: int) -> float:
    return pair_radius(evidence, now, state, i, j)


@lead_radius.register(object)
def _as_any_pair(evidence: NamedTuple, now: Any, state: "State", i: int, j: int) -> float:
    return pair_radius(evidence, now, state, i, j)


@widening.register(object)
def _wider(evidence: NamedTuple, now: Any, then: Any, state: "State", i: int) -> float:
    width = pair_radius(evidence, now, state, i, i)
    return width - pair_radius(evidence, then, state, i, i) + ROUNDING * width


# --- of algorithms ---


@part
def restart(policy: NamedTuple) -> None:
    """Forget what was remembered: a new run begins."""
    raise TypeError(f"policy {type(policy).__name__} has no registered `restart`")


@part
def decide(policy: NamedTuple, evidence: NamedTuple, space: Space, state: "State") -> int:
    """Queue the arms to pull next in `state.queue` and return how many; 0 means that the answer is found."""
    raise TypeError(f"policy {type(policy).__name__} has no registered `decide`")


@part
def select(policy: NamedTuple, evidence: NamedTuple, space: Space, state: "State") -> int:
    """The sampling rule alone, for an up-to-date state: queue arms and return how many; it may claim nothing.

    While results are outstanding it is asked again with the pending pulls counted as if they had been made, the means
    unchanged. 0 means that it has no wish.
    """
    raise TypeError(f"policy {type(policy).__name__} has no registered `select`")


@part
def answer(policy: NamedTuple, evidence: NamedTuple, space: Space, state: "State", statuses: "NDArray[uint8]") -> None:
    """Write the status of each arm once `decide` has returned 0: 1 optimal, 2 dominated, 3 infeasible."""
    raise TypeError(f"policy {type(policy).__name__} has no registered `answer`")
