"""How the noise of several objectives adds up, as declared: "unknown", "independent", or a covariance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import float64

from paretoguard.numeric import Floats


@dataclass(frozen=True, eq=False)
class Dependence:
    """Of coordinates with scale 1: those of `block` have a known correlation, each other one is a group of its own."""

    noisy: int
    block: tuple[int, ...]
    within: Floats  # correlation of the block
    is_independent: bool  # are the groups?

    @property
    def correlation(self) -> Floats | None:
        """Of all coordinates, where it is known."""
        if self.is_independent:
            return np.eye(self.noisy)
        return self.within if self.block and len(self.block) == self.noisy else None

    def along(self, weights: Sequence[float]) -> float:
        """The scale of the noise along a row."""
        if self.is_independent:
            return math.sqrt(math.fsum(weight * weight for weight in weights))
        inside = np.array([weights[c] for c in self.block])
        joint = math.sqrt(max(0.0, float(inside @ self.within @ inside))) if self.block else 0.0
        return joint + math.fsum(abs(weight) for c, weight in enumerate(weights) if c not in self.block)

    @property
    def norm(self) -> float:
        """The sub-Gaussian norm of the noise vector, sigma_u."""
        if self.is_independent or self.noisy == 0:
            return 1.0
        largest = float(np.linalg.eigvalsh(self.within)[-1]) if self.block else 0.0
        return math.sqrt(largest + self.noisy - len(self.block))


def dependence(declared: object, signs: Sequence[float], is_gaussian: Sequence[bool]) -> Dependence:
    """What was declared of these noisy coordinates; a covariance is that of the Gaussian ones, in the user's signs."""
    if isinstance(declared, str):
        return Dependence(len(signs), (), np.zeros((0, 0)), declared == "independent")
    block = tuple(c for c, gaussian in enumerate(is_gaussian) if gaussian)
    covariance = np.array(declared, dtype=float64)
    turned = np.array([signs[c] for c in block]) / np.sqrt(np.diag(covariance))
    return Dependence(len(signs), block, covariance * turned * turned[:, None], False)
