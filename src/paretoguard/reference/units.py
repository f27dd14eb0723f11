"""A problem in standard deviations: larger is better, noisy objectives have scale 1 and noisy rows length 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import float64
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from paretoguard.numeric import Floats
from paretoguard.problem import Problem
from paretoguard.problem.constraints import Constraint
from paretoguard.problem.noise import Bernoulli, Gaussian, Noise
from paretoguard.reference.e_values import Bet, bets_on


@dataclass(frozen=True)
class Coordinate:
    """One objective: a value of the user's times `factor`, 1 or -1 where it is exact or its scale is to be learnt."""

    place: int  # among the problem's objectives
    factor: float
    tolerance: float
    is_noisy: bool
    is_learnt: bool
    is_binary: bool
    is_gaussian: bool
    is_compared: bool  # does it count in dominance, or only in constraints?
    support: tuple[float, float] | None  # of values in a range of which the scale is half, in the user's units


@dataclass(frozen=True)
class Row:
    """weights · noisy + exact · exact values <= bound; `scale` is that of the noise along it, nan if to be learnt."""

    weights: tuple[float, ...]
    exact: tuple[float, ...]
    bound: float
    tolerance: float
    scale: float
    bets: tuple[Bet, Bet] | None  # that it holds, that it fails


@dataclass(frozen=True, eq=False)
class Dependence:
    """How noise of scale 1 adds up: the coordinates in `block` have a known correlation, each other one is a group."""

    noisy: int
    block: tuple[int, ...]
    within: Floats  # correlation of the block
    is_independent: bool  # are the groups independent of each other?

    @property
    def correlation(self) -> Floats | None:
        """The correlation of all coordinates, if it is known."""
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


@dataclass(frozen=True)
class Units:
    """The whole problem; what is noisy apart from what is exact."""

    arms: int
    noisy: tuple[Coordinate, ...]
    exact: tuple[Coordinate, ...]
    rows: tuple[Row, ...]
    exact_rows: tuple[Row, ...]
    groups: tuple[tuple[int, ...], ...]  # of rows that tell whether an arm is infeasible; several are independent
    dependence: Dependence

    @property
    def compared(self) -> list[int]:
        """The places of the noisy objectives that count in dominance."""
        return [c for c, one in enumerate(self.noisy) if one.is_compared]

    @property
    def is_learning(self) -> bool:
        return any(one.is_learnt for one in self.noisy)


def in_deviations(problem: Problem) -> Units:
    coordinates = [
        _coordinate(place, direction, problem.noise[name], problem.tolerance.get(name, 0.0))
        for place, (name, direction) in enumerate(problem.objectives.items())
    ]
    noisy = tuple(one for one in coordinates if one.is_noisy)
    exact = tuple(one for one in coordinates if not one.is_noisy)
    signs, gaussian = [math.copysign(1.0, one.factor) for one in noisy], [one.is_gaussian for one in noisy]
    declared = dependence(problem.dependence, signs, gaussian)
    every = [_row(one, problem.tolerance[one.label], noisy, exact, declared) for one in problem.constraints]
    keep = needed([[*row.weights, *row.exact] for row in every], [row.bound for row in every])
    marked = [(row, kept) for row, kept in zip(every, keep, strict=True) if any(row.weights)]
    rows, telling = tuple(row for row, _ in marked), [k for k, (_, kept) in enumerate(marked) if kept]
    uses = [{c for c, weight in enumerate(rows[k].weights) if weight} for k in telling]
    groups = joined(uses) if declared.is_independent else [list(range(len(telling)))]
    return Units(
        arms=len(problem.arms),
        noisy=noisy,
        exact=exact,
        rows=rows,
        exact_rows=tuple(row for row in every if not any(row.weights)),
        groups=tuple(tuple(telling[k] for k in group) for group in groups),
        dependence=declared,
    )


def _coordinate(place: int, direction: str, noise: Noise, tolerance: float) -> Coordinate:
    sign, sigma = -1.0 if direction == "min" else 1.0, float(noise.sigma)
    is_learnt, is_noisy = math.isnan(sigma), sigma != 0.0
    unit = sigma if is_noisy and not is_learnt else 1.0
    low, high = noise.support
    has_range = math.isfinite(low) and math.isfinite(high) and abs(2.0 * sigma / (high - low) - 1.0) < 1e-12
    return Coordinate(
        place=place,
        factor=sign / unit,
        tolerance=tolerance / unit,
        is_noisy=is_noisy,
        is_learnt=is_learnt,
        is_binary=isinstance(noise, Bernoulli),
        is_gaussian=isinstance(noise, Gaussian),
        is_compared=direction != "guard",
        support=(low, high) if has_range else None,
    )


def _row(
    given: Constraint,
    tolerance: float,
    noisy: Sequence[Coordinate],
    exact: Sequence[Coordinate],
    declared: Dependence,
) -> Row:
    """One constraint; a row over exact objectives only is not rescaled."""
    weights = [given.coefficients[one.place] / one.factor for one in noisy]
    others = [given.coefficients[one.place] / one.factor for one in exact]
    norm = math.hypot(*weights) or 1.0
    unit = [weight / norm for weight in weights]
    used = [c for c, weight in enumerate(weights) if weight]
    bets = None
    if len(used) == 1 and not any(others):
        one = noisy[used[0]]
        if one.support is not None:
            factor = given.coefficients[one.place]
            bets = bets_on(one.place, one.support, one.is_binary, factor, given.bound, tolerance)
    return Row(
        weights=tuple(unit),
        exact=tuple(other / norm for other in others),
        bound=given.bound / norm,
        tolerance=tolerance / norm,
        scale=math.nan if any(noisy[c].is_learnt for c in used) else declared.along(unit),
        bets=bets,
    )


def dependence(declared: object, signs: Sequence[float], is_gaussian: Sequence[bool]) -> Dependence:
    """Return what was declared of these coordinates; a covariance is that of the Gaussian ones, in the user's signs."""
    if isinstance(declared, str):
        return Dependence(len(signs), (), np.zeros((0, 0)), declared == "independent")
    block = tuple(c for c, gaussian in enumerate(is_gaussian) if gaussian)
    covariance = np.array(declared, dtype=float64)
    turned = np.array([signs[c] for c in block]) / np.sqrt(np.diag(covariance))
    return Dependence(len(signs), block, covariance * turned * turned[:, None], False)


def needed(A: Sequence[Sequence[float]], b: Sequence[float]) -> list[bool]:
    """Return which rows of A x <= b do not follow from the others; of rows that follow from each other one is kept.

    >>> needed([[1.0], [1.0], [-1.0]], [1.0, 2.0, 0.0])
    [True, False, True]
    """
    kept = [True] * len(b)
    if all(sum(entry != 0.0 for entry in row) == 1 for row in A):
        tightest: dict[tuple[int, bool], int] = {}
        for row, entries in enumerate(A):
            (place,) = (c for c, entry in enumerate(entries) if entry)
            side = (place, entries[place] > 0.0)
            other = tightest.setdefault(side, row)
            if b[row] / abs(entries[place]) < b[other] / abs(A[other][place]):
                tightest[side] = row
        return [row in tightest.values() for row in range(len(b))]
    for row in sorted(range(len(b)), key=lambda row: -b[row]):  # the farthest first
        others = [k for k in range(len(b)) if kept[k] and k != row]
        if not others:
            continue
        goal, rows = -np.array(A[row]), np.array([A[k] for k in others])
        most = linprog(goal, A_ub=rows, b_ub=[b[k] for k in others], bounds=(None, None), method="highs")
        kept[row] = not (most.status == 0 and -most.fun <= b[row] + 1e-9 * (1.0 + abs(b[row])))
    return kept


def joined(uses: Sequence[set[int]]) -> list[list[int]]:
    """Return groups of rows, given the objectives that each uses: rows that share one are together.

    >>> joined([{0}, {1, 2}, {0}, {2}])
    [[0, 2], [1, 3]]
    """
    meet = np.array([[bool(mine & others) for others in uses] for mine in uses]).reshape(len(uses), len(uses))
    groups, group_of = connected_components(meet)
    return [np.flatnonzero(group_of == group).tolist() for group in range(groups)]
