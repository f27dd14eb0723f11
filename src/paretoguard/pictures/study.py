"""A picture of a study: how many samples each algorithm needs, how often it is wrong, and where the samples went."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.errors import SettingsError
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.palette import QUIET, SERIES
from paretoguard.pictures.pull_table import draw_table, pull_table
from paretoguard.simulation.study import Study
from paretoguard.simulation.summary import error
from paretoguard.verdict import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 400  # of one row; of more runs, evenly spaced ones by rank are shown
LONGEST_TITLE = 60  # letters in a line
WIDE = 8.0  # a ratio of samples beyond which the axis is logarithmic
ALGORITHMS = ("e-cape", "two-stage", "racing", "uniform", "pitfall")
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Row:
    """One kind of run: how it is called, its numbers, and its runs."""

    name: str
    colour: str
    summary: dict[str, Any]
    samples: NDArray[float64]
    undecided: NDArray[np.bool_]
    pulls: NDArray[int64]  # [runs, K]


def draw_comparison(study: Study, target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
    """Draw a study; `target` is a file to write (.png, .svg, .pdf) or a figure to draw on.

    A panel for each instance, a row for each algorithm × evidence × delta: every run, and a box from the 5% to the 95%
    quantile around the quartiles and the median. Below it, a table of the arms: their shares of the samples.
    """
    panels = rows_by_instance(study)
    if not panels:
        raise SettingsError("the study has no finished run to draw")
    instances = {cell.instance.name: cell.instance for cell in study.cells}
    tables = {
        name: pull_table(instances[name], [row.name for row in rows], [row.pulls for row in rows])
        for name, rows in panels.items()
    }
    heights = [height for name, rows in panels.items() for height in (0.62 * len(rows) + 0.2, tables[name].height)]
    beside = sum(0.65 + table.head for table in tables.values())  # axis labels, heads of columns
    with look():
        figure = figure_for(target, 7.2, 1.25 + sum(heights) + beside)
        grid = figure.add_gridspec(2 * len(panels), 1, height_ratios=heights)
        for place, (name, rows) in enumerate(panels.items()):
            draw_runs(figure.add_subplot(grid[2 * place]), name if len(panels) > 1 else "", rows)
            draw_table(figure.add_subplot(grid[2 * place + 1]), tables[name])
        _add_words(figure, study, list(panels))
        save(figure, target)
    return figure


def rows_by_instance(study: Study) -> dict[str, list[Row]]:
    """Rows by instance; a name holds only what differs within the study."""
    summaries = [summary for summary in study.summary() if summary["runs"] > 0]
    differing = [key for key in ("algorithm", "evidence", "delta") if len({row[key] for row in summaries}) > 1]
    algorithms = list(dict.fromkeys([*ALGORITHMS, *(row["algorithm"] for row in summaries)]))  # the same colour always
    arms = {cell.instance.name: len(cell.instance.problem.arms) for cell in study.cells}
    panels: dict[str, list[Row]] = {}
    for summary in summaries:
        records = study.records
        mine = np.all([records[key] == summary[key] for key in ("instance", "algorithm", "evidence", "delta")], axis=0)
        order = np.argsort(records[mine]["samples"], kind="stable")
        runs = records[mine][order]
        panels.setdefault(summary["instance"], []).append(
            Row(
                "\n".join(_word(key, summary) for key in differing) or summary["algorithm"],
                SERIES[algorithms.index(summary["algorithm"]) % len(SERIES)],
                summary,
                runs["samples"].astype(float64),
                runs["undecided"],
                study.pulls[mine][:, : arms[summary["instance"]]],
            )
        )
    return panels


def _word(key: str, summary: dict[str, Any]) -> str:
    return f"δ = {summary['delta']:g}" if key == "delta" else str(summary[key])


def draw_runs(axes: "Axes", title: str, rows: Sequence[Row]) -> None:
    """A row for each kind of run: every run, quartiles, and the numbers."""
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


def _draw_row(axes: "Axes", height: float, row: Row) -> None:
    """A box above, the runs below it as points, and the numbers at its right."""
    q05, q25, median, q75, q95 = np.quantile(row.samples, [0.05, 0.25, 0.5, 0.75, 0.95])
    axes.plot([q05, q95], [height, height], color=row.colour, linewidth=1.2, zorder=2)
    axes.barh(height, q75 - q25, left=q25, height=0.26, color=row.colour, zorder=3)
    colour = "white" if q75 > q25 else row.colour
    axes.plot([median, median], [height - 0.13, height + 0.13], color=colour, linewidth=1.6, zorder=4)
    chosen = np.unique(np.linspace(0, len(row.samples) - 1, min(len(row.samples), MOST_POINTS)).round().astype(int))
    jitter = height - 0.32 + 0.16 * ((chosen * GOLDEN) % 1 - 0.5)
    open_runs = row.undecided[chosen]
    style: dict[str, Any] = {"s": 7, "color": row.colour, "linewidths": 0.6, "zorder": 2}
    axes.scatter(row.samples[chosen][~open_runs], jitter[~open_runs], alpha=0.45, edgecolors="none", **style)
    axes.scatter(row.samples[chosen][open_runs], jitter[open_runs], marker="|", **style)
    axes.annotate(
        _numbers(row.summary),
        (0.0, height + 0.2),
        xycoords=("axes fraction", "data"),
        xytext=(2, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=7.5,
        color="#333333",
        parse_math=False,
    )


def _numbers(summary: dict[str, Any]) -> str:
    wrong = f"wrong {error(summary, 1)}"
    undecided = f" · undecided {summary['undecided']:.0%}" if summary["undecided"] > 0 else ""
    return f"mean {show(round(summary['mean']))} samples · {wrong}{undecided}"


def _at_two_and_five(value: float, _: Any) -> str:
    """Labels between the powers of ten, where an axis spans few of them."""
    digit = round(value / 10 ** np.floor(np.log10(value) + 1e-9))
    return f"{value:,.0f}" if digit in (2, 5) else ""


def _add_words(figure: "Figure", study: Study, instances: Sequence[str]) -> None:
    summaries = [summary for summary in study.summary() if summary["runs"] > 0]
    where = f" on {instances[0]}" if len(instances) == 1 else ""
    title = "\n".join(textwrap.wrap(f"Samples needed{where}", LONGEST_TITLE))
    figure.suptitle(title, x=0.012, ha="left", weight="bold", size=13, parse_math=False)
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
    figure.supxlabel(caption, x=0.012, ha="left", size=7.5, color=QUIET, parse_math=False)
