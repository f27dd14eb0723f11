"""`practical`, `theorem` and `lil`: a difference against a width, a distance to the constraints against a bar."""

import math
from abc import abstractmethod

from scipy.optimize import minimize_scalar
from scipy.special import zeta

from paretoguard.reference.evidence import Evidence, Moments
from paretoguard.reference.units import Units

ALPHA = 2.01
K1 = 1.0 + 1.0 / (ALPHA - 1.0) + 1e-9


class Widths(Evidence):
    """Claims of the form: estimate >= width."""

    @abstractmethod
    def width(self, one: Moments, other: Moments) -> float:
        """Return the width of the difference of two arms, the same in every coordinate."""

    @abstractmethod
    def is_far(self, count: int, distance: float) -> bool:
        """Return whether this distance to the border of the constraints is enough."""

    def is_feasible(self, arm: Moments) -> bool:
        """By the nearest row, up to its tolerance."""
        nearest = min((arm.slack(row) + row.tolerance for row in self.units.rows), default=math.inf)
        return self.is_far(arm.count, nearest)

    def is_infeasible(self, arm: Moments) -> bool:
        return self.is_far(arm.count, arm.outside())

    def is_below(self, one: Moments, other: Moments) -> bool:
        width = self.width(one, other)
        return all(other.means[c] - one.means[c] >= width for c in self.units.compared)

    def is_ahead(self, one: Moments, other: Moments) -> bool:
        width = self.width(one, other)
        noisy = self.units.noisy
        return any(one.means[c] - other.means[c] + noisy[c].tolerance >= width for c in self.units.compared)


class Practical(Widths):
    """f = g = log(max(1, log t)/delta), w = sqrt(2f (1/n + 1/m)), sigma_u = 1."""

    def level(self) -> float:
        return math.log(max(1.0, math.log(max(self.results, 1))) / self.delta)

    def width(self, one: Moments, other: Moments) -> float:
        return math.sqrt(2.0 * self.level()) * math.sqrt(1.0 / one.count + 1.0 / other.count)

    def is_far(self, count: int, distance: float) -> bool:
        return count * distance * distance / 2.0 >= self.level()


class Theorem(Widths):
    """f = log(4 k1 K d t^alpha/delta), g = 4 log(4 k1 K 5^d t^alpha/delta), w = sqrt(2f/n) + sqrt(2f/m).

    sigma_u is as declared.
    """

    def __init__(self, units: Units, delta: float) -> None:
        super().__init__(units, delta)
        self.base = math.log(4.0 * K1 * units.arms / delta)
        self.objectives = len(units.noisy) + len(units.exact)

    def growth(self) -> float:
        """Return log t^alpha."""
        return ALPHA * math.log(max(self.results, 1))

    def width(self, one: Moments, other: Moments) -> float:
        f = self.base + math.log(self.objectives) + self.growth()
        return math.sqrt(2.0 * f) * (math.sqrt(1.0 / one.count) + math.sqrt(1.0 / other.count))

    def is_far(self, count: int, distance: float) -> bool:
        g = 4.0 * (self.base + self.objectives * math.log(5.0) + self.growth())
        return count * distance * distance / (2.0 * self.units.dependence.norm**2) >= g


class Lil(Widths):
    """Thresholds of Kaufmann and Koolen, with r(n) = 2 log(4 + log n)."""

    def __init__(self, units: Units, delta: float) -> None:
        super().__init__(units, delta)
        K, d = units.arms, max(len(units.noisy), 1)
        self.pair = 2.0 * threshold(0.5 * math.log(max(K * (K - 1), 1) * d / delta))
        if units.dependence.is_independent:
            self.bar, self.times, self.norm = d * threshold(math.log(2 * K / delta) / d), d, 1.0
        else:
            self.bar, self.times, self.norm = threshold(math.log(2 * K * d / delta)), 1, math.sqrt(d)

    def width(self, one: Moments, other: Moments) -> float:
        """Return sqrt(2B (1/n + 1/m)), B = 2 C_G(x/2) + r(n) + r(m)."""
        needed = self.pair + growth(one.count) + growth(other.count)
        return math.sqrt(2.0 * needed * (1.0 / one.count + 1.0 / other.count))

    def is_far(self, count: int, distance: float) -> bool:
        """Of all coordinates at once if they are independent, else of each apart."""
        return 0.5 * count * (distance / self.norm) ** 2 >= self.bar + self.times * growth(count)


def growth(count: int) -> float:
    """Return r(n)."""
    return 2.0 * math.log(4.0 + math.log(count))


def threshold(x: float) -> float:
    """Return C_G(x), the least (g_G(l) + x)/l over 1/2 < l < 1; g_G(l) = 2l - 2l log(4l) + log zeta(2l) - log(1 - l)/2.

    >>> [round(threshold(x), 6) for x in (0.1, 1.0, 10.0)]
    [1.526728, 2.507095, 11.954646]
    """

    def value(u: float) -> float:
        part = 1.0 - math.exp(u)
        g = 2.0 * part - 2.0 * part * math.log(4.0 * part) + math.log(zeta(2.0 * part)) - 0.5 * u
        return float((g + x) / part)

    bounds = (-40.0, math.log(0.5) - 1e-12)
    return float(minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-9}).fun)
