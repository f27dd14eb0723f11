"""`lil` and `glr`: thresholds from the deviation inequalities of Kaufmann and Koolen (2021) (finite-sample guarantee).

With C = C_G (`threshold`), `lil` grows as the law of the iterated logarithm asks. With r(N) = 2 log(4 + log N):

- pairs: w_ij = sqrt(2 B (1/N_i + 1/N_j)), B = 2 C(x/2) + r(N_i) + r(N_j), x = log(K (K-1) d / delta);
- constraints, independent objectives: g_i = d C(log(2K/delta)/d) + d r(N_i) with sigma_u = 1, otherwise
  g_i = C(log(2Kd/delta)) + r(N_i) with sigma_u = sqrt(d).

`glr` takes all means at once, by likelihood ratio; it is the evidence of Game-cPSI, for independent objectives. With
probability >= 1 - delta, at all times: sum_i N_i/2 |mean_i - truth_i|^2 <= h(t), where

    h(t) = 2 K d log(4 + log(t/K)) + K d C(log(1/delta)/(K d)).

So whatever holds for all means within that distance may be claimed. Stopping uses the distance to the nearest means
with another answer, and the sharper sum over arms of 2 d log(4 + log N_i) for the first term.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import eta_of
from paretoguard.engine.questions import Moment, moment, prepare, radius, ratio_bar, row_radius, weigh
from paretoguard.engine.state import State
from paretoguard.engine.view import View
from paretoguard.evidence.kind import Evidence, spread, use_widths
from paretoguard.numeric import Floats, floats


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


# --- lil --------------------------------------------------------------------------------------------------------------


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
            growth=floats(K),
        )


@prepare.register(LilLevels)
def _prepare(evidence: LilLevels, state: State, i: int) -> None:
    evidence.growth[i] = 2.0 * math.log(4.0 + math.log(max(state.counts[i], 1)))


@spread.register(LilLevels)
def _spread_lil(view: View, i: int, j: int) -> float:
    evidence, state = view.evidence, view.state
    required = evidence.pair_constant + evidence.growth[i] + evidence.growth[j]
    return math.sqrt(required * (state.inverse[i] + state.inverse[j]))


moment.register(LilLevels, lambda evidence, t: Moment(math.sqrt(2.0), evidence.row_constant))
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


# --- glr --------------------------------------------------------------------------------------------------------------


class GlrLevels(NamedTuple):
    """`glr` for one problem and one delta."""

    constant: float  # K d C_G(log(1/delta)/(K d))
    arms: int
    noisy: int
    sigma_u: float


@dataclass(frozen=True)
class Glr(Evidence):
    """Kaufmann and Koolen's deviation inequality for all means at once (finite-sample, independent objectives only)."""

    name: ClassVar[str] = "glr"
    guarantee: ClassVar[str] = "finite-sample"
    if_independent: ClassVar[bool] = True
    basis: ClassVar[str] = "a deviation inequality of Kaufmann and Koolen (2021) for all means at once, at all times"

    def fit(self, delta: float, problem: ProblemArrays) -> GlrLevels:
        size = problem.arms * max(problem.noisy, 1)
        return GlrLevels(size * threshold(math.log(1.0 / delta) / size), problem.arms, max(problem.noisy, 1), 1.0)


@moment.register(GlrLevels)
def _moment_glr(evidence: GlrLevels, t: int) -> Moment:
    size = evidence.arms * evidence.noisy
    level = evidence.constant + 2.0 * size * math.log(4.0 + math.log(max(1.0, t / evidence.arms)))
    return Moment(math.sqrt(2.0 * level), level)


spread.register(GlrLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(GlrLevels)


@inner
def needed(view: View) -> float:
    """Return what the weighted distance to another answer must exceed."""
    evidence = view.evidence
    growth = 0.0
    for i in range(evidence.arms):
        growth += math.log(4.0 + math.log(float(view.state.counts[i])))
    return evidence.constant + 2.0 * evidence.noisy * growth


@ratio_bar.register(GlrLevels)
def _ratio_bar(view: View) -> float:
    """Add up squares over objectives that are independent."""
    problem = view.problem
    return needed(view) if problem.independent or problem.noisy < 2 else math.inf
