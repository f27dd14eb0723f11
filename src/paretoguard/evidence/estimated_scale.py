"""Scales of the noise: those declared, or those that the results of an arm show (asymptotic).

An arm's own variance takes the place of the declared one, in each coordinate and along each row. Nothing is known of it
before LEAST_PULLS results, nor where they do not vary at all: the scale is then +inf, and nothing can be claimed.
"""

import math

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.state import State

LEAST_PULLS = 30
NEVER = 1e-9  # by how much evidence falls short where results do not vary: other arms are more urgent
NO_SPREAD = 1e-24  # a variance below this share of the squared mean is rounding
CANCELLED = 1e-14  # … and along a row, below this share of the variances that it sums


@inner
def too_early(n: int) -> float:
    """Return the evidence about an arm with n < LEAST_PULLS results: the fewer, the more urgent."""
    return -1e30 / (1.0 + n)


@inner
def pair_too_early(n: int, m: int) -> float:
    """Return the evidence about a pair with too few results; of equals, most urgent is the fewest in the other arm."""
    return too_early(min(n, m)) - 1e20 / (1.0 + max(n, m))


@inner
def variance(problem: ProblemArrays, state: State, i: int, c: int) -> float:
    """Return the variance of coordinate c of arm i, in engine units; +inf while nothing is known of it."""
    if state.covariance.shape[1] == 0 or problem.learnt[c] == 0:
        return 1.0
    found = state.covariance[i, c, c]
    known = state.counts[i] >= LEAST_PULLS and found > NO_SPREAD * state.means[i, c] * state.means[i, c]
    return float(found) if known else math.inf


@inner
def row_scale(problem: ProblemArrays, state: State, i: int, row: int) -> float:
    """Return the standard deviation along a noisy row of the constraints; +inf while nothing is known of it."""
    if state.covariance.shape[1] == 0 or problem.row_learnt[row] == 0:
        return float(problem.row_sigma[row])
    A = problem.region.A
    found, rounding = 0.0, 0.0
    for c in range(problem.noisy):
        a, mean, own = A[row, c], state.means[i, c], state.covariance[i, c, c]
        found += a * a * own
        rounding += a * a * (CANCELLED * own + NO_SPREAD * mean * mean)
        for k in range(c):
            found += 2.0 * a * A[row, k] * state.covariance[i, c, k]
    return math.sqrt(found) if state.counts[i] >= LEAST_PULLS and found > rounding else math.inf
