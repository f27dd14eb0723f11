"""What is kept of the results of each arm: counts, sums, covariances, what bets have made of their stakes."""

import math
from collections.abc import Sequence
from enum import Enum

import numpy as np

from paretoguard.reference.region import distance
from paretoguard.reference.units import Row, Units


class Where(Enum):
    """Where the mean of an arm lies: up to half the tolerance inside, outside, or outside by its exact values alone."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    EXCLUDED = "excluded"


class Moments:
    """Of one arm."""

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
        """One more result, in the user's order and units."""
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
        """By how much the mean keeps a row."""
        left = row.bound
        for weight, value in zip((*row.exact, *row.weights), (*self.exact, *self.means), strict=True):
            left -= weight * value
        return left

    def where(self) -> Where:
        """Where the mean lies."""
        for row in self.units.exact_rows:
            used = 0.0
            for weight, value in zip(row.exact, self.exact, strict=True):  # `sum` rounds in another way
                used += weight * value
            if used - row.bound > 0.5 * row.tolerance:
                return Where.EXCLUDED
        if all(self.slack(row) >= -0.5 * row.tolerance for row in self.units.rows):
            return Where.INSIDE
        return Where.OUTSIDE if self.leaves_room() else Where.EXCLUDED

    def leaves_room(self) -> bool:
        """Can the noisy objectives keep the rows at all, the exact ones being what they are?"""
        if self._leaves_room is None:
            self._leaves_room = not any(any(row.exact) for row in self.units.rows) or self.outside() < math.inf
        return self._leaves_room

    def outside(self) -> float:
        """The distance from the mean to the constraints."""
        rows = self.units.rows
        return distance([row.weights for row in rows], [self.slack(row) for row in rows])
