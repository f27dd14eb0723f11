"""One picture of arms over two objectives: where the constraints hold, confidence boxes, marks and names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.problem import Problem
from paretoguard.report.axes import Axis
from paretoguard.report.labels import Box, edges, place_along, place_names
from paretoguard.report.palette import FEASIBLE, LINE, LOOKS, QUIET
from paretoguard.report.regions import View, boundary, feasible_polygon, half_planes
from paretoguard.verdict import OPTIMAL, UNDECIDED, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg

Floats = NDArray[float64]
NAMED = 30  # with more arms than this, only optimal and undecided ones are named
FONT = 8.5
ORDER = {status: rank for rank, status in enumerate(("dominated", "infeasible", "undecided", "optimal"))}


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


def draw(panel: Panel, problem: Problem) -> None:
    """Everything but the words inside the axes, which need the layout to be settled."""
    axes = panel.axes
    axes.set(xlim=(panel.x.low, panel.x.high), ylim=(panel.y.low, panel.y.high))
    _draw_region(panel, problem)
    _draw_boxes(panel)
    draw_marks(axes, panel.points(), panel.verdicts)


def _draw_region(panel: Panel, problem: Problem) -> None:
    from matplotlib.patches import Polygon
    from matplotlib.patheffects import TickedStroke

    planes, _ = half_planes(problem.constraints, panel.x.place, panel.y.place)
    corners = feasible_polygon(planes, panel.view)
    if planes and len(corners) > 2:
        panel.axes.add_patch(Polygon(corners, closed=True, facecolor=FEASIBLE, edgecolor="none", zorder=0))
    for plane in planes:
        line = boundary(plane, panel.view)
        if line is not None:
            ticks = TickedStroke(angle=-125, spacing=7, length=0.7)  # on the right: the side that is not allowed
            panel.axes.plot(*line.T, color=LINE, linewidth=0.9, zorder=1.5, path_effects=[ticks])


def _draw_boxes(panel: Panel) -> None:
    from matplotlib.patches import Rectangle

    faint = 1.0 if len(panel.verdicts) <= NAMED else 0.5
    for verdict in panel.verdicts:
        left, right, bottom, top = panel.box(verdict)
        if right < left or top < bottom:
            continue
        colour = LOOKS[verdict.status].colour
        for fill, strength in ((True, 0.10), (False, 0.75)):
            panel.axes.add_patch(
                Rectangle(
                    (left, bottom),
                    right - left,
                    top - bottom,
                    fill=fill,
                    facecolor=colour if fill else "none",
                    edgecolor="none" if fill else colour,
                    linewidth=0.9,
                    linestyle=(0, (3, 2)) if verdict.status == UNDECIDED else "solid",
                    alpha=strength * faint,
                    zorder=2 + 0.1 * ORDER[verdict.status],
                )
            )


def draw_marks(axes: "Axes", points: Floats, verdicts: Sequence[Verdict]) -> None:
    """The marks of the arms; optimal ones on top."""
    for status, look in LOOKS.items():
        chosen = [place for place, verdict in enumerate(verdicts) if verdict.status == status]
        if chosen:
            axes.plot(*points[chosen].T, zorder=3 + 0.1 * ORDER[status], **mark_style(status))
        if chosen and status == UNDECIDED:
            axes.plot(*points[chosen].T, linestyle="none", marker="$?$", markersize=4, color=look.colour, zorder=3.9)


def mark_style(status: str) -> dict[str, Any]:
    """Arguments for `plot` that draw the mark of a status."""
    look = LOOKS[status]
    return {
        "linestyle": "none",
        "marker": look.marker,
        "markersize": look.size,
        "markerfacecolor": look.face,
        "markeredgecolor": "white" if look.face == look.colour else look.colour,
        "markeredgewidth": 0.7 if look.face == look.colour else 1.5,
    }


def write_words(
    panel: Panel, problem: Problem, renderer: "RendererAgg", *, already: Collection[str] = ()
) -> set[str]:
    """The arms' names and the constraints' texts (but those written already), placed once the layout is settled."""
    frame = Box(*panel.axes.get_window_extent(renderer).extents)
    marks = _mark_boxes(panel, renderer.dpi)
    sides = [side for verdict in panel.verdicts for side in edges(_in_pixels(panel, panel.box(verdict)), 2.0)]
    planes, _ = half_planes(problem.constraints, panel.x.place, panel.y.place)
    lines = {plane.text: boundary(plane, panel.view) for plane in planes if plane.text not in already}
    shown = {text: line for text, line in lines.items() if line is not None}
    rooms = _write_constraints(panel, shown, renderer, frame, marks + sides)
    _write_names(panel, renderer, frame, marks + sides + rooms)
    return set(shown)


def _in_pixels(panel: Panel, view: View) -> Box:
    (left, bottom), (right, top) = panel.axes.transData.transform([(view.left, view.bottom), (view.right, view.top)])
    return Box(left, bottom, right, top)


def _mark_boxes(panel: Panel, dpi: float) -> list[Box]:
    boxes = []
    for (x, y), verdict in zip(panel.axes.transData.transform(panel.points()), panel.verdicts, strict=True):
        half = LOOKS[verdict.status].size / 2 * dpi / 72
        boxes.append(Box(x - half, y - half, x + half, y + half))
    return boxes


def _write_constraints(
    panel: Panel, lines: Mapping[str, Floats], renderer: "RendererAgg", frame: Box, obstacles: list[Box]
) -> list[Box]:
    """Each text along its line, on the side that is allowed; returns the room they take."""
    axes, taken = panel.axes, list[Box]()
    for words, line in lines.items():
        text = axes.text(0, 0, words, color=LINE, fontsize=FONT - 0.5, parse_math=False, in_layout=False)
        extent = text.get_window_extent(renderer)
        pixels, size = axes.transData.transform(line), (extent.width, extent.height)
        middle, angle, room = place_along(pixels, size, frame, obstacles + taken, 3 * renderer.dpi / 72)
        text.set(position=axes.transData.inverted().transform(middle), rotation=angle, rotation_mode="anchor")
        text.set(horizontalalignment="center", verticalalignment="center")
        taken += room
    return taken


def _write_names(panel: Panel, renderer: "RendererAgg", frame: Box, obstacles: list[Box]) -> None:
    """The names of the arms; optimal ones choose their place first."""
    chosen = [
        verdict for verdict in panel.verdicts if len(panel.verdicts) <= NAMED or verdict.status in (OPTIMAL, UNDECIDED)
    ]
    chosen = sorted(chosen, key=lambda verdict: -ORDER[verdict.status])[:NAMED]
    texts = []
    for verdict in chosen:
        point = (verdict.mean[panel.x.name], verdict.mean[panel.y.name])
        heavy = "bold" if verdict.status == OPTIMAL else "normal"
        text = panel.axes.annotate(
            verdict.arm,
            point,
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=FONT,
            fontweight=heavy,
            color="#222222",
            zorder=5,
            parse_math=False,
        )
        text.set_in_layout(False)
        texts.append(text)
    sizes = [(extent.width, extent.height) for extent in (text.get_window_extent(renderer) for text in texts)]
    points = np.array([panel.axes.transData.transform(text.xy) for text in texts]).reshape(len(texts), 2)
    for text, place in zip(texts, place_names(points, sizes, frame, obstacles, renderer.dpi), strict=True):
        text.set(position=place.offset, horizontalalignment=place.horizontal, verticalalignment=place.vertical)
        if place.is_far:
            _lead_to(panel, text.xy, place.offset)


def _lead_to(panel: Panel, point: Any, offset: tuple[float, float]) -> None:
    """A thin line from a point to a name that stands away from it."""
    panel.axes.annotate(
        "",
        point,
        xytext=offset,
        textcoords="offset points",
        arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 3},
        zorder=2.9,
    ).set_in_layout(False)
