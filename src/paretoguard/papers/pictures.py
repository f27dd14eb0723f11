"""The pictures of the reproduction: instances beside the samples they take, and curves."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoguard.papers.outcome import Rows
from paretoguard.pictures.canvas import figure_for, look, save, settled
from paretoguard.pictures.comparison import draw_runs, rows_by_instance
from paretoguard.pictures.instance_map import draw_plane, draw_solid, write_names
from paretoguard.pictures.palette import QUIET, SERIES
from paretoguard.pictures.panels import write_words
from paretoguard.problem import Instance
from paretoguard.simulation.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARMS = 12  # in a solid: more are shown two objectives at a time
DARK, GRID = "#222222", "#E8E8E8"
FARTHEST = 2.0  # times delta: errors beyond are not of interest, unless there are some
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
CAPTION = (
    "Left: the true means, ★ optimal, ▽ dominated, ✕ infeasible; shaded where the constraints hold. Right: points are "
    "runs; bar: quartiles\nand median; line: 5% to 95%. wrong: share of runs with a false claim, and its 95% limit."
)


def draw_trials(study: Study, note: str, path: Path) -> "Figure":
    """Draw for each instance where its arms are, and the samples that each kind of run took; a note below."""
    instances = {cell.instance.name: cell.instance for cell in study.cells}
    rows = rows_by_instance(study)
    heights = [3.2 * max(1.0, 0.95 * len(_planes(instances[name]))) for name in rows]
    with look():
        figure = figure_for(None, 9.6, 0.75 + sum(heights))
        grid = figure.add_gridspec(len(rows), 2, width_ratios=[4, 5], height_ratios=heights)
        maps = []
        for place, (name, kinds) in enumerate(rows.items()):
            maps += _draw_maps(figure, grid[place, 0], instances[name])
            draw_runs(figure.add_subplot(grid[place, 1]), "", kinds)
        figure.supxlabel(f"{note}\n{CAPTION}", x=0.012, ha="left", size=7.5, color=QUIET, parse_math=False)
        renderer = settled(figure)
        for write in maps:
            write(renderer)
        save(figure, path)
    return figure


def _planes(instance: Instance) -> list[tuple[str, str]]:
    """Return the pairs of objectives to show: the first against each other, but none of a solid with few arms."""
    first, *others = instance.problem.objectives
    return [] if len(others) == 2 and len(instance.means) <= MOST_ARMS else [(first, other) for other in others]


def _draw_maps(figure: "Figure", place: Any, instance: Instance) -> list[Any]:
    """Draw the instance; return the functions that write its words once the layout is settled."""
    planes = _planes(instance)
    title: dict[str, Any] = {"loc": "left", "fontsize": 10, "fontweight": "bold", "parse_math": False}
    if not planes:
        axes = figure.add_subplot(place, projection="3d")
        axes.set_title(instance.name, **title)
        return [partial(write_names, draw_solid(axes, instance))]
    writers, grid = [], place.subgridspec(len(planes), 1)
    for row, pair in enumerate(planes):
        axes = figure.add_subplot(grid[row])
        if row == 0:
            axes.set_title(instance.name, **title)
        writers.append(partial(write_words, draw_plane(axes, instance, pair), instance.problem))
    return writers


def draw_growth(epsilons: Sequence[float], costs: Mapping[str, Sequence[float]], path: Path) -> "Figure":
    """Draw mean samples against eps, and the predicted line of slope -2."""
    with look():
        figure = figure_for(None, 6.4, 4.2)
        axes = figure.subplots()
        for place, (name, cost) in enumerate(costs.items()):
            axes.plot(epsilons, cost, label=name, **_style(place), linestyle="-")
        last = costs["two-stage"][-1]
        line = [last * (epsilons[-1] / eps) ** 2 for eps in epsilons]
        axes.plot(epsilons, line, color=DARK, linestyle=":", zorder=3, label="predicted: proportional to 1/eps²")
        axes.set(xscale="log", yscale="log", ylabel="mean samples")
        axes.set_xlabel("eps: distance of two arms to the border, in y (std 2.5)")
        axes.set_xticks(epsilons, [f"{eps:g}" for eps in epsilons])
        axes.minorticks_off()
        axes.invert_xaxis()
        axes.grid(axis="y", color=GRID)
        axes.legend(frameon=False)
        save(figure, path)
    return figure


def draw_ratios(rows: Rows, path: Path) -> "Figure":
    """Draw samples over the lower bound: a panel for each evidence, a mark for each algorithm."""
    xlabel = "median samples over T log(1/δ), where T is the lower bound of e-cPSI"
    return _draw_dots(rows, "evidence", "algorithm", "ratio", path, xlabel=xlabel)


def draw_choices(rows: Rows, path: Path) -> "Figure":
    """Draw samples of two-stage over those of e-cAPE for each choice: on which side of 1?"""
    xlabel = (
        "samples of two-stage over those of e-cAPE, ± 2 standard errors; right of the line, e-cAPE needs fewer.\n"
        "split: two-stage at δ/2 a stage; fresh: stage 2 without stage 1's samples; form: e-cAPE's pulls in stage 2;\n"
        "ties: to the highest index; g = 4f, 10f: more evidence for feasibility"
    )
    shown = [
        {**row, "all": "", "from": row["ratio"] - row["error"], "limit": row["ratio"] + row["error"]} for row in rows
    ]
    return _draw_dots(shown, "all", "choice", "ratio", path, xlabel=xlabel)


def draw_errors(rows: Rows, path: Path) -> "Figure":
    """Draw error rates with their limits, over delta: below 1 is within delta."""
    shown = [
        {
            **row,
            "level": f"δ = {row['delta']:g}",
            "share": row["error_ecpsi"] / row["delta"],
            "limit": row["error_ecpsi_upper"] / row["delta"],
        }
        for row in rows
    ]
    xlabel = "errors over δ; a line ends at the 95% limit, or leaves the picture where there are too few runs to tell"
    return _draw_dots(shown, "evidence", "level", "share", path, xlabel=xlabel, log=False)


def _draw_dots(
    rows: Rows,
    panel: str,
    series: str,
    value: str,
    path: Path,
    *,
    xlabel: str,
    log: bool = True,
) -> "Figure":
    """Draw a panel for each value of one column, in it a row for each instance with a mark for each of the series."""
    names, panels, kinds = (list(dict.fromkeys(row[column] for row in rows)) for column in ("instance", panel, series))
    with look():
        figure = figure_for(None, 2.2 + max(6.0, 1.6 * len(panels)), 1.3 + 0.55 * len(names))
        every: Any = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for word, axes in zip(panels, every, strict=True):
            for place, kind in enumerate(kinds):
                here = [row for row in rows if row[panel] == word and row[series] == kind]
                shift = 0.7 * ((place + 0.5) / len(kinds) - 0.5)
                heights = [names.index(row["instance"]) + shift for row in here]
                axes.plot([row[value] for row in here], heights, linestyle="none", label=kind, **_style(place))
                if "limit" in rows[0]:
                    ends = [row.get("from", row[value]) for row in here], [row["limit"] for row in here]
                    axes.hlines(heights, *ends, color=SERIES[place], linewidth=1.1)
            _set_rows(axes, names, word, log)
            if not log:
                axes.set_xlim(-0.05, max(FARTHEST, 1.1 * max(row[value] for row in rows)))
        every[0].set_yticks(range(len(names)), names, parse_math=False)
        every[0].tick_params(axis="y", length=0)
        every[0].invert_yaxis()
        figure.supxlabel(xlabel, size=9)
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, columnspacing=1.2)
        save(figure, path)
    return figure


def _set_rows(axes: "Axes", names: Sequence[str], title: str, log: bool) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold")
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for height in range(1, len(names)):
        axes.axhline(height - 0.5, color=GRID, linewidth=0.8, zorder=0)
    axes.grid(axis="x", color=GRID)
    axes.set_axisbelow(True)
    axes.axvline(1.0, color=DARK, linewidth=0.9, linestyle="--", zorder=1)
    axes.set_ylim(-0.5, len(names) - 0.5)


def _style(place: int) -> dict[str, Any]:
    return {"color": SERIES[place], "marker": SHAPES[place], "markersize": 4.5}
