"""What a picture over one or two objectives shows of them: the range of each axis, and where the constraints hold."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.pictures.palette import BOUNDARY, HALO
from paretoguard.pictures.text_placement import Box, place_along, stroke
from paretoguard.problem import Problem
from paretoguard.problem.constraints import Constraint
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg

REACH = 0.75  # how far beyond the means, in spans, a confidence limit or a bound may stretch the axis
PADDING = 0.07
_FONT = 8.0


class Axis(NamedTuple):
    """One objective as an axis: its place among the objectives, its name, its label, and the range on show."""

    place: int
    name: str
    label: str  # the arrow points where the objective gets better; on a vertical axis it turns with the text
    low: float
    high: float


def axis(problem: Problem, verdicts: Sequence[Verdict], name: str) -> Axis:
    """Return the axis of an objective: wide enough for every mean, for bounds that are not far off, and for limits.

    Limits of arms that are optimal or undecided stretch the axis, at most by `REACH`; limits of other arms do only if
    they end within that reach.
    """
    place = list(problem.objectives).index(name)
    means = np.array([verdict.mean[name] for verdict in verdicts])
    kept: list[float] = []
    others = [plane.b / plane.a[0] for plane in half_planes(problem.constraints, place) if plane.a[0] != 0]
    for verdict in verdicts:
        limits = kept if verdict.status in ("optimal", "undecided") else others
        limits += [limit for limit in (verdict.low[name], verdict.high[name]) if math.isfinite(limit)]
    low, high = _range(means, np.array(kept), np.array(others))
    support_low, support_high = problem.noise[name].support
    room = 0.03 * (high - low)
    low, high = max(low, support_low - room), min(high, support_high + room)
    label = {"max": f"{name}   better →", "min": f"← better   {name}"}.get(problem.objectives[name], name)
    return Axis(place, name, label, low, high)


def _range(means: Floats, kept: Floats, others: Floats) -> tuple[float, float]:
    """Return the range of the means, the limits in `kept` as far as the axis may reach, and other marks within that."""
    marks = np.concatenate([kept, others])
    if len(means) == 0:
        means = marks if len(marks) else np.array([0.0])
    low, high = float(means.min()), float(means.max())
    size = max(abs(low), abs(high), 1e-300)
    span = high - low
    if span <= 1e-9 * size:  # one arm, or all the same: let the limits say what is near
        near = marks[np.abs(marks - low) <= size]
        span = float(np.ptp(near)) if len(near) and np.ptp(near) > 0 else 0.2 * size if size > 1e-300 else 1.0
    least, most = low - REACH * span, high + REACH * span
    shown = [low, high, *np.clip(kept, least, most), *others[(others >= least) & (others <= most)]]
    low, high = float(min(shown)), float(max(shown))
    padding = PADDING * max(high - low, span / 2)
    return low - padding, high + padding


# --- where constraints hold: half-planes clipped to a rectangle, exactly ----------------------------------------------


class Window(NamedTuple):
    """The rectangle on show, in the user's units; a single objective is shown as (low, high) × (0, 1)."""

    left: float
    right: float
    bottom: float
    top: float

    def corners(self) -> Floats:
        """Return its corners [4, 2], counter-clockwise from the lower left."""
        left, right, bottom, top = self
        return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


class HalfPlane(NamedTuple):
    """a · (x, y) <= b, with the words a label shows."""

    a: tuple[float, float]
    b: float
    text: str


def half_planes(constraints: Sequence[Constraint], x: int, y: int | None = None) -> list[HalfPlane]:
    """Return the constraints that touch no other objective than x and y."""
    return [
        HalfPlane((row.coefficients[x], 0.0 if y is None else row.coefficients[y]), row.bound, row.text)
        for row in constraints
        if not any(value != 0 for place, value in enumerate(row.coefficients) if place not in (x, y))
    ]


def feasible_polygon(planes: Sequence[HalfPlane], window: Window) -> Floats:
    """Return the corners [n, 2], in order, of the part of the window where every half-plane holds; n = 0 if none.

    Sutherland–Hodgman: each half-plane cuts what the ones before it left.

    >>> feasible_polygon([HalfPlane((-1.0, 0.0), -0.5, "x >= 0.5")], Window(0, 1, 0, 1)).tolist()
    [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
    """
    corners = window.corners()
    for plane in planes:
        kept = [point for point, excess in _around(corners, plane) if excess <= 0]
        corners = np.array(kept).reshape(len(kept), 2)
    return corners


def boundary(plane: HalfPlane, window: Window) -> Floats | None:
    """Return the piece of a · x = b inside the window, [2, 2], with the feasible side on its left; None if outside."""
    ends = [point for point, excess in _around(window.corners(), plane) if excess == 0]
    if len(ends) != 2:  # it misses the window, or touches a corner only
        return None
    first, last = ends
    along = last - first
    left_normal = np.array([-along[1], along[0]])
    return np.array([first, last] if left_normal @ np.asarray(plane.a) < 0 else [last, first])


def _around(corners: Floats, plane: HalfPlane) -> Iterator[tuple[Floats, float]]:
    """Yield the corners of a polygon, and the points where its edges cross the line, each with a · x - b."""
    excess = corners @ np.asarray(plane.a) - plane.b
    for here in range(len(corners)):
        there = (here + 1) % len(corners)
        yield corners[here], excess[here]
        if np.sign(excess[here]) * np.sign(excess[there]) < 0:
            share = excess[here] / (excess[here] - excess[there])
            yield corners[here] + share * (corners[there] - corners[here]), 0.0


class Region(NamedTuple):
    """A window, and the constraints that it can show."""

    window: Window
    planes: Sequence[HalfPlane]

    def shaded(self) -> Floats:
        """Return the corners [n, 2] of the part to shade, where all constraints hold; n = 0 without constraints."""
        corners = feasible_polygon(self.planes, self.window)
        return corners if self.planes and len(corners) > 2 else corners[:0]

    def lines(self) -> dict[str, Floats]:
        """Return the boundaries that cross the window, by the constraint's words."""
        found = {plane.text: boundary(plane, self.window) for plane in self.planes}
        return {text: line for text, line in found.items() if line is not None}


# --- boundaries: lines with short strokes on the side that is not allowed, and their words ----------------------------


def draw_boundaries(axes: "Axes", lines: Mapping[str, Floats]) -> None:
    """Draw the boundaries; the allowed side is on the left of each line."""
    from matplotlib.patheffects import Normal, TickedStroke

    for line in lines.values():
        strokes = TickedStroke(angle=-125, spacing=8, length=0.55, linewidth=0.6)
        axes.plot(*line.T, color=BOUNDARY, linewidth=0.9, zorder=1.5, path_effects=[Normal(), strokes])


def obstacles(axes: "Axes", lines: Mapping[str, Floats]) -> list[Box]:
    """Return the boundaries as boxes that words should not cover."""
    return [box for line in lines.values() for box in stroke(axes.transData.transform(line))]


def write_boundaries(
    axes: "Axes", lines: Mapping[str, Floats], renderer: "RendererAgg", taken: Sequence[Box]
) -> list[Box]:
    """Write the words of each constraint along its line, on the allowed side; return the room they take."""
    from matplotlib.patheffects import withStroke

    frame = Box(*axes.get_window_extent(renderer).extents)
    rooms: list[Box] = []
    for words, line in lines.items():
        text = axes.text(0, 0, pretty(words), color=BOUNDARY, fontsize=_FONT, parse_math=False, in_layout=False)
        extent = text.get_window_extent(renderer)
        pixels, size = axes.transData.transform(line), (extent.width, extent.height)
        others = obstacles(axes, {other: path for other, path in lines.items() if other != words})
        middle, angle, room = place_along(pixels, size, frame, [*taken, *others, *rooms], 3 * renderer.dpi / 72)
        text.set(position=axes.transData.inverted().transform(middle), rotation=angle, rotation_mode="anchor")
        text.set(horizontalalignment="center", verticalalignment="center", zorder=4.5)
        text.set_path_effects([withStroke(linewidth=2, foreground=HALO)])
        rooms += room
    return rooms


def pretty(words: str) -> str:
    """Return a constraint as it is set in print.

    >>> pretty("safety >= 0.4")
    'safety ≥ 0.4'
    """
    return words.replace(">=", "≥").replace("<=", "≤")
