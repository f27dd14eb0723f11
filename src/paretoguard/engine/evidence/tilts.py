"""E-values for a row over one objective with values in a range: sharper than sub-Gaussian ones near its ends.

In the range [0, 1], with the null "the mean is at most r": for each p > r the product over results x of
exp(theta x) (1 - p)/(1 - r), theta = log(p (1 - r)/(r (1 - p))), is a supermartingale, since exp is convex. For a
Bernoulli objective it is the likelihood ratio of p against r. Averaged over a grid of p; docs/guarantees.md proves it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.engine.jit import inner
from paretoguard.engine.space import Space

GRID = 18  # distances of p from r, each 1/sqrt(2) of the one before
SHARPER = 0.2  # used where r (1 - r) is below this; at 1/4 the sub-Gaussian form is as good
HOLDS, FAILS = 0, 1


class Tilts(NamedTuple):
    """For each row and side: the exponents theta and what each result costs, log((1 - p)/(1 - r))."""

    used: NDArray[np.uint8]  # [m]
    place: NDArray[np.int64]  # [m] the coordinate of the row
    flipped: NDArray[np.uint8]  # [m, 2] 1 where large values are evidence against the claim
    theta: NDArray[float64]  # [m, 2, GRID]
    cost: NDArray[float64]  # [m, 2, GRID]


def tilts(space: Space) -> Tilts:
    """The grid of each row that can be had sharper than sub-Gaussian."""
    A, b = space.region.A, space.region.b
    m = A.shape[0]
    made = Tilts(
        np.zeros(m, dtype=np.uint8),
        np.zeros(m, dtype=np.int64),
        np.zeros((m, 2), dtype=np.uint8),
        np.zeros((m, 2, GRID)),
        np.zeros((m, 2, GRID)),
    )
    for row in range(m):
        if np.count_nonzero(A[row]) != 1 or np.any(space.exact_part[row] != 0):
            continue
        c = int(np.argmax(A[row] != 0))
        for side, slop in ((HOLDS, space.row_tolerance[row]), (FAILS, 0.0)):
            upper = A[row, c] > 0  # x <= bound, else x >= bound
            bound = (A[row, c] * (b[row] + slop) - space.least[c]) / 2.0  # in the range [0, 1]
            flip = upper == (side == HOLDS)  # "x <= bound" holds: small values speak for it
            r = 1.0 - bound if flip else bound
            if not (math.isfinite(r) and 1e-9 < r < 1.0 - 1e-9 and r * (1.0 - r) < SHARPER):
                break
            made.flipped[row, side] = flip
            for g in range(GRID):
                p = r + (1.0 - r) * 0.98 * 2.0 ** (-0.5 * g)
                made.theta[row, side, g] = math.log(p * (1.0 - r) / (r * (1.0 - p)))
                made.cost[row, side, g] = math.log((1.0 - p) / (1.0 - r))
        else:
            made.used[row], made.place[row] = 1, c
    return made


@inner
def tilt_evidence(made: Tilts, space: Space, mean: float, n: float, row: int, side: int) -> float:
    """log of the average e-value that a row holds (or fails), given the mean of its coordinate over n results."""
    share = 0.5 * (mean - space.least[made.place[row]])
    total = n * (1.0 - share if made.flipped[row, side] == 1 else share)
    best = -math.inf
    for g in range(made.theta.shape[2]):
        best = max(best, made.theta[row, side, g] * total + made.cost[row, side, g] * n)
    sum_of = 0.0
    for g in range(made.theta.shape[2]):
        sum_of += math.exp(made.theta[row, side, g] * total + made.cost[row, side, g] * n - best)
    return best + math.log(sum_of / made.theta.shape[2])
