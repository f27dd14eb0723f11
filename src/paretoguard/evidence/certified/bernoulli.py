"""E-values that compare two rates of 0-and-1 outcomes: sharper than sub-Gaussian ones where rates are small or large.

For one arm with s successes in n: the Beta(1/2, 1/2) mixture of the likelihood over the likelihood at its true rate is
a martingale started at 1. For two arms, their product at a common rate is least at the pooled one. `regret` is the
logarithm of the likelihood at the arm's own rate s/n over the mixture. docs/guarantees.md proves it.
"""

import math
from typing import Any

from paretoguard.compiler.jit import aside, inner
from paretoguard.evidence.certified.normal_mixture import SURELY

LOG_PI = math.log(math.pi)
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
LOG_HALF_PI = math.log(0.5 * math.pi)
HIGH = 12.0  # from here on five terms of Stirling's series are exact to rounding
_MANY = 16.0  # … and of the series between Gamma's half-integers
UNKNOWN = -1.0  # a regret not worked out yet; none is negative
THIRD = 1.0 / 3.0


@inner
def log_gamma(z: float) -> float:
    """log Gamma(z) for z > 0, by Stirling's series: the same digits with and without the compiler."""
    product = 1.0
    while z < HIGH:
        product *= z
        z += 1.0
    value = (z - 0.5) * math.log(z) - z + HALF_LOG_TWO_PI + _stirling(z)
    return value if product == 1.0 else value - math.log(product)


@inner
def _stirling(z: float) -> float:
    """log Gamma(z) - (z - 1/2) log z + z - log(2 pi)/2."""
    inverse = 1.0 / z
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))


@inner
def _half_stirling(inverse: float) -> float:
    """log Gamma(z + 1/2) - z log z + z - log(2 pi)/2 for z = 1/inverse."""
    square = inverse * inverse
    rest = 31 / 40320 - square * (127 / 215040 - square * 511 / 608256)
    return -inverse * (1 / 24 - square * (7 / 2880 - square * rest))


@inner
def usual_regret(n: float) -> float:
    """The regret of n outcomes, but for what a rate near 0 or 1 changes."""
    return 0.5 * (math.log(n) + LOG_HALF_PI) + _stirling(n) if n >= _MANY else 0.0


@aside
def regret(rate: float, n: float, usual: float) -> float:
    """What not knowing the rate costs: log of the likelihood at this rate of n outcomes over the Beta mixture."""
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
    """The regret of arm i, with n outcomes, in coordinate c: worked out when first asked for since its last result."""
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
    """log of the likelihood at the two arms' own rates over that at the pooled rate; the regrets are still to go."""
    pooled = (n * first + m * second) / (n + m)
    return n * _divergence(first, pooled) + m * _divergence(second, pooled)


@inner
def _divergence(rate: float, other: float) -> float:
    """Kullback and Leibler's, between laws on 0 and 1."""
    return _weighted(rate, rate / other) + _weighted(1.0 - rate, (1.0 - rate) / (1.0 - other))


@inner
def _weighted(share: float, rate: float) -> float:
    """share * log(rate), and 0 where the share is."""
    return share * math.log(rate) if share > 0.0 else 0.0
