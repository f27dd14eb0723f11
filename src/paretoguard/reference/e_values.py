"""Logarithms of e-values, from the definitions in docs/guarantees.md (the sections are named)."""

import math
from collections.abc import Iterable

from scipy.special import betaln, erfcx

TWO_SIDED, ONE_SIDED = 0.25, 0.75
HAZARD_AT_0 = math.sqrt(2.0 / math.pi)
CURVATURE = 1.0 - 2.0 / math.pi


def log_mean(values: Iterable[float]) -> float:
    """log of the mean of exp(values)."""
    given = list(values)
    most = max(given)
    if math.isinf(most):
        return most
    return most + math.log(math.fsum(math.exp(value - most) for value in given) / len(given))


def half_normal(z: float) -> float:
    """z²/2 + log 2Φ(z): the one-sided mixture, its penalty still to go (section 2)."""
    if z < 0.0:
        scaled = float(erfcx(-z * math.sqrt(0.5)))  # 2Φ(z) exp(z²/2)
        return math.log(scaled) if scaled > 0.0 else -math.inf
    return 0.5 * z * z + math.log1p(math.erf(z * math.sqrt(0.5)))


def lead(ahead: float, first: float, second: float) -> float:
    """That one mean is above another, given by how much it is and both 1/q; penalties still to go (section 4)."""
    if ahead <= 0.0:
        return -math.inf
    two_sided = 0.5 * ahead * ahead / (first + second)
    return two_sided + math.log(TWO_SIDED + ONE_SIDED * math.exp(_gain(ahead, first, second)))


def _gain(ahead: float, first: float, second: float) -> float:
    """log of (a lower bound of) the one-sided form over the two-sided one; -inf where there is no bound."""
    if HAZARD_AT_0 * second > ahead * math.sqrt(first) or HAZARD_AT_0 * first > ahead * math.sqrt(second):
        return -math.inf
    total = first + second
    z, y = ahead * math.sqrt(first) / total, ahead * math.sqrt(second) / total
    slope = _hazard(z) / math.sqrt(first) - _hazard(y) / math.sqrt(second)
    at_two_sided = math.log1p(math.erf(z * math.sqrt(0.5))) + math.log1p(math.erf(y * math.sqrt(0.5)))
    return at_two_sided - slope * slope / (2.0 * CURVATURE * (1.0 / first + 1.0 / second))


def _hazard(z: float) -> float:
    """φ(z)/Φ(z)."""
    return HAZARD_AT_0 / float(erfcx(-z * math.sqrt(0.5)))


def rates(first: int, n: int, second: int, m: int) -> float:
    """That two rates differ: Beta mixtures of both arms over the likelihood at the pooled rate (section 4)."""
    total, both = first + second, n + m
    pooled = _times_log(total, total / both) + _times_log(both - total, (both - total) / both)
    return _mixture(first, n) + _mixture(second, m) - pooled


def _mixture(successes: int, n: int) -> float:
    return float(betaln(successes + 0.5, n - successes + 0.5)) - math.log(math.pi)


def _times_log(count: int, rate: float) -> float:
    return count * math.log(rate) if count else 0.0
