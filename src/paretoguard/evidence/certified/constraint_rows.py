"""One arm, for `certified`: evidence that every constraint holds, or that one fails.

Given is the logarithm of the e-value. Nothing here depends on time or on other arms.
"""

import math
from typing import TYPE_CHECKING, Any

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.bets import FAILS, HOLDS, bet_evidence
from paretoguard.evidence.certified.normal_mixture import LOG_2, ROOM, SURELY, log_sum, row_e_value, row_evidence
from paretoguard.evidence.estimated_scale import row_scale

if TYPE_CHECKING:
    from paretoguard.engine.state import State

MOST_WEALTH = 600.0  # the logarithm of wealth whose exponential is still a number, with room


@inner
def slack_of(space: Space, state: "State", i: int, row: int) -> float:
    """Of a noisy row, in standard deviations along it."""
    slack: float = space.region.b[row]
    for c in range(space.objectives - space.noisy):
        slack -= space.exact_part[row, c] * state.means[i, space.noisy + c]
    for c in range(space.noisy):
        slack -= space.region.A[row, c] * state.means[i, c]
    return slack


@inner
def feasible(evidence: Any, space: Space, state: "State", i: int) -> float:
    """Every row must have its evidence: a false claim is false for one row."""
    least, nearest = math.inf, math.inf
    for row in range(space.region.A.shape[0]):
        z = _distance(evidence, space, state, i, row, HOLDS)
        if space.bets.first[row, HOLDS] >= 0:
            value = _with_bets(evidence, space, state, i, row, HOLDS, z)
            least = value if not value >= least else least  # also what is no number
        else:
            nearest = z if not z >= nearest else nearest  # evidence grows with the distance
    if nearest < math.inf or nearest != nearest:
        value = row_evidence(nearest, evidence.penalty[i])
        least = value if not value >= least else least
    return least


@inner
def _one_row(evidence: Any, space: Space, state: "State", i: int, row: int, side: int) -> float:
    """The evidence that a row holds, up to its tolerance, or that it fails."""
    z = _distance(evidence, space, state, i, row, side)
    if space.bets.first[row, side] >= 0:
        return _with_bets(evidence, space, state, i, row, side, z)
    return row_evidence(z, evidence.penalty[i])


@inner
def _distance(evidence: Any, space: Space, state: "State", i: int, row: int, side: int) -> float:
    """From the limit of a row, up to its tolerance, in units of the mixture; -inf while its scale is not known."""
    scale = row_scale(space, state, i, row)
    if scale == math.inf:
        return -math.inf
    slack = slack_of(space, state, i, row)
    past = slack + space.row_tolerance[row] if side == HOLDS else -slack
    return past / (scale * math.sqrt(evidence.inverse[i]))


@inner
def _with_bets(evidence: Any, space: Space, state: "State", i: int, row: int, side: int, z: float) -> float:
    """Averaged: bets are sharper far from the limit, sums reach any distance."""
    wealth = bet_evidence(state.growth[i], space.bets.first[row, side], float(state.counts[i]))
    return log_sum(row_evidence(z, evidence.penalty[i]), wealth) - LOG_2


@inner
def infeasible(evidence: Any, space: Space, state: "State", i: int) -> float:
    """The average over rows; of independent rows, averaged with the product of 1/2 + (average of a group)/2."""
    fall = math.sqrt(evidence.rho / (float(state.counts[i]) + evidence.rho))
    groups, rows = space.row_groups, 0
    average, product = 0.0, 1.0
    for group in range(max(groups, 1)):
        together, size = 0.0, 0
        for row in range(space.region.A.shape[0]):
            if space.needed[row] == 1 and (groups == 0 or space.row_group[row] == group):
                value = row_e_value(_distance(evidence, space, state, i, row, FAILS), fall)
                first = space.bets.first[row, FAILS]
                if first >= 0:
                    wealth = bet_evidence(state.growth[i], first, float(state.counts[i]))
                    value = 0.5 * (value + (math.exp(wealth) if wealth < MOST_WEALTH else math.inf))
                together += value
                size += 1
        rows += size
        average += together
        product *= 0.5 + 0.5 * together / size
    value = average / rows if groups < 2 else 0.5 * (average / rows + product)
    return math.log(value) if 0.0 < value < math.inf else _infeasible_far(evidence, space, state, i)


@inner
def most_infeasible(evidence: Any, space: Space, state: "State", i: int) -> float:
    """No less than `infeasible`, without roots, exponentials or logarithms; +inf where there are bets.

    The e-value of a row is at most twice the two-sided form, exp(z^2/2 - p), an average is at most its largest part,
    and the factor 1/2 + (average of a group)/2 at most the product of all parts that are above 1. It grows with z: for
    a row that holds, z < 0, it is less than at z = 0.
    """
    half, least = 0.5 * SURELY / evidence.inverse[i], evidence.penalty[i] - LOG_2
    largest, together = -least, 0.0
    for row in range(space.region.A.shape[0]):
        if space.needed[row] == 1:
            if space.bets.first[row, FAILS] >= 0:
                return math.inf
            past = max(0.0, -slack_of(space, state, i, row)) * evidence.row_inverse[row]
            value = half * past * past - least
            largest = max(largest, value)
            together += max(0.0, value)
    return (together if space.row_groups > 1 else largest) + ROOM


@aside
def _infeasible_far(evidence: Any, space: Space, state: "State", i: int) -> float:
    """The same by logarithms, where e-values would be too large or too small for numbers."""
    groups, rows = space.row_groups, 0
    average, product = -math.inf, 0.0
    for group in range(max(groups, 1)):
        together, size = -math.inf, 0
        for row in range(space.region.A.shape[0]):
            if space.needed[row] == 1 and (groups == 0 or space.row_group[row] == group):
                together = log_sum(together, _one_row(evidence, space, state, i, row, FAILS))
                size += 1
        rows += size
        average = log_sum(average, together)
        product += log_sum(0.0, together - math.log(size)) - LOG_2
    average -= math.log(rows)
    return average if groups < 2 else log_sum(average, product) - LOG_2
