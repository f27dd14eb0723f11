"""The boundaries of constraints: a line with short strokes on the side that is not allowed, and its words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paretoguard.numeric import Floats
from paretoguard.pictures.palette import HALO, LINE
from paretoguard.pictures.regions import HalfPlane, View, boundary
from paretoguard.pictures.text_placement import Box, place_along, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg

FONT = 8.0


def lines_in_view(planes: Sequence[HalfPlane], view: View) -> dict[str, Floats]:
    """The boundaries that cross the view, by the constraint's words."""
    found = {plane.text: boundary(plane, view) for plane in planes}
    return {text: line for text, line in found.items() if line is not None}


def draw_lines(axes: "Axes", lines: Mapping[str, Floats]) -> None:
    """Draw the boundaries; the allowed side is on the left of each line."""
    from matplotlib.patheffects import Normal, TickedStroke

    for line in lines.values():
        strokes = TickedStroke(angle=-125, spacing=8, length=0.55, linewidth=0.6)
        axes.plot(*line.T, color=LINE, linewidth=0.9, zorder=1.5, path_effects=[Normal(), strokes])


def obstacles(axes: "Axes", lines: Mapping[str, Floats]) -> list[Box]:
    """The boundaries as things that words should not cover."""
    return [box for line in lines.values() for box in stroke(axes.transData.transform(line))]


def write_lines(axes: "Axes", lines: Mapping[str, Floats], renderer: "RendererAgg", taken: Sequence[Box]) -> list[Box]:
    """Write the words of each constraint along its line, on the allowed side; returns the room they take."""
    from matplotlib.patheffects import withStroke

    frame = Box(*axes.get_window_extent(renderer).extents)
    rooms: list[Box] = []
    for words, line in lines.items():
        text = axes.text(0, 0, pretty(words), color=LINE, fontsize=FONT, parse_math=False, in_layout=False)
        extent = text.get_window_extent(renderer)
        pixels, size = axes.transData.transform(line), (extent.width, extent.height)
        others = obstacles(axes, {other: path for other, path in lines.items() if other != words})
        middle, angle, room = place_along(pixels, size, frame, [*taken, *others, *rooms], 3 * renderer.dpi / 72)
        text.set(position=axes.transData.inverted().transform(middle), rotation=angle, rotation_mode="anchor")
        text.set(horizontalalignment="center", verticalalignment="center", zorder=4.5)
        text.set_path_effects([withStroke(linewidth=2, foreground=HALO)])
        rooms += room
    return rooms


def pretty(words: str) -> str:
    """A constraint as it is set in print.

    >>> pretty("safety >= 0.4")
    'safety ≥ 0.4'
    """
    return words.replace(">=", "≥").replace("<=", "≤")
