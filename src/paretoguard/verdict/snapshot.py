"""The numbers that an explanation may quote, in the user's units."""

import math
from dataclasses import dataclass

import numpy as np

from paretoguard.engine.explain import limits
from paretoguard.engine.view import View
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.numeric import Floats
from paretoguard.problem import Problem
from paretoguard.problem.constraints import matrix


@dataclass(frozen=True)
class Snapshot:
    """Numbers in the user's units and order."""

    problem: Problem
    view: View
    means: Floats  # [K, d]
    limits: Floats  # [K, d] half-widths; 0 for exact objectives
    slack: Floats  # [K, m] bound minus left-hand side, per constraint
    slack_limits: Floats  # [K, m]
    units: Floats  # [K, m] in which slacks are compared: standard deviations along the row, about
    sigma: Floats  # [d] half-width of an objective = sigma * half-width in engine units; 0 if exact
    sign: Floats  # [d] +1 max, -1 min
    support: Floats  # [2, d] the least and greatest mean that the declared noise allows


def snapshot(problem: Problem, view: View) -> Snapshot:
    arrays, state = view.problem, view.state
    K, d = arrays.arms, arrays.objectives
    coordinate, rows = np.zeros((K, arrays.noisy)), np.zeros((K, arrays.region.A.shape[0]))
    limits(view, coordinate, rows)
    means, half, sigma, sign = np.zeros((K, d)), np.zeros((K, d)), np.zeros(d), np.zeros(d)
    for place, objective in enumerate(arrays.order):
        means[:, objective] = state.means[:, place] / arrays.scale[place] + 0.0  # never -0.0
        sign[objective] = math.copysign(1.0, arrays.scale[place])
        if place < arrays.noisy:
            sigma[objective] = 1.0 / abs(arrays.scale[place])
            half[:, objective] = coordinate[:, place] * sigma[objective]
    m = len(problem.constraints)
    units, slack_half = np.ones((K, m)), np.zeros((K, m))
    for engine_row, (index, norm) in enumerate(problem.engine_rows()):
        units[:, index] = norm
        if engine_row < rows.shape[1]:
            slack_half[:, index] = rows[:, engine_row] * norm
            if problem.learnt:  # half-widths, which are as many standard deviations for every row of an arm
                units[:, index] = np.where(np.isfinite(slack_half[:, index]), slack_half[:, index], norm)
    A, bound = matrix(problem.constraints, d)
    support = np.array([noise.support for noise in problem.noise.values()]).T
    return Snapshot(problem, view, means, half, bound - means @ A.T, slack_half, units, sigma, sign, support)


def tightest(numbers: Snapshot, i: int) -> int | None:
    """Return the constraint with the least slack in standard deviations; one that fails for certain comes first."""
    if numbers.slack.shape[1] == 0:
        return None
    scaled = numbers.slack[i] / numbers.units[i]
    if numbers.problem.learnt:  # a row that has not varied is further from certain than any other
        scaled = np.where(np.isinf(numbers.slack_limits[i]), -math.inf, scaled)
    certain = (numbers.slack[i] < 0) & (numbers.slack_limits[i] == 0)
    return int(np.argmin(np.where(certain, -math.inf, scaled)))


def possible_slack(numbers: Snapshot, row: int) -> tuple[float, float]:
    """Return the least and the greatest slack of a constraint that the declared noise allows."""
    constraint = numbers.problem.constraints[row]
    least = most = constraint.bound
    for c, a in enumerate(constraint.coefficients):
        if a:
            ends = a * float(numbers.support[0, c]), a * float(numbers.support[1, c])
            least, most = least - max(ends), most - min(ends)
    return least, most


def unvaried(numbers: Snapshot, i: int) -> tuple[str, ...]:
    """Return the objectives of arm i, or rows of them, whose scale is unknown since they have not varied."""
    problem = numbers.problem
    if not problem.learnt or numbers.view.state.counts[i] < LEAST_PULLS:
        return ()
    names = tuple(name for c, name in enumerate(problem.objectives) if np.isinf(numbers.limits[i, c]))
    rows = tuple(str(row) for k, row in enumerate(problem.constraints) if np.isinf(numbers.slack_limits[i, k]))
    return names or rows


def unvarying(numbers: Snapshot) -> tuple[str, ...]:
    """Return a note for each objective of unknown scale, or row of them, that never varied in the results of an arm."""
    problem, enough = numbers.problem, numbers.view.state.counts >= LEAST_PULLS
    if not problem.learnt:
        return ()
    still = {name: np.isinf(numbers.limits[:, c]) & enough for c, name in enumerate(problem.objectives)}
    varied = enough & np.isfinite(numbers.limits).all(axis=1)
    still |= {str(row): np.isinf(numbers.slack_limits[:, k]) & varied for k, row in enumerate(problem.constraints)}
    named = {name: ", ".join(np.array(problem.arms)[arms]) for name, arms in still.items() if arms.any()}
    return tuple(
        f"{name} has not varied in the results of {arms}: its scale is not known, and nothing is claimed that rests on "
        "it; declare it exact if it can never vary (by 1e-12 of its size or more), else bounded, or ask how often it "
        "is above some number"
        for name, arms in named.items()
    )
