"""`lil`: thresholds that grow as the law of the iterated logarithm asks, after Kaufmann and Koolen (finite-sample).

With C = C_G and r(N) = 2 log(4 + log N):

- pairs: w_ij = sqrt(2 B (1/N_i + 1/N_j)), B = 2 C(x/2) + r(N_i) + r(N_j), x = log(K (K-1) d / delta);
- constraints, independent objectives: g_i = d C(log(2K/delta)/d) + d r(N_i) with sigma_u = 1, otherwise
  g_i = C(log(2Kd/delta)) + r(N_i) with sigma_u = sqrt(d).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import eta_of
from paretoguard.engine.questions import Moment, moment, prepare, radius, row_radius, weigh
from paretoguard.engine.state import State
from paretoguard.engine.view import View
from paretoguard.evidence.kind import Evidence
from paretoguard.evidence.widths import spread, use_widths
from paretoguard.numeric import Floats


def threshold(x: float) -> float:
    """C_G(x) = min over 1/2 < l <= 1 of (g_G(l) + x)/l, for x > 0.

    g_G(l) = 2l - 2l log(4l) + log zeta(2l) - log(1 - l)/2.

    >>> [round(threshold(x), 6) for x in (0.1, 1.0, 2.302585, 10.0)]
    [1.526728, 2.507095, 3.906276, 11.954646]
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def value(part: float) -> float:
        return float(
            (2 * part - 2 * part * math.log(4 * part) + math.log(zeta(2 * part)) - 0.5 * math.log(1 - part) + x) / part
        )

    # In terms of log(1 - l) the minimum is not squeezed against l = 1 as x grows.
    found = minimize_scalar(lambda u: value(1 - math.exp(u)), bounds=(-40.0, math.log(0.5) - 1e-12), method="bounded")
    return float(min(found.fun, value(0.5 * (1 + 1e-12))))


class LilLevels(NamedTuple):
    """`lil` for one problem and one delta; with what it keeps of each arm."""

    pair_constant: float  # 2 C(x/2)
    row_constant: float
    row_factor: float  # of r(N_i)
    limit_constant: float  # for the limits of all means together
    sigma_u: float
    growth: Floats  # [K] r(N_i)


@dataclass(frozen=True)
class Lil(Evidence):
    """Thresholds of Kaufmann and Koolen (2021) (finite-sample guarantee for sub-Gaussian noise)."""

    name: ClassVar[str] = "lil"
    guarantee: ClassVar[str] = "finite-sample"
    basis: ClassVar[str] = "deviation inequalities of Kaufmann and Koolen (2021), valid at all times at once"

    def fit(self, delta: float, problem: ProblemArrays) -> LilLevels:
        K, d = problem.arms, max(problem.noisy, 1)
        if problem.independent:
            row_constant, row_factor, sigma_u = d * threshold(math.log(2 * K / delta) / d), float(d), 1.0
        else:
            row_constant, row_factor, sigma_u = threshold(math.log(2 * K * d / delta)), 1.0, math.sqrt(d)
        return LilLevels(
            pair_constant=2.0 * threshold(0.5 * math.log(max(K * (K - 1), 1) * d / delta)),
            row_constant=row_constant,
            row_factor=row_factor,
            limit_constant=threshold(math.log(K * d / delta)),
            sigma_u=sigma_u,
            growth=np.zeros(K),
        )


@moment.register(LilLevels)
def _moment(evidence: LilLevels, t: int) -> Moment:
    return Moment(math.sqrt(2.0), evidence.row_constant)


@prepare.register(LilLevels)
def _prepare(evidence: LilLevels, state: State, i: int) -> None:
    evidence.growth[i] = 2.0 * math.log(4.0 + math.log(max(state.counts[i], 1)))


@spread.register(LilLevels)
def _spread(view: View, i: int, j: int) -> float:
    evidence, state = view.evidence, view.state
    required = evidence.pair_constant + evidence.growth[i] + evidence.growth[j]
    return math.sqrt(required * (state.inverse[i] + state.inverse[j]))


use_widths(LilLevels)


@weigh.register(LilLevels)
def _weigh(view: View, i: int) -> float:
    evidence, state = view.evidence, view.state
    away = eta_of(view.problem, state, i) / evidence.sigma_u
    return 0.5 * state.counts[i] * away * away - evidence.row_factor * evidence.growth[i]


@radius.register(LilLevels)
def _radius(view: View, i: int, c: int) -> float:
    evidence = view.evidence
    return math.sqrt(2.0 * (evidence.limit_constant + evidence.growth[i])) * view.state.root[i]


@row_radius.register(LilLevels)
def _row_radius(view: View, i: int, row: int) -> float:
    evidence = view.evidence
    required = evidence.row_constant + evidence.row_factor * evidence.growth[i]
    return evidence.sigma_u * math.sqrt(2.0 * required) * view.state.root[i]
