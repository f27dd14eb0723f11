"""The numbers behind an explanation: limits, claims, and what more pulls would bring. Never used to decide."""

import math
from typing import NamedTuple

from paretoguard.compiler.jit import entry, inner
from paretoguard.engine.certify import some_above
from paretoguard.engine.means import eta_of, least_gain
from paretoguard.engine.questions import (
    dominated,
    gap_radius,
    is_dominated_above,
    is_steady,
    lead_radius,
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
from paretoguard.engine.state import CLOCK, State
from paretoguard.engine.view import View, at_now, is_candidate, weight_of
from paretoguard.numeric import Bytes, Floats
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED

FEASIBILITY, DOMINATION, NON_DOMINATION = 0, 1, 2  # the three kinds of claims


@entry
def limits(view: View, coordinate: Floats, rows: Floats) -> None:
    """Write each arm's half-widths, in engine units: of each noisy coordinate [K, noisy], along each noisy row [K, m].

    Every eta is known from here on.
    """
    view = at_now(view)
    problem, state = view.problem, view.state
    for i in range(problem.arms):
        eta_of(problem, state, i)
        for c in range(problem.noisy):
            coordinate[i, c] = radius(view, i, c) if state.counts[i] > 0 else math.inf
        for row in range(rows.shape[1]):
            rows[i, row] = row_radius(view, i, row) if state.counts[i] > 0 else math.inf


@entry
def difference_limit(view: View, i: int, j: int, c: int) -> float:
    """Return the half-width of the difference of two arms in coordinate c, in engine units."""
    return float(gap_radius(at_now(view), i, j, c))


@entry
def shortcuts(view: View, i: int, j: int, ceiling: float, found: Floats) -> bool:
    """Fill found [8]; return whether the evidence is steady.

    With m^-(i,j), what it is at most, M^-(i,j), that below the ceiling, and whether m^-(i,j) is above it; and for i
    outside P the weight of i, and what it is at most; and what a weight must reach.
    """
    view = at_now(view)
    found[0] = dominated(view, i, j)
    found[1] = most_dominated(view, i, j)
    found[2] = undominated(view, i, j)
    found[3] = undominated_below(view, i, j, ceiling)
    found[4] = 1.0 if is_dominated_above(view, i, j, ceiling) else 0.0
    found[5], found[6] = -math.inf, math.inf
    if view.state.inside[i] == 0:
        found[5] = weight_of(view, i)
        found[6] = most_weight(view, i)
    found[7] = view.now.bar
    return is_steady(view)


@entry
def closest_rival(view: View, i: int) -> int:
    """Return the candidate that comes closest to dominating i (an arm never pulled first); -1 if there is none."""
    view = at_now(view)
    least, arm = math.inf, -1
    for j in range(view.problem.arms):
        if j != i and view.state.counts[j] == 0:
            return j
    for j in range(view.problem.arms):
        if j != i and is_candidate(view, j):
            value = undominated(view, i, j)
            if value < least or arm < 0:
                least, arm = value, j
    return arm


@entry
def likeliest_dominator(view: View, i: int) -> int:
    """Return the candidate with most evidence that it dominates i; -1 if there is none.

    Of arms that do so at the present means, if there are any.
    """
    view = at_now(view)
    problem, state = view.problem, view.state
    best, arm, does = -math.inf, -1, False
    for j in range(problem.arms):
        if j != i and state.counts[j] > 0 and is_candidate(view, j):
            value, ahead = dominated(view, i, j), least_gain(problem, state, i, j) >= 0.0
            if (ahead and not does) or (ahead == does and value > best):
                best, arm, does = value, j, ahead
    return arm


@entry
def several_dominators(view: View, i: int, members: Bytes) -> bool:
    """True if i is certified to be dominated by at least one of several arms: marks which [K]. Settle before."""
    return some_above(at_now(view), i, members)


@entry
def claim(view: View, kind: int, pair: tuple[int, int], counts: tuple[int, int]) -> float:
    """Return the evidence for a claim (>= 0: certified) if the arms i, j had these counts, at the present means."""
    state, (i, j), (count_i, count_j) = view.state, pair, counts
    now_i, now_j, clock = state.counts[i], state.counts[j], state.tally[CLOCK]
    state.tally[CLOCK] += count_i - now_i
    _pretend(view.evidence, state, i, count_i)
    if j != i:
        state.tally[CLOCK] += count_j - now_j
        _pretend(view.evidence, state, j, count_j)
    then = at_now(view)
    if kind == FEASIBILITY:
        value = weigh(then, i) - then.now.bar
    elif kind == DOMINATION:
        value = dominated(then, i, j)
    else:
        value = undominated(then, i, j)
    _pretend(view.evidence, state, i, now_i)
    _pretend(view.evidence, state, j, now_j)
    state.tally[CLOCK] = clock
    return float(value)


@inner
def _pretend(evidence: NamedTuple, state: State, i: int, count: int) -> None:
    """Give arm i another count; its means stay."""
    state.counts[i] = count
    state.inverse[i] = 1.0 / count if count > 0 else math.inf
    state.root[i] = math.sqrt(state.inverse[i])
    prepare(evidence, state, i)


@entry
def progress(view: View, answer: Bytes, found: Floats) -> None:
    """Write how far each arm is on the way to the status that `answer` gives it; ask `settle_now` before.

    Evidence over what is required: 1 is certified, 0 is no evidence or evidence against it. Of differences and their
    half-widths the ratio is squared, as that grows about as the pulls do:

    - infeasible: weigh(i) / bar while the mean is outside P;
    - dominated: the most, over arms j, of the least of ((m^-(i,j) + w_ij) / w_ij)^2 and of what j has to be feasible;
      1 where it is certain of several arms together;
    - optimal: the least of weigh(i) / bar while the mean is inside P, and of ((M^-(i,j) + w_ij) / w_ij)^2 over the
      arms j that the answer does not rule out;
    - undecided: the most of the three.
    """
    view = at_now(view)
    state = view.state
    for i in range(view.problem.arms):
        found[i] = 0.0
        if state.counts[i] == 0:
            continue
        if answer[i] == INFEASIBLE or answer[i] == UNDECIDED:
            found[i] = max(found[i], _sided(view, i, 0))
        if answer[i] == DOMINATED or answer[i] == UNDECIDED:
            found[i] = max(found[i], _below_someone(view, i))
        if answer[i] == OPTIMAL or answer[i] == UNDECIDED:
            found[i] = max(found[i], _unbeaten(view, answer, i))


@inner
def _sided(view: View, i: int, side: int) -> float:
    """Return the evidence over what is required that i is on this side of P: 1 inside, 0 outside."""
    now = view.now
    if view.state.inside[i] != side:
        return 0.0
    return weight_of(view, i) / now.bar if now.bar > 0.0 else math.inf


@inner
def _below_someone(view: View, i: int) -> float:
    state = view.state
    most = 1.0 if some_above(view, i, state.group) else 0.0
    for j in range(view.problem.arms):
        if j != i and state.counts[j] > 0:
            value = dominated(view, i, j)
            share = _squared(value, pair_radius(view, i, j))
            most = max(most, min(share, _sided(view, j, 1)))
    return most


@inner
def _unbeaten(view: View, answer: Bytes, i: int) -> float:
    least = _sided(view, i, 1)
    for j in range(view.problem.arms):
        if j != i and (answer[j] == OPTIMAL or answer[j] == UNDECIDED):
            if view.state.counts[j] == 0:
                return 0.0
            value = undominated(view, i, j)
            least = min(least, _squared(value, lead_radius(view, i, j)))
    return least


@inner
def _squared(value: float, width: float) -> float:
    """Return ((value + width) / width)^2; never on the wrong side of 1 by rounding."""
    lead = value + width
    if value >= 0.0:
        return max(1.0, (lead / width) * (lead / width)) if width > 0.0 else math.inf
    return min(1.0, (lead / width) * (lead / width)) if lead > 0.0 else 0.0
