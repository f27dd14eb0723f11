"""E-values that compare two rates of 0-and-1 outcomes: sharper than sub-Gaussian ones where rates are small or large.

For one arm with s successes in n: the Beta(1/2, 1/2) mixture of the likelihood over the likelihood at its true rate is
a martingale started at 1. For two arms, their product at a common rate is least at the pooled one. `regret` is the
logarithm of the likelihood at the arm's own rate s/n over the mixture. docs/guarantees.md proves it.
"""

import math

from paretoguard.engine.jit import aside, inner

LOG_PI = math.log(math.pi)
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
HIGH = 12.0  # from here on five terms of Stirling's series are exact to rounding


@inner
def log_gamma(z: float) -> float:
    """log Gamma(z) for z > 0, by Stirling's series: the same digits with and without the compiler."""
    product = 1.0
    while z < HIGH:
        product *= z
        z += 1.0
    inverse = 1.0 / z
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    value = (z - 0.5) * math.log(z) - z + HALF_LOG_TWO_PI + series
    return value if product == 1.0 else value - math.log(product)


@aside
def regret(rate: float, n: float) -> float:
    """What not knowing the rate costs: log of the likelihood at this rate of n outcomes over the Beta mixture."""
    high, low = n * rate, n * (1.0 - rate)
    mixed = log_gamma(high + 0.5) + log_gamma(low + 0.5) - log_gamma(n + 1.0) - LOG_PI
    return n * (_weighted(rate, rate) + _weighted(1.0 - rate, 1.0 - rate)) - mixed


@aside
def rate_evidence(first: float, n: float, second: float, m: float) -> float:
    """log of the likelihood at the two arms' own rates over that at the pooled rate; the regrets are still to go."""
    pooled = (n * first + m * second) / (n + m)
    of_first = _weighted(first, first) - _weighted(first, pooled) + _rest(first, first) - _rest(first, pooled)
    of_second = _weighted(second, second) - _weighted(second, pooled) + _rest(second, second) - _rest(second, pooled)
    return n * of_first + m * of_second


@inner
def _weighted(share: float, rate: float) -> float:
    """share * log(rate), and 0 where the share is."""
    return share * math.log(rate) if share > 0.0 else 0.0


@inner
def _rest(share: float, rate: float) -> float:
    return _weighted(1.0 - share, 1.0 - rate)
