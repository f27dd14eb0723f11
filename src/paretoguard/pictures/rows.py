"""One objective: a row for each arm, its interval and mark, over the range where the constraints hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.pictures.axes import Axis
from paretoguard.pictures.constraint_lines import draw_lines, lines_in_view, write_lines
from paretoguard.pictures.palette import FEASIBLE, LOOKS
from paretoguard.pictures.panels import FONT, draw_marks
from paretoguard.pictures.regions import View, feasible_polygon, half_planes
from paretoguard.pictures.text_placement import Box
from paretoguard.problem import Problem
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg


def draw_rows(axes: "Axes", x: Axis, verdicts: Sequence[Verdict], problem: Problem) -> None:
    """Everything but the constraints' words; the first arm is on top."""
    view = _view(x, verdicts)
    planes, _ = half_planes(problem.constraints, x.place)
    corners = feasible_polygon(planes, view)
    axes.set(xlim=(view.left, view.right), ylim=(view.bottom, view.top))
    axes.set_xlabel(x.label, parse_math=False)
    if planes and len(corners) > 2:
        axes.axvspan(corners[:, 0].min(), corners[:, 0].max(), color=FEASIBLE, linewidth=0, zorder=0)
    draw_lines(axes, lines_in_view(planes, view))
    heights = _heights(verdicts)
    for height, verdict in zip(heights, verdicts, strict=True):
        style = (0, (3, 2)) if verdict.status == "undecided" else "solid"
        colour = LOOKS[verdict.status].colour
        axes.plot(_interval(x, verdict), [height] * 2, color=colour, linewidth=1.6, linestyle=style, zorder=2)
    means = [verdict.mean[x.name] for verdict in verdicts]
    draw_marks(axes, np.column_stack([means, heights]), verdicts)
    axes.set_yticks(heights, [verdict.arm for verdict in verdicts], fontsize=FONT)
    for label, verdict in zip(axes.get_yticklabels(), verdicts, strict=True):
        label.set(parse_math=False, fontweight="bold" if verdict.status == "optimal" else "normal", color="#222222")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def write_bounds(axes: "Axes", x: Axis, verdicts: Sequence[Verdict], problem: Problem, renderer: "RendererAgg") -> None:
    """The constraints' words, each along its line on the allowed side."""
    taken = []
    for height, verdict in zip(_heights(verdicts), verdicts, strict=True):
        low, high = _interval(x, verdict)
        (left, bottom), (right, top) = axes.transData.transform([(low, height - 0.25), (high, height + 0.25)])
        taken.append(Box(left, bottom, right, top))
    planes, _ = half_planes(problem.constraints, x.place)
    write_lines(axes, lines_in_view(planes, _view(x, verdicts)), renderer, taken)


def _heights(verdicts: Sequence[Verdict]) -> NDArray[float64]:
    return np.arange(len(verdicts), 0, -1.0)


def _interval(x: Axis, verdict: Verdict) -> tuple[float, float]:
    return max(verdict.low[x.name], x.low), min(verdict.high[x.name], x.high)


def _view(x: Axis, verdicts: Sequence[Verdict]) -> View:
    return View(x.low, x.high, 0.4, max(len(verdicts), 1) + 0.6)
