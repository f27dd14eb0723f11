"""The numbers that an explanation may quote, in the user's units."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.engine.probe import limits
from paretoguard.engine.space import Space
from paretoguard.engine.state import State
from paretoguard.problem import Problem


@dataclass(frozen=True)
class Snapshot:
    """Everything an explanation may quote, in the user's units and order."""

    problem: Problem
    evidence: NamedTuple
    space: Space
    state: State
    means: NDArray[float64]  # [K, d]
    limits: NDArray[float64]  # [K, d] half-widths; 0 for exact objectives
    slack: NDArray[float64]  # [K, m] bound minus left-hand side, per constraint
    slack_limits: NDArray[float64]  # [K, m]
    norms: NDArray[float64]  # [m] engine slack = slack / norm
    sigma: NDArray[float64]  # [d] half-width of an objective = sigma * half-width in engine units; 0 if exact
    sign: NDArray[float64]  # [d] +1 max, -1 min
    support: NDArray[float64]  # [2, d] the least and greatest mean that the declared noise allows


def snapshot(problem: Problem, evidence: NamedTuple, space: Space, state: State) -> Snapshot:
    """The numbers at the present moment."""
    K, d = space.arms, space.objectives
    coordinate, rows = np.zeros(K), np.zeros((K, space.region.A.shape[0]))
    limits(evidence, space, state, coordinate, rows)
    means, sigma, sign = np.zeros((K, d)), np.zeros(d), np.zeros(d)
    for place, objective in enumerate(space.order):
        means[:, objective] = state.means[:, place] / space.scale[place]
        sign[objective] = math.copysign(1.0, space.scale[place])
        sigma[objective] = 1.0 / abs(space.scale[place]) if place < space.noisy else 0.0
    m = len(problem.constraints)
    norms, slack_half = np.ones(m), np.zeros((K, m))
    for engine_row, (index, norm) in enumerate(problem.engine_rows()):
        norms[index] = norm
        if engine_row < rows.shape[1]:
            slack_half[:, index] = rows[:, engine_row] * norm
    A = np.array([c.coefficients for c in problem.constraints]).reshape(m, d)
    bound = np.array([c.bound for c in problem.constraints])
    with np.errstate(invalid="ignore"):
        half = np.where(sigma > 0, coordinate[:, None] * sigma, 0.0)
    support = np.array([noise.support for noise in problem.noise.values()]).T
    return Snapshot(
        problem, evidence, space, state, means, half, bound - means @ A.T, slack_half, norms, sigma, sign, support
    )


def tightest(numbers: Snapshot, i: int) -> int | None:
    """The constraint with the least slack in engine units; one that is certain to fail comes first."""
    if numbers.slack.shape[1] == 0:
        return None
    scaled = numbers.slack[i] / numbers.norms
    certain = (numbers.slack[i] < 0) & (numbers.slack_limits[i] == 0)
    return int(np.argmin(np.where(certain, -math.inf, scaled)))
