"""How each status looks: a colour that colour-blind readers can tell apart, and a shape that survives grey print."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
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
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")  # for algorithms
FEASIBLE = "#E3EEE8"
LINE = "#3C4A43"  # boundaries of constraints
QUIET = "#5F5F5F"  # captions and notes
HALO = "#FFFFFFD0"  # around words, so that lines do not run through them
ORDER = {
    "dominated": 0,
    "infeasible": 1,
    "undecided": 2,
    "optimal": 3,
}  # what matters most is drawn last and named first

_LINES: dict[str, tuple[float, Any]] = {
    "optimal": (1.6, "solid"),
    "dominated": (1.1, (0, (5, 2))),
    "infeasible": (1.1, (0, (1, 1.4))),
    "undecided": (1.1, (0, (6, 2, 1, 2))),
}


def line_style(status: str) -> dict[str, Any]:
    """Arguments for `plot` that draw a line of this status: the dashes differ too."""
    width, dashes = _LINES[status]
    return {"color": LOOKS[status].colour, "linewidth": width, "linestyle": dashes}


def shades() -> "Colormap":
    """From white (none) to near black (all): a share as a grey, small shares easy to see."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "shares", [(0, "#F4F4F4"), (0.1, "#D2D2D2"), (0.5, "#8C8C8C"), (1, "#3A3A3A")]
    )


def outline(status: str, strength: float = 1.0) -> dict[str, Any]:
    """How the edge of a confidence box looks."""
    dashes = (0, (3, 2)) if status == "undecided" else "solid"
    return {"edgecolor": LOOKS[status].colour, "linewidth": 0.9, "linestyle": dashes, "alpha": 0.75 * strength}


def mark_styles(status: str) -> list[dict[str, Any]]:
    """Arguments for `plot`, one or two layers, that draw the mark of a status."""
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
    """As `mark_styles`, for rows of text."""
    return [{**style, "markersize": 0.8 * style["markersize"]} for style in mark_styles(status)]
