"""The questions that the engine asks of evidence and of algorithms, with the answers that hold by default.

A body is chosen by the type of a kernel record: of `view.evidence` for questions about a view, else of the first
argument. Signs: a claim is certified when its number is >= 0. For arms i, j at time t (results so far):

- feasibility score    gamma_i = weigh(i) - moment(t).bar, for the side of P on which the mean of i lies;
- i is dominated by j  m^-(i,j) = dominated(i, j);
- i is not dominated by j  M^-(i,j) = undominated(i, j).

`weigh` may depend on arm i alone, neither on time nor on other arms: the engine asks for it when it needs it, and keeps
it until the arm has a new result. The thresholds may only grow with time: while nothing is measured, M^-(i,j) falls by
no more than widening(i) or widening(j), whichever is more. These are laws (`paretoguard.testing`), as is that shortcuts
say what is true: `most_weight`, `most_dominated`, `is_dominated_above`, `undominated_below` and `is_steady`.

An algorithm sees a view only: it never draws rewards, prints, reads a clock or knows the truth.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.compiler.jit import part
from paretoguard.numeric import Bytes

if TYPE_CHECKING:
    from paretoguard.engine.state import State
    from paretoguard.engine.view import View

_ROUNDING = 1e-14  # relative; more than it can move one M^-(i,j)


class Moment(NamedTuple):
    """Thresholds that depend on time alone, worked out once a decision."""

    scale: float  # widths are scale * (a function of the counts)
    bar: float  # what a feasibility weight must reach


# --- of evidence, before there is a view -----------------------------------------------------------------------------


@part
def moment(evidence: NamedTuple, t: int) -> Any:
    """Return the part of the thresholds that depends on the time t alone: a record with a field `bar`."""


@part
def prepare(evidence: NamedTuple, state: "State", i: int) -> None:
    """Keep what other answers need of arm i; asked when its count changes, also to 0. By default, keep nothing."""


prepare.register(object, lambda evidence, state, i: None)


# --- of evidence: one arm --------------------------------------------------------------------------------------------


@part
def weigh(view: "View", i: int) -> float:
    """Return the evidence for the side of P on which the mean of i lies, before the threshold."""


@part
def most_weight(view: "View", i: int) -> float:
    """Return no less than weigh(i), cheaply, for an arm outside P. By default +inf: it is worked out at once.

    Asked only where `is_steady`: elsewhere the bar moves, and the weight is worked out in any case.
    """


most_weight.register(object, lambda view, i: math.inf)


@part
def radius(view: "View", i: int, c: int) -> float:
    """Return the half-width of the confidence interval of coordinate c of arm i, in engine units."""


@part
def row_radius(view: "View", i: int, row: int) -> float:
    """Return the half-width of the confidence interval of arm i along a noisy row of the constraints."""


# --- of evidence: two arms and more ----------------------------------------------------------------------------------


@part
def dominated(view: "View", i: int, j: int) -> float:
    """Return m^-(i,j): evidence that i is dominated by j."""


@part
def undominated(view: "View", i: int, j: int) -> float:
    """Return M^-(i,j): evidence that i is not dominated by j (up to the tolerance)."""


@part
def most_dominated(view: "View", i: int, j: int) -> float:
    """Return no less than m^-(i,j), cheaply. By default +inf."""


most_dominated.register(object, lambda view, i, j: math.inf)


@part
def is_dominated_above(view: "View", i: int, j: int, floor: float) -> bool:
    """True only if m^-(i,j) is above a negative `floor`, seen cheaply; False where in doubt, and by default."""


is_dominated_above.register(object, lambda view, i, j, floor: False)


@part
def undominated_below(view: "View", i: int, j: int, ceiling: float) -> float:
    """Return M^-(i,j) where it is at most `ceiling`; else anything above that. By default, M^-(i,j)."""


undominated_below.register(object, lambda view, i, j, ceiling: undominated(view, i, j))


@part
def below_some(view: "View", i: int, members: Bytes) -> bool:
    """True if i is certified to be dominated by at least one of the arms marked [K], also where by none of them alone.

    If so, only those that it takes stay marked; if not, the marks are of no use. By default False.
    """


below_some.register(object, lambda view, i, members: False)


@part
def ratio_bar(view: "View") -> float:
    """Return what half the weighted squared distance to means that make a claim wrong must reach, for every claim.

    By default +inf: claims are looked at one by one.
    """


ratio_bar.register(object, lambda view: math.inf)


@part
def pair_radius(view: "View", i: int, j: int) -> float:
    """Return the difference of arms i and j in one coordinate at which it counts as certain, in engine units."""


@part
def gap_radius(view: "View", i: int, j: int, c: int) -> float:
    """Return the half-width of the confidence interval of a difference in coordinate c. By default, pair_radius."""


gap_radius.register(object, lambda view, i, j, c: pair_radius(view, i, j))


@part
def lead_radius(view: "View", i: int, j: int) -> float:
    """Return pair_radius where the coordinate is the one in which i leads most. By default, the same."""


lead_radius.register(object, lambda view, i, j: pair_radius(view, i, j))


# --- of evidence: time -----------------------------------------------------------------------------------------------


@part
def is_steady(view: "View") -> bool:
    """True if time changes nothing: neither m^- and M^- of two arms, nor what a weight must reach. By default False."""


is_steady.register(object, lambda view: False)


@part
def widening(view: "View", then: "View", i: int) -> float:
    """Return by how much M^- of two arms like i may have fallen since the view `then`, while neither was pulled.

    By default, what the interval of i with itself has grown by.
    """


@widening.register(object)
def _wider(view: "View", then: "View", i: int) -> float:
    width = pair_radius(view, i, i)
    return width - pair_radius(then, i, i) + _ROUNDING * width


# --- of algorithms ---------------------------------------------------------------------------------------------------


@part
def choose(memory: NamedTuple, view: "View") -> int:
    """Queue the arms to pull next and return how many; 0 means that the answer is found.

    Every arm has a result by then, and all results are worked in.
    """


@part
def select(memory: NamedTuple, view: "View") -> int:
    """Apply the sampling rule alone: queue arms and return how many; 0 means no wish. It may claim nothing.

    Asked while results are outstanding, with their pulls counted as if they had been made, the means unchanged. By
    default `choose`; an algorithm with an `answer` of its own must say, as its `choose` may decide what it answers.
    """


select.register(object, lambda memory, view: int(choose(memory, view)))


@part
def answer(memory: NamedTuple, view: "View", statuses: Bytes) -> None:
    """Write the status of each arm once `choose` has returned 0. By default `partition`: as the means say."""
