"""The pictures of the reproduction: instances beside the samples they take, and curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoguard.problem import Instance
from paretoguard.report.canvas import figure_for, look, save
from paretoguard.report.comparison import draw_runs, rows_by_instance
from paretoguard.report.front import settled
from paretoguard.report.instance_map import draw_plane, draw_solid
from paretoguard.report.palette import QUIET, SERIES
from paretoguard.report.panels import Panel, write_words
from paretoguard.simulation.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ARMS = 12  # in a solid: of more, two objectives are shown
SHAPES = ("o", "s", "^", "D", "v", "P")
CAPTION = (
    "Left: the true means, ★ optimal, ▽ dominated, ✕ infeasible; shaded where the constraints hold. Right: points are "
    "runs;\nbar: quartiles and median; line: 5% to 95%. wrong: share of runs with a false claim, and its 95% limit."
)


def draw_trials(study: Study, path: Path) -> "Figure":
    """For each instance: where its arms are, and the samples that each kind of run took."""
    instances = {cell.instance.name: cell.instance for cell in study.cells}
    rows = rows_by_instance(study)
    with look():
        figure = figure_for(None, 9.6, 0.7 + 3.4 * len(rows))
        grid = figure.add_gridspec(len(rows), 2, width_ratios=[4, 5])
        planes = []
        for place, (name, kinds) in enumerate(rows.items()):
            left = grid[place, 0]
            if _is_solid(instances[name]):
                draw_solid(figure.add_subplot(left, projection="3d"), instances[name])
            else:
                planes.append((draw_plane(figure.add_subplot(left), instances[name]), instances[name]))
            draw_runs(figure.add_subplot(grid[place, 1]), name, kinds)
        figure.supxlabel(CAPTION, x=0.012, ha="left", size=7.5, color=QUIET, parse_math=False)
        _write_words(figure, planes)
        save(figure, path)
    return figure


def _is_solid(instance: Instance) -> bool:
    arms, objectives = instance.means.shape
    return objectives == 3 and arms <= MOST_ARMS


def _write_words(figure: "Figure", planes: Sequence[tuple[Panel, Instance]]) -> None:
    renderer = settled(figure)
    for panel, instance in planes:
        write_words(panel, instance.problem, renderer)


def draw_growth(epsilons: Sequence[float], costs: Mapping[str, Sequence[float]], path: Path) -> "Figure":
    """Mean samples against eps, and the predicted line of slope -2."""
    with look():
        figure = figure_for(None, 6.4, 4.2)
        axes = figure.subplots()
        for (name, cost), colour, shape in zip(costs.items(), SERIES, SHAPES, strict=False):
            axes.plot(epsilons, cost, color=colour, marker=shape, label=name)
        last = costs["two-stage"][-1]
        line = [last * (epsilons[-1] / eps) ** 2 for eps in epsilons]
        axes.plot(epsilons, line, color="#5F5F5F", linestyle=":", label="predicted: proportional to 1/eps²")
        axes.set(xscale="log", yscale="log", xlabel="eps: distance of two arms to the border", ylabel="mean samples")
        axes.set_xticks(epsilons, [f"{eps:g}" for eps in epsilons])
        axes.minorticks_off()
        axes.legend(frameon=False)
        save(figure, path)
    return figure


def draw_ratios(rows: Sequence[Mapping[str, Any]], path: Path) -> "Figure":
    """Samples over the lower bound: a panel for each evidence, a line for each instance."""
    evidence = list(dict.fromkeys(row["evidence"] for row in rows if row["algorithm"] != "game-cpsi"))
    names = list(dict.fromkeys(row["instance"] for row in rows))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    with look():
        figure = figure_for(None, 11.5, 1.3 + 0.32 * len(names))
        panels: Any = figure.subplots(1, len(evidence), sharey=True)
        for kind, axes in zip(evidence, panels, strict=True):
            for place, algorithm in enumerate(algorithms):
                here = [
                    row for row in rows
                    if row["algorithm"] == algorithm
                    and (row["evidence"] == kind or (algorithm == "game-cpsi" and kind == evidence[0]))
                ]  # fmt: skip
                heights = [names.index(row["instance"]) + 0.12 * (place - 2) for row in here]
                style = {"color": SERIES[place], "marker": SHAPES[place], "linestyle": "none", "markersize": 4.5}
                axes.plot([row["ratio"] for row in here], heights, label=algorithm, **style)
            axes.set_title(kind, loc="left", fontweight="bold")
            axes.set_xscale("log")
            axes.set_xlabel("samples / (T log 1/δ)", color=QUIET)
            axes.grid(axis="both", color="#EEEEEE")
            axes.axvline(1.0, color="#8A8A8A", linewidth=0.8)
        panels[0].set_yticks(range(len(names)), names, parse_math=False)
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        save(figure, path)
    return figure


def draw_errors(rows: Sequence[Mapping[str, Any]], path: Path) -> "Figure":
    """Error rates with their limits, over delta: below 1 is within it."""
    evidence = list(dict.fromkeys(row["evidence"] for row in rows))
    names = list(dict.fromkeys(row["instance"] for row in rows))
    deltas = list(dict.fromkeys(row["delta"] for row in rows))
    with look():
        figure = figure_for(None, 9.6, 1.2 + 0.36 * len(names))
        panels: Any = figure.subplots(1, len(evidence), sharey=True)
        for kind, axes in zip(evidence, panels, strict=True):
            for place, delta in enumerate(deltas):
                here = [row for row in rows if row["evidence"] == kind and row["delta"] == delta]
                heights = [names.index(row["instance"]) + 0.22 * (place - 1) for row in here]
                for height, row in zip(heights, here, strict=True):
                    ends = [row["error_ecpsi"] / delta, row["error_ecpsi_upper"] / delta]
                    axes.plot(ends, [height, height], color=SERIES[place], linewidth=1.1)
                shares = [row["error_ecpsi"] / delta for row in here]
                style = {"color": SERIES[place], "marker": SHAPES[place], "linestyle": "none", "markersize": 5}
                axes.plot(shares, heights, label=f"δ = {delta:g}", **style)
            axes.set_title(kind, loc="left", fontweight="bold")
            axes.axvline(1.0, color="#222222", linewidth=0.9, linestyle="--")
            axes.set_xlabel("error rate over δ; the line ends at its 95% limit", color=QUIET)
            axes.grid(axis="both", color="#EEEEEE")
        panels[0].set_yticks(range(len(names)), names, parse_math=False)
        panels[0].invert_yaxis()
        panels[-1].legend(frameon=False, loc="lower right")
        save(figure, path)
    return figure


def draw_choices(rows: Sequence[Mapping[str, Any]], path: Path) -> "Figure":
    """Two-stage over e-cAPE for each choice: on which side of 1?"""
    names = list(dict.fromkeys(row["instance"] for row in rows))
    choices = list(dict.fromkeys(row["choice"] for row in rows))
    with look():
        figure = figure_for(None, 8.4, 1.2 + 0.42 * len(names))
        axes = figure.subplots()
        for place, choice in enumerate(choices):
            here = [row for row in rows if row["choice"] == choice]
            heights = [names.index(row["instance"]) + 0.11 * (place - 2.5) for row in here]
            style = {"color": SERIES[place], "marker": SHAPES[place], "linestyle": "none", "markersize": 5}
            axes.plot([row["ratio"] for row in here], heights, label=choice, **style)
        axes.axvline(1.0, color="#222222", linewidth=0.9, linestyle="--")
        axes.set_xscale("log")
        axes.set_xlabel("samples of two-stage over those of e-cAPE; right of 1, e-cAPE needs fewer", color=QUIET)
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.invert_yaxis()
        axes.grid(axis="both", color="#EEEEEE")
        figure.legend(loc="outside right upper", frameon=False)
        save(figure, path)
    return figure
