"""How the evidence of one run grew: a line for each arm, up to what is required for the status it has at the end."""

from typing import TYPE_CHECKING

import numpy as np

from paretoguard.numeric import Floats, Integers
from paretoguard.pictures.palette import HALO, ORDER, line_style
from paretoguard.pictures.text_placement import short
from paretoguard.simulation.trace import Growth
from paretoguard.vocabulary import STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP = 1.3
_NAMED = 3  # the arms certified last
_SIZE = np.array([5.6, 1.45])  # of the axes in inches, about
_LETTER, _HEIGHT = 0.074, 0.15  # inches that a letter takes, and a name
_GAP = 0.055  # inches between a line and its name
_CLEAR = 0.3  # inches to the next line, from which on more do not help


def draw_evidence(axes: "Axes", trace: Growth, arms: Integers) -> None:
    """Draw the lines of these arms until they were certified, what they had to reach, and the names of the last."""
    looks = np.where(trace.answer == 0, len(trace.samples) - 1, trace.certified())
    last = arms[np.lexsort((-trace.pulls[-1, arms], -looks[arms]))[:_NAMED]]
    lines: dict[int, Floats] = {}  # samples and progress of each arm until it was certified, [n, 2]
    for arm in arms:
        status, shown = STATUSES[trace.answer[arm]], slice(0, looks[arm] + 1)
        lines[arm] = np.column_stack([trace.samples[shown], np.minimum(trace.progress[shown, arm], 2 * _TOP)])
        faint = {} if arm in last else {"alpha": 0.45, "linewidth": 0.8}
        axes.plot(*lines[arm].T, zorder=2 + 0.1 * ORDER[status] + (arm in last), **line_style(status) | faint)
    axes.axhline(1.0, color="#222222", linewidth=0.8, zorder=1.5)
    axes.axvline(trace.samples[-1], color="#8A8A8A", linewidth=0.8, zorder=1)
    axes.set_ylim(0.0, _TOP)
    axes.set_yticks([0, 0.5, 1], ["none", "half", "certified"])
    axes.tick_params(axis="both", which="both", labelsize=8)
    axes.set_ylabel("evidence", fontsize=8.5)
    axes.grid(axis="x", color="#E4E4E4", linewidth=0.7)
    axes.set_axisbelow(True)
    paths = {arm: _path(axes, line) for arm, line in lines.items()}
    names = np.empty((0, 2))
    for arm in last:
        others = np.concatenate([_level(axes), *(path for other, path in paths.items() if other != arm)])
        names = np.concatenate([names, _write_name(axes, trace, arm, paths[arm], others, names)])


def _path(axes: "Axes", line: Floats) -> Floats:
    """Return a line as close points in inches from the corner of the axes, [n, 2], without those outside."""
    corners = axes.transLimits.transform(axes.transScale.transform(line)) * _SIZE
    places = np.arange(len(corners))
    dense = np.linspace(0, len(corners) - 1, 20 * len(corners))
    points = np.column_stack([np.interp(dense, places, corners[:, axis]) for axis in (0, 1)])
    return np.asarray(points[np.all((points >= 0) & (points <= _SIZE), axis=1)])


def _level(axes: "Axes") -> Floats:
    """Return what has to be reached, as points in inches."""
    height = axes.transLimits.transform((axes.get_xlim()[0], 1.0))[1] * _SIZE[1]
    return np.column_stack([np.linspace(0, _SIZE[0], 200), np.full(200, height)])


def _write_name(axes: "Axes", trace: Growth, arm: int, path: Floats, others: Floats, names: Floats) -> Floats:
    """Write the name of an arm beside its line, clear of what else there is; return the room it takes as points."""
    from matplotlib.patheffects import withStroke

    name = short(trace.arms[arm])
    point, left = _clearest(path, others, names, _LETTER * len(name))
    text = axes.annotate(
        name,
        tuple(point / _SIZE),
        (-72 * _GAP if left else 72 * _GAP, 0),
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
    low, high = _corners(point, _LETTER * len(name), left=left)
    return np.array([[x, y] for x in np.linspace(low[0], high[0], 20) for y in np.linspace(low[1], high[1], 5)])


def _clearest(path: Floats, others: Floats, names: Floats, width: float) -> tuple[Floats, bool]:
    """Return where along its line, or a little above, a name is nearer to it than to anything else, and on which side.

    The second value says whether the name is on the left of the point.
    """
    if len(path) == 0:
        return _SIZE / 2, True
    grown = path[path[:, 1] > 0.1 * _SIZE[1]]  # at the bottom all lines are one
    points = grown if len(grown) > 0 else path
    points = points[:: max(1, len(points) // 60)]
    raised = [np.array([x, max(y + rise * _HEIGHT, _HEIGHT / 2)]) for rise in (0.0, 0.6, 1.6, 2.6) for x, y in points]

    def score(choice: tuple[Floats, bool]) -> float:
        low, high = _corners(choice[0], width, left=choice[1])
        outside = max(0.0, *-low, *(high - _SIZE))
        own, other = _distance(path, low, high), _distance(others, low, high)
        covered = 1.0 * (own == 0) + 5.0 * (_distance(names, low, high) < _GAP)
        return float(min(other, _CLEAR) - own - covered - 10 * outside)

    return max(((point, left) for point in raised for left in (True, False)), key=score)


def _corners(point: Floats, width: float, *, left: bool) -> tuple[Floats, Floats]:
    """Return the lower left and the upper right corner of a name beside a point."""
    start = point[0] - _GAP - width if left else point[0] + _GAP
    return np.array([start, point[1] - _HEIGHT / 2]), np.array([start + width, point[1] + _HEIGHT / 2])


def _distance(points: Floats, low: Floats, high: Floats) -> float:
    """Return the distance of the nearest of the points to a box with these corners."""
    if len(points) == 0:
        return _CLEAR
    away = np.maximum(np.maximum(low - points, points - high), 0.0)
    return float(np.hypot(away[:, 0], away[:, 1]).min())
