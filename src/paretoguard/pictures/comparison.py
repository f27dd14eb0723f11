"""Pictures that compare algorithms: the runs of a study and where their samples went, and what a plan expects."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import bool_, float64
from numpy.typing import NDArray

from paretoguard.errors import SettingsError
from paretoguard.numeric import Floats, Integers
from paretoguard.pictures.canvas import WIDE, Target, figure_for, look, save, write_around
from paretoguard.pictures.instance_map import true_status
from paretoguard.pictures.palette import QUIET, SERIES, shades
from paretoguard.pictures.text_placement import short
from paretoguard.problem import Instance
from paretoguard.simulation.study import Study
from paretoguard.simulation.summary import error
from paretoguard.verdict import MARKS, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paretoguard.theory.plan import Scenario

_MOST_POINTS = 400  # of one row; of more runs, evenly spaced ones by rank are shown
_LONGEST_TITLE = 60  # letters in a line
_ALGORITHMS = ("e-cape", "two-stage", "racing", "uniform", "pitfall")
_GOLDEN = (5**0.5 - 1) / 2
_MOST_ARMS = 20  # in a table
_ROW = 0.2  # inches
_COLUMNS_INCHES = 5.6  # for all columns together
_LETTER_INCHES = 0.068  # of a head
_BAR_COLOURS = ("#222222", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")  # distinct for colour-blind readers
_BAR = 0.17  # inches


class KindOfRun(NamedTuple):
    """One kind of run as a row: how it is called, its numbers, and its runs."""

    name: str
    colour: str
    summary: dict[str, Any]
    samples: Floats
    undecided: NDArray[bool_]
    pulls: Integers  # [runs, K]


def draw_comparison(study: Study, target: Target = None) -> "Figure":
    """Draw a study; `target` is a file to write (.png, .svg, .pdf) or a figure to draw on.

    A panel for each instance, a row for each algorithm × evidence × delta: every run, and a box from the 5% to the 95%
    quantile around the quartiles and the median. Below it, a table of the arms: their shares of the samples.
    """
    panels = rows_by_instance(study)
    if not panels:
        raise SettingsError("the study has no finished run to draw")
    instances = {cell.instance.name: cell.instance for cell in study.cells}
    tables = {name: pull_table(instances[name], rows) for name, rows in panels.items()}
    heights = [height for rows in panels.values() for height in (0.62 * len(rows) + 0.2, _ROW * len(rows))]
    beside = sum(0.65 + table.head for table in tables.values())  # axis labels, heads of columns
    with look():
        figure = figure_for(target, 7.2, 1.25 + sum(heights) + beside)
        grid = figure.add_gridspec(2 * len(panels), 1, height_ratios=heights)
        for place, (name, rows) in enumerate(panels.items()):
            draw_runs(figure.add_subplot(grid[2 * place]), name if len(panels) > 1 else "", rows)
            _draw_table(figure.add_subplot(grid[2 * place + 1]), tables[name])
        _add_words(figure, study, list(panels))
        save(figure, target)
    return figure


def rows_by_instance(study: Study) -> dict[str, list[KindOfRun]]:
    """Return rows by instance; a name holds only what differs within the study."""
    summaries = [summary for summary in study.summary() if summary["runs"] > 0]
    differing = [key for key in ("algorithm", "evidence", "delta") if len({row[key] for row in summaries}) > 1]
    algorithms = list(dict.fromkeys([*_ALGORITHMS, *(row["algorithm"] for row in summaries)]))  # the same colour always
    arms = {cell.instance.name: len(cell.instance.problem.arms) for cell in study.cells}
    panels: dict[str, list[KindOfRun]] = {}
    for summary in summaries:
        records = study.records
        mine = np.all([records[key] == summary[key] for key in ("instance", "algorithm", "evidence", "delta")], axis=0)
        runs = records[mine][np.argsort(records[mine]["samples"], kind="stable")]
        words = [f"δ = {summary[key]:g}" if key == "delta" else str(summary[key]) for key in differing]
        row = KindOfRun(
            "\n".join(words) or summary["algorithm"],
            SERIES[algorithms.index(summary["algorithm"]) % len(SERIES)],
            summary,
            runs["samples"].astype(float64),
            runs["undecided"],
            study.pulls[mine][:, : arms[summary["instance"]]],
        )
        panels.setdefault(summary["instance"], []).append(row)
    return panels


def draw_runs(axes: "Axes", title: str, rows: Sequence[KindOfRun]) -> None:
    """Draw a row for each kind of run: every run, quartiles, and the numbers."""
    from matplotlib.ticker import FuncFormatter

    everything = np.concatenate([row.samples for row in rows])
    wide = everything.min() > 0 and everything.max() > WIDE * everything.min()
    if wide:
        axes.set_xscale("log")
    axes.set_xlim(everything.min() / 1.2 if wide else 0, everything.max() * (1.2 if wide else 1.05))
    for height, row in zip(range(len(rows), 0, -1), rows, strict=True):
        _draw_row(axes, height, row)
    axes.set_ylim(0.45, len(rows) + 0.65)
    axes.set_yticks(range(len(rows), 0, -1), [row.name for row in rows], color="#222222")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", which="both", length=3.5, pad=3.5)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#E4E4E4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if wide and everything.max() < 100 * everything.min():
        axes.xaxis.set_minor_formatter(FuncFormatter(_at_two_and_five))
    axes.set_xlabel("samples until the answer" + (", logarithmic" if wide else ""))
    if title:
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold", parse_math=False)


def _draw_row(axes: "Axes", height: float, row: KindOfRun) -> None:
    """Draw a box above, the runs below it as points, and write the numbers over it."""
    q05, q25, median, q75, q95 = np.quantile(row.samples, [0.05, 0.25, 0.5, 0.75, 0.95])
    axes.plot([q05, q95], [height, height], color=row.colour, linewidth=1.2, zorder=2)
    axes.barh(height, q75 - q25, left=q25, height=0.26, color=row.colour, zorder=3)
    colour = "white" if q75 > q25 else row.colour
    axes.plot([median, median], [height - 0.13, height + 0.13], color=colour, linewidth=1.6, zorder=4)
    chosen = np.unique(np.linspace(0, len(row.samples) - 1, min(len(row.samples), _MOST_POINTS)).round().astype(int))
    jitter = height - 0.32 + 0.16 * ((chosen * _GOLDEN) % 1 - 0.5)
    open_runs = row.undecided[chosen]
    style: dict[str, Any] = {"s": 7, "color": row.colour, "linewidths": 0.6, "zorder": 2}
    axes.scatter(row.samples[chosen][~open_runs], jitter[~open_runs], alpha=0.45, edgecolors="none", **style)
    axes.scatter(row.samples[chosen][open_runs], jitter[open_runs], marker="|", **style)
    undecided = f" · undecided {row.summary['undecided']:.0%}" if row.summary["undecided"] > 0 else ""
    axes.annotate(
        f"mean {show(round(row.summary['mean']))} samples · wrong {error(row.summary, 1)}{undecided}",
        (0.0, height + 0.2),
        xycoords=("axes fraction", "data"),
        xytext=(2, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=7.5,
        color="#333333",
        parse_math=False,
    )


def _at_two_and_five(value: float, _: Any) -> str:
    """Return labels between the powers of ten, for an axis that spans few of them."""
    digit = round(value / 10 ** np.floor(np.log10(value) + 1e-9))
    return f"{value:,.0f}" if digit in (2, 5) else ""


def _add_words(figure: "Figure", study: Study, instances: Sequence[str]) -> None:
    summaries = [summary for summary in study.summary() if summary["runs"] > 0]
    where = f" on {instances[0]}" if len(instances) == 1 else ""
    title = "\n".join(textwrap.wrap(f"Samples needed{where}", _LONGEST_TITLE))
    same = [
        f"{key} = {summaries[0][key]}" for key in ("evidence", "delta") if len({row[key] for row in summaries}) == 1
    ]
    same.append("guarantee: " + ", ".join(sorted({summary["guarantee"] for summary in summaries})))
    counts = sorted({summary["runs"] for summary in summaries})
    runs = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    ended = " (upright strokes: ended by the budget)" if np.any(study.records["undecided"]) else ""
    caption = (
        f"{runs} simulated runs of each kind; {'; '.join(same)}.\n"
        f"Points: runs{ended}. Bar: quartiles and median. Line: 5% to 95%.\n"
        "wrong: share of runs with a false claim (game-cpsi, pitfall:task=cpsi: a wrong set), "
        "and its one-sided 95% limit.\n"
        "Arms by what they truly are: ★ optimal, ▽ dominated, ✕ infeasible."
    )
    write_around(figure, title, caption)


# --- where the samples went: a row for each kind of run, a column for each arm ----------------------------------------


class PullTable(NamedTuple):
    """Shares of samples [rows, columns], with the heads of both; the last column may stand for the arms left out."""

    rows: Sequence[str]
    columns: Sequence[str]
    shares: Floats
    is_upright: bool  # are the heads of the columns too long to lie level?
    head: float  # inches that they and the label take


def pull_table(instance: Instance, rows: Sequence[KindOfRun]) -> PullTable:
    """Return the table of these rows."""
    totals = np.array([row.pulls.sum(axis=0) for row in rows], dtype=float64)
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    kept = np.arange(shares.shape[1])
    if len(kept) > _MOST_ARMS:
        kept = np.sort(np.argsort(-shares.sum(axis=0), kind="stable")[: _MOST_ARMS - 1])
    heads, truth = [], instance.truth()
    for arm in kept:
        heads.append(f"{MARKS[true_status(truth, arm)]} {short(instance.problem.arms[arm])}")
    shown = shares[:, kept]
    if len(kept) < shares.shape[1]:
        heads.append(f"{shares.shape[1] - len(kept)} others")
        shown = np.column_stack([shown, 1.0 - shown.sum(axis=1)])
    inches = _LETTER_INCHES * max(len(head) for head in heads)
    upright = inches > _COLUMNS_INCHES / len(heads)
    return PullTable([row.name for row in rows], heads, shown, upright, 0.3 + (inches if upright else 0.15))


def _draw_table(axes: "Axes", table: PullTable) -> None:
    """Draw the table; its rows have the order of the boxes above it."""
    shades_of = shades()
    edges = np.arange(len(table.columns) + 1.0), np.arange(len(table.rows) + 1.0)
    axes.pcolormesh(*edges, table.shares, cmap=shades_of, vmin=0.0, vmax=1.0, edgecolors="white", linewidth=1.5)
    axes.invert_yaxis()
    for row, column in np.ndindex(*table.shares.shape):
        share = table.shares[row, column]
        dark = sum(shades_of(share)[:3]) / 3 < 0.46  # where white is easier to read than black
        words = "·" if share == 0 else "<1" if share < 0.01 else f"{100 * share:.0f}"
        middle = column + 0.5, row + 0.53
        axes.text(*middle, words, ha="center", va="center", fontsize=7, color="white" if dark else "#222222")
    axes.xaxis.tick_top()
    axes.set_xticks(edges[0][:-1] + 0.5, table.columns, fontsize=7, rotation=90 if table.is_upright else 0)
    axes.set_yticks(edges[1][:-1] + 0.5, [row.replace("\n", ", ") for row in table.rows], fontsize=7)
    for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        label.set(parse_math=False, color="#222222")
    axes.tick_params(length=0, pad=2)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel("where samples went: per cent of all samples", fontsize=8, color=QUIET, labelpad=3)
    axes.xaxis.set_label_position("bottom")


# --- a plan: shares of the samples, a bar for each algorithm and arm --------------------------------------------------


def draw_allocation(scenarios: "Sequence[Scenario]", target: Target = None) -> "Figure":
    """Draw each arm's share of the samples: what the lower bound asks for, beside what each algorithm would take.

    One panel for each scenario; `target` is a file to write or a figure to draw on.
    """
    shown = [one for one in scenarios if one.bound is not None or one.designs]
    if not shown:
        raise SettingsError("there is nothing to draw: no lower bound, and no finished run")
    heights = [1.0 + len(one.instance.problem.arms) * (len(one.designs) + 1.6) * _BAR for one in shown]
    with look():
        figure = figure_for(target, 7.0, sum(heights))
        panels: Any = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights)
        for one, axes in zip(shown, panels[:, 0], strict=True):
            _draw_bars(axes, one)
        save(figure, target)
    return figure


def _draw_bars(axes: "Axes", one: "Scenario") -> None:
    arms = one.instance.problem.arms
    bars = []
    if one.bound is not None:
        words = f"lower bound: {one.bound.samples(one.delta):,.0f} samples"
        bars.append((words, [one.bound.weights[arm] for arm in arms]))
    for row in one.designs:
        shares = [row["pulls"][arm]["mean"] / row["mean"] for arm in arms]
        ended = f", {row['undecided']:.0%} of runs undecided" if row["undecided"] > 0 else ""
        bars.append((f"{row['algorithm']}, {row['evidence']}: {row['mean']:,.0f} samples{ended}", shares))
    places, height = np.arange(len(arms)), 0.8 / len(bars)
    colours = _BAR_COLOURS if one.bound is not None else _BAR_COLOURS[1:]
    for k, (name, shares) in enumerate(bars):
        at = places + (k - (len(bars) - 1) / 2) * height
        colour = colours[k % len(colours)]
        axes.barh(at, shares, height=0.9 * height, color=colour, label=name)
    best = one.instance.truth().pareto
    axes.set_yticks(places, [f"★ {arm}" if arm in best else arm for arm in arms], parse_math=False)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel("share of the samples (★: the best arms, if the means are as assumed)", color=QUIET)
    axes.set_title(f"{one.instance.name}, delta = {one.delta:g}", loc="left", fontweight="bold", parse_math=False)
    axes.legend(frameon=False, fontsize=8, loc="best")
