"""A picture of a result: arms at their estimated means, where the constraints hold, and where the samples went."""

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.errors import ProblemError
from paretoguard.pictures.canvas import Target, figure_for, look, save, settled, write_around
from paretoguard.pictures.palette import LOOKS, QUIET, add_legend, add_legend_above, legend_entries, small_marks
from paretoguard.pictures.panels import Panel, draw_panel, write_words
from paretoguard.pictures.regions import Axis, axis, half_planes
from paretoguard.pictures.rows import MOST_INCHES, draw_rows, write_bounds
from paretoguard.pictures.text_placement import short
from paretoguard.problem import Problem
from paretoguard.problem.names import suggestion
from paretoguard.verdict import ACROSS, Result, Verdict, crossed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure

    # the figure, the axes of its bar of shares, and what writes the words of its panels once the layout is settled
    Drawn = tuple[Figure, Axes, Callable[[RendererAgg], None]]

_MOST_OBJECTIVES = 5  # in one picture: ten pairs
_BAR = 0.5  # inches of the bar of shares, with the words above it
_BAR_FONT = 7.5
_SMALL = 0.03  # arms with less than this share have one piece together
_REST = "#E6E6E6"
_MARK, _GAP = 13.0, 4.0  # points: room for a mark, and beside a name


def draw_result(
    result: Result,
    problem: Problem,
    target: Target = None,
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
    seen, axes = _seen(result), _axes(result, problem, chosen)
    with look():
        drawing = {1: _draw_one, 2: _draw_pair}.get(len(axes), _draw_matrix)
        figure, shares, write = drawing(problem, seen, axes, target)
        if words:
            _add_words(figure, result, problem, axes)
        renderer = settled(figure)
        write(renderer)
        _write_shares(shares, seen, renderer)
        save(figure, target)
    return figure


def _chosen(problem: Problem, objectives: Sequence[str] | None) -> list[str]:
    if objectives is None:
        return list(problem.compared)[:_MOST_OBJECTIVES]
    for name in objectives:
        if name not in problem.objectives:
            raise ProblemError(f"there is no objective {name!r} to draw; {suggestion(name, problem.objectives)}")
    if not objectives or len(set(objectives)) < len(objectives):
        raise ProblemError(f"objectives to draw are {list(objectives)}; name at least one, and none twice")
    return list(objectives)


def _seen(result: Result) -> list[Verdict]:
    return [verdict for verdict in result.verdicts.values() if verdict.pulls > 0]


def _axes(result: Result, problem: Problem, chosen: Sequence[str]) -> list[Axis]:
    return [axis(problem, _seen(result), name) for name in chosen]


def _draw_one(problem: Problem, seen: list[Verdict], axes: list[Axis], target: Target) -> "Drawn":
    height = min(1.9 + 0.3 * max(len(seen), 1), MOST_INCHES)
    figure = figure_for(target, 7.2, height + _BAR)
    grid = figure.add_gridspec(2, 1, height_ratios=[height - 1.0, 0.6 * _BAR])
    rows, shares = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    _draw_shares(shares, seen)
    draw_rows(rows, axes[0], seen, problem)
    found = legend_entries(seen, limits=["line"], region=_shading(problem, axes))
    add_legend_above(rows, found, 0.02 + 0.12 / height)
    return figure, shares, partial(write_bounds, rows, axes[0], seen, problem)


def _draw_pair(problem: Problem, seen: list[Verdict], axes: list[Axis], target: Target) -> "Drawn":
    figure = figure_for(target, 7.2, 5.6 + _BAR)
    grid = figure.add_gridspec(2, 1, height_ratios=[4.2, 0.6 * _BAR])
    panel, shares = Panel(figure.add_subplot(grid[0]), axes[0], axes[1], seen), figure.add_subplot(grid[1])
    _draw_shares(shares, seen)
    panel.axes.set_xlabel(panel.x.label, parse_math=False)
    panel.axes.set_ylabel(panel.y.label, parse_math=False)
    draw_panel(panel, problem)
    add_legend_above(panel.axes, _entries(problem, seen, axes, [panel]), 0.02)
    return figure, shares, partial(_write_panels, [panel], problem)


def _draw_matrix(problem: Problem, seen: list[Verdict], axes: list[Axis], target: Target) -> "Drawn":
    """Draw every pair of objectives below the diagonal; the legend is above it."""
    size = len(axes) - 1
    figure = figure_for(target, 2.6 + 2.9 * size, 1.8 + 2.5 * size + _BAR)
    grid = figure.add_gridspec(size + 1, size, height_ratios=[2.3] * size + [0.6 * _BAR])
    shares = figure.add_subplot(grid[size, :])
    _draw_shares(shares, seen)
    panels = []
    for row in range(size):
        for column in range(row + 1):
            panel = Panel(figure.add_subplot(grid[row, column]), axes[column], axes[row + 1], seen)
            draw_panel(panel, problem)
            panel.axes.tick_params(labelbottom=row == size - 1, labelleft=column == 0)
            panel.axes.set_xlabel(panel.x.label if row == size - 1 else "", parse_math=False)
            panel.axes.set_ylabel(panel.y.label if column == 0 else "", parse_math=False)
            panels.append(panel)
    corner = figure.add_subplot(grid[0, 1:])
    corner.set_axis_off()
    add_legend(corner, _entries(problem, seen, axes, panels), loc="upper left")
    return figure, shares, partial(_write_panels, panels, problem)


def _entries(problem: Problem, seen: list[Verdict], axes: list[Axis], panels: Sequence[Panel]) -> dict[str, Any]:
    boxed = {panel.is_boxed(verdict) for panel in panels for verdict in panel.verdicts}
    limits = [shape for shape, present in (("box", True in boxed), ("cross", False in boxed)) if present]
    return legend_entries(seen, limits=limits, region=_shading(problem, axes))


def _write_panels(panels: Sequence[Panel], problem: Problem, renderer: "RendererAgg") -> None:
    written: set[str] = set()
    for panel in panels:
        written |= write_words(panel, problem, renderer, already=written)


# --- words around the picture -----------------------------------------------------------------------------------------


def reading(result: Result, problem: Problem) -> str:
    """Return how to read the picture of a result."""
    axes = _axes(result, problem, _chosen(problem, None))
    limits = "Boxes, or crosses where boxes would be cut off or cover one another" if len(axes) > 1 else "Lines"
    shaded = _shading(problem, axes)
    return f"Marks: estimated means. {limits}: confidence limits." + (f" Shaded: where the {shaded}." if shaded else "")


def remarks(
    result: Result, problem: Problem, elsewhere: Sequence[str] = (), axes: list[Axis] | None = None
) -> list[str]:
    """Return what the picture of a result does not show, nor one of rows for each of the objectives `elsewhere`."""
    axes = axes or _axes(result, problem, _chosen(problem, None))
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
    """Return what the shaded part means; "" if no constraint can be shown, so that nothing is shaded."""
    hidden = len(_hidden_constraints(problem, axes))
    if hidden == len(problem.constraints):
        return ""
    return "constraints shown here hold" if hidden else "constraints hold"


def _hidden_constraints(problem: Problem, axes: list[Axis], elsewhere: Sequence[str] = ()) -> list[str]:
    """Return the constraints that no panel can show."""
    places = [shown.place for shown in axes]
    pairs: list[tuple[int, int | None]] = [(x, y) for x in places for y in places if x < y]
    pairs += [(places[0], None), *((list(problem.objectives).index(name), None) for name in elsewhere)]
    shown = {plane.text for x, y in pairs for plane in half_planes(problem.constraints, x, y)}
    return [row.text for row in problem.constraints if row.text not in shown]


def _add_words(figure: "Figure", result: Result, problem: Problem, axes: list[Axis]) -> None:
    """Write the answer above, and below what it is worth."""
    width = figure.get_figwidth()
    title = "\n".join(textwrap.wrap(_title(result, int(18 * width)), int(9.5 * width)))
    name = f"{result.problem}: " if result.problem else ""
    sentences = [f"{name}{result.footer()}", *remarks(result, problem, axes=axes)]
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, int(17.5 * width))]
    write_around(figure, title, "\n".join(lines))


def _title(result: Result, longest: int) -> str:
    """Return the headline, or one with numbers in place of names if those are too many."""
    if len(result.headline()) <= longest:
        return result.headline()
    statuses = [verdict.status for verdict in result.verdicts.values()]
    found = ", ".join(result.pareto)
    if len(found) > longest // 2:
        found = f"{len(result.pareto)} of {len(statuses)} arms"
    if "undecided" not in statuses:
        return f"Best trade-offs: {found}"
    return f"Certain so far: {found or 'no arm'}; undecided: {statuses.count('undecided')} of {len(statuses)} arms"


# --- where the samples went: one bar, cut into the arms' shares -------------------------------------------------------


class _Piece(NamedTuple):
    """A part of the bar: from where, how many pulls, and whose; None stands for the rest."""

    left: int
    pulls: int
    verdict: Verdict | None


def _draw_shares(axes: "Axes", verdicts: Sequence[Verdict]) -> None:
    """Draw the bar, most pulled arms first; its words are written once the layout is settled."""
    pieces = _pieces(verdicts)
    total = max(sum(piece.pulls for piece in pieces), 1)
    axes.set(xlim=(0, total), ylim=(0, 1))
    axes.set_axis_off()
    for left, pulls, verdict in pieces:
        colour, alpha = (LOOKS[verdict.status].colour, 0.22) if verdict else (_REST, 1.0)
        axes.barh(0.5, pulls, left=left, height=1, align="center", color=colour, alpha=alpha, linewidth=0)
        axes.plot([left + pulls] * 2, [0, 1], color="white", linewidth=1.2, clip_on=False)
    rest = sum(piece.pulls for piece in pieces if piece.verdict is None)
    number = len(verdicts) - sum(piece.verdict is not None for piece in pieces)
    words = f"; grey: the other {number} arms, {_percent(rest, total)}" if number else ""
    axes.set_title(f"where the samples went{words}", loc="left", fontsize=8, color=QUIET, pad=3)


def _write_shares(axes: "Axes", verdicts: Sequence[Verdict], renderer: "RendererAgg") -> None:
    """Write each arm's mark, name and pulls in its piece, as much of these as there is room for."""
    total = sum(verdict.pulls for verdict in verdicts)
    point = renderer.dpi / 72
    for left, pulls, verdict in _pieces(verdicts):
        start, end = axes.transData.transform([(left, 0.5), (left + pulls, 0.5)])[:, 0]
        if verdict is None or end - start < _MARK * point:
            continue
        share, name = _percent(pulls, total), short(verdict.arm)
        for words in (f"{verdict.arm}  {pulls:,} ({share})", f"{name}  {share}", name, share, ""):
            text = axes.annotate(words, (left, 0.47), (_MARK + _GAP, 0), textcoords="offset points", parse_math=False)
            text.set(fontsize=_BAR_FONT, va="center", color="#222222", in_layout=False)
            text.set_fontweight("bold" if verdict.status == "optimal" else "normal")
            if not words or text.get_window_extent(renderer).width + (_MARK + 2 * _GAP) * point <= end - start:
                break
            text.remove()
        middle = start + (_MARK / 2 + 2) * point if words else (start + end) / 2
        for style in small_marks(verdict.status):
            axes.plot(axes.transData.inverted().transform((middle, 0))[0], 0.5, **style)


def _pieces(verdicts: Sequence[Verdict]) -> list[_Piece]:
    """Return the bar from left to right; small pieces are one, if there are several."""
    total = sum(verdict.pulls for verdict in verdicts)
    order = sorted(verdicts, key=lambda verdict: -verdict.pulls)
    large = [verdict for verdict in order if verdict.pulls >= _SMALL * total]
    if len(order) - len(large) < 2:
        large = order
    found, left = [], 0
    for verdict in large:
        found.append(_Piece(left, verdict.pulls, verdict))
        left += verdict.pulls
    return [*found, _Piece(left, total - left, None)] if left < total else found


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if part >= 0.01 * whole else "<1%"
