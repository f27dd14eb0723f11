"""`theorem` and `hanson-wright`: thresholds that prove e-cAPE delta-correct (finite-sample guarantee).

- `theorem`, the paper's Theorem: f(t) = log(4 k1 K d t^alpha / delta), g(t) = 4 log(4 k1 K 5^d t^alpha / delta),
  w_ij = beta_i + beta_j with beta_i = sqrt(2 f / N_i), alpha = 2.01 and k1 = 1 + 1/(alpha - 1) + 1e-9. The Theorem asks
  for any alpha > 2 and k1 > 1 + 1/(alpha - 1): the smallest that still leave room are taken. sigma_u follows the
  declared dependence.
- `hanson-wright`, with a sharper ball for Gaussian noise of known covariance. Pairs as above. Constraints: sigma_u^2 =
  lambda_max(R) and g = (sqrt(tr R/lambda_max) + sqrt(2 x))^2/2 with x = log(2 k1 K t^alpha/delta), where R is the
  correlation of the objectives: no factor 5^d, and no factor 4.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import Moment, moment
from paretoguard.errors import SettingsError
from paretoguard.evidence.kind import Evidence, spread, use_widths

ALPHA = 2.01
K1 = 1.0 + 1.0 / (ALPHA - 1.0) + 1e-9


class TheoremLevels(NamedTuple):
    """`theorem` or `hanson-wright` for one problem and one delta: they differ in the ball around a mean alone."""

    pair_constant: float  # log(4 k1 K d / delta)
    row_constant: float  # log(4 k1 K 5^d / delta); hanson-wright: log(2 k1 K / delta)
    size: float  # 0; hanson-wright: sqrt(tr R / lambda_max)
    sigma_u: float


@dataclass(frozen=True)
class Theorem(Evidence):
    """The paper's proven thresholds (finite-sample guarantee for sub-Gaussian noise)."""

    name: ClassVar[str] = "theorem"
    guarantee: ClassVar[str] = "finite-sample"
    any_order: ClassVar[bool] = True  # each arm is bounded apart from the others
    basis: ClassVar[str] = "the paper's Theorem (Kone, Kaufmann, Richert 2025)"

    def fit(self, delta: float, problem: ProblemArrays) -> TheoremLevels:
        base = math.log(4.0 * K1 * problem.arms / delta)
        d = problem.objectives
        return TheoremLevels(base + math.log(d), base + d * math.log(5.0), 0.0, problem.sigma_u)


@dataclass(frozen=True)
class HansonWright(Evidence):
    """The paper's thresholds for Gaussian noise of known covariance (finite-sample guarantee)."""

    name: ClassVar[str] = "hanson-wright"
    guarantee: ClassVar[str] = "finite-sample"
    any_order: ClassVar[bool] = True  # each arm is bounded apart from the others
    basis: ClassVar[str] = "the paper's Theorem, with the norm of a Gaussian vector of known covariance"

    def fit(self, delta: float, problem: ProblemArrays) -> TheoremLevels:
        if not problem.gaussian:
            raise SettingsError(
                "evidence 'hanson-wright' is for Gaussian noise of known covariance: declare every noisy objective "
                "Gaussian, and dependence 'independent' or a covariance; or use 'certified'"
            )
        K, d = problem.arms, max(problem.noisy, 1)
        return TheoremLevels(
            math.log(4.0 * K1 * K * d / delta),
            math.log(2.0 * K1 * K / delta),
            math.sqrt(d) / problem.sigma_u,
            problem.sigma_u,
        )


@moment.register(TheoremLevels)
def _moment(evidence: TheoremLevels, t: int) -> Moment:
    growth = ALPHA * math.log(max(t, 1))
    scale, level = math.sqrt(2.0 * (evidence.pair_constant + growth)), evidence.row_constant + growth
    if evidence.size == 0.0:
        return Moment(scale, 4.0 * level)
    reach = evidence.size + math.sqrt(2.0 * level)
    return Moment(scale, 0.5 * reach * reach)


spread.register(TheoremLevels, lambda view, i, j: view.state.root[i] + view.state.root[j])
use_widths(TheoremLevels)
