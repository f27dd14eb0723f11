"""One objective: a row for each arm with its interval and mark, over the range where the constraints hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.pictures.canvas import Target, figure_for, look, save, settled
from paretoguard.pictures.palette import FEASIBLE, LOOKS, draw_marks, name_rows
from paretoguard.pictures.panels import NAME_FONT
from paretoguard.pictures.regions import Axis, Region, Window, axis, draw_boundaries, half_planes, write_boundaries
from paretoguard.pictures.text_placement import Box
from paretoguard.problem import Problem
from paretoguard.verdict import ACROSS, Result, Verdict, crossed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure

_BESIDE = 3  # objectives that only guard, in one line
_ROW, _ROOM = 0.24, 0.75  # inches: an arm, and the axis with its words
MOST_INCHES = 24.0


def draw_rows(axes: "Axes", x: Axis, verdicts: Sequence[Verdict], problem: Problem) -> None:
    """Draw everything but the constraints' words; the first arm is on top."""
    region = _region(x, verdicts, problem)
    corners, (left, right, bottom, top) = region.shaded(), region.window
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_xlabel(x.label, parse_math=False)
    if len(corners):
        axes.axvspan(corners[:, 0].min(), corners[:, 0].max(), color=FEASIBLE, linewidth=0, zorder=0)
    draw_boundaries(axes, region.lines())
    heights = _heights(verdicts)
    for height, verdict in zip(heights, verdicts, strict=True):
        style = (0, (3, 2)) if verdict.status == "undecided" else "solid"
        colour = LOOKS[verdict.status].colour
        axes.plot(_interval(x, verdict), [height] * 2, color=colour, linewidth=1.6, linestyle=style, zorder=2)
    means = [verdict.mean[x.name] for verdict in verdicts]
    draw_marks(axes, np.column_stack([means, heights]), verdicts)
    names, statuses = [verdict.arm for verdict in verdicts], [verdict.status for verdict in verdicts]
    name_rows(axes, heights, names, statuses, NAME_FONT)
    axes.spines["left"].set_visible(False)


def write_bounds(axes: "Axes", x: Axis, verdicts: Sequence[Verdict], problem: Problem, renderer: "RendererAgg") -> None:
    """Write the constraints' words, each along its line on the allowed side, once the layout is settled."""
    taken = []
    for height, verdict in zip(_heights(verdicts), verdicts, strict=True):
        low, high = _interval(x, verdict)
        (left, bottom), (right, top) = axes.transData.transform([(low, height - 0.25), (high, height + 0.25)])
        taken.append(Box(left, bottom, right, top))
    write_boundaries(axes, _region(x, verdicts, problem).lines(), renderer, taken)


def _heights(verdicts: Sequence[Verdict]) -> Floats:
    return np.arange(len(verdicts), 0, -1.0)


def _interval(x: Axis, verdict: Verdict) -> tuple[float, float]:
    return max(verdict.low[x.name], x.low), min(verdict.high[x.name], x.high)


def _region(x: Axis, verdicts: Sequence[Verdict], problem: Problem) -> Region:
    window = Window(x.low, x.high, 0.4, max(len(verdicts), 1) + 0.6)
    return Region(window, half_planes(problem.constraints, x.place))


# --- objectives that only guard, beside each other --------------------------------------------------------------------


def guards(problem: Problem) -> list[str]:
    return [name for name in problem.objectives if name not in problem.compared]


def guard_remarks(result: Result, problem: Problem) -> list[str]:
    """Return what to know of limits in the picture that reach across a constraint, if there are any."""
    found = crossed(problem, result.verdicts.values())
    objectives = list(problem.objectives)
    return [ACROSS] if any(half_planes(found, objectives.index(name)) for name in guards(problem)) else []


def draw_guards(result: Result, problem: Problem, target: Target = None) -> "Figure":
    """Draw every objective that only guards; `target` is a file to write or a figure to draw on."""
    seen = [verdict for verdict in result.verdicts.values() if verdict.pulls > 0]
    shown = [axis(problem, seen, name) for name in guards(problem)]
    lines, columns = -(-len(shown) // _BESIDE), min(len(shown), _BESIDE)
    with look():
        figure = figure_for(target, 7.2, min(lines * (_ROOM + _ROW * max(len(seen), 1)), MOST_INCHES))
        grid = figure.add_gridspec(lines, columns)
        for place, one in enumerate(shown):
            axes = figure.add_subplot(grid[place // _BESIDE, place % _BESIDE])
            draw_rows(axes, one, seen, problem)
            axes.tick_params(labelleft=place % _BESIDE == 0)
        renderer = settled(figure)
        for axes, one in zip(figure.axes, shown, strict=True):
            write_bounds(axes, one, seen, problem, renderer)
        save(figure, target)
    return figure
