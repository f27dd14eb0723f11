"""`certified` within a box: 1/q falls with the counts, the penalty grows, and nothing changes with time.

A lead less its width is bounded by the ends of both. Whether it counts as certain (`is_apart`) need not grow with the
counts: it is bounded by what is surely certain, and by what may be.
"""

import math
from typing import TYPE_CHECKING, Any

from paretoguard.engine.dominance import best_lead, least_gain
from paretoguard.engine.evidence.box import Box, is_moving, leads_more, most_count, reach_of
from paretoguard.engine.evidence.mixtures import LOG_2, LOG_SHARE, MOST_GAIN, SURELY, row_evidence
from paretoguard.engine.evidence.pairs import LEAST, NEAR, NOMINAL, RATE_EXTRA, ROUNDING, SUM_EXTRA, in_some
from paretoguard.engine.evidence.rates import least_regrets
from paretoguard.engine.evidence.rows import slack_of
from paretoguard.engine.jit import inner
from paretoguard.engine.space import Space

if TYPE_CHECKING:
    from paretoguard.engine.state import State


@inner
def _least_inverse(evidence: Any, state: "State", box: Box, i: int) -> float:
    n = most_count(box, state, i)
    return float((n + evidence.rho) / (n * n) if is_moving(box, i) else evidence.inverse[i])


@inner
def _most_penalty(evidence: Any, state: "State", box: Box, i: int) -> float:
    more = box.more if is_moving(box, i) else 0
    return float(evidence.penalty[i] + 0.5 * more / (state.counts[i] + evidence.rho))  # log(1 + x) <= x


@inner
def _width(total: float, required: float) -> float:
    return math.sqrt(2.0 * total * max(LEAST, required - NOMINAL))


@inner
def _may_be_apart(lead: float, total: float, required: float) -> bool:
    return lead > 0.0 and SURELY * 0.5 * lead * lead >= (required - MOST_GAIN) * total


@inner
def _at_most(lead: float, total: float, required: float) -> float:
    """Of `against`, for no larger leads and no less of the others; no less than 0 where it may count as certain."""
    value = lead - _width(total, required)
    return max(0.0, value) if _may_be_apart(lead, total, required) else value


@inner
def _at_least(lead: float, total: float, required: float) -> float:
    """Of `against`, for no smaller leads and no more of the others."""
    width = _width(total, required)
    if lead > 0.0 and 0.5 * lead * lead >= SURELY * (required + LOG_SHARE) * total:
        return max(0.0, lead - width)
    return min(-ROUNDING * width, lead - width)


@inner
def _rates_at_most(evidence: Any, state: "State", box: Box, i: int, j: int, c: int, lead: float, bar: float) -> float:
    """Of what 0-and-1 outcomes say beside sums, for no larger leads of i over j; nothing where there is no lead."""
    if lead <= 0.0:
        return -math.inf
    n, m = float(state.counts[i]), float(state.counts[j])
    first, second = evidence.rate[i, c], evidence.rate[j, c]
    pooled = (n * first + m * second) / (n + m)
    moves = 0.5 * box.reach + abs(first - second) * box.more / (n + m)  # of the pooled rate, whose weights move too
    spread = max(0.0, pooled * (1.0 - pooled) - moves)
    shortest = 1.0 / most_count(box, state, i) + 1.0 / most_count(box, state, j)
    needed = bar + RATE_EXTRA + evidence.penalty[i] + evidence.penalty[j]
    needed += least_regrets(evidence.rho, evidence.log_rho, 1.0 / n + 1.0 / m)
    width = math.sqrt(8.0 * spread * shortest * max(LEAST, needed))  # no more than that of `_by_rates`
    return lead - width if SURELY * lead < NEAR * width else max(0.0, lead - width)


@inner
def _sums_extra(evidence: Any) -> float:
    return 0.0 if evidence.plain else SUM_EXTRA


def certified_dominated_at_most(
    evidence: Any, now: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """See `box.dominated_at_most`."""
    slop = reach_of(box, i) + reach_of(box, j)
    total = _least_inverse(evidence, state, box, i) + _least_inverse(evidence, state, box, j)
    required = evidence.below_bar + _sums_extra(evidence) + evidence.penalty[i] + evidence.penalty[j]
    gain = least_gain(space, state, i, j) + slop
    if evidence.plain or gain <= 0.0:
        return _at_most(gain, total, required)
    least = math.inf
    for c in range(space.compared):
        lead = state.means[j, c] - state.means[i, c] + slop
        by_rates = _rates_at_most(evidence, state, box, j, i, c, lead, evidence.below_bar)
        least = min(least, max(_at_most(lead, total, required), by_rates))
    return least


def certified_dominated_at_least(
    evidence: Any, later: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """See `box.dominated_at_least`. Rates come on top."""
    gain = least_gain(space, state, i, j) - reach_of(box, i) - reach_of(box, j)
    required = evidence.below_bar + _most_penalty(evidence, state, box, i) + _most_penalty(evidence, state, box, j)
    return _at_least(gain, evidence.inverse[i] + evidence.inverse[j], required + _sums_extra(evidence))


@inner
def _one_at_least(evidence: Any, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    """Of what the sums of one coordinate say for "i not dominated by j"."""
    lead = best_lead(space, state, i, j) - reach_of(box, i) - reach_of(box, j)
    both = _most_penalty(evidence, state, box, i) + _most_penalty(evidence, state, box, j)
    total = evidence.inverse[i] + evidence.inverse[j]
    return _at_least(lead, total, evidence.lead_bar + both + _sums_extra(evidence))


@inner
def _extras_at_most(evidence: Any, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    """Of what speaks for "i not dominated by j" beside sums of one coordinate: rates, and several coordinates.

    Several are not looked at where one is enough.
    """
    slop, most = reach_of(box, i) + reach_of(box, j), -math.inf
    if not evidence.plain:
        for c in range(space.compared):
            lead = state.means[i, c] - state.means[j, c] + slop
            most = max(most, _rates_at_most(evidence, state, box, i, j, c, lead, evidence.lead_bar))
    if evidence.joint_bar < math.inf and _one_at_least(evidence, space, state, box, i, j) < 0.0:
        both = evidence.penalty[i] + evidence.penalty[j]
        total = _least_inverse(evidence, state, box, i) + _least_inverse(evidence, state, box, j)
        most = max(most, in_some(evidence, space, state, i, j, slop, total, both))
    return most


def certified_undominated_at_most(
    evidence: Any, now: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """See `box.undominated_at_most`."""
    lead = best_lead(space, state, i, j) + reach_of(box, i) + reach_of(box, j)
    required = evidence.lead_bar + _sums_extra(evidence) + evidence.penalty[i] + evidence.penalty[j]
    total = _least_inverse(evidence, state, box, i) + _least_inverse(evidence, state, box, j)
    return max(_at_most(lead, total, required), _extras_at_most(evidence, space, state, box, i, j))


def certified_undominated_at_least(
    evidence: Any, later: Any, space: Space, state: "State", box: Box, i: int, j: int
) -> float:
    """See `box.undominated_at_least`."""
    return _lead_at_least(evidence, space, state, box, i, j)


@inner
def _lead_at_least(evidence: Any, space: Space, state: "State", box: Box, i: int, j: int) -> float:
    """Several coordinates together count where one alone does not reach 0; rates come on top."""
    value = _one_at_least(evidence, space, state, box, i, j)
    if value < 0.0 and evidence.joint_bar < math.inf:
        slop, total = reach_of(box, i) + reach_of(box, j), evidence.inverse[i] + evidence.inverse[j]
        both = _most_penalty(evidence, state, box, i) + _most_penalty(evidence, state, box, j)
        value = max(value, min(0.0, in_some(evidence, space, state, i, j, -slop, total, both)))
    return value


def certified_is_further(
    evidence: Any, now: Any, later: Any, space: Space, state: "State", box: Box, j: int, room: float
) -> bool:
    """See `box.is_further`. By sums; rates and several coordinates together must not make a difference for c.

    A lead less its width is then less for c than for j. It counts as it is where c is surely not certain, and j is not
    taken below 0 for not being; or where j is surely certain, by more than 0.
    """
    b, c = box.first, box.second
    most_j = _most_penalty(evidence, state, box, b) + evidence.penalty[j]
    bar = evidence.lead_bar + _sums_extra(evidence)
    total = _least_inverse(evidence, state, box, b) + _least_inverse(evidence, state, box, c)
    required = bar + evidence.penalty[b] + evidence.penalty[c]
    narrow, wide = _width(total, required), _width(evidence.inverse[b] + evidence.inverse[j], bar + most_j)
    if not leads_more(space, state, box, j, narrow, wide, room):
        return False
    least = _lead_at_least(evidence, space, state, box, b, j)
    if not _extras_at_most(evidence, space, state, box, b, c) + room < least:
        return False
    lead = best_lead(space, state, b, c) + 2.0 * box.reach
    is_plain = not _may_be_apart(lead, total, required) and lead - narrow + room < -ROUNDING * wide
    return is_plain or least > 0.0


@inner
def _row_reach(space: Space, box: Box, row: int) -> float:
    """By how much the slack of a moving arm may move."""
    reach = 0.0
    for c in range(space.noisy):
        reach += abs(space.region.A[row, c])
    return reach * box.reach


def certified_weight_at_most(evidence: Any, space: Space, state: "State", box: Box, i: int) -> float:
    """See `box.weight_at_most`; outside P as `rows.most_infeasible`."""
    inverse, penalty = _least_inverse(evidence, state, box, i), evidence.penalty[i]
    nearest, largest, together = math.inf, LOG_2 - penalty, 0.0
    for row in range(space.region.A.shape[0]):
        slack, reach = slack_of(space, state, i, row), _row_reach(space, box, row)
        if state.inside[i] == 1:
            past = slack + space.row_tolerance[row] + reach
            root = math.sqrt(inverse if past > 0.0 else evidence.inverse[i])
            nearest = min(nearest, past * evidence.row_inverse[row] / root)
        elif space.needed[row] == 1:
            past = max(0.0, reach - slack) * evidence.row_inverse[row]
            value = 0.5 * SURELY * past * past / inverse - penalty + LOG_2
            largest = max(largest, value)
            together += max(0.0, value)
    if state.inside[i] == 1:
        return row_evidence(nearest, penalty)
    return together if space.row_groups > 1 else largest


def certified_weight_at_least(evidence: Any, space: Space, state: "State", box: Box, i: int) -> float:
    """See `box.weight_at_least`."""
    least = math.inf
    for row in range(space.region.A.shape[0]):
        past = slack_of(space, state, i, row) + space.row_tolerance[row] - _row_reach(space, box, row)
        inverse = evidence.inverse[i] if past > 0.0 else _least_inverse(evidence, state, box, i)
        least = min(least, past * evidence.row_inverse[row] / math.sqrt(inverse))
    return row_evidence(least, _most_penalty(evidence, state, box, i))
