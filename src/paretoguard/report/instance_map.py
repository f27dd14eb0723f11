"""Where the arms of an instance truly are: means over two or three objectives, and where the constraints hold."""

from typing import TYPE_CHECKING, Any


from paretoguard.problem import Instance
from paretoguard.report.axes import Axis, axis
from paretoguard.report.palette import FEASIBLE, LINE, ORDER, QUIET, mark_styles
from paretoguard.report.panels import Panel, draw
from paretoguard.report.solids import faces
from paretoguard.verdict import DOMINATED, INFEASIBLE, OPTIMAL, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ANGLES = {"elev": 22.0, "azim": -128.0}  # from where a solid is seen: the best arms in front


def true_verdicts(instance: Instance) -> list[Verdict]:
    """Each arm at its mean, as what it is; infeasible ones may be dominated, too."""
    truth, names = instance.truth(), list(instance.problem.objectives)
    verdicts = []
    for i, arm in enumerate(instance.problem.arms):
        status = OPTIMAL if truth.is_pareto[i] else DOMINATED if truth.is_feasible[i] else INFEASIBLE
        mean = dict(zip(names, instance.means[i].tolist(), strict=True))
        verdicts.append(Verdict(arm, status, "", "", 1, mean, mean, mean))
    return verdicts


def draw_plane(axes: "Axes", instance: Instance) -> Panel:
    """The first two objectives; words are to be written once the layout is settled (`panels.write_words`)."""
    problem, verdicts = instance.problem, true_verdicts(instance)
    x, y = (axis(problem, verdicts, name) for name in list(problem.objectives)[:2])
    panel = Panel(axes, x, y, verdicts)
    axes.set_xlabel(x.label, parse_math=False)
    axes.set_ylabel(y.label, parse_math=False)
    draw(panel, problem)
    return panel


def draw_solid(axes: Any, instance: Instance) -> None:
    """Three objectives: the feasible solid as far as it is on show, and the arms with a line down to the floor."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    problem, verdicts = instance.problem, true_verdicts(instance)
    shown = [axis(problem, verdicts, name) for name in problem.objectives]
    corners = faces(problem, [(one.low, one.high) for one in shown])
    axes.add_collection3d(Poly3DCollection(corners, facecolor=FEASIBLE, edgecolor=LINE, linewidth=0.6, alpha=0.35))
    floor = shown[2].low
    for verdict in sorted(verdicts, key=lambda one: ORDER[one.status]):
        x, y, z = verdict.mean.values()
        axes.plot([x, x], [y, y], [floor, z], color="#B0B0B0", linewidth=0.7)
        for style in mark_styles(verdict.status):
            axes.plot([x], [y], [z], **style)
        weight = "bold" if verdict.status == OPTIMAL else "normal"
        axes.text(x, y, z, f"  {verdict.arm}", fontsize=7.5, fontweight=weight, parse_math=False)
    _set_axes(axes, shown)


def _set_axes(axes: Any, shown: list[Axis]) -> None:
    x, y, z = shown
    axes.set(xlim=(x.low, x.high), ylim=(y.low, y.high), zlim=(z.low, z.high))
    axes.set_xlabel(x.name, color=QUIET, parse_math=False)
    axes.set_ylabel(y.name, color=QUIET, parse_math=False)
    axes.set_zlabel(z.name, color=QUIET, parse_math=False)
    for one in (axes.xaxis, axes.yaxis, axes.zaxis):
        one.set_major_locator(_few())
        one.set_pane_color((1.0, 1.0, 1.0, 0.0))
    axes.tick_params(labelsize=7, pad=0)
    axes.grid(visible=False)
    axes.view_init(**ANGLES)
    axes.set_box_aspect((1, 1, 0.9), zoom=0.92)


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
