"""A picture of single runs: which arms the samples went to as time passed, and how the evidence grew."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64, int64

from paretoguard.errors import SettingsError
from paretoguard.numeric import Floats, Integers
from paretoguard.pictures.canvas import WIDE, Target, figure_for, look, save, write_around
from paretoguard.pictures.evidence_lines import draw_evidence
from paretoguard.pictures.palette import LOOKS, QUIET, add_legend, line_style, name_rows, shades, small_marks
from paretoguard.pictures.text_placement import short
from paretoguard.simulation.trace import Growth, Trace
from paretoguard.vocabulary import OPTIMAL, STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_TRACES = 6
_MOST_ARMS, _MOST_ARMS_OF_MANY = 24, 12  # in one trace: where there are up to two, and where there are more
_LONGEST_TITLE = 66  # letters in a line
_ROW, _LINES, _HEAD, _LEGEND = 0.19, 1.45, 0.85, 0.2  # inches: a row, the lines, title and labels, the legend
_SLICES = 90  # of time, at most: fewer than looks, so that a slice holds several decisions


def draw_traces(traces: Sequence[Trace], target: Target = None) -> "Figure":
    """Draw up to six traces below one another; `target` is a file to write (.png, .svg, .pdf) or a figure to draw on.

    Of each, above: a row for each arm, darker where it took more of the samples, with the mark of its status where that
    was certified. Below: evidence over what is required, a line for each arm until it was certified.
    """
    if not traces:
        raise SettingsError("there is no trace to draw")
    drawn = traces[:_MOST_TRACES]
    alike = [[other for other in drawn if other.cell.instance.name == one.cell.instance.name] for one in drawn]
    most = _MOST_ARMS if len(drawn) <= 2 else _MOST_ARMS_OF_MANY
    arms = [_shown_arms(others, most) for others in alike]
    with look():
        figure = _draw(drawn, alike, arms, target, room=0.95)
        for axes, one in zip(figure.axes[1::2], drawn, strict=True):
            _write_title(axes, one)
        _add_words(figure, drawn, arms, len(traces))
        save(figure, target)
    return figure


def draw_growth(grown: Growth, target: Target = None) -> "Figure":
    """Draw the same of a live experiment, without titles."""
    with look():
        figure = _draw([grown], [[grown]], [_shown_arms([grown], _MOST_ARMS)], target, room=0.0)
        save(figure, target)
    return figure


def _draw(
    drawn: Sequence[Growth], alike: Sequence[Sequence[Growth]], arms: Sequence[Integers], target: Target, room: float
) -> "Figure":
    """Draw rows and lines of each; `alike` are, for each, those of the same instance, `arms` those to show."""
    heights = [_LEGEND] + [height for shown in arms for height in (0.1 + _ROW * len(shown), _LINES)]
    figure = figure_for(target, 7.2, room + _HEAD * len(drawn) + sum(heights))
    figure.get_layout_engine().set(h_pad=0.02, hspace=0.0)  # type: ignore[union-attr, call-arg]
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    _add_keys(figure.add_subplot(grid[0]), drawn)
    for place, (one, others, shown) in enumerate(zip(drawn, alike, arms, strict=True)):
        strips = figure.add_subplot(grid[2 * place + 1])
        lines = figure.add_subplot(grid[2 * place + 2], sharex=strips)
        _set_time(strips, lines, others)
        _draw_strips(strips, one, shown)
        draw_evidence(lines, one, shown)
    return figure


def _shown_arms(alike: Sequence[Growth], most: int) -> Integers:
    """Return the arms of an instance to show in all its traces, in the problem's order.

    Optimal ones are taken first, then those with the largest share of the samples in any trace.
    """
    shares = np.max([one.pulls[-1] / one.samples[-1] for one in alike], axis=0)
    optimal = np.any([one.answer == OPTIMAL for one in alike], axis=0)
    return np.sort(np.lexsort((-shares, ~optimal))[:most]).astype(int64)


def _set_time(strips: "Axes", lines: "Axes", alike: Sequence[Growth]) -> None:
    """Set one axis of samples for both parts, the same for all traces of an instance."""
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


def _draw_strips(axes: "Axes", trace: Growth, arms: Integers) -> None:
    """Draw the rows, the marks where arms were certified, the names at the left and the pulls at the right."""
    edges, shares = _shares(trace)
    edges[0] = max(edges[0], axes.get_xlim()[0])
    heights, looks = np.arange(len(arms), 0, -1.0), trace.certified()
    statuses = [STATUSES[trace.answer[arm]] for arm in arms]
    for height, arm, status in zip(heights, arms, statuses, strict=True):
        low_high = np.array([height - 0.4, height + 0.4])
        axes.pcolormesh(edges, low_high, shares[None, :, arm], cmap=shades(), vmin=0.0, vmax=1.0, rasterized=True)
        when = trace.samples[looks[arm]]  # of an arm that is undecided, the last
        for style in small_marks(status):
            axes.plot(when, height, clip_on=False, zorder=5, **style)
    axes.axvline(trace.samples[-1], color="#8A8A8A", linewidth=0.8, zorder=1)
    axes.set_ylim(0.45, len(arms) + 0.55)
    name_rows(axes, heights, [short(trace.arms[arm]) for arm in arms], statuses, 8)
    for side in axes.spines.values():
        side.set_visible(False)
    _write_pulls(axes, trace, arms, heights)


def _shares(trace: Growth) -> tuple[Floats, Floats]:
    """Return edges [n + 1] of slices of time, and each arm's share of the samples in each, [n, K]."""
    chosen = np.unique(np.linspace(0, len(trace.samples) - 1, _SLICES).round().astype(int64))
    samples = np.concatenate([[0], trace.samples[chosen]])
    pulls = np.concatenate([np.zeros((1, trace.pulls.shape[1]), dtype=int64), trace.pulls[chosen]])
    return samples.astype(float64), np.diff(pulls, axis=0) / np.diff(samples)[:, None]


def _write_pulls(axes: "Axes", trace: Growth, arms: Integers, heights: Floats) -> None:
    """Write two columns at the right: pulls, and their share of all samples."""
    pulls = trace.pulls[-1]
    percent = 100 * pulls / max(int(pulls.sum()), 1)
    shown = ["<1%" if 0 < percent[arm] < 1 else f"{percent[arm]:.0f}%" for arm in arms]
    columns = (("pulls", [f"{pulls[arm]:,}" for arm in arms], 44), ("share", shown, 72))
    for head, texts, offset in columns:
        for height, text in zip([len(arms) + 1, *heights], [head, *texts], strict=True):
            axes.annotate(
                text,
                (1, height),
                (offset, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=7.5,
                color=QUIET if text == head else "#222222",
                annotation_clip=False,
            )


# --- words around the picture -----------------------------------------------------------------------------------------


def _write_title(axes: "Axes", one: Trace) -> None:
    """Write what was run and, in smaller letters below, how it ended."""
    instance, algorithm, evidence, delta = one.cell.labels
    title = "\n".join(textwrap.wrap(f"{algorithm} on {instance}: {evidence} evidence, δ = {delta:g}", _LONGEST_TITLE))
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


def _add_words(figure: "Figure", drawn: Sequence[Trace], arms: Sequence[Integers], number: int) -> None:
    runs = sorted({one.run for one in drawn})
    which = f"run {runs[0]}" if len(runs) == 1 else f"runs {', '.join(map(str, runs))}"
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
    write_around(figure, f"Where samples went and how evidence grew, {which}", "\n".join(lines))


def _add_keys(axes: "Axes", drawn: Sequence[Growth]) -> None:
    """Explain lines, marks and shades in one line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.transforms import blended_transform_factory

    present = {STATUSES[code] for one in drawn for code in one.answer}
    found: dict[str, Any] = {}
    for status in (status for status in LOOKS if status in present):
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
