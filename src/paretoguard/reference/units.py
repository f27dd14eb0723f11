"""A problem in standard deviations: larger is better, noisy objectives have scale 1 and noisy rows length 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paretoguard.problem import Problem
from paretoguard.problem.constraints import Constraint
from paretoguard.problem.noise import Bernoulli, Gaussian, Noise
from paretoguard.reference.bets import Bet, bets_on
from paretoguard.reference.dependence import Dependence, dependence
from paretoguard.reference.region import joined, needed


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

    @property
    def is_noisy(self) -> bool:
        """Does it bound a noisy objective?"""
        return any(self.weights)


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
        """Which noisy objectives count in dominance."""
        return [c for c, one in enumerate(self.noisy) if one.is_compared]

    @property
    def is_learning(self) -> bool:
        """Is there a scale that is not declared?"""
        return any(one.is_learnt for one in self.noisy)


def in_deviations(problem: Problem) -> Units:
    """The problem in standard deviations."""
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
    marked = [(row, kept) for row, kept in zip(every, keep, strict=True) if row.is_noisy]
    rows, telling = tuple(row for row, _ in marked), [k for k, (_, kept) in enumerate(marked) if kept]
    uses = [{c for c, weight in enumerate(rows[k].weights) if weight} for k in telling]
    groups = joined(uses) if declared.is_independent else [list(range(len(telling)))]
    return Units(
        arms=len(problem.arms),
        noisy=noisy,
        exact=exact,
        rows=rows,
        exact_rows=tuple(row for row in every if not row.is_noisy),
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
