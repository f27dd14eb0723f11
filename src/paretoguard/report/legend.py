"""The legend of a result's picture: only what is there to see."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paretoguard.report.palette import FEASIBLE, LOOKS, mark_styles
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVAL = "#7A7A7A"


def entries(seen: Sequence[Verdict], *, boxes: bool, region: str) -> dict[str, Any]:
    """Words -> what they explain; `region` is what the shading means, "" where nothing is shaded."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {verdict.status for verdict in seen}
    found: dict[str, Any] = {
        status: tuple(Line2D([], [], **style) for style in mark_styles(status)) for status in LOOKS if status in present
    }
    if seen and boxes:
        found["confidence limits"] = Patch(facecolor="#00000010", edgecolor=INTERVAL, linewidth=0.9)
    elif seen:
        found["confidence limits"] = Line2D([], [], color=INTERVAL, linewidth=1.6)
    if region:
        found[region] = Patch(facecolor=FEASIBLE, edgecolor="#B9CCC1", linewidth=0.5)
    return found


def add_legend(axes: "Axes", found: dict[str, Any], **placing: Any) -> None:
    """Put the legend on the axes."""
    from matplotlib.legend_handler import HandlerTuple

    layered = {tuple: HandlerTuple(ndivide=1)}  # the layers of a mark on top of each other
    axes.legend(list(found.values()), list(found), handler_map=layered, frameon=False, fontsize=8.5, **placing)


def add_legend_above(axes: "Axes", found: dict[str, Any], gap: float) -> None:
    """Put the legend in one line above the axes, `gap` of their height away."""
    add_legend(
        axes,
        found,
        loc="lower left",
        bbox_to_anchor=(0, 1 + gap),
        ncols=max(len(found), 1),
        borderaxespad=0,
        borderpad=0,
        columnspacing=1.3,
        handletextpad=0.35,
        handlelength=1.5,
    )
