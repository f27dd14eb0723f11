"""The legend of a result's picture: only what is there to see."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paretoguard.pictures.palette import FEASIBLE, LOOKS, mark_styles
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVAL = "#7A7A7A"
BOX, CROSS, LINE = "box", "cross", "line"
MARGIN = 0.05  # inches


def entries(seen: Sequence[Verdict], *, limits: Sequence[str], region: str) -> dict[str, Any]:
    """Words -> what they explain.

    `limits` are the shapes of confidence limits in the picture; `region` is what the shading means, "" where nothing is
    shaded.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {verdict.status for verdict in seen}
    found: dict[str, Any] = {
        status: tuple(Line2D([], [], **style) for style in mark_styles(status)) for status in LOOKS if status in present
    }
    shapes = {
        BOX: Patch(facecolor="#00000010", edgecolor=INTERVAL, linewidth=0.9),
        CROSS: Line2D([], [], color=INTERVAL, linestyle="none", marker="+", markersize=10, markeredgewidth=1.2),
        LINE: Line2D([], [], color=INTERVAL, linewidth=1.6),
    }
    for place, shape in enumerate(limits if seen else ()):
        found["limits where no box fits" if place else "confidence limits"] = shapes[shape]
    if region:
        found[region] = Patch(facecolor=FEASIBLE, edgecolor="#B9CCC1", linewidth=0.5)
    return found


def add_legend(axes: "Axes", found: dict[str, Any], **placing: Any) -> None:
    """Put the legend on the axes."""
    from matplotlib.legend_handler import HandlerTuple

    layered = {tuple: HandlerTuple(ndivide=1)}  # the layers of a mark on top of each other
    axes.legend(list(found.values()), list(found), handler_map=layered, frameon=False, fontsize=8.5, **placing)


def add_legend_above(axes: "Axes", found: dict[str, Any], gap: float) -> None:
    """Put the legend above the axes, `gap` of their height away: in one line, or as few as it takes to fit."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # so that it is known where the axes begin
    room = figure.bbox.x1 - axes.bbox.x0 - MARGIN * figure.dpi
    for lines in range(1, len(found) + 1):
        add_legend(
            axes,
            found,
            loc="lower left",
            bbox_to_anchor=(0, 1 + gap),
            ncols=-(-len(found) // lines),
            borderaxespad=0,
            borderpad=0,
            columnspacing=1.3,
            handletextpad=0.35,
            handlelength=1.5,
        )
        legend = axes.get_legend()
        if legend is not None and legend.get_window_extent().width <= room:
            return
