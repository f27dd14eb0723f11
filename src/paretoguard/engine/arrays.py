"""A problem in engine units: what a kernel knows of it, and the bets on rows with values in a range.

In engine units larger is better in every coordinate and every noisy coordinate is 1-sub-Gaussian, so distances are
counted in standard deviations; a coordinate whose scale is to be learnt keeps the user's unit. Coordinates that carry
noise come first, exact ones (a price, a size) last; in each of the two parts, guarded ones last.

Bets are e-values for a row over one coordinate with values in a range, sharper than sub-Gaussian sums. In the range
[0, 1], with the null "the mean is at most r": for each p > r the product over results x of 1 + l (x - r),
l = (p - r)/(r (1 - r)), is a supermartingale, and positive. On 0 and 1 it is the likelihood ratio of p against r; on
values in between it gains from their small variance. Averaged over a grid of p; docs/guarantees.md proves it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.geometry.polyhedron import Polyhedron
from paretoguard.numeric import Bytes, Floats, Integers

GRID = 18  # distances of p from r, geometrically from the farthest …
FARTHEST = 0.98  # … of the way from r to 1 …
NEAREST = 0.05  # … to this share of r or 1 - r, whichever is less
SHARPER = 0.2  # on 0 and 1, used where r (1 - r) is below this; at 1/4 the sub-Gaussian form is as good
MOST_INTERPRETED = 200  # arms
LOST = -40.0  # logarithm of what rounding loses beside 1
HOLDS, FAILS = 0, 1  # the two sides of a row


class Bets(NamedTuple):
    """Bets on the results of every arm; each result multiplies a stake by 1 + slope * (value - limit)."""

    first: Integers  # [m, 2] of each row and side: the first of its GRID bets, or -1
    coordinate: Integers  # [B]
    limit: Floats  # [B]
    slope: Floats  # [B]
    low: Floats  # [B] on 0 and 1: the logarithm of what a result at the low end makes of 1 …
    step: Floats  # [B] … and how much more one at the high end does; elsewhere 0


class Ranges(NamedTuple):
    """The noisy coordinates with values in a range, 2 wide in engine units."""

    least: Floats  # [noisy] the least value; -inf without a range
    binary: NDArray[bool_]  # [noisy] are the ends of the range the only values?


class ProblemArrays(NamedTuple):
    """The engine's view of a problem with K arms, d objectives (the first `noisy` of them noisy) and m + e rows.

    Row l of the m noisy rows reads: region.A[l] · x[:noisy] + exact_part[l] · x[noisy:] <= region.b[l], with
    region.A[l] of unit norm. The e rows that touch exact coordinates only read:
    exact_A · x[noisy:] <= exact_b; they are not rescaled, so that comparing them is exact.
    """

    arms: int
    objectives: int
    noisy: int
    compared: int  # of the noisy ones the first so many count in dominance; the others are there for constraints
    compared_exact: int  # of the exact ones
    order: Integers  # [d] engine coordinate -> position of the objective in the user's list
    scale: Floats  # [d] engine value = user's value * scale (sign / sigma; only the sign where exact or learnt)
    learnt: Bytes  # [noisy] 1 where the scale of the noise is to be learnt from the results
    region: Polyhedron  # the noisy rows over the noisy coordinates
    exact_part: Floats  # [m, d - noisy]
    exact_A: Floats  # [e, d - noisy]
    exact_b: Floats  # [e]
    tolerance: Floats  # [d] how far a returned arm may be beaten in every objective; 0 = not at all
    row_tolerance: Floats  # [m] how far a returned arm may violate a noisy row, in its unit; 0 = not at all
    exact_row_tolerance: Floats  # [e]
    row_sigma: Floats  # [m] sub-Gaussian scale of the noise along each noisy row
    row_learnt: Bytes  # [m] 1 for a row over a coordinate whose scale is learnt
    ranges: Ranges  # of the noisy coordinates
    bets: Bets  # e-values of rows over one coordinate with values in a range
    needed: Bytes  # [m] 0 for a noisy row that the others imply
    row_group: Integers  # [m] needed rows that share an objective have the same number; -1: not needed
    row_groups: int  # how many numbers there are; 0 where groups are not known to be independent
    correlation: Floats  # [noisy, noisy] where all are Gaussian of known covariance, or independent; else [0, 0]
    independent: bool  # were the noisy objectives declared independent?
    gaussian: bool  # are they Gaussian with a known covariance?
    sigma_u: float  # sub-Gaussian norm of the noise vector (spec: depends on the declared dependence)

    @property
    def is_large(self) -> bool:
        """True if a single call may compare so many pairs of arms that it is not to be interpreted."""
        return self.arms > MOST_INTERPRETED


def bets(A: Floats, b: Floats, exact_part: Floats, row_tolerance: Floats, ranges: Ranges) -> Bets:
    """Return the bets on each row that they make sharper."""
    first = np.full((len(A), 2), -1, dtype=int64)
    made: list[tuple[int, float, float]] = []
    for row in range(len(A)):
        if np.count_nonzero(A[row]) != 1 or np.any(exact_part[row] != 0):
            continue
        c = int(np.argmax(A[row] != 0))
        sides = []
        for side, slop in ((HOLDS, row_tolerance[row]), (FAILS, 0.0)):
            limit = float(A[row, c] * (b[row] + slop))
            falls = bool(A[row, c] > 0) == (side == HOLDS)  # "x <= limit" holds: small values speak for it
            share = float(limit - ranges.least[c]) / 2.0  # in the range [0, 1]
            sides.append((limit, 1.0 - share if falls else share, falls))
        if all(_is_sharper(r, bool(ranges.binary[c])) for _, r, _ in sides):
            for side, (limit, r, falls) in enumerate(sides):
                first[row, side] = len(made)
                made += [(c, limit, -slope if falls else slope) for slope in _slopes(r)]
    coordinate = np.array([bet[0] for bet in made], dtype=int64)
    limits, slopes = np.array([bet[1] for bet in made]), np.array([bet[2] for bet in made])
    is_binary = ranges.binary[coordinate]
    least = np.where(is_binary, ranges.least[coordinate], 0.0)
    low, high = (np.log1p(np.where(is_binary, slopes * (end - limits), 0.0)) for end in (least, least + 2.0))
    return Bets(first, coordinate, limits, slopes, low, high - low)


def _is_sharper(r: float, is_binary: bool) -> bool:
    return bool(math.isfinite(r) and 1e-9 < r < 1.0 - 1e-9 and (not is_binary or r * (1.0 - r) < SHARPER))


def _slopes(r: float) -> list[float]:
    """Return by what each bet grows for a value in engine units: l/2, l = (p - r)/(r (1 - r)), as a range is 2 wide."""
    nearest = NEAREST * min(r, 1.0 - r) / (1.0 - r)
    shares = FARTHEST * (nearest / FARTHEST) ** (np.arange(GRID) / (GRID - 1))  # of the way from r to 1
    return [0.5 * float(share) / r for share in shares]


@inner
def bet_evidence(growth: Floats, first: int, n: float) -> float:
    """Return the log of the average of GRID bets from `first` on after n results, given their log growth a result."""
    best = -math.inf
    for g in range(GRID):
        best = max(best, n * growth[first + g])
    total = 0.0
    for g in range(GRID):
        away = n * growth[first + g] - best
        if away > LOST:
            total += math.exp(away)
    return best + math.log(total / GRID)
