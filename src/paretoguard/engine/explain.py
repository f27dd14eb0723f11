"""The numbers behind an explanation: limits, claims, and what more pulls would bring. Never used to decide."""

import math
from typing import Any, NamedTuple

from numpy import float64, uint8
from numpy.typing import NDArray

from paretoguard.algorithms.ecape.stopping import closest_candidate, is_candidate
from paretoguard.algorithms.pitfall.costs import Pitfalls
from paretoguard.algorithms.pitfall.search import mark_rivals
from paretoguard.compiler.jit import entry, inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED, some_above
from paretoguard.engine.dominance import least_gain
from paretoguard.engine.feasibility import eta_of
from paretoguard.engine.questions import (
    dominated,
    gap_radius,
    is_dominated_above,
    is_steady,
    lead_radius,
    moment,
    most_dominated,
    most_weight,
    pair_radius,
    prepare,
    radius,
    row_radius,
    undominated,
    undominated_below,
    weigh,
)
from paretoguard.engine.state import CLOCK, State, present, weight_of

FEASIBILITY, DOMINATION, NON_DOMINATION = 0, 1, 2  # the three kinds of claims


@entry
def limits(
    evidence: NamedTuple, space: Space, state: State, coordinate: NDArray[float64], rows: NDArray[float64]
) -> None:
    """Half-widths for each arm, in engine units: of each noisy coordinate [K, noisy], along each noisy row [K, m].

    Every eta is known from here on.
    """
    now = present(evidence, state)
    for i in range(space.arms):
        eta_of(space, state, i)
        for c in range(space.noisy):
            coordinate[i, c] = radius(evidence, now, space, state, i, c) if state.counts[i] > 0 else math.inf
        for row in range(rows.shape[1]):
            rows[i, row] = row_radius(evidence, now, space, state, i, row) if state.counts[i] > 0 else math.inf


@entry
def difference_limit(evidence: NamedTuple, space: Space, state: State, i: int, j: int, c: int) -> float:
    """Half-width of the difference of two arms in coordinate c, in engine units."""
    return float(gap_radius(evidence, present(evidence, state), space, state, i, j, c))


@entry
def shortcuts(
    evidence: NamedTuple, space: Space, state: State, i: int, j: int, ceiling: float, found: NDArray[float64]
) -> bool:
    """Fill found [8]; is the evidence steady?

    With m^-(i,j), what it is at most, M^-(i,j), that below the ceiling, and whether m^-(i,j) is above it; and for i
    outside P the weight of i, and what it is at most; and what a weight must reach.
    """
    now = present(evidence, state)
    found[0] = dominated(evidence, now, space, state, i, j)
    found[1] = most_dominated(evidence, space, state, i, j)
    found[2] = undominated(evidence, now, space, state, i, j)
    found[3] = undominated_below(evidence, now, space, state, i, j, ceiling)
    found[4] = 1.0 if is_dominated_above(evidence, now, space, state, i, j, ceiling) else 0.0
    found[5], found[6] = -math.inf, math.inf
    if state.inside[i] == 0:
        found[5] = weight_of(evidence, space, state, i)
        found[6] = most_weight(evidence, space, state, i)
    found[7] = now.bar
    return is_steady(evidence)


@entry
def closest_rival(evidence: NamedTuple, space: Space, state: State, i: int) -> int:
    """The arm, not certified infeasible, that comes closest to dominating i (one never pulled first); -1 if none."""
    for j in range(space.arms):
        if j != i and state.counts[j] == 0:
            return j
    return int(closest_candidate(evidence, present(evidence, state), space, state, i, -1))


@entry
def likeliest_dominator(evidence: NamedTuple, space: Space, state: State, i: int) -> int:
    """The arm, not certified infeasible, with most evidence that it dominates i; -1 if there is none.

    Of arms that do so at the present means, if there are any.
    """
    now = present(evidence, state)
    best, arm, does = -math.inf, -1, False
    for j in range(space.arms):
        if j != i and state.counts[j] > 0 and is_candidate(now, state, j):
            value, ahead = dominated(evidence, now, space, state, i, j), least_gain(space, state, i, j) >= 0.0
            if (ahead and not does) or (ahead == does and value > best):
                best, arm, does = value, j, ahead
    return arm


@entry
def several_dominators(evidence: NamedTuple, space: Space, state: State, i: int, members: NDArray[uint8]) -> bool:
    """Is i certified to be dominated by at least one of several arms?  Marks which [K]; ask `settle_now` before."""
    return some_above(evidence, present(evidence, state), space, state, i, members)


@entry
def ratio_dominators(
    evidence: NamedTuple, space: Space, state: State, pitfalls: Pitfalls, i: int, members: NDArray[uint8]
) -> None:
    """Mark the arms that rule i out by likelihood ratio [K]: the one that does alone, all above i, or none."""
    now = present(evidence, state)
    mark_rivals(evidence, now, space, state, pitfalls, i, members)


@entry
def claim(
    evidence: NamedTuple, space: Space, state: State, kind: int, i: int, j: int, count_i: int, count_j: int
) -> float:
    """The evidence for a claim (>= 0: certified) if arms i and j had these counts, at the present means."""
    now_i, now_j = state.counts[i], state.counts[j]
    clock = state.tally[CLOCK] + count_i - now_i
    _pretend(evidence, state, i, count_i)
    if j != i:
        clock += count_j - now_j
        _pretend(evidence, state, j, count_j)
    now = moment(evidence, max(1, clock))
    if kind == FEASIBILITY:
        value = weigh(evidence, space, state, i) - now.bar
    elif kind == DOMINATION:
        value = dominated(evidence, now, space, state, i, j)
    else:
        value = undominated(evidence, now, space, state, i, j)
    _pretend(evidence, state, i, now_i)
    _pretend(evidence, state, j, now_j)
    return float(value)


@inner
def _pretend(evidence: NamedTuple, state: State, i: int, count: int) -> None:
    """Give arm i another count; its means stay."""
    state.counts[i] = count
    state.inverse[i] = 1.0 / count if count > 0 else math.inf
    state.root[i] = math.sqrt(state.inverse[i])
    prepare(evidence, state, i)


@entry
def progress(evidence: NamedTuple, space: Space, state: State, answer: NDArray[uint8], found: NDArray[float64]) -> None:
    """How far each arm is on the way to the status that `answer` gives it; ask `settle_now` before.

    Evidence over what is required: 1 is certified, 0 is no evidence or evidence against it. Of differences and their
    half-widths the ratio is squared, as that grows about as the pulls do:

    - infeasible: weigh(i) / bar while the mean is outside P;
    - dominated: the most, over arms j, of the least of ((m^-(i,j) + w_ij) / w_ij)^2 and of what j has to be feasible;
      1 where it is certain of several arms together;
    - optimal: the least of weigh(i) / bar while the mean is inside P, and of ((M^-(i,j) + w_ij) / w_ij)^2 over the
      arms j that the answer does not rule out;
    - undecided: the most of the three.
    """
    now = present(evidence, state)
    for i in range(space.arms):
        found[i] = 0.0
        if state.counts[i] == 0:
            continue
        if answer[i] == INFEASIBLE or answer[i] == UNDECIDED:
            found[i] = max(found[i], _sided(evidence, now, space, state, i, 0))
        if answer[i] == DOMINATED or answer[i] == UNDECIDED:
            found[i] = max(found[i], _below_someone(evidence, now, space, state, i))
        if answer[i] == OPTIMAL or answer[i] == UNDECIDED:
            found[i] = max(found[i], _unbeaten(evidence, now, space, state, answer, i))


@inner
def _sided(evidence: NamedTuple, now: Any, space: Space, state: State, i: int, side: int) -> float:
    """Evidence over required that i is on this side of P: 1 inside, 0 outside."""
    if state.inside[i] != side:
        return 0.0
    return weight_of(evidence, space, state, i) / now.bar if now.bar > 0.0 else math.inf


@inner
def _below_someone(evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> float:
    most = 1.0 if some_above(evidence, now, space, state, i, state.group) else 0.0
    for j in range(space.arms):
        if j != i and state.counts[j] > 0:
            value = dominated(evidence, now, space, state, i, j)
            share = _squared(value, pair_radius(evidence, now, state, i, j))
            most = max(most, min(share, _sided(evidence, now, space, state, j, 1)))
    return most


@inner
def _unbeaten(evidence: NamedTuple, now: Any, space: Space, state: State, answer: NDArray[uint8], i: int) -> float:
    least = _sided(evidence, now, space, state, i, 1)
    for j in range(space.arms):
        if j != i and (answer[j] == OPTIMAL or answer[j] == UNDECIDED):
            if state.counts[j] == 0:
                return 0.0
            value = undominated(evidence, now, space, state, i, j)
            least = min(least, _squared(value, lead_radius(evidence, now, state, i, j)))
    return least


@inner
def _squared(value: float, width: float) -> float:
    """The square of (value + width) / width; never on the wrong side of 1 by rounding."""
    lead = value + width
    if value >= 0.0:
        return max(1.0, (lead / width) * (lead / width)) if width > 0.0 else math.inf
    return min(1.0, (lead / width) * (lead / width)) if lead > 0.0 else 0.0
