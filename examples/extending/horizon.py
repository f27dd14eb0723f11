"""Evidence: a union bound over all arms, objectives and samples, for a number of samples fixed beforehand."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.extend import Evidence, Moment, ProblemArrays, moment, spread, use_widths


class _Levels(NamedTuple):  # what kernels see
    level: float  # every mean is within sqrt(2 level / N) of the truth, with probability 1 - delta
    objectives: int
    sigma_u: float  # scale of the noise across constraints; 1 where `bar` allows for several objectives


@dataclass(frozen=True)
class Horizon(Evidence):
    """What users pass; its fields are its options."""

    samples: int = 1_000_000
    guarantee: ClassVar[str] = "finite-sample"
    basis: ClassVar[str] = "a union bound over the samples, as long as there are no more than declared"

    def fit(self, delta: float, problem: ProblemArrays) -> _Levels:
        claims = 2 * problem.arms * problem.objectives * self.samples
        return _Levels(math.log(claims / delta), problem.objectives, 1.0)


@moment.register(_Levels)
def _moment(evidence: _Levels, t: int) -> Moment:
    return Moment(math.sqrt(2.0 * evidence.level), evidence.objectives * evidence.level)


spread.register(_Levels, lambda view, i, j: view.state.root[i] + view.state.root[j])
use_widths(_Levels)
