"""Where to put names so that they do not cover points, boxes or one another: greedy, and the same every time.

Everything here is in pixels of the figure as laid out; the answers are offsets in points, which hold at any size.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

Floats = NDArray[float64]

POINTS_PER_INCH = 72.0
DIRECTIONS = ((1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1), (0, 1), (0, -1))
DISTANCES = (7.0, 12.0, 19.0, 28.0, 40.0)  # points
SOLID, FAINT, OUTSIDE = 1.0, 0.12, 3.0  # how bad it is to cover a mark or a name, the edge of a box; to leave the axes


class Box(NamedTuple):
    """A rectangle in pixels, and how bad it is to cover it."""

    left: float
    bottom: float
    right: float
    top: float
    weight: float = SOLID


class Place(NamedTuple):
    """Where a name goes, relative to its point: an offset in points, how it is aligned, and the room it takes."""

    offset: tuple[float, float]
    horizontal: str
    vertical: str
    box: Box

    @property
    def is_far(self) -> bool:
        """Is a line needed to say whose name this is?"""
        return math.hypot(*self.offset) > 1.5 * DISTANCES[1]


def place_names(
    points: Floats, sizes: Sequence[tuple[float, float]], frame: Box, obstacles: Sequence[Box], dpi: float
) -> list[Place]:
    """One place for each name: points [n, 2] and sizes in pixels; names earlier in the list choose first."""
    taken = list(obstacles)
    places = []
    for point, size in zip(points, sizes, strict=True):
        best = min(_candidates(point, size, dpi), key=lambda candidate: _cost(candidate, frame, taken))
        taken.append(best.box)
        places.append(best)
    return places


def _candidates(point: Floats, size: tuple[float, float], dpi: float) -> list[Place]:
    """Places around a point, the preferred ones first: near ones, and to the right."""
    pixels = dpi / POINTS_PER_INCH
    width, height = size
    places = []
    for distance in DISTANCES:
        for right, up in DIRECTIONS:
            length = math.hypot(right, up)
            offset = (distance * right / length, distance * up / length)
            x, y = point[0] + offset[0] * pixels, point[1] + offset[1] * pixels
            left = {1: x, 0: x - width / 2, -1: x - width}[right]
            bottom = {1: y, 0: y - height / 2, -1: y - height}[up]
            horizontal = {1: "left", 0: "center", -1: "right"}[right]
            vertical = {1: "bottom", 0: "center", -1: "top"}[up]
            places.append(Place(offset, horizontal, vertical, Box(left, bottom, left + width, bottom + height)))
    return places


def _cost(place: Place, frame: Box, taken: Sequence[Box]) -> float:
    """Share of the name's own area that it covers of other things, plus a little for distance."""
    box = place.box
    area = (box.right - box.left) * (box.top - box.bottom)
    outside = area - _overlap(box, frame)
    covered = sum(other.weight * _overlap(box, other) for other in taken)
    return (covered + OUTSIDE * outside) / area + 0.006 * math.hypot(*place.offset)


def _overlap(one: Box, other: Box) -> float:
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.top, other.top) - max(one.bottom, other.bottom)
    return width * height if width > 0 and height > 0 else 0.0


def edges(box: Box, thickness: float) -> list[Box]:
    """The four sides of a rectangle as thin obstacles."""
    left, bottom, right, top, _ = box
    half = thickness / 2
    return [
        Box(left - half, bottom, left + half, top, FAINT / half),
        Box(right - half, bottom, right + half, top, FAINT / half),
        Box(left, bottom - half, right, bottom + half, FAINT / half),
        Box(left, top - half, right, top + half, FAINT / half),
    ]


def place_along(
    line: Floats, size: tuple[float, float], frame: Box, obstacles: Sequence[Box], gap: float
) -> tuple[Floats, float, list[Box]]:
    """The middle of a text that runs along a line [2, 2] on its left, its angle in degrees, and the room it takes.

    A text is never upside down: where the line runs from right to left, the text runs the other way on the same side.
    """
    along = line[1] - line[0]
    length = float(np.hypot(*along))
    unit = along / length
    normal = np.array([-unit[1], unit[0]])
    width, height = size
    room = min(width / length / 2 + 0.01, 0.5)
    best: tuple[float, Floats, list[Box]] | None = None
    for share in np.linspace(1 - room, room, 15):
        middle = line[0] + share * along + normal * (gap + height / 2)
        boxes = _tiles(middle, unit, width, height)
        bad = sum(_overlap(tile, other) * other.weight for tile in boxes for other in obstacles)
        bad += OUTSIDE * sum(
            (tile.right - tile.left) * (tile.top - tile.bottom) - _overlap(tile, frame) for tile in boxes
        )
        if best is None or bad < best[0] - 1e-9:
            best = (bad, middle, boxes)
    assert best is not None
    angle = math.degrees(math.atan2(unit[1], unit[0]))
    return best[1], angle - 180 * round(angle / 180), best[2]


def _tiles(middle: Floats, unit: Floats, width: float, height: float) -> list[Box]:
    """A slanted text as a row of squares."""
    number = max(1, round(width / height))
    half = height / 2
    centres = [middle + unit * width * ((k + 0.5) / number - 0.5) for k in range(number)]
    return [Box(x - half, y - half, x + half, y + half) for x, y in centres]
