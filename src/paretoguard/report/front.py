"""A picture of a result: arms at their estimated means, where the constraints hold, and what is known of each arm."""

import textwrap
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from paretoguard.errors import ProblemError
from paretoguard.names import suggestion
from paretoguard.problem import Problem
from paretoguard.report.axes import Axis, axis
from paretoguard.report.canvas import figure_for, look, save
from paretoguard.report.palette import FEASIBLE, LOOKS, QUIET
from paretoguard.report.panels import Panel, draw, mark_style, write_words
from paretoguard.report.regions import half_planes
from paretoguard.report.rows import draw_rows, write_bounds
from paretoguard.verdict import Result, Verdict

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure

MOST_OBJECTIVES = 5  # in one picture: ten pairs
MOST_ROWS_INCHES = 24.0
Target = "str | PathLike[str] | Figure | None"


def draw_result(
    result: Result,
    problem: Problem,
    target: "str | PathLike[str] | Figure | None" = None,
    *,
    objectives: Sequence[str] | None = None,
) -> "Figure":
    """Draw a result; `target` is a file to write (.png, .svg, .pdf) or a figure to draw on.

    One objective: a row for each arm. Two: the plane. More: every pair of the first five, or of those in `objectives`.
    """
    chosen = _chosen(problem, objectives)
    if list(result.verdicts) != list(problem.arms):
        raise ProblemError("the result and the problem have different arms; draw a result with the problem it answers")
    seen = [verdict for verdict in result.verdicts.values() if verdict.pulls > 0]
    axes = [axis(problem, seen, name) for name in chosen]
    drawing = {1: _draw_one, 2: _draw_pair}.get(len(axes), _draw_matrix)
    with look():
        figure = drawing(result, problem, seen, axes, target)
        save(figure, target)
    return figure


def _chosen(problem: Problem, objectives: Sequence[str] | None) -> list[str]:
    if objectives is None:
        return list(problem.objectives)[:MOST_OBJECTIVES]
    for name in objectives:
        if name not in problem.objectives:
            raise ProblemError(f"there is no objective {name!r} to draw; {suggestion(name, problem.objectives)}")
    if not objectives or len(set(objectives)) < len(objectives):
        raise ProblemError(f"objectives to draw are {list(objectives)}; name at least one, and none twice")
    return list(objectives)


def _draw_one(result: Result, problem: Problem, seen: list[Verdict], axes: list[Axis], target: Any) -> "Figure":
    height = min(1.9 + 0.3 * max(len(seen), 1), MOST_ROWS_INCHES)
    figure = figure_for(target, 7.2, height)
    rows = figure.add_subplot()
    draw_rows(rows, axes[0], seen, problem)
    _add_legend(rows, seen, problem, 0.02 + 0.12 / height)
    _add_words(figure, result, problem, axes)
    write_bounds(rows, axes[0], seen, problem, _settled(figure))
    return figure


def _draw_pair(result: Result, problem: Problem, seen: list[Verdict], axes: list[Axis], target: Any) -> "Figure":
    figure = figure_for(target, 7.2, 5.6)
    panel = Panel(figure.add_subplot(), *axes, seen)
    panel.axes.set_xlabel(axes[0].label, parse_math=False)
    panel.axes.set_ylabel(axes[1].label, parse_math=False)
    draw(panel, problem)
    _add_legend(panel.axes, seen, problem, 0.02)
    _add_words(figure, result, problem, axes)
    write_words(panel, problem, _settled(figure))
    return figure


def _draw_matrix(result: Result, problem: Problem, seen: list[Verdict], axes: list[Axis], target: Any) -> "Figure":
    """Every pair of objectives below the diagonal; the words above it."""
    size = len(axes) - 1
    figure = figure_for(target, 2.6 + 2.9 * size, 1.8 + 2.5 * size)
    grid = figure.add_gridspec(size, size)
    panels = []
    for row in range(size):
        for column in range(row + 1):
            panel = Panel(figure.add_subplot(grid[row, column]), axes[column], axes[row + 1], seen)
            draw(panel, problem)
            panel.axes.tick_params(labelbottom=row == size - 1, labelleft=column == 0)
            panel.axes.set_xlabel(axes[column].label if row == size - 1 else "", parse_math=False)
            panel.axes.set_ylabel(axes[row + 1].label if column == 0 else "", parse_math=False)
            panels.append(panel)
    corner = figure.add_subplot(grid[0, 1:])
    corner.set_axis_off()
    corner.legend(handles=_handles(seen, problem), loc="upper left", frameon=False, ncols=1)
    _add_words(figure, result, problem, axes)
    renderer = _settled(figure)
    written: set[str] = set()
    for panel in panels:
        written |= write_words(panel, problem, renderer, already=written)
    return figure


def _settled(figure: "Figure") -> "RendererAgg":
    """Lay the figure out, fix it so, and give what measures its texts."""
    from matplotlib.backends.backend_agg import RendererAgg

    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return RendererAgg(*figure.bbox.size, figure.dpi)


def _add_legend(axes: Any, seen: list[Verdict], problem: Problem, gap: float) -> None:
    axes.legend(
        handles=_handles(seen, problem),
        loc="lower left",
        bbox_to_anchor=(0, 1 + gap),
        borderaxespad=0,
        borderpad=0,
        ncols=6,
        frameon=False,
        columnspacing=1.4,
        handletextpad=0.3,
        handlelength=1.6,
    )


def _handles(seen: list[Verdict], problem: Problem) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {verdict.status for verdict in seen}
    handles: list[Any] = [
        Line2D([], [], label=status, **mark_style(status)) for status in LOOKS if status in present
    ]
    if seen:
        handles.append(Patch(facecolor="#00000010", edgecolor="#7A7A7A", linewidth=0.9, label="confidence limits"))
    if problem.constraints:
        handles.append(Patch(facecolor=FEASIBLE, edgecolor="#B9CCC1", linewidth=0.5, label="constraints hold"))
    return handles


def _add_words(figure: "Figure", result: Result, problem: Problem, axes: list[Axis]) -> None:
    """The answer above, what it is worth below."""
    width = figure.get_figwidth()
    title = result.headline()
    if len(title) > 18 * width:
        title = f"Best trade-offs: {len(result.pareto)} of {len(result.verdicts)} arms"
    figure.suptitle(
        "\n".join(textwrap.wrap(title, int(9.5 * width))), x=0.012, ha="left", weight="bold", size=13, parse_math=False
    )
    name = f"{result.problem}: " if result.problem else ""
    sentences = [f"{name}{result.footer()}", *_remarks(result, problem, axes)]
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, int(17.5 * width))]
    figure.supxlabel("\n".join(lines), x=0.012, ha="left", size=7.5, color=QUIET, parse_math=False)


def _remarks(result: Result, problem: Problem, axes: list[Axis]) -> list[str]:
    """What the picture does not show."""
    remarks = []
    hidden = _hidden_constraints(problem, axes)
    if hidden:
        remarks.append(f"Not drawn, as no two objectives shown hold it all: {'; '.join(hidden)}.")
    if len(axes) < len(problem.objectives):
        remarks.append(f"Shown: {len(axes)} of {len(problem.objectives)} objectives.")
    unseen = [verdict.arm for verdict in result.verdicts.values() if verdict.pulls == 0]
    if unseen:
        remarks.append(f"Not pulled yet: {', '.join(unseen) if len(unseen) <= 10 else f'{len(unseen)} arms'}.")
    return remarks


def _hidden_constraints(problem: Problem, axes: list[Axis]) -> list[str]:
    """Constraints that no panel can show."""
    places = [shown.place for shown in axes]
    pairs = [(x, y) for x in places for y in places if x < y] or [(places[0], None)]
    shown = {plane.text for x, y in pairs for plane in half_planes(problem.constraints, x, y)[0]}
    return [row.text for row in problem.constraints if row.text not in shown]
