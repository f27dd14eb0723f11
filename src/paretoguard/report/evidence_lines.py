"""How the evidence of one run grew: a line for each arm, up to what is required for the status it has at the end."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.problem import STATUSES
from paretoguard.report.labels import short
from paretoguard.report.palette import HALO, ORDER, line_style
from paretoguard.simulation.trace import Growth
from paretoguard.verdict import OPTIMAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 1.3
ROOM = 0.3  # the share of the axis that a name may take
APART = 0.13  # of its height, between two names
NAMED = 3  # the arms certified last
LEVELS = (0.8, 0.5, 0.2)  # where along their lines these are named, so that names do not meet


def draw_lines(axes: "Axes", trace: Growth, arms: NDArray[int64]) -> None:
    """The lines of these arms until they were certified, what they had to reach, and the names of the last ones."""
    looks = np.where(trace.answer == 0, len(trace.samples) - 1, trace.certified())
    last = arms[np.lexsort((-trace.pulls[-1, arms], -looks[arms]))[:NAMED]]
    for arm in arms:
        status = STATUSES[trace.answer[arm]]
        shown = slice(0, looks[arm] + 1)
        height = np.minimum(trace.progress[shown, arm], 2 * TOP)
        faint = {} if arm in last else {"alpha": 0.45, "linewidth": 0.8}
        axes.plot(
            trace.samples[shown], height, zorder=2 + 0.1 * ORDER[status] + (arm in last), **line_style(status) | faint
        )
    axes.axhline(1.0, color="#222222", linewidth=0.8, zorder=1.5)
    axes.axvline(trace.samples[-1], color="#8A8A8A", linewidth=0.8, zorder=1)
    axes.set_ylim(0.0, TOP)
    axes.set_yticks([0, 0.5, 1], ["none", "half", "certified"])
    axes.tick_params(axis="both", which="both", labelsize=8)
    axes.set_ylabel("evidence", fontsize=8.5)
    axes.grid(axis="x", color="#E4E4E4", linewidth=0.7)
    axes.set_axisbelow(True)
    written: list[tuple[float, float]] = []
    for arm, level in zip(last, LEVELS, strict=False):
        written.append(_write_name(axes, trace, arm, looks[arm], level, written))


def _write_name(
    axes: "Axes", trace: Growth, arm: int, end: int, level: float, written: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """The name of an arm beside its line, at the left where there is room; returns where, as shares of the axes."""
    from matplotlib.patheffects import withStroke

    samples, height = _passing(trace.samples[: end + 1], trace.progress[: end + 1, arm], level)
    across, up = axes.transLimits.transform(axes.transScale.transform((samples, height)))
    up = max(up, APART / 2)
    while any(abs(across - x) < ROOM and abs(up - y) < APART for x, y in written):
        up += APART
    left = across < ROOM
    text = axes.annotate(
        short(trace.arms[arm]),
        (samples, up),
        (4 if left else -4, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if left else "right",
        va="center",
        fontsize=7.5,
        fontweight="bold" if STATUSES[trace.answer[arm]] == OPTIMAL else "normal",
        color="#222222",
        parse_math=False,
        zorder=5,
    )
    text.set_path_effects([withStroke(linewidth=2.5, foreground=HALO)])
    text.set_in_layout(False)
    return float(across), float(up)


def _passing(samples: NDArray[int64], line: NDArray[float64], level: float) -> tuple[float, float]:
    """Where a line last comes up through the level; its end if it stays below, its beginning if it stays above."""
    below = np.flatnonzero(line < level)
    if len(below) == 0:
        return float(samples[0]), level
    last = int(below[-1])
    if last == len(line) - 1:
        return float(samples[last]), float(line[last])
    return float(np.interp(level, line[last : last + 2], samples[last : last + 2])), level
