"""Where the arms of an instance truly are: means over two or three objectives, and where the constraints hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.pictures.axes import PADDING, Axis, axis
from paretoguard.pictures.palette import FEASIBLE, LINE, LOOKS, ORDER, QUIET, mark_styles
from paretoguard.pictures.panels import Panel, draw, name_text
from paretoguard.pictures.solids import corners, faces
from paretoguard.pictures.text_placement import POINTS_PER_INCH, Box, place_names
from paretoguard.problem import Instance
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg

ANGLES = {"elev": 20.0, "azim": 28.0}  # from where a solid is seen


def true_verdicts(instance: Instance) -> list[Verdict]:
    """Each arm at its mean, as what it is; infeasible ones may be dominated, too."""
    truth, names = instance.truth(), list(instance.problem.objectives)
    verdicts = []
    for i, arm in enumerate(instance.problem.arms):
        status = "optimal" if truth.is_pareto[i] else "dominated" if truth.is_feasible[i] else "infeasible"
        mean = dict(zip(names, instance.means[i].tolist(), strict=True))
        verdicts.append(Verdict(arm, status, "", "", 1, mean, mean, mean))
    return verdicts


def draw_plane(axes: "Axes", instance: Instance, pair: Sequence[str]) -> Panel:
    """Two objectives; words are to be written once the layout is settled (`panels.write_words`)."""
    problem, verdicts = instance.problem, true_verdicts(instance)
    x, y = (axis(problem, verdicts, name) for name in pair)
    panel = Panel(axes, x, y, verdicts)
    axes.set_xlabel(x.label, parse_math=False)
    axes.set_ylabel(y.label, parse_math=False)
    draw(panel, problem)
    return panel


@dataclass(frozen=True)
class Solid:
    """Axes over three objectives, and the arms drawn there."""

    axes: Any
    verdicts: Sequence[Verdict]

    def flat(self) -> Floats:
        """Where the arms are in the picture [n, 2], as the axes count."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        points = np.array([list(verdict.mean.values()) for verdict in self.verdicts])
        x, y, _ = proj_transform(*points.T, self.axes.get_proj())
        return np.column_stack([x, y])


def draw_solid(axes: Any, instance: Instance) -> Solid:
    """Three objectives: the feasible solid as far as it is on show, and each arm with a line down to the floor.

    The names are to be written once the layout is settled (`write_names`).
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    problem, verdicts = instance.problem, true_verdicts(instance)
    whole = corners(problem)
    shown = [_widened(axis(problem, verdicts, name), whole) for name in problem.objectives]
    polygons = faces(problem, [(one.low, one.high) for one in shown])
    axes.computed_zorder = False  # an arm inside is seen through the faces
    axes.add_collection3d(
        Poly3DCollection(polygons, facecolor=FEASIBLE, edgecolor=LINE, linewidth=0.6, alpha=0.4, zorder=1)
    )
    floor = shown[2].low
    for verdict in sorted(verdicts, key=lambda one: ORDER[one.status]):
        x, y, z = verdict.mean.values()
        axes.plot([x, x], [y, y], [floor, z], color=LOOKS[verdict.status].colour, linewidth=0.7, alpha=0.6, zorder=2)
        axes.plot([x], [y], [floor], marker=".", markersize=3, color=LOOKS[verdict.status].colour, zorder=2)
        for style in mark_styles(verdict.status):
            axes.plot([x], [y], [z], zorder=3, **style)
    _set_axes(axes, shown)
    return Solid(axes, sorted(verdicts, key=lambda one: -ORDER[one.status]))


def write_names(solid: Solid, renderer: "RendererAgg") -> None:
    """The arms' names beside their marks, none over another."""
    flat = solid.flat()
    pixels = solid.axes.transData.transform(flat)
    texts = [name_text(solid.axes, verdict, tuple(xy)) for verdict, xy in zip(solid.verdicts, flat, strict=True)]
    extents = [text.get_window_extent(renderer) for text in texts]
    marks = []
    for (x, y), verdict in zip(pixels, solid.verdicts, strict=True):
        half = LOOKS[verdict.status].size / 2 * renderer.dpi / POINTS_PER_INCH
        marks.append(Box(x - half, y - half, x + half, y + half))
    frame = Box(*solid.axes.get_window_extent(renderer).extents)
    places = place_names(pixels, [(one.width, one.height) for one in extents], frame, marks, renderer.dpi)
    for text, place in zip(texts, places, strict=True):
        text.set(position=place.offset, horizontalalignment=place.horizontal, verticalalignment=place.vertical)


def _widened(shown: Axis, whole: Floats) -> Axis:
    """The axis, wide enough for the whole solid where that has corners."""
    if len(whole) == 0:
        return shown
    low, high = float(whole[:, shown.place].min()), float(whole[:, shown.place].max())
    room = PADDING * (high - low)
    return shown._replace(low=min(shown.low, low - room), high=max(shown.high, high + room))


def _set_axes(axes: Any, shown: list[Axis]) -> None:
    from matplotlib.ticker import MaxNLocator

    x, y, z = shown
    axes.set(xlim=(x.low, x.high), ylim=(y.low, y.high), zlim=(z.low, z.high))
    axes.set_xlabel(x.name, color=QUIET, labelpad=-4, parse_math=False)
    axes.set_ylabel(y.name, color=QUIET, labelpad=-4, parse_math=False)
    axes.set_zlabel(z.name, color=QUIET, labelpad=-4, parse_math=False)
    for one in (axes.xaxis, axes.yaxis, axes.zaxis):
        one.set_major_locator(MaxNLocator(4))
        one.set_pane_color((1.0, 1.0, 1.0, 0.0))
    axes.tick_params(labelsize=7, pad=-1)
    axes.grid(visible=False)
    axes.view_init(**ANGLES)
    axes.set_box_aspect((1, 1, 0.9), zoom=1.15)
