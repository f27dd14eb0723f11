"""A picture of a result: arms at their estimated means, where the constraints hold, and where the samples went."""

import textwrap
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from paretoguard.errors import ProblemError
from paretoguard.pictures.axes import Axis, axis
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.legend import BOX, CROSS, LINE, add_legend, add_legend_above, entries
from paretoguard.pictures.palette import QUIET
from paretoguard.pictures.panels import Panel, draw, write_words
from paretoguard.pictures.pull_shares import HEIGHT, draw_shares, write_shares
from paretoguard.pictures.regions import half_planes
from paretoguard.pictures.rows import draw_rows, write_bounds
from paretoguard.problem import Problem
from paretoguard.problem.names import suggestion
from paretoguard.verdict import ACROSS, Result, Verdict, crossed

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure

MOST_OBJECTIVES = 5  # in one picture: ten pairs
MOST_ROWS_INCHES = 24.0


def draw_result(
    result: Result,
    problem: Problem,
    target: "str | PathLike[str] | Figure | None" = None,
    *,
    objectives: Sequence[str] | None = None,
    words: bool = True,
) -> "Figure":
    """Draw a result; `target` is a file to write (.png, .svg, .pdf) or a figure to draw on.

    One objective: a row for each arm. Two: the plane. More: every pair of the first five, or of those in `objectives`.
    Without `words` the answer is not written above it, nor what it is worth below.
    """
    chosen = _chosen(problem, objectives)
    if list(result.verdicts) != list(problem.arms):
        raise ProblemError("the result and the problem have different arms; draw a result with the problem it answers")
    seen = [verdict for verdict in result.verdicts.values() if verdict.pulls > 0]
    axes = [axis(problem, seen, name) for name in chosen]
    drawing = {1: _draw_one, 2: _draw_pair}.get(len(axes), _draw_matrix)
    with look():
        figure = drawing(result if words else None, problem, seen, axes, target)
        save(figure, target)
    return figure


def remarks(result: Result, problem: Problem, elsewhere: Sequence[str] = ()) -> list[str]:
    """What the picture of a result does not show, nor one of rows for each of the objectives shown `elsewhere`."""
    return _remarks(result, problem, _axes(result, problem), elsewhere)


def reading(result: Result, problem: Problem) -> str:
    """How to read the picture of a result."""
    axes = _axes(result, problem)
    limits = "Boxes, or crosses where boxes would be cut off or cover one another" if len(axes) > 1 else "Lines"
    shaded = _shading(problem, axes)
    return f"Marks: estimated means. {limits}: confidence limits." + (f" Shaded: where the {shaded}." if shaded else "")


def _axes(result: Result, problem: Problem) -> list[Axis]:
    seen = [verdict for verdict in result.verdicts.values() if verdict.pulls > 0]
    return [axis(problem, seen, name) for name in _chosen(problem, None)]


def _chosen(problem: Problem, objectives: Sequence[str] | None) -> list[str]:
    if objectives is None:
        return list(problem.compared)[:MOST_OBJECTIVES]
    for name in objectives:
        if name not in problem.objectives:
            raise ProblemError(f"there is no objective {name!r} to draw; {suggestion(name, problem.objectives)}")
    if not objectives or len(set(objectives)) < len(objectives):
        raise ProblemError(f"objectives to draw are {list(objectives)}; name at least one, and none twice")
    return list(objectives)


def _draw_one(result: Result | None, problem: Problem, seen: list[Verdict], axes: list[Axis], target: Any) -> "Figure":
    height = min(1.9 + 0.3 * max(len(seen), 1), MOST_ROWS_INCHES)
    figure = figure_for(target, 7.2, height + HEIGHT)
    grid = figure.add_gridspec(2, 1, height_ratios=[height - 1.0, 0.6 * HEIGHT])
    rows, shares = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    draw_shares(shares, seen)
    draw_rows(rows, axes[0], seen, problem)
    found = entries(seen, limits=[LINE], region=_shading(problem, axes))
    add_legend_above(rows, found, 0.02 + 0.12 / height)
    _add_words(figure, result, problem, axes)
    renderer = settled(figure)
    write_bounds(rows, axes[0], seen, problem, renderer)
    write_shares(shares, seen, renderer)
    return figure


def _draw_pair(result: Result | None, problem: Problem, seen: list[Verdict], axes: list[Axis], target: Any) -> "Figure":
    figure = figure_for(target, 7.2, 5.6 + HEIGHT)
    grid = figure.add_gridspec(2, 1, height_ratios=[4.2, 0.6 * HEIGHT])
    panel, shares = Panel(figure.add_subplot(grid[0]), axes[0], axes[1], seen), figure.add_subplot(grid[1])
    draw_shares(shares, seen)
    panel.axes.set_xlabel(axes[0].label, parse_math=False)
    panel.axes.set_ylabel(axes[1].label, parse_math=False)
    draw(panel, problem)
    add_legend_above(panel.axes, entries(seen, limits=_shapes([panel]), region=_shading(problem, axes)), 0.02)
    _add_words(figure, result, problem, axes)
    renderer = settled(figure)
    write_words(panel, problem, renderer)
    write_shares(shares, seen, renderer)
    return figure


def _draw_matrix(
    result: Result | None, problem: Problem, seen: list[Verdict], axes: list[Axis], target: Any
) -> "Figure":
    """Every pair of objectives below the diagonal; the words above it."""
    size = len(axes) - 1
    figure = figure_for(target, 2.6 + 2.9 * size, 1.8 + 2.5 * size + HEIGHT)
    grid = figure.add_gridspec(size + 1, size, height_ratios=[2.3] * size + [0.6 * HEIGHT])
    shares = figure.add_subplot(grid[size, :])
    draw_shares(shares, seen)
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
    add_legend(corner, entries(seen, limits=_shapes(panels), region=_shading(problem, axes)), loc="upper left")
    _add_words(figure, result, problem, axes)
    renderer = settled(figure)
    written: set[str] = set()
    for panel in panels:
        written |= write_words(panel, problem, renderer, already=written)
    write_shares(shares, seen, renderer)
    return figure


def _shapes(panels: Sequence[Panel]) -> list[str]:
    """How confidence limits are drawn there."""
    boxed = {panel.is_boxed(verdict) for panel in panels for verdict in panel.verdicts}
    return [shape for shape, present in ((BOX, True in boxed), (CROSS, False in boxed)) if present]


def settled(figure: "Figure") -> "RendererAgg":
    """Lay the figure out, fix it so, and give what measures its texts."""
    from matplotlib.backends.backend_agg import RendererAgg

    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return RendererAgg(*figure.bbox.size, figure.dpi)  # type: ignore[no-untyped-call]


def _add_words(figure: "Figure", result: Result | None, problem: Problem, axes: list[Axis]) -> None:
    """The answer above, what it is worth below; nothing where no result is given."""
    if result is None:
        return
    width = figure.get_figwidth()
    title = "\n".join(textwrap.wrap(_title(result, int(18 * width)), int(9.5 * width)))
    figure.suptitle(title, x=0.012, ha="left", weight="bold", size=13, parse_math=False)
    name = f"{result.problem}: " if result.problem else ""
    sentences = [f"{name}{result.footer()}", *_remarks(result, problem, axes)]
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, int(17.5 * width))]
    figure.supxlabel("\n".join(lines), x=0.012, ha="left", size=7.5, color=QUIET, parse_math=False)


def _title(result: Result, longest: int) -> str:
    """The headline; numbers in place of names where those are too many."""
    if len(result.headline()) <= longest:
        return result.headline()
    statuses = [verdict.status for verdict in result.verdicts.values()]
    found = ", ".join(result.pareto)
    if len(found) > longest // 2:
        found = f"{len(result.pareto)} of {len(statuses)} arms"
    if "undecided" not in statuses:
        return f"Best trade-offs: {found}"
    return f"Certain so far: {found or 'no arm'}; undecided: {statuses.count('undecided')} of {len(statuses)} arms"


def _remarks(result: Result, problem: Problem, axes: list[Axis], elsewhere: Sequence[str] = ()) -> list[str]:
    """What the picture does not show."""
    remarks = []
    hidden = _hidden_constraints(problem, axes, elsewhere)
    if hidden:
        remarks.append(f"Not drawn, as no two objectives shown hold it all: {'; '.join(hidden)}.")
    if len(axes) + len(elsewhere) < len(problem.objectives):
        remarks.append(f"Shown: {len(axes)} of {len(problem.objectives)} objectives.")
    across = [row.text for row in crossed(problem, result.verdicts.values())]
    if any(text not in _hidden_constraints(problem, axes) for text in across):
        remarks.append(ACROSS)
    unseen = [verdict.arm for verdict in result.verdicts.values() if verdict.pulls == 0]
    if unseen:
        remarks.append(f"Not pulled yet: {', '.join(unseen) if len(unseen) <= 10 else f'{len(unseen)} arms'}.")
    return remarks


def _shading(problem: Problem, axes: list[Axis]) -> str:
    """What the shaded part of the picture means; nothing where no constraint can be shown, and so nothing is shaded."""
    hidden = len(_hidden_constraints(problem, axes))
    if hidden == len(problem.constraints):
        return ""
    return "constraints shown here hold" if hidden else "constraints hold"


def _hidden_constraints(problem: Problem, axes: list[Axis], elsewhere: Sequence[str] = ()) -> list[str]:
    """Constraints that no panel can show."""
    places = [shown.place for shown in axes]
    pairs: list[tuple[int, int | None]] = [(x, y) for x in places for y in places if x < y]
    pairs += [(places[0], None), *((list(problem.objectives).index(name), None) for name in elsewhere)]
    shown = {plane.text for x, y in pairs for plane in half_planes(problem.constraints, x, y)[0]}
    return [row.text for row in problem.constraints if row.text not in shown]
