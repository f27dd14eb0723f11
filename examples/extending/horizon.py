"""Evidence: a union bound over all arms, objectives and samples, for a number of samples fixed beforehand."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from paretoguard.engine.questions import Moment, moment
from paretoguard.evidence.widths import spread, use_widths


class _Levels(NamedTuple):  # what kernels see
    level: float  # every mean is within sqrt(2 level / N) of the truth, with probability 1 - delta
    objectives: int
    sigma_u: float  # asked for by use_widths


@dataclass(frozen=True)
class Horizon:
    """What users pass; its fields are its options."""

    samples: int = 1_000_000
    name: ClassVar[str] = "horizon"
    guarantee: ClassVar[str] = "finite-sample"
    basis: ClassVar[str] = "a union bound over the samples, as long as there are no more than declared"

    def fit(self, delta: float, space: Any) -> _Levels:
        """The kernel record for one problem and one delta."""
        return _Levels(math.log(2 * space.arms * space.objectives * self.samples / delta), space.objectives, 1.0)


@moment.register(_Levels)
def _moment(evidence: _Levels, t: int) -> Moment:
    return Moment(math.sqrt(2.0 * evidence.level), evidence.objectives * evidence.level)


spread.register(_Levels, lambda evidence, state, i, j: state.root[i] + state.root[j])
use_widths(_Levels)
