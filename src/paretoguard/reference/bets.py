"""Bets on values in a range [low, high], of which only the share (value - low)/(high - low) matters.

Against "the mean share is at most r", a value with share x multiplies each stake by 1 + slope (x - r).
"""

from dataclasses import dataclass

import numpy as np
from numpy import float64
from numpy.typing import NDArray

GRID = 18
FARTHEST, NEAREST = 0.98, 0.05
SHARPER = 0.2
EDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Bet:
    """The stakes for one side of a row; shares are turned round where small values speak for it."""

    place: int  # of the objective
    low: float
    high: float
    limit: float  # r
    is_turned: bool
    slopes: NDArray[float64]  # [GRID]

    def gain(self, value: float) -> NDArray[float64]:
        """By what a value in the user's units multiplies each stake, as a logarithm."""
        share = (value - self.low) / (self.high - self.low)
        ahead = (1.0 - share if self.is_turned else share) - self.limit
        return np.asarray(np.log1p(self.slopes * ahead), dtype=float64)


def bets_on(
    place: int, support: tuple[float, float], is_binary: bool, factor: float, bound: float, tolerance: float
) -> tuple[Bet, Bet] | None:
    """Bets that factor * value <= bound holds, up to the tolerance, and that it fails; None where they gain nothing.

    Everything is in the user's units.
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


def _slopes(limit: float) -> NDArray[float64]:
    """(p - r)/(r (1 - r)) for p between r and 1, geometrically from the farthest to the nearest."""
    nearest = NEAREST * min(limit, 1.0 - limit) / (1.0 - limit)
    way = FARTHEST * (nearest / FARTHEST) ** (np.arange(GRID) / (GRID - 1))  # from r to 1
    return np.asarray(way / limit, dtype=float64)
