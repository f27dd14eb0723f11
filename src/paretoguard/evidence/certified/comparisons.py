"""Two arms, for `certified`: evidence that one leads the other in a coordinate, or in some of several.

Evidence is given in the form of widths, a lead minus the least that is certain, about; its sign is exact: >= 0 means
certified. `bar` is what the logarithm of the e-value must reach. Nothing here depends on time or on other arms.
"""

import math

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.view import View
from paretoguard.evidence.certified.bernoulli import is_rate_apart, least_regrets, regret_of
from paretoguard.evidence.certified.normal_mixture import SURELY, is_apart
from paretoguard.evidence.estimated_scale import NEVER, variance

NOMINAL = 1.1  # how much less than the two-sided form asks for is usually enough: 3/4 of a form nearly 4 times as large
LEAST = 0.05  # of what is required, where it would be less than nothing (delta near 1)
_ROUNDING = 1e-12
ULPS = 1e-15  # a few
_SMALL = 1e-20  # more than the square of _ROUNDING
_NEAR = 0.7  # two likelihoods are at most exp of twice what a normal law gives
SUM_SHARE, RATE_SHARE = 0.75, 0.25  # of 0-and-1 outcomes: how the evidence is shared between its two forms
SUM_EXTRA, RATE_EXTRA = -math.log(SUM_SHARE), -math.log(RATE_SHARE)


@inner
def against(lead: float, first: float, second: float, required: float) -> float:
    """From the 1/q of the two arms, in units of their noise."""
    if lead == math.inf or lead == -math.inf:
        return lead
    width = math.sqrt(2.0 * (first + second) * max(LEAST, required - NOMINAL))
    if is_apart(lead, first, second, required):
        return max(0.0, lead - width)
    return min(-_ROUNDING * width, lead - width)


@inner
def is_above(limit: float, lead: float, first: float, second: float, required: float) -> bool:
    """Is `against` surely above a negative limit? At a glance, without root and division; False where in doubt.

    That is where lead - width is, and -_ROUNDING * width too.
    """
    square = 2.0 * (first + second) * max(LEAST, required - NOMINAL)  # of the width
    above = lead - limit - ULPS * abs(lead)
    return limit < 0.0 < above and above * above > SURELY * square and limit * limit > _SMALL * square


@inner
def in_coordinate(view: View, i: int, j: int, c: int, slop: float, bar: float) -> float:
    """That the mean of i in coordinate c, plus `slop`, is above that of j; scales may have to be learnt."""
    evidence, problem, state = view.evidence, view.problem, view.state
    lead = state.means[i, c] - state.means[j, c] + slop
    required = bar + evidence.penalty[i] + evidence.penalty[j]
    if problem.learnt[c] == 1:
        return _standardised(view, i, j, c, lead, required)
    first, second = evidence.inverse[i], evidence.inverse[j]
    if not problem.ranges.binary[c] or slop > 0.0:
        return against(lead, first, second, required)
    by_sums = against(lead, first, second, required + SUM_EXTRA)
    if by_sums >= 0.0 or lead <= 0.0 or state.counts[i] == 0 or state.counts[j] == 0:
        return by_sums
    n, m = float(state.counts[i]), float(state.counts[j])
    if _is_better_by_sums(view, i, j, c, lead, by_sums, bar):
        return by_sums
    needed = bar + RATE_EXTRA + regret_of(evidence, i, c, n) + regret_of(evidence, j, c, m)
    return max(by_sums, _by_rates(lead, evidence.rate[i, c], n, evidence.rate[j, c], m, needed))


@inner
def _is_better_by_sums(view: View, i: int, j: int, c: int, lead: float, by_sums: float, bar: float) -> bool:
    """Do rates surely give no more than sums?  At a glance, with the least that regrets can be; False where in doubt.

    That is where `_by_rates` is lead - width, and the width no less than lead - by_sums.
    """
    evidence, state = view.evidence, view.state
    n, m = float(state.counts[i]), float(state.counts[j])
    pooled, total = (n * evidence.rate[i, c] + m * evidence.rate[j, c]) / (n + m), 1.0 / n + 1.0 / m
    regrets = evidence.penalty[i] + evidence.penalty[j] + least_regrets(evidence.rho, evidence.log_rho, total)
    square = 8.0 * pooled * (1.0 - pooled) * total * (bar + RATE_EXTRA + regrets)  # no more than that of the width
    return square > SURELY * max(lead * lead / (_NEAR * _NEAR), (lead - by_sums) * (lead - by_sums))


@aside
def _standardised(view: View, i: int, j: int, c: int, lead: float, required: float) -> float:
    """In units of the root of the mean variance of the two arms; just too little while one is not known."""
    evidence, problem, state = view.evidence, view.problem, view.state
    of_i, of_j = variance(problem, state, i, c), variance(problem, state, j, c)
    unit = 0.5 * (of_i + of_j)
    if unit == math.inf:
        return -NEVER
    first, second = of_i / unit * evidence.inverse[i], of_j / unit * evidence.inverse[j]
    return against(lead / math.sqrt(unit), first, second, required)


@aside
def _by_rates(lead: float, first: float, n: float, second: float, m: float, required: float) -> float:
    """By the likelihood of 0-and-1 outcomes; the width is that of a normal law with the pooled variance."""
    pooled, total = (n * first + m * second) / (n + m), 1.0 / n + 1.0 / m
    width = math.sqrt(8.0 * pooled * (1.0 - pooled) * total * max(LEAST, required))
    if lead < _NEAR * width:  # likelihoods would not do
        return lead - width
    if is_rate_apart(first, n, second, m, required):
        return max(0.0, lead - width)
    return min(-_ROUNDING * width, lead - width)


@inner
def in_some(view: View, i: int, j: int, slop: float, total: float, both: float) -> float:
    """That i, with `slop` more, leads j in some coordinate: by the best set of two or more independent ones together.

    `total` is the sum of both 1/q, `both` of the penalties. Of each size the best set is that of the largest leads.
    Leads are taken one by one, the largest first.
    """
    evidence, problem = view.evidence, view.problem
    best, square = -math.inf, 0.0
    _take_leads(view, i, j)
    for size in range(1, problem.compared + 1):
        largest = 0
        for c in range(1, problem.compared):
            if evidence.leads[c] > evidence.leads[largest]:
                largest = c
        lead = evidence.leads[largest] + slop
        if lead <= 0.0:
            break
        evidence.leads[largest] = -math.inf
        square += lead * lead
        if size > 1:
            best = max(best, math.sqrt(square) - math.sqrt(2.0 * total * (evidence.joint_bar + size * both)))
    return best


@aside
def in_some_correlated(view: View, i: int, j: int) -> float:
    """The same where the coordinates have a known correlation R: a set counts l' R^-1 l of its leads l if R^-1 l >= 0.

    That is the least y' R^-1 y over y >= l; where R^-1 l has a negative entry, a smaller set has the same value.
    """
    evidence = view.evidence
    both = evidence.penalty[i] + evidence.penalty[j]
    best, total = -math.inf, evidence.inverse[i] + evidence.inverse[j]
    _take_leads(view, i, j)
    for k in range(evidence.sets.shape[0]):
        size, square = evidence.sizes[k], 0.0
        for a in range(size):
            pull = 0.0
            for b in range(size):
                pull += evidence.precisions[k, a, b] * evidence.leads[evidence.sets[k, b]]
            if pull < 0.0:
                square = -math.inf
            square += pull * evidence.leads[evidence.sets[k, a]]
        if square > 0.0:
            best = max(best, math.sqrt(square) - math.sqrt(2.0 * total * (evidence.joint_bar + size * both)))
    return best


@inner
def _take_leads(view: View, i: int, j: int) -> None:
    problem, state = view.problem, view.state
    for c in range(problem.compared):
        view.evidence.leads[c] = state.means[i, c] - state.means[j, c] + problem.tolerance[c]
