"""What part of an objective's axis to show, and how the axis is labelled."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.problem import Problem
from paretoguard.verdict import Verdict

Floats = NDArray[float64]
REACH = 0.75  # how far beyond the means, in spans, a confidence limit or a bound may stretch the axis
PADDING = 0.07


class Axis(NamedTuple):
    """One objective as an axis: its place among the objectives, its name, its label, and the range on show."""

    place: int
    name: str
    label: str
    low: float
    high: float


def axis(problem: Problem, verdicts: Sequence[Verdict], name: str) -> Axis:
    """The axis of an objective: wide enough for every mean, and for limits and bounds that are not far off."""
    place = list(problem.objectives).index(name)
    means, lows, highs = (
        np.array([getattr(verdict, part)[name] for verdict in verdicts]) for part in ("mean", "low", "high")
    )
    marks = np.concatenate([lows[np.isfinite(lows)], highs[np.isfinite(highs)], _bounds(problem, place)])
    low, high = _range(means, marks)
    support_low, support_high = problem.noise[name].support
    room = 0.03 * (high - low)
    low, high = max(low, support_low - room), min(high, support_high + room)
    return Axis(place, name, _label(name, problem.objectives[name]), low, high)


def _range(means: Floats, marks: Floats) -> tuple[float, float]:
    if len(means) == 0:
        means = marks if len(marks) else np.array([0.0])
    low, high = float(means.min()), float(means.max())
    size = max(abs(low), abs(high), 1e-300)
    span = high - low
    if span <= 1e-9 * size:  # one arm, or all the same: let the limits say what is near
        near = marks[np.abs(marks - low) <= size]
        span = float(np.ptp(near)) if len(near) and np.ptp(near) > 0 else 0.2 * size if size > 1e-300 else 1.0
    near = marks[(marks >= low - REACH * span) & (marks <= high + REACH * span)]
    low, high = min(low, *near) if len(near) else low, max(high, *near) if len(near) else high
    padding = PADDING * max(high - low, span / 2)
    return low - padding, high + padding


def _bounds(problem: Problem, place: int) -> Floats:
    """Where constraints on this objective alone have their boundary."""
    bounds = []
    for row in problem.constraints:
        coefficient = row.coefficients[place]
        if coefficient != 0 and np.count_nonzero(row.coefficients) == 1:
            bounds.append(row.bound / coefficient)
    return np.array(bounds)


def _label(name: str, direction: str) -> str:
    """The arrow points where the objective gets better; on a vertical axis it turns with the text."""
    return {"max": f"{name}   better →", "min": f"← better   {name}"}.get(direction, name)
