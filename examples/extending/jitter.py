"""Noise: an error spread evenly from -half to +half, such as that of a display with few digits."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.extend import Noise, reward


class _Even(NamedTuple):  # what kernels see
    half: float


@dataclass(frozen=True)
class Jitter(Noise):
    """What users pass, for one objective or for all."""

    half: float
    kind: ClassVar[str] = "jitter"

    @property
    def sigma(self) -> float:
        """The sub-Gaussian scale; of an even spread, its standard deviation."""
        return self.half / math.sqrt(3.0)

    def law(self) -> _Even:
        """How to simulate it: a record for which `reward` is registered."""
        return _Even(self.half)


@reward.register(_Even)
def _reward(law: _Even, mean: float, u: float, v: float) -> float:
    return mean + law.half * (2.0 * u - 1.0)  # u and v: independent and uniform in [0, 1)
