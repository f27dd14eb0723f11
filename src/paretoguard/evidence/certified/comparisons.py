"""Two arms or several, for `certified`: evidence that one leads another in some coordinates, or is dominated by some.

Of two arms, evidence is given in the form of widths, a lead minus the least that is certain, about; its sign is exact:
>= 0 means certified. `bar` is what the logarithm of the e-value must reach. Nothing here depends on time or on other
arms.

Of several arms: if none of them dominates i, each arm j is no better than i in some coordinate c(j). The product of the
normal mixtures of i, in every coordinate that c uses, and of each j in its own is then at least exp(cost - penalties),
where the cost is least over all maps c: that of rising (`cheapest_entry`) with q for the counts. docs/guarantees.md
proves it.
"""

import math
from typing import NamedTuple

import numpy as np

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import least_gain
from paretoguard.engine.view import View
from paretoguard.evidence.certified.mixtures import SURELY, is_apart, is_rate_apart, least_regrets, regret_of
from paretoguard.evidence.estimated_scale import NEVER, variance
from paretoguard.geometry.cheapest_entry import Entrant, Walk, enter, prepare_walk, walk_memory
from paretoguard.geometry.polyhedron import Polyhedron, polyhedron
from paretoguard.numeric import Bytes, Floats, Integers, floats, integers

NOMINAL = 1.1  # how much less than the two-sided form asks for is usually enough: 3/4 of a form nearly 4 times as large
LEAST = 0.05  # of what is required, where it would be less than nothing (delta near 1)
_ROUNDING = 1e-12
ULPS = 1e-15  # a few
_SMALL = 1e-20  # more than the square of _ROUNDING
_NEAR = 0.7  # two likelihoods are at most exp of twice what a normal law gives
SUM_SHARE, RATE_SHARE = 0.75, 0.25  # of 0-and-1 outcomes: how the evidence is shared between its two forms
SUM_EXTRA, RATE_EXTRA = -math.log(SUM_SHARE), -math.log(RATE_SHARE)
MOST = 4  # arms in a set of `Several`


@inner
def against(lead: float, first: float, second: float, required: float) -> float:
    """Return the evidence in a lead, given the 1/q of the two arms, in units of their noise."""
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
    """Return the evidence that the mean of i in coordinate c, plus `slop`, is above that of j."""
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
    """Compare in units of the root of the mean variance of the two; just too little while one is not known."""
    evidence, problem, state = view.evidence, view.problem, view.state
    of_i, of_j = variance(problem, state, i, c), variance(problem, state, j, c)
    unit = 0.5 * (of_i + of_j)
    if unit == math.inf:
        return -NEVER
    first, second = of_i / unit * evidence.inverse[i], of_j / unit * evidence.inverse[j]
    return against(lead / math.sqrt(unit), first, second, required)


@aside
def _by_rates(lead: float, first: float, n: float, second: float, m: float, required: float) -> float:
    """Compare by the likelihood of 0-and-1 outcomes; the width is that of a normal law with the pooled variance."""
    pooled, total = (n * first + m * second) / (n + m), 1.0 / n + 1.0 / m
    width = math.sqrt(8.0 * pooled * (1.0 - pooled) * total * max(LEAST, required))
    if lead < _NEAR * width:  # likelihoods would not do
        return lead - width
    if is_rate_apart(first, n, second, m, required):
        return max(0.0, lead - width)
    return min(-_ROUNDING * width, lead - width)


@inner
def in_some(view: View, i: int, j: int, total: float, both: float) -> float:
    """That i leads j, up to the tolerance, in some coordinate: by the best set of two or more independent ones.

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
        lead = evidence.leads[largest]
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


# --- several arms -----------------------------------------------------------------------------------------------------


class Several(NamedTuple):
    """The levels of sets of arms, and memory to look at them; without room for arms where they are not used."""

    bars: Floats  # [MOST + 1] log(1/level) of a set of so many arms
    region: Polyhedron  # all of space
    points: Floats  # [K, compared]
    weights: Floats  # [K] q
    order: Integers  # [K] the arms above the one at hand, that with most evidence alone first
    alone: Floats  # [K] what each costs alone
    walk: Walk


def new_several(problem: ProblemArrays, bar: float, share: float) -> Several:
    """Give each set of s out of the K - 1 other arms, s from 2 to MOST, its part of `share` (K - 1) exp(-bar)."""
    others = problem.arms - 1
    sizes = range(2, min(MOST, others) + 1) if share > 0.0 else range(0)
    bars = np.full(MOST + 1, math.inf)
    for size in sizes:
        bars[size] = bar + math.log(math.comb(others, size) * len(sizes) / (share * others))
    K, d = (problem.arms, problem.compared) if share > 0.0 else (0, 1)
    region = polyhedron(floats(0, d), floats(0))
    order = integers(K)
    return Several(bars, region, floats(K, d), floats(K), order, floats(K), walk_memory(K, d, 0))


@inner
def is_below_some(view: View, i: int, members: Bytes) -> bool:
    """Try the two, three or more marked arms with most evidence alone; unmark those not needed."""
    evidence, problem = view.evidence, view.problem
    several = evidence.several
    if several.order.shape[0] == 0 or problem.compared == 0:
        return False
    size = min(MOST, _line_up(view, i, members))
    if size < 2:
        return False
    _look(view, i, size)
    own = evidence.penalty[several.order[0]]
    members[several.order[0]] = 1
    for k in range(1, size):
        own += evidence.penalty[several.order[k]]
        members[several.order[k]] = 1
        needed = several.bars[k + 1] + own + min(problem.compared, k + 1) * evidence.penalty[i]
        if _most(several, i, k + 1) >= needed:
            prepare_walk(several.region, several.points, members, several.walk)
            if enter(Entrant(several.region, several.points, several.weights, i), needed, several.walk) == math.inf:
                return True
    return False


@inner
def _line_up(view: View, i: int, members: Bytes) -> int:
    """Sort the marked arms that are above i, unmark all, and return how many there are."""
    evidence, problem, state = view.evidence, view.problem, view.state
    several, size = evidence.several, 0
    for j in range(problem.arms):
        gain = least_gain(problem, state, i, j) if members[j] == 1 and j != i and state.counts[j] > 0 else 0.0
        members[j] = 0
        if gain > 0.0:
            several.alone[j] = gain * gain / (evidence.inverse[i] + evidence.inverse[j])
            place = size
            while place > 0 and several.alone[several.order[place - 1]] < several.alone[j]:
                several.order[place] = several.order[place - 1]
                place -= 1
            several.order[place] = j
            size += 1
    return size


@inner
def _look(view: View, i: int, size: int) -> None:
    evidence = view.evidence
    several = evidence.several
    for k in range(-1, size):
        a = i if k < 0 else several.order[k]
        several.weights[a] = 1.0 / evidence.inverse[a]
        for c in range(view.problem.compared):
            several.points[a, c] = view.state.means[a, c]


@inner
def _most(several: Several, i: int, size: int) -> float:
    """Return no less than the cost: i rises alone, in the one coordinate where it is easiest."""
    least = math.inf
    for c in range(several.points.shape[1]):
        highest = 0.0
        for k in range(size):
            highest = max(highest, several.points[several.order[k], c] - several.points[i, c])
        least = min(least, highest)
    return 0.5 * several.weights[i] * least * least * SURELY
