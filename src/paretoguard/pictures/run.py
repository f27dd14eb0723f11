"""A picture of single runs: which arms the samples went to as time passed, and how the evidence grew."""

import textwrap
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoguard.errors import SettingsError
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.evidence_lines import draw_lines
from paretoguard.pictures.legend import add_legend
from paretoguard.pictures.palette import LOOKS, QUIET, line_style, shades, small_marks
from paretoguard.pictures.strips import draw_strips, shown_arms
from paretoguard.simulation.trace import Growth, Trace
from paretoguard.vocabulary import STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TRACES = 6
MOST_ARMS, MOST_ARMS_OF_MANY = 24, 12  # in one trace: where there are up to two, and where there are more
LONGEST_TITLE = 66  # letters in a line
WIDE = 8.0  # a ratio of samples beyond which the axis is logarithmic
ROW, LINES, HEAD, LEGEND = 0.19, 1.45, 0.85, 0.2  # inches: a row, the lines, title and labels, the legend


def draw_traces(traces: Sequence[Trace], target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
    """Draw up to six traces below one another; `target` is a file to write (.png, .svg, .pdf) or a figure to draw on.

    Of each, above: a row for each arm, darker where it took more of the samples, with the mark of its status where that
    was certified. Below: evidence over what is required, a line for each arm until it was certified.
    """
    if not traces:
        raise SettingsError("there is no trace to draw")
    drawn = traces[:MOST_TRACES]
    arms = [shown_arms(_alike(drawn, one), MOST_ARMS if len(drawn) <= 2 else MOST_ARMS_OF_MANY) for one in drawn]
    heights = [LEGEND] + [height for shown in arms for height in (0.1 + ROW * len(shown), LINES)]
    with look():
        figure = figure_for(target, 7.2, 0.95 + HEAD * len(drawn) + sum(heights))
        figure.get_layout_engine().set(h_pad=0.02, hspace=0.0)  # type: ignore[union-attr, call-arg]
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        add_keys(figure.add_subplot(grid[0]), drawn)
        for place, (one, shown) in enumerate(zip(drawn, arms, strict=True)):
            strips = figure.add_subplot(grid[2 * place + 1])
            lines = figure.add_subplot(grid[2 * place + 2], sharex=strips)
            set_time(strips, lines, _alike(drawn, one))
            draw_strips(strips, one, shown)
            draw_lines(lines, one, shown)
            _write_title(strips, one)
        _add_words(figure, drawn, arms, len(traces))
        save(figure, target)
    return figure


def draw_growth(grown: Growth, target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
    """Above: a row for each arm, darker where it took more of the samples. Below: evidence over what is required."""
    shown = shown_arms([grown], MOST_ARMS)
    heights = [LEGEND, 0.1 + ROW * len(shown), LINES]
    with look():
        figure = figure_for(target, 7.2, HEAD + sum(heights))
        figure.get_layout_engine().set(h_pad=0.02, hspace=0.0)  # type: ignore[union-attr, call-arg]
        grid = figure.add_gridspec(3, 1, height_ratios=heights)
        add_keys(figure.add_subplot(grid[0]), [grown])
        strips = figure.add_subplot(grid[1])
        lines = figure.add_subplot(grid[2], sharex=strips)
        set_time(strips, lines, [grown])
        draw_strips(strips, grown, shown)
        draw_lines(lines, grown, shown)
        save(figure, target)
    return figure


def _alike(traces: Sequence[Trace], one: Trace) -> list[Trace]:
    """The traces of the same instance."""
    return [other for other in traces if other.cell.instance.name == one.cell.instance.name]


def set_time(strips: "Axes", lines: "Axes", alike: Sequence[Growth]) -> None:
    """One axis of samples for both parts, the same for all traces of an instance."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    first, last = min(int(one.samples[0]) for one in alike), max(int(one.samples[-1]) for one in alike)
    wide = last > WIDE * first
    if wide:
        strips.set_xscale("log")
    else:
        lines.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    strips.set_xlim(first * 0.94 if wide else 0, last * (1.05 if wide else 1.02))
    strips.tick_params(axis="x", which="both", bottom=False, labelbottom=False)
    lines.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    lines.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    lines.set_xlabel("samples so far" + (", logarithmic" if wide else ""), fontsize=8.5, labelpad=2)


def _write_title(axes: "Axes", one: Trace) -> None:
    """What was run and, in smaller letters below, how it ended."""
    instance, algorithm, evidence, delta = one.cell.labels
    title = "\n".join(textwrap.wrap(f"{algorithm} on {instance}: {evidence} evidence, δ = {delta:g}", LONGEST_TITLE))
    axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold", pad=17, parse_math=False)
    batch = f" in batches of {one.batch:,}" if one.batch > 1 else ""
    words = f"{one.samples[-1]:,} samples{batch}, {_outcome(one)}"
    axes.annotate(words, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", fontsize=8, color=QUIET)


def _outcome(one: Trace) -> str:
    undecided, K = int(np.count_nonzero(one.answer == 0)), len(one.answer)
    if one.wrong:
        return "with a wrong claim"
    if undecided == 0:
        return "the right answer"
    return f"all {K} arms undecided" if undecided == K else f"{undecided} of {K} arms undecided, the rest right"


def _add_words(figure: "Figure", drawn: Sequence[Trace], arms: Sequence[Any], number: int) -> None:
    runs = sorted({one.run for one in drawn})
    which = f"run {runs[0]}" if len(runs) == 1 else f"runs {', '.join(map(str, runs))}"
    title = f"Where samples went and how evidence grew, {which}"
    figure.suptitle(title, x=0.012, ha="left", weight="bold", size=13)
    lines = [
        "Rows: an arm is darker while more samples go to it; its mark stands where its status was certified for good.",
        "Lines: evidence for that status over what is required, until it was certified; the last arms are named.",
    ]
    cut = [len(one.answer) - len(shown) for one, shown in zip(drawn, arms, strict=True)]
    if any(cut):
        left_out = ", ".join(map(str, sorted({*cut} - {0})))
        lines.append(f"Shown are the optimal arms and those with most pulls; left out: {left_out} arms.")
    if number > len(drawn):
        lines.append(f"Shown are the first {len(drawn)} of {number} kinds of runs.")
    figure.supxlabel("\n".join(lines), x=0.012, ha="left", size=7.5, color=QUIET)


def add_keys(axes: "Axes", drawn: Sequence[Growth]) -> None:
    """What lines, marks and shades mean, in one line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.transforms import blended_transform_factory

    present = {STATUSES[code] for one in drawn for code in one.answer}
    found: dict[str, Any] = {}
    for status in LOOKS:
        if status in present:
            marks = (Line2D([], [], **style) for style in small_marks(status))
            found[status] = (Line2D([], [], **line_style(status)), *marks)
    for share, words in {0.1: "10%", 0.5: "50%", 1.0: "all samples"}.items():
        found[words] = Patch(facecolor=shades()(share), edgecolor="#8A8A8A", linewidth=0.4)
    axes.set_axis_off()
    across = blended_transform_factory(axes.figure.transFigure, axes.transAxes)  # from the left edge of the figure
    placing: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (0.012, 0.5), "bbox_transform": across}
    spacing = {"columnspacing": 1.1, "handletextpad": 0.5, "handlelength": 2.4, "borderpad": 0, "borderaxespad": 0}
    add_legend(axes, found, ncols=len(found), **placing, **spacing)
    axes.get_legend().set_in_layout(False)  # type: ignore[union-attr]
