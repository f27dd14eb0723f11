"""e-cAPE as vectorised NumPy: whole K x K (x d) arrays a decision, no loop over arms in Python.

What one would write for speed without a compiler. It draws the same rewards and makes the same pulls as the engine.
"""

import math

import numpy as np
from naive import refuse_unknown
from numpy import float64, int64
from numpy.typing import NDArray

import paretoguard as pg
from paretoguard.engine.draws import key
from paretoguard.engine.loop import draw_reward
from paretoguard.simulation.rewards import source


class Vectorised:
    """Runs 0, 1, 2 ... of e-cAPE on an instance, with `practical` evidence."""

    def __init__(self, instance: pg.Instance, *, delta: float = 0.1, seed: int = 0) -> None:
        self.space, self.source = instance.problem.space(), source(instance)
        refuse_unknown(self.space)
        self.delta, self.seed = delta, seed
        self.row = np.zeros(self.space.objectives)
        self.ended: list[NDArray[int64]] = []
        self._begin()

    def _begin(self) -> None:
        K, d = self.space.arms, self.space.objectives
        self.key = key(self.seed, len(self.ended))
        self.counts = np.zeros(K, dtype=int64)
        self.sums = np.zeros((K, d))

    def advance(self, steps: int) -> int:
        """Take about `steps` samples, run after run; return how many."""
        taken = 0
        while taken < steps:
            fresh = not self.counts.any()
            queue = range(self.space.arms) if fresh else self.decide()
            if len(queue) == 0:
                self.ended.append(self.counts)
                self._begin()
            for arm in queue:
                draw_reward(self.source, self.key, arm, int(self.counts[arm]), self.row)
                self.sums[arm] += self.row[self.space.order] * self.space.scale
                self.counts[arm] += 1
            taken += len(queue)
        return taken

    def decide(self) -> list[int]:
        """The arms to pull next; [] when the rule stops."""
        means = self.sums / self.counts[:, None]
        bar = math.log(max(1.0, math.log(self.counts.sum())) / self.delta)
        width = math.sqrt(2.0 * bar) * np.sqrt(1.0 / self.counts[:, None] + 1.0 / self.counts)
        lead = (means[:, None, :] - means[None, :, :]).max(axis=2)  # [K, K] M(i,j); m(i,j) = -M(i,j)
        inside, eta = self.locate(means)
        gamma = self.counts * eta * eta / 2.0 - bar
        candidate = inside | (gamma < 0.0)
        apart = ~np.eye(self.space.arms, dtype=bool)
        optimal = inside & ~((lead <= 0.0) & apart & inside).any(axis=1)

        ahead = lead - width  # M^-
        xi = np.where(apart & candidate, -lead - width, -math.inf).max(axis=1)
        excluded = np.where(optimal, math.inf, np.where(inside, xi, np.maximum(gamma, xi)))
        feasible = np.where(optimal, gamma, math.inf)
        pairs = np.where(apart & optimal & optimal[:, None], ahead, math.inf).min(axis=1)
        if excluded.min() < 0.0:
            leader = int(excluded.argmin())
        elif min(feasible.min(), pairs.min()) >= 0.0:
            return []
        else:
            leader = int(feasible.argmin() if pairs.min() >= feasible.min() else pairs.argmin())
        rivals = candidate & apart[leader]
        challenger = int(np.where(rivals, ahead[leader], math.inf).argmin())
        return [leader, challenger] if rivals.any() else [leader]

    def locate(self, means: NDArray[float64]) -> tuple[NDArray[np.bool_], NDArray[float64]]:
        """Which means are inside the constraints [K], and how far from their border [K]."""
        A, b = self.space.region.A, self.space.region.b
        slack = np.tile(b, (len(means), 1))  # [K, m]
        for c in range(
            A.shape[1]
        ):  # one after the other, as the engine adds up: a sum in another order rounds otherwise
            slack = slack - means[:, c, None] * A[:, c]
        least = slack.min(axis=1, initial=math.inf)
        outside = np.sqrt((np.minimum(slack, 0.0) ** 2).sum(axis=1))
        return least >= 0.0, np.where(least >= 0.0, least, outside)
