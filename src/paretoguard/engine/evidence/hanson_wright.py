"""`hanson-wright`: the Theorem with a sharper ball for Gaussian noise of known covariance (finite-sample guarantee).

Pairs as in `theorem`. Constraints: sigma_u^2 = lambda_max(R) and g = (sqrt(tr R/lambda_max) + sqrt(2 x))^2/2 with
x = log(2 k1 K t^alpha/delta), where R is the correlation of the objectives: no factor 5^d, and no factor 4.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from paretoguard.engine.evidence.parts import Moment, moment
from paretoguard.engine.evidence.theorem import ALPHA, K1
from paretoguard.engine.evidence.widths import spread, use_widths
from paretoguard.engine.space import Space
from paretoguard.errors import SettingsError

if TYPE_CHECKING:
    from paretoguard.engine.state import State


class HansonWrightLevels(NamedTuple):
    """`hanson-wright` for one problem and one delta."""

    pair_constant: float  # log(4 k1 K d / delta)
    row_constant: float  # log(2 k1 K / delta)
    size: float  # sqrt(tr R / lambda_max)
    sigma_u: float


@dataclass(frozen=True)
class HansonWright:
    """The paper's thresholds for Gaussian noise of known covariance (finite-sample guarantee)."""

    name: ClassVar[str] = "hanson-wright"
    guarantee: ClassVar[str] = "finite-sample"
    any_order: ClassVar[bool] = True  # each arm is bounded apart from the others
    basis: ClassVar[str] = "the paper's Theorem, with the norm of a Gaussian vector of known covariance"

    def fit(self, delta: float, space: Space) -> HansonWrightLevels:
        """The thresholds for one problem and one delta."""
        if not space.gaussian:
            raise SettingsError(
                "evidence 'hanson-wright' is for Gaussian noise of known covariance: declare every noisy objective "
                "Gaussian, and dependence 'independent' or a covariance; or use 'certified'"
            )
        K, d = space.arms, max(space.noisy, 1)
        return HansonWrightLevels(
            math.log(4.0 * K1 * K * d / delta),
            math.log(2.0 * K1 * K / delta),
            math.sqrt(d) / space.sigma_u,
            space.sigma_u,
        )


@moment.register(HansonWrightLevels)
def _moment(evidence: HansonWrightLevels, t: int) -> Moment:
    growth = ALPHA * math.log(max(t, 1))
    reach = evidence.size + math.sqrt(2.0 * (evidence.row_constant + growth))
    return Moment(math.sqrt(2.0 * (evidence.pair_constant + growth)), 0.5 * reach * reach)


@spread.register(HansonWrightLevels)
def _spread(evidence: HansonWrightLevels, state: "State", i: int, j: int) -> float:
    return state.root[i] + state.root[j]


use_widths(HansonWrightLevels)
