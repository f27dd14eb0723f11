"""How the evidence of one run grew: a line for each arm, up to what is required for the status it has at the end."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.pictures.palette import HALO, ORDER, line_style
from paretoguard.pictures.text_placement import short
from paretoguard.simulation.trace import Growth
from paretoguard.vocabulary import STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 1.3
NAMED = 3  # the arms certified last
SIZE = np.array([5.6, 1.45])  # of the axes in inches, about
LETTER, HEIGHT = 0.074, 0.15  # inches that a letter takes, and a name
GAP = 0.055  # inches between a line and its name
CLEAR = 0.3  # inches to the next line, from which on more do not help


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
    paths = {arm: _path(axes, trace, arm, looks[arm]) for arm in arms}
    names = np.empty((0, 2))
    for arm in last:
        others = np.concatenate([_level(axes), *(path for other, path in paths.items() if other != arm)])
        names = np.concatenate([names, _write_name(axes, trace, arm, paths[arm], others, names)])


def _path(axes: "Axes", trace: Growth, arm: int, end: int) -> NDArray[float64]:
    """The line of an arm as points in inches from the corner of the axes, [n, 2]."""
    given = np.column_stack([trace.samples[: end + 1], np.minimum(trace.progress[: end + 1, arm], 2 * TOP)])
    corners = axes.transLimits.transform(axes.transScale.transform(given)) * SIZE
    places = np.arange(len(corners))
    dense = np.linspace(0, len(corners) - 1, 20 * len(corners))
    points = np.column_stack([np.interp(dense, places, corners[:, axis]) for axis in (0, 1)])
    return np.asarray(points[np.all((points >= 0) & (points <= SIZE), axis=1)])


def _level(axes: "Axes") -> NDArray[float64]:
    """What has to be reached, as points."""
    height = axes.transLimits.transform((axes.get_xlim()[0], 1.0))[1] * SIZE[1]
    return np.column_stack([np.linspace(0, SIZE[0], 200), np.full(200, height)])


def _write_name(
    axes: "Axes", trace: Growth, arm: int, path: NDArray[float64], others: NDArray[float64], names: NDArray[float64]
) -> NDArray[float64]:
    """The name of an arm beside its line, where it is clear of what else there is; returns the room it takes."""
    from matplotlib.patheffects import withStroke

    name = short(trace.arms[arm])
    point, left = _clearest(path, others, names, LETTER * len(name))
    text = axes.annotate(
        name,
        tuple(point / SIZE),
        (-72 * GAP if left else 72 * GAP, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize=7.5,
        fontweight="bold" if STATUSES[trace.answer[arm]] == "optimal" else "normal",
        color="#222222",
        parse_math=False,
        zorder=5,
    )
    text.set_path_effects([withStroke(linewidth=2.5, foreground=HALO)])
    text.set_in_layout(False)
    box = _box(point, LETTER * len(name), left=left)
    return np.array([[x, y] for x in np.linspace(box[0], box[2], 20) for y in np.linspace(box[1], box[3], 5)])


def _clearest(
    path: NDArray[float64], others: NDArray[float64], names: NDArray[float64], width: float
) -> tuple[NDArray[float64], bool]:
    """Where along its line, or a little above, and on which side a name is nearer to it than to anything else."""
    if len(path) == 0:
        return SIZE / 2, True
    grown = path[path[:, 1] > 0.1 * SIZE[1]]  # at the bottom all lines are one
    points = grown if len(grown) > 0 else path
    points = points[:: max(1, len(points) // 60)]
    raised = [np.array([x, max(y + rise * HEIGHT, HEIGHT / 2)]) for rise in (0.0, 0.6, 1.6, 2.6) for x, y in points]
    choices = [(point, left) for point in raised for left in (True, False)]

    def score(choice: tuple[NDArray[float64], bool]) -> float:
        box = _box(choice[0], width, left=choice[1])
        outside = max(0.0, -box[0], -box[1], box[2] - SIZE[0], box[3] - SIZE[1])
        own, other = _distance(path, box), _distance(others, box)
        covered = 1.0 * (own == 0) + 5.0 * (_distance(names, box) < GAP)
        return float(min(other, CLEAR) - own - covered - 10 * outside)

    return max(choices, key=score)


def _box(point: NDArray[float64], width: float, *, left: bool) -> tuple[float, float, float, float]:
    """The room of a name beside a point: left, bottom, right, top."""
    start = point[0] - GAP - width if left else point[0] + GAP
    return float(start), float(point[1] - HEIGHT / 2), float(start + width), float(point[1] + HEIGHT / 2)


def _distance(points: NDArray[float64], box: tuple[float, float, float, float]) -> float:
    """From the nearest of the points to a box."""
    if len(points) == 0:
        return CLEAR
    low, high = np.array(box[:2]), np.array(box[2:])
    away = np.maximum(np.maximum(low - points, points - high), 0.0)
    return float(np.hypot(away[:, 0], away[:, 1]).min())
