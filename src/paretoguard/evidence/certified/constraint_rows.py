"""One arm, for `certified`: evidence that every constraint holds, or that one fails.

Given is the logarithm of the e-value. Nothing here depends on time or on other arms.
"""

import math

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import FAILS, HOLDS, ProblemArrays, bet_evidence
from paretoguard.engine.state import State
from paretoguard.engine.view import View
from paretoguard.evidence.certified.mixtures import LOG_2, ROOM, SURELY, log_sum, row_e_value, row_evidence
from paretoguard.evidence.estimated_scale import row_scale

MOST_WEALTH = 600.0  # the logarithm of wealth whose exponential is still a number, with room


@inner
def slack_of(problem: ProblemArrays, state: State, i: int, row: int) -> float:
    """Return the slack of a noisy row, in standard deviations along it."""
    slack: float = problem.region.b[row]
    for c in range(problem.objectives - problem.noisy):
        slack -= problem.exact_part[row, c] * state.means[i, problem.noisy + c]
    for c in range(problem.noisy):
        slack -= problem.region.A[row, c] * state.means[i, c]
    return slack


@inner
def feasible(view: View, i: int) -> float:
    """Return the least evidence of a row: a false claim is false for one row."""
    problem = view.problem
    least, nearest = math.inf, math.inf
    for row in range(problem.region.A.shape[0]):
        z = _distance(view, i, row, HOLDS)
        if problem.bets.first[row, HOLDS] >= 0:
            value = _with_bets(view, i, row, HOLDS, z)
            least = value if not value >= least else least  # also what is no number
        else:
            nearest = z if not z >= nearest else nearest  # evidence grows with the distance
    if nearest < math.inf or nearest != nearest:
        value = row_evidence(nearest, view.evidence.penalty[i])
        least = value if not value >= least else least
    return least


@inner
def _one_row(view: View, i: int, row: int, side: int) -> float:
    """Return the evidence that a row holds, up to its tolerance, or that it fails."""
    z = _distance(view, i, row, side)
    if view.problem.bets.first[row, side] >= 0:
        return _with_bets(view, i, row, side, z)
    return row_evidence(z, view.evidence.penalty[i])


@inner
def _distance(view: View, i: int, row: int, side: int) -> float:
    """Return the distance past the limit of a row, in units of the mixture; -inf while its scale is not known."""
    problem, state = view.problem, view.state
    scale = row_scale(problem, state, i, row)
    if scale == math.inf:
        return -math.inf
    slack = slack_of(problem, state, i, row)
    past = slack + problem.row_tolerance[row] if side == HOLDS else -slack
    return past / (scale * math.sqrt(view.evidence.inverse[i]))


@inner
def _with_bets(view: View, i: int, row: int, side: int, z: float) -> float:
    """Average sums and bets: bets are sharper far from the limit, sums reach any distance."""
    state = view.state
    wealth = bet_evidence(state.growth[i], view.problem.bets.first[row, side], float(state.counts[i]))
    return log_sum(row_evidence(z, view.evidence.penalty[i]), wealth) - LOG_2


@inner
def infeasible(view: View, i: int) -> float:
    """Average over rows; of independent rows, averaged with the product of 1/2 + (average of a group)/2."""
    evidence, problem, state = view.evidence, view.problem, view.state
    fall = math.sqrt(evidence.rho / (float(state.counts[i]) + evidence.rho))
    groups, rows = problem.row_groups, 0
    average, product = 0.0, 1.0
    for group in range(max(groups, 1)):
        together, size = 0.0, 0
        for row in range(problem.region.A.shape[0]):
            if problem.needed[row] == 1 and (groups == 0 or problem.row_group[row] == group):
                value = row_e_value(_distance(view, i, row, FAILS), fall)
                first = problem.bets.first[row, FAILS]
                if first >= 0:
                    wealth = bet_evidence(state.growth[i], first, float(state.counts[i]))
                    value = 0.5 * (value + (math.exp(wealth) if wealth < MOST_WEALTH else math.inf))
                together += value
                size += 1
        rows += size
        average += together
        product *= 0.5 + 0.5 * together / size
    value = average / rows if groups < 2 else 0.5 * (average / rows + product)
    return math.log(value) if 0.0 < value < math.inf else _infeasible_far(view, i)


@inner
def most_infeasible(view: View, i: int) -> float:
    """No less than `infeasible`, without roots, exponentials or logarithms; +inf where there are bets.

    The e-value of a row is at most twice the two-sided form, exp(z^2/2 - p), an average is at most its largest part,
    and the factor 1/2 + (average of a group)/2 at most the product of all parts that are above 1. It grows with z: for
    a row that holds, z < 0, it is less than at z = 0.
    """
    evidence, problem = view.evidence, view.problem
    half, least = 0.5 * SURELY / evidence.inverse[i], evidence.penalty[i] - LOG_2
    largest, together = -least, 0.0
    for row in range(problem.region.A.shape[0]):
        if problem.needed[row] == 1:
            if problem.bets.first[row, FAILS] >= 0:
                return math.inf
            past = max(0.0, -slack_of(problem, view.state, i, row)) * evidence.row_inverse[row]
            value = half * past * past - least
            largest = max(largest, value)
            together += max(0.0, value)
    return (together if problem.row_groups > 1 else largest) + ROOM


@aside
def _infeasible_far(view: View, i: int) -> float:
    """Do the same by logarithms, where e-values would be too large or too small for numbers."""
    problem = view.problem
    groups, rows = problem.row_groups, 0
    average, product = -math.inf, 0.0
    for group in range(max(groups, 1)):
        together, size = -math.inf, 0
        for row in range(problem.region.A.shape[0]):
            if problem.needed[row] == 1 and (groups == 0 or problem.row_group[row] == group):
                together = log_sum(together, _one_row(view, i, row, FAILS))
                size += 1
        rows += size
        average = log_sum(average, together)
        product += log_sum(0.0, together - math.log(size)) - LOG_2
    average -= math.log(rows)
    return average if groups < 2 else log_sum(average, product) - LOG_2
