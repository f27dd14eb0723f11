"""Each arm's share of the samples: what the lower bound asks for, beside what each algorithm would take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoguard.errors import SettingsError
from paretoguard.pictures.canvas import Target, figure_for, look, save
from paretoguard.pictures.palette import QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paretoguard.theory.plan import Scenario

_COLOURS = ("#222222", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")  # told apart by colour-blind readers
_LINE = 0.17  # inches a bar


def draw_allocation(scenarios: "Sequence[Scenario]", target: Target = None) -> "Figure":
    """Draw one panel for each scenario; `target` is a file to write or a figure to draw on."""
    shown = [one for one in scenarios if one.bound is not None or one.designs]
    if not shown:
        raise SettingsError("there is nothing to draw: no lower bound, and no finished run")
    heights = [1.0 + len(one.instance.problem.arms) * (len(one.designs) + 1.6) * _LINE for one in shown]
    with look():
        figure = figure_for(target, 7.0, sum(heights))
        panels: Any = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights)
        for one, axes in zip(shown, panels[:, 0], strict=True):
            _draw(axes, one)
        save(figure, target)
    return figure


def _draw(axes: "Axes", one: "Scenario") -> None:
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
    colours = _COLOURS if one.bound is not None else _COLOURS[1:]
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
