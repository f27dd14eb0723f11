"""What every kind of evidence is asked: is an arm on a certain side of the constraints, is a dominance certain?"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from paretoguard.reference.moments import Moments, Where
from paretoguard.reference.units import Units

FEASIBLE, INFEASIBLE = "feasible", "infeasible"


class Evidence(ABC):
    """The present results and what is certain of them; exact objectives are judged here."""

    def __init__(self, units: Units, delta: float) -> None:
        self.units = units
        self.delta = delta
        self.results = 0
        self.arms = [Moments(units) for _ in range(units.arms)]
        self.most_together = 1  # arms of which it can be claimed that at least one dominates

    def take(self, arm: int, values: Sequence[float]) -> None:
        """One more result."""
        self.results += 1
        self.arms[arm].take(values)

    def side(self, i: int) -> str | None:
        """ "feasible" or "infeasible" where that is certain."""
        arm = self.arms[i]
        if arm.count == 0:
            return None
        where = arm.where()
        if where is Where.EXCLUDED:
            return INFEASIBLE
        if where is Where.INSIDE:
            return FEASIBLE if self.is_feasible(arm) else None
        return INFEASIBLE if self.is_infeasible(arm) else None

    def is_dominated(self, i: int, j: int) -> bool:
        """Is i certainly dominated by j?"""
        one, other = self.arms[i], self.arms[j]
        if one.count == 0 or other.count == 0 or any(x > y for x, y, _ in self._exact(one, other)):
            return False
        return self.is_below(one, other)

    def is_above(self, i: int, j: int) -> bool:
        """Does the mean of j dominate that of i, in every coordinate?"""
        one, other = self.arms[i], self.arms[j]
        if one.count == 0 or other.count == 0 or any(x > y for x, y, _ in self._exact(one, other)):
            return False
        return all(other.means[c] > one.means[c] for c in self.units.compared)

    def is_dominated_by_some(self, i: int, others: Sequence[int]) -> bool:
        """Is i certainly dominated by at least one of these arms, which are above it?"""
        return self.is_below_some(self.arms[i], [self.arms[j] for j in others])

    def is_undominated(self, i: int, j: int) -> bool:
        """Is i certainly not dominated by j, up to the tolerance?"""
        one, other = self.arms[i], self.arms[j]
        if one.count == 0 or other.count == 0:
            return False
        if any(x + slop > y for x, y, slop in self._exact(one, other)):
            return True
        return self.is_ahead(one, other)

    def _exact(self, one: Moments, other: Moments) -> list[tuple[float, float, float]]:
        """The exact values of two arms that count in dominance, with the tolerance of each."""
        both = zip(one.exact, other.exact, self.units.exact, strict=True)
        return [(x, y, coordinate.tolerance) for x, y, coordinate in both if coordinate.is_compared]

    @abstractmethod
    def is_feasible(self, arm: Moments) -> bool:
        """Of an arm whose mean lies inside."""

    @abstractmethod
    def is_infeasible(self, arm: Moments) -> bool:
        """Of an arm whose mean lies outside."""

    @abstractmethod
    def is_below(self, one: Moments, other: Moments) -> bool:
        """In every noisy coordinate."""

    def is_below_some(self, one: Moments, others: Sequence[Moments]) -> bool:
        """At least one of the others, in every noisy coordinate; for evidence of several arms together."""
        return False

    @abstractmethod
    def is_ahead(self, one: Moments, other: Moments) -> bool:
        """In some noisy coordinate, up to the tolerance."""
