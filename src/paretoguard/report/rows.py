"""One objective: a row for each arm, its interval and mark, over the range where the constraints hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretoguard.problem import Problem
from paretoguard.report.axes import Axis
from paretoguard.report.labels import Box, place_along
from paretoguard.report.palette import FEASIBLE, LINE, LOOKS
from paretoguard.report.panels import FONT, draw_marks
from paretoguard.report.regions import View, boundary, feasible_polygon, half_planes
from paretoguard.verdict import OPTIMAL, UNDECIDED, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg


def draw_rows(axes: "Axes", x: Axis, verdicts: Sequence[Verdict], problem: Problem) -> None:
    """Everything but the constraints' texts; the first arm is on top."""
    from matplotlib.patheffects import TickedStroke

    rows = np.arange(len(verdicts), 0, -1.0)
    view = _view(x, len(verdicts))
    planes, _ = half_planes(problem.constraints, x.place)
    corners = feasible_polygon(planes, view)
    axes.set(xlim=(x.low, x.high), ylim=(view.bottom, view.top), xlabel=x.label)
    if planes and len(corners) > 2:
        axes.axvspan(corners[:, 0].min(), corners[:, 0].max(), color=FEASIBLE, linewidth=0, zorder=0)
    for plane in planes:
        line = boundary(plane, view)
        if line is not None:
            ticks = TickedStroke(angle=-125, spacing=7, length=0.7)
            axes.plot(*line.T, color=LINE, linewidth=0.9, zorder=1.5, path_effects=[ticks])
    for row, verdict in zip(rows, verdicts, strict=True):
        low, high = max(verdict.low[x.name], x.low), min(verdict.high[x.name], x.high)
        style = (0, (3, 2)) if verdict.status == UNDECIDED else "solid"
        axes.plot([low, high], [row, row], color=LOOKS[verdict.status].colour, linewidth=1.6, linestyle=style, zorder=2)
    draw_marks(axes, np.array([(v.mean[x.name], row) for v, row in zip(verdicts, rows, strict=True)]), verdicts)
    axes.set_yticks(rows, [verdict.arm for verdict in verdicts], fontsize=FONT)
    for label, verdict in zip(axes.get_yticklabels(), verdicts, strict=True):
        label.set(parse_math=False, fontweight="bold" if verdict.status == OPTIMAL else "normal", color="#222222")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def write_bounds(
    axes: "Axes", x: Axis, verdicts: Sequence[Verdict], problem: Problem, renderer: "RendererAgg"
) -> None:
    """The constraints' texts, each along its line on the side that is allowed."""
    frame = Box(*axes.get_window_extent(renderer).extents)
    taken = []
    for row, verdict in zip(np.arange(len(verdicts), 0, -1.0), verdicts, strict=True):
        ends = [(max(verdict.low[x.name], x.low), row - 0.25), (min(verdict.high[x.name], x.high), row + 0.25)]
        (left, bottom), (right, top) = axes.transData.transform(ends)
        taken.append(Box(left, bottom, right, top))
    for plane in half_planes(problem.constraints, x.place)[0]:
        line = boundary(plane, _view(x, len(verdicts)))
        if line is None:
            continue
        text = axes.text(0, 0, plane.text, color=LINE, fontsize=FONT - 0.5, parse_math=False, in_layout=False)
        extent = text.get_window_extent(renderer)
        pixels = axes.transData.transform(line)
        middle, angle, room = place_along(
            pixels, (extent.width, extent.height), frame, taken, 3 * renderer.dpi / 72
        )
        text.set(position=axes.transData.inverted().transform(middle), rotation=angle, rotation_mode="anchor")
        text.set(horizontalalignment="center", verticalalignment="center")
        taken += room


def _view(x: Axis, rows: int) -> View:
    return View(x.low, x.high, 0.4, max(rows, 1) + 0.6)
