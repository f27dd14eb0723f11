"""`hanson-wright`: the Theorem with a sharper ball for Gaussian noise of known covariance (finite-sample guarantee).

Pairs as in `theorem`. Constraints: sigma_u^2 = lambda_max(R) and g = (sqrt(tr R/lambda_max) + sqrt(2 x))^2/2 with
x = log(2 k1 K t^alpha/delta), where R is the correlation of the objectives: no factor 5^d, and no factor 4.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.errors import SettingsError
from paretoguard.evidence.kind import Evidence
from paretoguard.evidence.theorem import K1, TheoremLevels


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
