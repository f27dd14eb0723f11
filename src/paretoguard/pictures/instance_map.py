"""Where the arms of an instance truly are: means over two or three objectives, and where the constraints hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.pictures.palette import BOUNDARY, FEASIBLE, LOOKS, ORDER, QUIET, mark_styles
from paretoguard.pictures.panels import Panel, draw_panel, mark_boxes, name_text, place_texts
from paretoguard.pictures.regions import PADDING, Axis, axis
from paretoguard.problem import Instance, Problem, Truth
from paretoguard.verdict import Verdict
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL, STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg

_ANGLES = {"elev": 20.0, "azim": 28.0}  # from where a solid is seen
_NEAR = 1e-9


def true_status(truth: Truth, arm: int) -> str:
    """Return what an arm is, in one word; an infeasible one may be dominated, too."""
    return STATUSES[OPTIMAL if truth.is_pareto[arm] else DOMINATED if truth.is_feasible[arm] else INFEASIBLE]


def true_verdicts(instance: Instance) -> list[Verdict]:
    """Return each arm at its mean, as what it is; infeasible ones may be dominated, too."""
    truth, names = instance.truth(), list(instance.problem.objectives)
    verdicts = []
    for i, arm in enumerate(instance.problem.arms):
        mean = dict(zip(names, instance.means[i].tolist(), strict=True))
        verdicts.append(Verdict(arm, true_status(truth, i), "", "", 1, mean, mean, mean))
    return verdicts


def draw_plane(axes: "Axes", instance: Instance, pair: Sequence[str]) -> Panel:
    """Draw two objectives; words are to be written once the layout is settled (`panels.write_words`)."""
    problem, verdicts = instance.problem, true_verdicts(instance)
    x, y = (axis(problem, verdicts, name) for name in pair)
    panel = Panel(axes, x, y, verdicts)
    axes.set_xlabel(x.label, parse_math=False)
    axes.set_ylabel(y.label, parse_math=False)
    draw_panel(panel, problem)
    return panel


class Solid(NamedTuple):
    """Axes over three objectives, and the arms drawn there."""

    axes: Any
    verdicts: Sequence[Verdict]


def draw_solid(axes: Any, instance: Instance) -> Solid:
    """Draw three objectives: the feasible solid as far as it is on show, each arm with a line down to the floor.

    The names are to be written once the layout is settled (`write_names`).
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    problem, verdicts = instance.problem, true_verdicts(instance)
    whole = corners(problem)
    shown = [_widened(axis(problem, verdicts, name), whole) for name in problem.objectives]
    polygons = faces(problem, [(one.low, one.high) for one in shown])
    axes.computed_zorder = False  # an arm inside is seen through the faces
    style = {"facecolor": FEASIBLE, "edgecolor": BOUNDARY, "linewidth": 0.6, "alpha": 0.4}
    axes.add_collection3d(Poly3DCollection(polygons, zorder=1, **style))
    floor = shown[2].low
    for verdict in sorted(verdicts, key=lambda one: ORDER[one.status]):
        (x, y, z), colour = verdict.mean.values(), LOOKS[verdict.status].colour
        axes.plot([x, x], [y, y], [floor, z], color=colour, linewidth=0.7, alpha=0.6, zorder=2)
        axes.plot([x], [y], [floor], marker=".", markersize=3, color=colour, zorder=2)
        for style in mark_styles(verdict.status):
            axes.plot([x], [y], [z], zorder=3, **style)
    _set_axes(axes, shown)
    return Solid(axes, sorted(verdicts, key=lambda one: -ORDER[one.status]))


def write_names(solid: Solid, renderer: "RendererAgg") -> None:
    """Write the arms' names beside their marks, none over another."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    axes, verdicts = solid
    x, y, _ = proj_transform(*np.array([list(verdict.mean.values()) for verdict in verdicts]).T, axes.get_proj())
    flat = np.column_stack([x, y])  # in the picture, in the units of the axes
    texts = [name_text(axes, verdict, tuple(xy)) for verdict, xy in zip(verdicts, flat, strict=True)]
    place_texts(axes, texts, mark_boxes(axes, flat, verdicts, renderer), renderer)


def _widened(shown: Axis, whole: Floats) -> Axis:
    """Return the axis, wide enough for the whole solid if that has corners."""
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
    axes.view_init(**_ANGLES)
    axes.set_box_aspect((1, 1, 0.9), zoom=1.15)


# --- the solid in which all constraints hold --------------------------------------------------------------------------


def faces(problem: Problem, ranges: Sequence[tuple[float, float]]) -> list[Floats]:
    """Return the corners [n, 3] of each face in the box, in order around it; none where nothing is feasible."""
    A, b = _half_spaces(problem, ranges)
    points = _corners(A, b)
    found = []
    for normal, bound in zip(A, b, strict=True):
        here = points[np.abs(points @ normal - bound) <= _NEAR * (1.0 + abs(bound))]
        if len(here) >= 3:
            found.append(_around(here, normal))
    return found


def corners(problem: Problem) -> Floats:
    """Return the corners [n, 3] of the whole solid; none where it has none."""
    return _corners(*_half_spaces(problem, ()))


def _half_spaces(problem: Problem, ranges: Sequence[tuple[float, float]]) -> tuple[Floats, Floats]:
    """Return the constraints and the sides of the box, as A x <= b with rows of length 1, none twice."""
    rows = [(np.array(one.coefficients, dtype=float), one.bound) for one in problem.constraints]
    for place, (low, high) in enumerate(ranges):
        axis = np.eye(3)[place]
        rows += [(axis, high), (-axis, -low)]
    scaled = [np.append(row, bound) / np.linalg.norm(row) for row, bound in rows]
    planes = np.unique(np.array(scaled).reshape(len(rows), 4).round(12), axis=0)
    return planes[:, :3], planes[:, 3]


def _corners(A: Floats, b: Floats) -> Floats:
    """Return the points where three planes meet and every other half-space holds."""
    found: list[Floats] = []
    for rows in ([i, j, k] for i in range(len(A)) for j in range(i) for k in range(j)):
        if abs(np.linalg.det(A[rows])) < _NEAR:
            continue
        point = np.asarray(np.linalg.solve(A[rows], b[rows]), dtype=float)
        new = all(np.abs(point - other).max() > _NEAR for other in found)
        if new and np.all(A @ point <= b + _NEAR * (1.0 + np.abs(b))):
            found.append(point)
    return np.array(found).reshape(len(found), 3)


def _around(points: Floats, normal: Floats) -> Floats:
    """Return the points sorted by angle around their middle, seen along the normal."""
    out = points - points.mean(axis=0)
    first = out[0] / np.linalg.norm(out[0])
    second = np.cross(normal, first)
    angle: Floats = np.arctan2(out @ second, out @ first)
    return points[np.argsort(angle)]
