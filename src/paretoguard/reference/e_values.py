"""Logarithms of e-values and the bets behind some, from the definitions in docs/guarantees.md (sections are named)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, erfcx

from paretoguard.numeric import Floats

TWO_SIDED, ONE_SIDED = 0.25, 0.75
HAZARD_AT_0 = math.sqrt(2.0 / math.pi)
CURVATURE = 1.0 - 2.0 / math.pi
SLOPES = 18  # stakes of a bet
FARTHEST, NEAREST = 0.98, 0.05
SHARPER = 0.2
EDGE = 1e-9


def log_mean(values: Iterable[float]) -> float:
    """Return the log of the mean of exp(values)."""
    given = list(values)
    most = max(given)
    if math.isinf(most):
        return most
    return most + math.log(math.fsum(math.exp(value - most) for value in given) / len(given))


def half_normal(z: float) -> float:
    """Return z²/2 + log 2Φ(z): the one-sided mixture before its penalty (section 2)."""
    if z < 0.0:
        scaled = float(erfcx(-z * math.sqrt(0.5)))  # 2Φ(z) exp(z²/2)
        return math.log(scaled) if scaled > 0.0 else -math.inf
    return 0.5 * z * z + math.log1p(math.erf(z * math.sqrt(0.5)))


def lead(ahead: float, first: float, second: float) -> float:
    """Return the e-value, before penalties, that a mean ahead by this much is larger, given both 1/q (section 4)."""
    if ahead <= 0.0:
        return -math.inf
    two_sided = 0.5 * ahead * ahead / (first + second)
    return two_sided + math.log(TWO_SIDED + ONE_SIDED * math.exp(_gain(ahead, first, second)))


def _gain(ahead: float, first: float, second: float) -> float:
    """Return the log of (a lower bound of) the one-sided form over the two-sided one; -inf if there is no bound."""
    if HAZARD_AT_0 * second > ahead * math.sqrt(first) or HAZARD_AT_0 * first > ahead * math.sqrt(second):
        return -math.inf
    total = first + second
    z, y = ahead * math.sqrt(first) / total, ahead * math.sqrt(second) / total
    slope = _hazard(z) / math.sqrt(first) - _hazard(y) / math.sqrt(second)
    at_two_sided = math.log1p(math.erf(z * math.sqrt(0.5))) + math.log1p(math.erf(y * math.sqrt(0.5)))
    return at_two_sided - slope * slope / (2.0 * CURVATURE * (1.0 / first + 1.0 / second))


def _hazard(z: float) -> float:
    """Return φ(z)/Φ(z)."""
    return HAZARD_AT_0 / float(erfcx(-z * math.sqrt(0.5)))


def rates(first: int, n: int, second: int, m: int) -> float:
    """Return the e-value that two rates differ: Beta mixtures over the likelihood at the pooled rate (section 4)."""
    total, both = first + second, n + m
    pooled = _times_log(total, total / both) + _times_log(both - total, (both - total) / both)
    return _mixture(first, n) + _mixture(second, m) - pooled


def _mixture(successes: int, n: int) -> float:
    return float(betaln(successes + 0.5, n - successes + 0.5)) - math.log(math.pi)


def _times_log(count: int, rate: float) -> float:
    return count * math.log(rate) if count else 0.0


@dataclass(frozen=True, eq=False)
class Bet:
    """The stakes for one side of a row, on values in [low, high].

    Only the share (value - low)/(high - low) matters, turned round if small values speak for this side. Against "the
    mean share is at most r", a value with share x multiplies each stake by 1 + slope (x - r).
    """

    place: int  # of the objective
    low: float
    high: float
    limit: float  # r
    is_turned: bool
    slopes: Floats  # [SLOPES]

    def gain(self, value: float) -> Floats:
        """Return by what a value in the user's units multiplies each stake, as a logarithm."""
        share = (value - self.low) / (self.high - self.low)
        ahead = (1.0 - share if self.is_turned else share) - self.limit
        return np.log1p(self.slopes * ahead)


def bets_on(
    place: int, support: tuple[float, float], is_binary: bool, factor: float, bound: float, tolerance: float
) -> tuple[Bet, Bet] | None:
    """Return bets that factor * value <= bound holds, up to the tolerance, and that it fails.

    Return None if they gain nothing. Everything is in the user's units.
    """
    low, high = support
    made = []
    for holds, slop in ((True, tolerance), (False, 0.0)):
        share = ((bound + slop) / factor - low) / (high - low)
        is_turned = (factor > 0.0) == holds
        limit = 1.0 - share if is_turned else share
        if not EDGE < limit < 1.0 - EDGE or (is_binary and limit * (1.0 - limit) >= SHARPER):
            return None
        made.append(Bet(place, low, high, limit, is_turned, _slopes(limit)))
    return made[0], made[1]


def _slopes(limit: float) -> Floats:
    """Return (p - r)/(r (1 - r)) for p between r and 1, geometrically from the farthest to the nearest."""
    nearest = NEAREST * min(limit, 1.0 - limit) / (1.0 - limit)
    way = FARTHEST * (nearest / FARTHEST) ** (np.arange(SLOPES) / (SLOPES - 1))  # from r to 1
    return np.asarray(way / limit)
