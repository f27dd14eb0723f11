"""What is kept of the results of each arm, and what every kind of evidence says of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from paretoguard.reference.units import Row, Units

FEASIBLE, INFEASIBLE = "feasible", "infeasible"
ROUNDING = 1e-12  # rows that clash by no more touch
EMPTY = 1e-9  # a residual that is none


class Moments:
    """The counts, sums and covariances of one arm's results, and what bets have made of their stakes."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self.count = 0
        self.sums = [0.0] * len(units.noisy)
        self.means = [0.0] * len(units.noisy)
        self.exact: tuple[float, ...] = ()
        self.covariance = np.zeros((len(units.noisy), len(units.noisy)))
        self.stakes = [[np.zeros(len(bet.slopes)) for bet in row.bets or ()] for row in units.rows]  # logarithms
        self._leaves_room: bool | None = None

    def take(self, values: Sequence[float]) -> None:
        """Add a result, in the user's order and units."""
        result = [values[one.place] * one.factor for one in self.units.noisy]
        self.count += 1
        if self.units.is_learning and self.count > 1:
            away = np.array(result) - np.array(self.means)
            share = (self.count - 2.0) / (self.count - 1.0)
            self.covariance = share * self.covariance + np.outer(away, away) / self.count
        for c, value in enumerate(result):
            self.sums[c] += value
            self.means[c] = self.sums[c] / self.count
        self.exact = tuple(values[one.place] * one.factor for one in self.units.exact)
        for row, stakes in zip(self.units.rows, self.stakes, strict=True):
            for side, bet in enumerate(row.bets or ()):
                stakes[side] += bet.gain(values[bet.place])

    def slack(self, row: Row) -> float:
        """Return by how much the mean keeps a row."""
        left = row.bound
        for weight, value in zip((*row.exact, *row.weights), (*self.exact, *self.means), strict=True):
            left -= weight * value
        return left

    def breaks_exact_row(self) -> bool:
        """Return whether a row over exact objectives alone is broken by more than half its tolerance."""
        for row in self.units.exact_rows:
            used = 0.0
            for weight, value in zip(row.exact, self.exact, strict=True):  # `sum` rounds in another way
                used += weight * value
            if used - row.bound > 0.5 * row.tolerance:
                return True
        return False

    def is_inside(self) -> bool:
        """Return whether the mean keeps every row, up to half its tolerance."""
        return all(self.slack(row) >= -0.5 * row.tolerance for row in self.units.rows)

    def leaves_room(self) -> bool:
        """Return whether the noisy objectives can keep the rows at all, the exact ones being what they are."""
        if self._leaves_room is None:
            self._leaves_room = not any(any(row.exact) for row in self.units.rows) or self.outside() < math.inf
        return self._leaves_room

    def outside(self) -> float:
        """Return the distance from the mean to the constraints."""
        rows = self.units.rows
        return distance([row.weights for row in rows], [self.slack(row) for row in rows])


def distance(A: Sequence[Sequence[float]], slacks: Sequence[float]) -> float:
    """Return how far a point with these slacks b - A x is from {x : A x <= b}; +inf if the set is empty.

    The least u with -A u >= -slack is read off the residual of a nonnegative least-squares problem (Lawson and Hanson's
    least-distance programming).

    >>> round(distance([[1.0, 0.0], [0.0, -1.0]], [-3.0, -4.0]), 9)
    5.0
    """
    short = -np.array(slacks) - ROUNDING * (1.0 + np.abs(slacks))
    size = float(short.max(initial=0.0))
    if size <= 0.0:
        return 0.0
    system = np.vstack([-np.array(A).T, short / size])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    residual = system @ nnls(system, goal)[0] - goal
    if float(np.linalg.norm(residual)) < EMPTY:
        return math.inf
    return size * float(np.linalg.norm(residual[:-1])) / abs(float(residual[-1]))


class Evidence(ABC):
    """The present results and what is certain of them; exact objectives are judged here."""

    def __init__(self, units: Units, delta: float) -> None:
        self.units = units
        self.delta = delta
        self.results = 0
        self.arms = [Moments(units) for _ in range(units.arms)]
        self.most_together = 1  # arms of which it can be claimed that at least one dominates

    def take(self, arm: int, values: Sequence[float]) -> None:
        """Add a result."""
        self.results += 1
        self.arms[arm].take(values)

    def side(self, i: int) -> str | None:
        """Return "feasible" or "infeasible" if that is certain."""
        arm = self.arms[i]
        if arm.count == 0:
            return None
        if arm.breaks_exact_row():
            return INFEASIBLE
        if arm.is_inside():
            return FEASIBLE if self.is_feasible(arm) else None
        return INFEASIBLE if not arm.leaves_room() or self.is_infeasible(arm) else None

    def is_dominated(self, i: int, j: int) -> bool:
        """Return whether j certainly dominates i."""
        return self._may_dominate(i, j) and self.is_below(self.arms[i], self.arms[j])

    def is_above(self, i: int, j: int) -> bool:
        """Return whether the mean of j is above that of i in every noisy coordinate, and as good in every exact one."""
        one, other = self.arms[i].means, self.arms[j].means
        return self._may_dominate(i, j) and all(other[c] > one[c] for c in self.units.compared)

    def is_undominated(self, i: int, j: int) -> bool:
        """Return whether j certainly does not dominate i, up to the tolerance."""
        one, other = self.arms[i], self.arms[j]
        if one.count == 0 or other.count == 0:
            return False
        return any(x + slop > y for x, y, slop in self._exact(i, j)) or self.is_ahead(one, other)

    def _may_dominate(self, i: int, j: int) -> bool:
        """Return whether both arms have results and i is better than j in no exact value."""
        has_results = self.arms[i].count > 0 and self.arms[j].count > 0
        return has_results and all(x <= y for x, y, _ in self._exact(i, j))

    def _exact(self, i: int, j: int) -> list[tuple[float, float, float]]:
        """Return the exact values of two arms that count in dominance, with the tolerance of each."""
        both = zip(self.arms[i].exact, self.arms[j].exact, self.units.exact, strict=True)
        return [(x, y, coordinate.tolerance) for x, y, coordinate in both if coordinate.is_compared]

    @abstractmethod
    def is_feasible(self, arm: Moments) -> bool:
        """Return whether an arm whose mean lies inside is certainly feasible."""

    @abstractmethod
    def is_infeasible(self, arm: Moments) -> bool:
        """Return whether an arm whose mean lies outside is certainly infeasible."""

    @abstractmethod
    def is_below(self, one: Moments, other: Moments) -> bool:
        """Return whether one arm is certainly below another in every noisy coordinate."""

    @abstractmethod
    def is_ahead(self, one: Moments, other: Moments) -> bool:
        """Return whether one arm is certainly above another in some noisy coordinate, up to the tolerance."""

    def is_dominated_by_some(self, i: int, others: Sequence[int]) -> bool:
        """Return whether i is certainly dominated by at least one of these arms, which are above it."""
        return False
