"""One picture of arms over two objectives: where the constraints hold, confidence boxes, marks and names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.pictures.axes import Axis
from paretoguard.pictures.constraint_lines import draw_lines, lines_in_view, obstacles, write_lines
from paretoguard.pictures.palette import FEASIBLE, HALO, LOOKS, ORDER, QUIET, mark_styles, outline
from paretoguard.pictures.regions import View, feasible_polygon, half_planes
from paretoguard.pictures.text_placement import POINTS_PER_INCH, Box, place_names, sides, stroke
from paretoguard.problem import Problem
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.text import Annotation

MANY = 10  # with more arms than this, boxes are drawn fainter
CROWDED, NAMED = 0.08, 30  # the largest share of the axes that names may take, and how many there may be
MOST_LAYERS = 2.0  # of boxes on top of each other, on average: with more, nobody sees whose box is whose
FONT = 8.5
WHISKER = 3.0  # pixels that names keep away from the lines of limits


@dataclass(frozen=True)
class Panel:
    """Axes over two objectives, and what is drawn there."""

    axes: "Axes"
    x: Axis
    y: Axis
    verdicts: Sequence[Verdict]  # of the arms with pulls

    @property
    def view(self) -> View:
        """The rectangle on show."""
        return View(self.x.low, self.x.high, self.y.low, self.y.high)

    def points(self) -> Floats:
        """Estimated means [n, 2]."""
        rows = [(verdict.mean[self.x.name], verdict.mean[self.y.name]) for verdict in self.verdicts]
        return np.array(rows).reshape(len(rows), 2)

    def box(self, verdict: Verdict) -> View:
        """The confidence box of an arm, as far as it is on show."""
        x, y = self.x, self.y
        return View(
            max(verdict.low[x.name], x.low),
            min(verdict.high[x.name], x.high),
            max(verdict.low[y.name], y.low),
            min(verdict.high[y.name], y.high),
        )

    def is_cut(self, verdict: Verdict) -> bool:
        """Does its confidence box reach beyond what is on show?"""
        limits = ((verdict.low[axis.name], verdict.high[axis.name], axis) for axis in (self.x, self.y))
        return any(low < axis.low or high > axis.high for low, high, axis in limits)

    @cached_property
    def layers(self) -> float:
        """How many confidence boxes lie on top of each other, on average over the picture."""
        boxes = [self.box(verdict) for verdict in self.verdicts if not self.is_cut(verdict)]
        whole = (self.x.high - self.x.low) * (self.y.high - self.y.low)
        return sum((right - left) * (top - bottom) for left, right, bottom, top in boxes) / whole

    def is_boxed(self, verdict: Verdict) -> bool:
        """Are its limits drawn as a box? As a cross where it is cut, or where boxes would cover one another."""
        return self.layers <= MOST_LAYERS and not self.is_cut(verdict)

    def whiskers(self, verdict: Verdict) -> list[Floats]:
        """The limits of an arm as lines [2, 2] through its mean, level and upright, as far as they are on show."""
        left, right, bottom, top = self.box(verdict)
        x, y = verdict.mean[self.x.name], verdict.mean[self.y.name]
        return [np.array([(left, y), (right, y)]), np.array([(x, bottom), (x, top)])]


def draw(panel: Panel, problem: Problem) -> None:
    """Everything but the words inside the axes, which need the layout to be settled."""
    from matplotlib.patches import Polygon

    axes = panel.axes
    axes.set(xlim=(panel.x.low, panel.x.high), ylim=(panel.y.low, panel.y.high))
    planes, _ = half_planes(problem.constraints, panel.x.place, panel.y.place)
    corners = feasible_polygon(planes, panel.view)
    if planes and len(corners) > 2:
        axes.add_patch(Polygon(corners, closed=True, facecolor=FEASIBLE, edgecolor="none", zorder=0))
    draw_lines(axes, lines_in_view(planes, panel.view))
    _draw_boxes(panel)
    draw_marks(axes, panel.points(), panel.verdicts)


def _draw_boxes(panel: Panel) -> None:
    from matplotlib.patches import Rectangle

    faint = min(1.0, MANY / max(len(panel.verdicts), 1))
    thin = faint / max(1.0, panel.layers)
    for verdict in panel.verdicts:
        if not panel.is_boxed(verdict):
            _draw_whiskers(panel, verdict, max(faint, 0.3))
            continue
        left, right, bottom, top = panel.box(verdict)
        corner, width, height = (left, bottom), right - left, top - bottom
        colour, zorder = LOOKS[verdict.status].colour, 2 + 0.1 * ORDER[verdict.status]
        fill = Rectangle(corner, width, height, facecolor=colour, edgecolor="none", alpha=0.09 * thin, zorder=zorder)
        edge = Rectangle(
            corner,
            width,
            height,
            fill=False,
            zorder=zorder,
            **outline(verdict.status, 1.0 if verdict.status == "optimal" else max(faint, 0.3)),
        )
        for patch in (fill, edge):
            panel.axes.add_patch(patch)


def _draw_whiskers(panel: Panel, verdict: Verdict, strength: float) -> None:
    """A cross in place of a box: an end of the limits that is on show has a cap, others are open."""
    style = outline(verdict.status, strength)
    style["color"] = style.pop("edgecolor")
    for line, axis, cap in zip(panel.whiskers(verdict), (panel.x, panel.y), ("|", "_"), strict=True):
        panel.axes.plot(*line.T, zorder=2, **style)
        limits = verdict.low[axis.name], verdict.high[axis.name]
        ends = np.array([end for end, limit in zip(line, limits, strict=True) if axis.low <= limit <= axis.high])
        if len(ends):
            panel.axes.plot(*ends.T, linestyle="none", marker=cap, markersize=6, color=style["color"], zorder=2)


def draw_marks(axes: "Axes", points: Floats, verdicts: Sequence[Verdict]) -> None:
    """The marks of the arms; optimal ones on top."""
    for status in LOOKS:
        chosen = [place for place, verdict in enumerate(verdicts) if verdict.status == status]
        for style in mark_styles(status) if chosen else ():
            axes.plot(*points[chosen].T, zorder=3 + 0.1 * ORDER[status], **style)


def write_words(panel: Panel, problem: Problem, renderer: "RendererAgg", *, already: Collection[str] = ()) -> set[str]:
    """The arms' names and the constraints' words (but those written already), placed once the layout is settled."""
    planes, _ = half_planes(problem.constraints, panel.x.place, panel.y.place)
    lines = lines_in_view(planes, panel.view)
    taken = _mark_boxes(panel, renderer.dpi)
    for verdict in panel.verdicts:
        if panel.is_boxed(verdict):
            taken += sides(_in_pixels(panel, panel.box(verdict)))
            continue
        for line in panel.whiskers(verdict):
            taken += stroke(panel.axes.transData.transform(line), thickness=WHISKER)
    new = {words: line for words, line in lines.items() if words not in already}
    rooms = write_lines(panel.axes, new, renderer, taken)
    _write_names(panel, renderer, [*taken, *rooms, *obstacles(panel.axes, lines)])
    return set(new)


def _in_pixels(panel: Panel, view: View) -> Box:
    (left, bottom), (right, top) = panel.axes.transData.transform([(view.left, view.bottom), (view.right, view.top)])
    return Box(left, bottom, right, top)


def _mark_boxes(panel: Panel, dpi: float) -> list[Box]:
    boxes = []
    for (x, y), verdict in zip(panel.axes.transData.transform(panel.points()), panel.verdicts, strict=True):
        half = LOOKS[verdict.status].size / 2 * dpi / POINTS_PER_INCH
        boxes.append(Box(x - half, y - half, x + half, y + half))
    return boxes


def _write_names(panel: Panel, renderer: "RendererAgg", taken: list[Box]) -> None:
    """The names of the arms, optimal ones first; a status for which there is no room left goes without."""
    frame = Box(*panel.axes.get_window_extent(renderer).extents)
    room = CROWDED * (frame.right - frame.left) * (frame.top - frame.bottom)
    texts: list[Annotation] = []
    sizes: list[tuple[float, float]] = []
    for status in sorted(ORDER, key=lambda status: -ORDER[status]):
        new = [_name(panel, verdict) for verdict in panel.verdicts if verdict.status == status]
        extents = [text.get_window_extent(renderer) for text in new]
        room -= sum(extent.width * extent.height for extent in extents)
        if len(texts) + len(new) > NAMED or (room < 0 and status != "optimal"):
            for text in new:
                text.remove()
            break
        texts += new
        sizes += [(extent.width, extent.height) for extent in extents]
    points = np.array([panel.axes.transData.transform(text.xy) for text in texts]).reshape(len(texts), 2)
    for text, place in zip(texts, place_names(points, sizes, frame, taken, renderer.dpi), strict=True):
        text.set(position=place.offset, horizontalalignment=place.horizontal, verticalalignment=place.vertical)
        if place.is_far:
            _lead_to(panel, text.xy, place.offset)


def _name(panel: Panel, verdict: Verdict) -> "Annotation":
    return name_text(panel.axes, verdict, (verdict.mean[panel.x.name], verdict.mean[panel.y.name]))


def name_text(axes: "Axes", verdict: Verdict, point: tuple[float, float]) -> "Annotation":
    """The name of an arm, at its point until a place is found for it."""
    from matplotlib.patheffects import withStroke

    weight = "bold" if verdict.status == "optimal" else "normal"
    text = axes.annotate(verdict.arm, point, (0, 0), textcoords="offset points", parse_math=False, zorder=5)
    text.set(fontsize=FONT, fontweight=weight, color="#222222", in_layout=False)
    text.set_path_effects([withStroke(linewidth=2, foreground=HALO)])
    return text


def _lead_to(panel: Panel, point: Any, offset: tuple[float, float]) -> None:
    """A thin line from a point to a name that stands away from it."""
    arrow = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 4}
    line = panel.axes.annotate("", point, offset, textcoords="offset points", arrowprops=arrow, zorder=2.9)
    line.set_in_layout(False)
