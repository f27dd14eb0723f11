"""What part of an objective's axis to show, and how the axis is labelled."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.problem import Problem
from paretoguard.verdict import Verdict

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
    """The axis of an objective: wide enough for every mean, for bounds that are not far off, and for limits.

    Limits of arms that are in, or may be, stretch it as far as it may reach; those of arms that are out where they end
    within that reach.
    """
    place = list(problem.objectives).index(name)
    means = np.array([verdict.mean[name] for verdict in verdicts])
    kept = _limits([verdict for verdict in verdicts if verdict.status in ("optimal", "undecided")], name)
    out = _limits([verdict for verdict in verdicts if verdict.status not in ("optimal", "undecided")], name)
    low, high = _range(means, kept, np.concatenate([out, _bounds(problem, place)]))
    support_low, support_high = problem.noise[name].support
    room = 0.03 * (high - low)
    low, high = max(low, support_low - room), min(high, support_high + room)
    return Axis(place, name, _label(name, problem.objectives[name]), low, high)


def _limits(verdicts: Sequence[Verdict], name: str) -> Floats:
    """The confidence limits there are."""
    limits = [limit for verdict in verdicts for limit in (verdict.low[name], verdict.high[name])]
    return np.array([limit for limit in limits if math.isfinite(limit)])


def _range(means: Floats, kept: Floats, others: Floats) -> tuple[float, float]:
    """What holds the means, the limits in `kept` as far as the axis may reach, and the other marks within that."""
    marks = np.concatenate([kept, others])
    if len(means) == 0:
        means = marks if len(marks) else np.array([0.0])
    low, high = float(means.min()), float(means.max())
    size = max(abs(low), abs(high), 1e-300)
    span = high - low
    if span <= 1e-9 * size:  # one arm, or all the same: let the limits say what is near
        near = marks[np.abs(marks - low) <= size]
        span = float(np.ptp(near)) if len(near) and np.ptp(near) > 0 else 0.2 * size if size > 1e-300 else 1.0
    least, most = low - REACH * span, high + REACH * span
    shown = [low, high, *np.clip(kept, least, most), *others[(others >= least) & (others <= most)]]
    low, high = float(min(shown)), float(max(shown))
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
