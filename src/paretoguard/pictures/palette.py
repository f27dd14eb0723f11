"""How each status looks, in a colour that colour-blind readers can tell apart and a shape that survives grey print."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.numeric import Floats
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


class Look(NamedTuple):
    """Colour and marker of a status; `face` is the fill of the marker."""

    colour: str
    marker: str
    size: float  # points
    face: str


# Colours of Okabe & Ito (2008). Filled star, hollow triangle, cross, hollow circle: no two alike in grey.
LOOKS = {
    "optimal": Look("#009E73", "*", 14.0, "#009E73"),
    "dominated": Look("#0072B2", "v", 8.0, "white"),
    "infeasible": Look("#D55E00", "X", 8.5, "#D55E00"),
    "undecided": Look("#4D4D4D", "o", 8.0, "white"),
}
ORDER = {"dominated": 0, "infeasible": 1, "undecided": 2, "optimal": 3}  # what matters most is drawn last, named first
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")  # for algorithms
FEASIBLE = "#E3EEE8"
BOUNDARY = "#3C4A43"  # of constraints
QUIET = "#5F5F5F"  # captions and notes
HALO = "#FFFFFFD0"  # around words, so that lines do not run through them
_INTERVAL = "#7A7A7A"
_MARGIN = 0.05  # inches
_LINES: dict[str, tuple[float, Any]] = {
    "optimal": (1.6, "solid"),
    "dominated": (1.1, (0, (5, 2))),
    "infeasible": (1.1, (0, (1, 1.4))),
    "undecided": (1.1, (0, (6, 2, 1, 2))),
}


def line_style(status: str) -> dict[str, Any]:
    """Return arguments for `plot` that draw a line of this status; the dashes differ, too."""
    width, dashes = _LINES[status]
    return {"color": LOOKS[status].colour, "linewidth": width, "linestyle": dashes}


def shades() -> "Colormap":
    """Return greys for shares, from white (none) to near black (all); small shares are easy to see."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "shares", [(0, "#F4F4F4"), (0.1, "#D2D2D2"), (0.5, "#8C8C8C"), (1, "#3A3A3A")]
    )


def outline(status: str, strength: float) -> dict[str, Any]:
    """Return how the edge of a confidence box looks."""
    dashes = (0, (3, 2)) if status == "undecided" else "solid"
    return {"edgecolor": LOOKS[status].colour, "linewidth": 0.9, "linestyle": dashes, "alpha": 0.75 * strength}


# --- marks ------------------------------------------------------------------------------------------------------------


def mark_styles(status: str) -> list[dict[str, Any]]:
    """Return arguments for `plot`, one or two layers, that draw the mark of a status."""
    look = LOOKS[status]
    filled = look.face == look.colour
    mark = {
        "linestyle": "none",
        "marker": look.marker,
        "markersize": look.size,
        "markerfacecolor": look.face,
        "markeredgecolor": "white" if filled else look.colour,
        "markeredgewidth": 0.7 if filled else 1.4,
    }
    if status != "undecided":
        return [mark]
    return [mark, {"linestyle": "none", "marker": "$?$", "markersize": 4, "color": look.colour, "markeredgewidth": 0.4}]


def small_marks(status: str) -> list[dict[str, Any]]:
    """Return the same as `mark_styles`, for rows of text."""
    return [{**style, "markersize": 0.8 * style["markersize"]} for style in mark_styles(status)]


def draw_marks(axes: "Axes", points: Floats, verdicts: Sequence[Verdict]) -> None:
    """Draw the marks of the arms at points [n, 2], optimal ones on top."""
    for status in LOOKS:
        chosen = [place for place, verdict in enumerate(verdicts) if verdict.status == status]
        for style in mark_styles(status) if chosen else ():
            axes.plot(*points[chosen].T, zorder=3 + 0.1 * ORDER[status], **style)


def name_rows(axes: "Axes", heights: Floats, names: Sequence[str], statuses: Sequence[str], size: float) -> None:
    """Name the rows of arms at these heights, optimal ones in bold."""
    axes.set_yticks(heights, names, fontsize=size)
    for label, status in zip(axes.get_yticklabels(), statuses, strict=True):
        label.set(parse_math=False, fontweight="bold" if status == "optimal" else "normal", color="#222222")
    axes.tick_params(axis="y", length=0)


# --- legends ----------------------------------------------------------------------------------------------------------


def legend_entries(seen: Sequence[Verdict], *, limits: Sequence[str], region: str) -> dict[str, Any]:
    """Return words -> what they explain, for what is in the picture only.

    `limits` are the shapes of confidence limits: "box", "cross" or "line". `region` is what the shading means, "" where
    nothing is shaded.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {verdict.status for verdict in seen}
    found: dict[str, Any] = {
        status: tuple(Line2D([], [], **style) for style in mark_styles(status)) for status in LOOKS if status in present
    }
    shapes = {
        "box": Patch(facecolor="#00000010", edgecolor=_INTERVAL, linewidth=0.9),
        "cross": Line2D([], [], color=_INTERVAL, linestyle="none", marker="+", markersize=10, markeredgewidth=1.2),
        "line": Line2D([], [], color=_INTERVAL, linewidth=1.6),
    }
    for place, shape in enumerate(limits if seen else ()):
        found["limits where no box fits" if place else "confidence limits"] = shapes[shape]
    if region:
        found[region] = Patch(facecolor=FEASIBLE, edgecolor="#B9CCC1", linewidth=0.5)
    return found


def add_legend(axes: "Axes", found: dict[str, Any], **placing: Any) -> None:
    from matplotlib.legend_handler import HandlerTuple

    layered = {tuple: HandlerTuple(ndivide=1)}  # the layers of a mark on top of each other
    axes.legend(list(found.values()), list(found), handler_map=layered, frameon=False, fontsize=8.5, **placing)


def add_legend_above(axes: "Axes", found: dict[str, Any], gap: float) -> None:
    """Put the legend above the axes, `gap` of their height away, in as few lines as fit."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # so that it is known where the axes begin
    room = figure.bbox.x1 - axes.bbox.x0 - _MARGIN * figure.dpi
    spacing = {"columnspacing": 1.3, "handletextpad": 0.35, "handlelength": 1.5, "borderpad": 0, "borderaxespad": 0}
    for lines in range(1, len(found) + 1):
        columns = -(-len(found) // lines)
        add_legend(axes, found, loc="lower left", bbox_to_anchor=(0, 1 + gap), ncols=columns, **spacing)
        legend = axes.get_legend()
        if legend is not None and legend.get_window_extent().width <= room:
            return
