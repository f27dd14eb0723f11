"""One picture of arms over two objectives: where the constraints hold, confidence boxes, marks and names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.pictures.palette import FEASIBLE, HALO, LOOKS, ORDER, QUIET, draw_marks, outline
from paretoguard.pictures.regions import Axis, Region, Window, draw_boundaries, half_planes, obstacles, write_boundaries
from paretoguard.pictures.text_placement import POINTS_PER_INCH, Box, Place, place_names, sides, stroke
from paretoguard.problem import Problem
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.text import Annotation

NAME_FONT = 8.5
_MANY = 10  # with more arms than this, boxes are drawn fainter
_CROWDED, _NAMED = 0.08, 30  # the largest share of the axes that names may take, and how many there may be
_MOST_LAYERS = 2.0  # of boxes on top of each other, on average: with more, nobody sees whose box is whose
_WHISKER = 3.0  # pixels that names keep away from the lines of limits


@dataclass(frozen=True)
class Panel:
    """Axes over two objectives, and what is drawn there."""

    axes: "Axes"
    x: Axis
    y: Axis
    verdicts: Sequence[Verdict]  # of the arms with pulls

    def region(self, problem: Problem) -> Region:
        """Return the rectangle on show, with the constraints that touch no other objective."""
        x, y = self.x, self.y
        return Region(Window(x.low, x.high, y.low, y.high), half_planes(problem.constraints, x.place, y.place))

    def point(self, verdict: Verdict) -> tuple[float, float]:
        return verdict.mean[self.x.name], verdict.mean[self.y.name]

    def points(self) -> Floats:
        """Return estimated means [n, 2]."""
        return np.array([self.point(verdict) for verdict in self.verdicts]).reshape(len(self.verdicts), 2)

    def box(self, verdict: Verdict) -> Window:
        """Return the confidence box of an arm, as far as it is on show."""
        x, y = self.x, self.y
        return Window(
            max(verdict.low[x.name], x.low),
            min(verdict.high[x.name], x.high),
            max(verdict.low[y.name], y.low),
            min(verdict.high[y.name], y.high),
        )

    def is_cut(self, verdict: Verdict) -> bool:
        """Return whether the confidence box reaches beyond the window."""
        limits = ((verdict.low[axis.name], verdict.high[axis.name], axis) for axis in (self.x, self.y))
        return any(low < axis.low or high > axis.high for low, high, axis in limits)

    @cached_property
    def layers(self) -> float:
        """Return how many confidence boxes lie on top of each other, on average over the picture."""
        boxes = [self.box(verdict) for verdict in self.verdicts if not self.is_cut(verdict)]
        whole = (self.x.high - self.x.low) * (self.y.high - self.y.low)
        return sum((right - left) * (top - bottom) for left, right, bottom, top in boxes) / whole

    def is_boxed(self, verdict: Verdict) -> bool:
        """Return whether the limits are drawn as a box; where it is cut, or boxes cover one another, as a cross."""
        return self.layers <= _MOST_LAYERS and not self.is_cut(verdict)

    def whiskers(self, verdict: Verdict) -> list[Floats]:
        """Return the limits of an arm as lines [2, 2] through its mean, level and upright, as far as on show."""
        left, right, bottom, top = self.box(verdict)
        x, y = self.point(verdict)
        return [np.array([(left, y), (right, y)]), np.array([(x, bottom), (x, top)])]


def draw_panel(panel: Panel, problem: Problem) -> None:
    """Draw everything but the words inside the axes, which need the layout to be settled."""
    from matplotlib.patches import Polygon

    axes, region = panel.axes, panel.region(problem)
    axes.set(xlim=(panel.x.low, panel.x.high), ylim=(panel.y.low, panel.y.high))
    corners = region.shaded()
    if len(corners):
        axes.add_patch(Polygon(corners, closed=True, facecolor=FEASIBLE, edgecolor="none", zorder=0))
    draw_boundaries(axes, region.lines())
    faint = min(1.0, _MANY / max(len(panel.verdicts), 1))
    for verdict in panel.verdicts:
        if panel.is_boxed(verdict):
            _draw_box(panel, verdict, faint)
        else:
            _draw_whiskers(panel, verdict, max(faint, 0.3))
    draw_marks(axes, panel.points(), panel.verdicts)


def _draw_box(panel: Panel, verdict: Verdict, faint: float) -> None:
    from matplotlib.patches import Rectangle

    left, right, bottom, top = panel.box(verdict)
    room = (left, bottom), right - left, top - bottom
    zorder = 2 + 0.1 * ORDER[verdict.status]
    colour, alpha = LOOKS[verdict.status].colour, 0.09 * (faint / max(1.0, panel.layers))
    panel.axes.add_patch(Rectangle(*room, facecolor=colour, edgecolor="none", alpha=alpha, zorder=zorder))
    strength = 1.0 if verdict.status == "optimal" else max(faint, 0.3)
    panel.axes.add_patch(Rectangle(*room, fill=False, zorder=zorder, **outline(verdict.status, strength)))


def _draw_whiskers(panel: Panel, verdict: Verdict, strength: float) -> None:
    """Draw a cross in place of a box: an end of the limits that is on show has a cap, others are open."""
    style = outline(verdict.status, strength)
    style["color"] = style.pop("edgecolor")
    for line, axis, cap in zip(panel.whiskers(verdict), (panel.x, panel.y), ("|", "_"), strict=True):
        panel.axes.plot(*line.T, zorder=2, **style)
        limits = verdict.low[axis.name], verdict.high[axis.name]
        ends = np.array([end for end, limit in zip(line, limits, strict=True) if axis.low <= limit <= axis.high])
        if len(ends):
            panel.axes.plot(*ends.T, linestyle="none", marker=cap, markersize=6, color=style["color"], zorder=2)


# --- words, placed once the layout is settled -------------------------------------------------------------------------


def write_words(panel: Panel, problem: Problem, renderer: "RendererAgg", *, already: Collection[str] = ()) -> set[str]:
    """Write the arms' names and the constraints' words, but those in `already`; return the words written."""
    axes, lines = panel.axes, panel.region(problem).lines()
    taken = mark_boxes(axes, panel.points(), panel.verdicts, renderer)
    for verdict in panel.verdicts:
        if panel.is_boxed(verdict):
            left, right, bottom, top = panel.box(verdict)
            taken += sides(Box(*axes.transData.transform([(left, bottom), (right, top)]).ravel()))
            continue
        for line in panel.whiskers(verdict):
            taken += stroke(axes.transData.transform(line), thickness=_WHISKER)
    new = {words: line for words, line in lines.items() if words not in already}
    rooms = write_boundaries(axes, new, renderer, taken)
    _write_names(panel, renderer, [*taken, *rooms, *obstacles(axes, lines)])
    return set(new)


def mark_boxes(axes: "Axes", points: Floats, verdicts: Sequence[Verdict], renderer: "RendererAgg") -> list[Box]:
    """Return the room that the marks of arms at points [n, 2] take."""
    boxes = []
    for (x, y), verdict in zip(axes.transData.transform(points), verdicts, strict=True):
        half = LOOKS[verdict.status].size / 2 * renderer.dpi / POINTS_PER_INCH
        boxes.append(Box(x - half, y - half, x + half, y + half))
    return boxes


def _write_names(panel: Panel, renderer: "RendererAgg", taken: list[Box]) -> None:
    """Write the names of the arms, optimal ones first; a status for which there is no room left goes without."""
    frame = panel.axes.get_window_extent(renderer)
    room = _CROWDED * frame.width * frame.height
    texts: list[Annotation] = []
    for status in sorted(ORDER, key=lambda status: -ORDER[status]):
        here = [verdict for verdict in panel.verdicts if verdict.status == status]
        new = [name_text(panel.axes, verdict, panel.point(verdict)) for verdict in here]
        extents = [text.get_window_extent(renderer) for text in new]
        room -= sum(extent.width * extent.height for extent in extents)
        if len(texts) + len(new) > _NAMED or (room < 0 and status != "optimal"):
            for text in new:
                text.remove()
            break
        texts += new
    arrow = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 4}
    for text, place in zip(texts, place_texts(panel.axes, texts, taken, renderer), strict=True):
        if place.is_far:
            line = panel.axes.annotate(
                "", text.xy, place.offset, textcoords="offset points", arrowprops=arrow, zorder=2.9
            )
            line.set_in_layout(False)


def name_text(axes: "Axes", verdict: Verdict, point: tuple[float, float]) -> "Annotation":
    """Write the name of an arm at its point, until `place_texts` finds a place for it."""
    from matplotlib.patheffects import withStroke

    weight = "bold" if verdict.status == "optimal" else "normal"
    text = axes.annotate(verdict.arm, point, (0, 0), textcoords="offset points", parse_math=False, zorder=5)
    text.set(fontsize=NAME_FONT, fontweight=weight, color="#222222", in_layout=False)
    text.set_path_effects([withStroke(linewidth=2, foreground=HALO)])
    return text


def place_texts(
    axes: "Axes", texts: Sequence["Annotation"], taken: Sequence[Box], renderer: "RendererAgg"
) -> list[Place]:
    """Move names beside their points, none over another nor over what is taken."""
    points = np.array([axes.transData.transform(text.xy) for text in texts]).reshape(len(texts), 2)
    extents = [text.get_window_extent(renderer) for text in texts]
    frame = Box(*axes.get_window_extent(renderer).extents)
    places = place_names(points, [(one.width, one.height) for one in extents], frame, taken, renderer.dpi)
    for text, place in zip(texts, places, strict=True):
        text.set(position=place.offset, horizontalalignment=place.horizontal, verticalalignment=place.vertical)
    return places
