"""E-values of sums and of rates, as logarithms: mixtures in closed form. docs/guarantees.md proves each.

Sub-Gaussian sums, for an arm with n results and a scale rho: 1/q = (n + rho)/n^2 (`inverse`) and
p = log((n + rho)/rho)/2 (`penalty`). The mixture over the means N(mu, 1/rho) of a coordinate is
exp(q (mean - mu)^2/2 - p): started at 1, and a supermartingale at the true mu. The half-normal mixture, over the means
on one side of mu, has a factor 2 Phi(sqrt(q) (mean - mu)) more.

Rates of 0-and-1 outcomes, sharper where rates are small or large. For one arm with s successes in n: the Beta(1/2, 1/2)
mixture of the likelihood over the likelihood at its true rate is a martingale started at 1. For two arms, their product
at a common rate is least at the pooled one. `regret` is the logarithm of the likelihood at the arm's own rate s/n over
the mixture.
"""

import math
from typing import Any

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import LOST

LOG_2 = math.log(2.0)
ROOM = 1e-9  # for rounding, and more
SURELY = 1.0 + ROOM
ROOT_HALF = math.sqrt(0.5)
TWO_OVER_ROOT_TWO_PI = 2.0 / math.sqrt(2.0 * math.pi)
LOG_TWO_OVER_ROOT_TWO_PI = math.log(TWO_OVER_ROOT_TWO_PI)
_FAR = 36.0  # from here on exp(z^2/2) comes near the largest number
HAZARD_AT_0 = math.sqrt(2.0 / math.pi)  # phi(0)/Phi(0)
CURVATURE = 1.0 - 2.0 / math.pi  # of z^2/2 + log Phi(z) at 0; greater for z > 0
TWO_SIDED, ONE_SIDED = 0.25, 0.75  # how the evidence of a pair is shared between its two forms
LOG_SHARE = -math.log(TWO_SIDED)
MOST_GAIN = math.log(TWO_SIDED + 4.0 * ONE_SIDED)  # the one-sided form is at most 4 times the two-sided one
_CLEAR = 3.0  # where both z of `one_sided_gain` are at least this, its gain is at least …
_HAZARD = TWO_OVER_ROOT_TWO_PI * math.exp(-0.5 * _CLEAR * _CLEAR) / (1.0 + math.erf(_CLEAR * ROOT_HALF))
_GAIN = 2.0 * math.log1p(math.erf(_CLEAR * ROOT_HALF)) - _HAZARD * _HAZARD / (2.0 * CURVATURE)
USUAL_GAIN = math.log(TWO_SIDED + ONE_SIDED * math.exp(_GAIN)) - 1e-12  # … and the evidence that much more

LOG_PI = math.log(math.pi)
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
LOG_HALF_PI = math.log(0.5 * math.pi)
HIGH = 12.0  # from here on five terms of Stirling's series are exact to rounding
_MANY = 16.0  # … and of the series between Gamma's half-integers
UNKNOWN = -1.0  # a regret not worked out yet; none is negative
THIRD = 1.0 / 3.0


# --- sums -------------------------------------------------------------------------------------------------------------


@inner
def log_twice_phi(z: float) -> float:
    """Return log(2 Phi(z)); below -5 by the first terms of its expansion."""
    if z > -5.0:
        return math.log1p(math.erf(z * ROOT_HALF))
    return log_tail(z) - 0.5 * z * z


@inner
def log_tail(z: float) -> float:
    """Return log(2 Phi(z)) + z^2/2 for z <= -5 by an even number of terms of its expansion, which is less."""
    return LOG_TWO_OVER_ROOT_TWO_PI - math.log(-z / (1.0 + tail_series(z)))


@inner
def tail_series(z: float) -> float:
    """Return -z Phi(z)/phi(z) - 1, for z <= -5."""
    inverse = 1.0 / (z * z)
    return inverse * (-1.0 + inverse * (3.0 - 15.0 * inverse))


@inner
def row_evidence(z: float, penalty: float) -> float:
    """For "this row holds (or fails) by more than 0": the half-normal mixture at z = sum/sqrt(variance (n + rho))."""
    if z <= -5.0:  # where z^2/2 would cancel
        return log_tail(z) - penalty
    return 0.5 * z * z - penalty + log_twice_phi(z)


@inner
def row_e_value(z: float, fall: float) -> float:
    """Return exp of `row_evidence`, where fall = exp(-penalty); +inf where it is too large for a number."""
    if z <= -5.0:
        return fall * TWO_OVER_ROOT_TWO_PI * (1.0 + tail_series(z)) / -z
    return fall * math.exp(0.5 * z * z) * (1.0 + math.erf(z * ROOT_HALF)) if z < _FAR else math.inf


@inner
def is_apart(lead: float, first: float, second: float, required: float) -> bool:
    """Does a lead of one arm over another in one coordinate reach the evidence `required` (with both penalties in it)?

    `first` and `second` are the 1/q of the two arms, in any order. The e-value is 1/4 of the two-sided form, lead^2
    /(2 (1/q_i + 1/q_j)), and 3/4 of the one-sided one, which is worked out only where it may tip the scales.
    """
    if lead <= 0.0:
        return False
    surplus = 0.5 * lead * lead / (first + second) - required
    if surplus >= LOG_SHARE:
        return True
    if surplus < -MOST_GAIN:
        return False
    total = _CLEAR * (first + second)
    if surplus >= -USUAL_GAIN and lead * lead * min(first, second) >= total * total:
        return True
    return surplus + math.log(TWO_SIDED + ONE_SIDED * math.exp(one_sided_gain(lead, first, second))) >= 0.0


@inner
def one_sided_gain(lead: float, first: float, second: float) -> float:
    """A lower bound of log(one-sided form / two-sided form) of a lead > 0; -inf where the counts are too unequal.

    The one-sided form is the least value, over common means x, of the product of two half-normal mixtures. It is
    bounded from its value and slope at the x that minimises the two-sided form, by its convexity between the two means.
    """
    root_first, root_second = math.sqrt(first), math.sqrt(second)
    if HAZARD_AT_0 * second > lead * root_first or HAZARD_AT_0 * first > lead * root_second:
        return -math.inf  # the least value may lie outside the two means
    total = first + second
    z, y = lead * root_first / total, lead * root_second / total
    log_z, log_y = log_twice_phi(z), log_twice_phi(y)
    slope = _hazard(z, log_z) / root_first - _hazard(y, log_y) / root_second
    return log_z + log_y - slope * slope * first * second / (2.0 * CURVATURE * total)


@inner
def _hazard(z: float, log_twice: float) -> float:
    """Return phi(z)/Phi(z)."""
    return math.exp(LOG_TWO_OVER_ROOT_TWO_PI - 0.5 * z * z - log_twice)


@inner
def lead_required(first: float, second: float, required: float) -> float:
    """Return the least lead that `is_apart`, by bisection, rounded up."""
    total = first + second
    low = math.sqrt(2.0 * total * max(0.0, required - MOST_GAIN))
    high = math.sqrt(2.0 * total * (required + LOG_SHARE)) * (1.0 + 1e-12)
    for _ in range(40):
        middle = 0.5 * (low + high)
        if is_apart(middle, first, second, required):
            high = middle
        else:
            low = middle
    return high


@inner
def log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b)) without overflow."""
    high, low = max(a, b), min(a, b)
    if low == -math.inf or high == math.inf or low - high < LOST:
        return high
    return high + math.log1p(math.exp(low - high))


# --- rates ------------------------------------------------------------------------------------------------------------


@inner
def log_gamma(z: float) -> float:
    """Return log Gamma(z) for z > 0, by Stirling's series: the same digits with and without the compiler."""
    product = 1.0
    while z < HIGH:
        product *= z
        z += 1.0
    value = (z - 0.5) * math.log(z) - z + HALF_LOG_TWO_PI + _stirling(z)
    return value if product == 1.0 else value - math.log(product)


@inner
def _stirling(z: float) -> float:
    """Return log Gamma(z) - (z - 1/2) log z + z - log(2 pi)/2."""
    inverse = 1.0 / z
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))


@inner
def _half_stirling(inverse: float) -> float:
    """Return log Gamma(z + 1/2) - z log z + z - log(2 pi)/2 for z = 1/inverse."""
    square = inverse * inverse
    rest = 31 / 40320 - square * (127 / 215040 - square * 511 / 608256)
    return -inverse * (1 / 24 - square * (7 / 2880 - square * rest))


@inner
def usual_regret(n: float) -> float:
    """Return the regret of n outcomes, but for what a rate near 0 or 1 changes."""
    return 0.5 * (math.log(n) + LOG_HALF_PI) + _stirling(n) if n >= _MANY else 0.0


@aside
def regret(rate: float, n: float, usual: float) -> float:
    """Return the cost of not knowing the rate: log of its likelihood of n outcomes over the Beta mixture."""
    high, low = n * rate, n * (1.0 - rate)
    if min(high, low) < _MANY:
        return _regret_of_few(rate, n)
    both = 1.0 / (high * low)
    return usual - _half_stirling(low * both) - _half_stirling(high * both)


@aside
def _regret_of_few(rate: float, n: float) -> float:
    high, low = n * rate, n * (1.0 - rate)
    mixed = log_gamma(high + 0.5) + log_gamma(low + 0.5) - log_gamma(n + 1.0) - LOG_PI
    return n * (_weighted(rate, rate) + _weighted(1.0 - rate, 1.0 - rate)) - mixed


@inner
def regret_of(evidence: Any, i: int, c: int, n: float) -> float:
    """Return the regret of arm i, with n outcomes, in coordinate c; kept until its next result."""
    if evidence.regret[i, c] == UNKNOWN:
        evidence.regret[i, c] = regret(evidence.rate[i, c], n, usual_regret(n))
    return float(evidence.regret[i, c])


@inner
def least_regrets(rho: float, log_rho: float, total: float) -> float:
    """No more than the regrets of two arms less their penalties, where log_rho = log(pi rho/2), total = 1/n + 1/m.

    A regret is at least log(pi n/2)/2: Gamma(s + 1/2) <= sqrt(2 pi) (s/e)^s and Gamma(n + 1) >= sqrt(2 pi n) (n/e)^n.
    A penalty is log((n + rho)/rho)/2 = (log(n/rho) + log(1 + rho/n))/2, where log(1 + x) <= x.
    """
    return log_rho - 0.5 * rho * total


@inner
def is_rate_apart(first: float, n: float, second: float, m: float, required: float) -> bool:
    """Does `rate_evidence` reach what is required? Its logarithms are worked out only where bounds of it do not tell.

    KL(a, p) is the integral of (a - t) g(t) over t from p to a, where g(t) = 1/(t (1 - t)) is convex. The weights a - t
    add up to (a - p)^2/2 and have their mean at (2 p + a)/3: so it is at least that times g there (Jensen), and at most
    that times (2 g(p) + g(a))/3 (the chord).
    """
    if first == second:
        return False
    pooled = (n * first + m * second) / (n + m)
    of_first = 0.5 * n * (first - pooled) * (first - pooled)
    of_second = 0.5 * m * (second - pooled) * (second - pooled)
    a, b = _variance(THIRD * (2.0 * pooled + first)), _variance(THIRD * (2.0 * pooled + second))
    if of_first * b + of_second * a >= SURELY * required * a * b:
        return True
    a, b, p = _variance(first), _variance(second), _variance(pooled)
    chords = 2.0 * (of_first + of_second) * a * b + (of_first * b + of_second * a) * p
    if SURELY * chords < 3.0 * required * a * b * p:
        return False
    return rate_evidence(first, n, second, m) >= required


@inner
def _variance(rate: float) -> float:
    return rate * (1.0 - rate)


@aside
def rate_evidence(first: float, n: float, second: float, m: float) -> float:
    """Return log of the likelihood at both arms' own rates over that at the pooled rate, before the regrets."""
    pooled = (n * first + m * second) / (n + m)
    return n * _divergence(first, pooled) + m * _divergence(second, pooled)


@inner
def _divergence(rate: float, other: float) -> float:
    """Return Kullback and Leibler's divergence between laws on 0 and 1."""
    return _weighted(rate, rate / other) + _weighted(1.0 - rate, (1.0 - rate) / (1.0 - other))


@inner
def _weighted(share: float, rate: float) -> float:
    """Return share * log(rate), and 0 where the share is 0."""
    return share * math.log(rate) if share > 0.0 else 0.0
