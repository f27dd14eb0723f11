"""Where to put words so that they do not cover points, lines or one another: greedy, and the same every time.

Everything here is in pixels of the figure as laid out; offsets are in points, which hold at any size.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import float64

from paretoguard.numeric import Floats

POINTS_PER_INCH = 72.0
_DIRECTIONS = ((1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1), (0, 1), (0, -1))
_DISTANCES = (7.0, 11.0, 16.0, 24.0, 34.0, 48.0)  # points
_STRANGE = 0.4  # how bad it is that a name is nearer to the point of another
_FAR = 18.0  # points; a name beyond this needs a line to its point
_LONGEST_NAME = 22  # letters, where names stand in rows and columns
_SOLID, _STROKE, _SIDE, _OUTSIDE = 1.0, 1.2, 4.0, 3.0  # how bad it is to cover a mark, a line, a box; to leave the axes


class Box(NamedTuple):
    """A rectangle in pixels, and how bad it is to cover it."""

    left: float
    bottom: float
    right: float
    top: float
    weight: float = _SOLID


class Place(NamedTuple):
    """Where a name goes, relative to its point: an offset in points, how it is aligned, and the room it takes."""

    offset: tuple[float, float]
    horizontal: str
    vertical: str
    box: Box

    @property
    def is_far(self) -> bool:
        """Return whether a line is needed to say whose name this is."""
        return math.hypot(*self.offset) > _FAR


def short(name: str) -> str:
    """Return a name that leaves room for the picture: its beginning and its end, which often tells arms apart.

    >>> short("learning rate 0.001, batch 64")
    'learning ra…1, batch 64'
    """
    half = _LONGEST_NAME // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


def place_names(
    points: Floats, sizes: Sequence[tuple[float, float]], frame: Box, obstacles: Sequence[Box], dpi: float
) -> list[Place]:
    """Return a place for each name: points [n, 2] and sizes in pixels; names earlier in the list choose first."""
    taken = list(obstacles)
    places = []
    for number, (point, size) in enumerate(zip(points, sizes, strict=True)):
        others = np.delete(points, number, axis=0)
        candidates = _candidates(point, size, dpi)
        costs = badness([candidate.box for candidate in candidates], taken, frame) / (size[0] * size[1])
        costs += [0.006 * math.hypot(*candidate.offset) for candidate in candidates]
        costs += [_STRANGE * is_nearer(candidate.box, others, point) for candidate in candidates]
        best = candidates[int(np.argmin(costs))]
        taken.append(best.box._replace(left=best.box.left - 0.3 * size[1], right=best.box.right + 0.3 * size[1]))
        places.append(best)
    return places


def is_nearer(box: Box, others: Floats, point: Floats) -> bool:
    """True if the middle of a box is no farther from one of other points [n, 2] than from its own."""
    middle = (box.left + box.right) / 2, (box.bottom + box.top) / 2
    return min((math.dist(middle, other) for other in others), default=math.inf) <= math.dist(middle, point)


def _candidates(point: Floats, size: tuple[float, float], dpi: float) -> list[Place]:
    """Return places around a point, the preferred ones first: near ones, and to the right."""
    pixels = dpi / POINTS_PER_INCH
    width, height = size
    places = []
    for distance in _DISTANCES:
        for right, up in _DIRECTIONS:
            length = math.hypot(right, up)
            offset = (distance * right / length, distance * up / length)
            x, y = point[0] + offset[0] * pixels, point[1] + offset[1] * pixels
            left = {1: x, 0: x - width / 2, -1: x - width}[right]
            bottom = {1: y, 0: y - height / 2, -1: y - height}[up]
            horizontal = {1: "left", 0: "center", -1: "right"}[right]
            vertical = {1: "bottom", 0: "center", -1: "top"}[up]
            places.append(Place(offset, horizontal, vertical, Box(left, bottom, left + width, bottom + height)))
    return places


def badness(boxes: Sequence[Box], obstacles: Sequence[Box], frame: Box) -> Floats:
    """Return for each box the weighted area of what it covers, and of itself outside the frame."""
    ours = np.array(boxes, dtype=float64).reshape(len(boxes), 5)
    area = (ours[:, 2] - ours[:, 0]) * (ours[:, 3] - ours[:, 1])
    outside = area - _overlaps(ours, np.array([frame], dtype=float64))[:, 0]
    others = np.array(obstacles, dtype=float64).reshape(len(obstacles), 5)
    return np.asarray(_overlaps(ours, others) @ others[:, 4] + _OUTSIDE * outside)


def _overlaps(ours: Floats, others: Floats) -> Floats:
    """Return the area shared by each pair of boxes, [n, m]."""
    low = np.maximum(ours[:, None, :2], others[None, :, :2])
    high = np.minimum(ours[:, None, 2:4], others[None, :, 2:4])
    return np.asarray(np.prod(np.maximum(high - low, 0.0), axis=2))


def sides(box: Box) -> list[Box]:
    """Return the four sides of a rectangle as obstacles two pixels thin."""
    left, bottom, right, top, _ = box
    upright = [Box(x - 1.0, bottom, x + 1.0, top, _SIDE) for x in (left, right)]
    return upright + [Box(left, y - 1.0, right, y + 1.0, _SIDE) for y in (bottom, top)]


def stroke(line: Floats, thickness: float = 6.0) -> list[Box]:
    """Return a straight line [2, 2] as a row of small obstacles."""
    along = line[1] - line[0]
    length = float(np.hypot(*along))
    return _tiles(line.mean(axis=0), along / max(length, 1e-9), max(length, thickness), thickness, _STROKE)


def place_along(
    line: Floats, size: tuple[float, float], frame: Box, obstacles: Sequence[Box], gap: float
) -> tuple[Floats, float, list[Box]]:
    """Return the middle of words along a line [2, 2] on its left, their angle in degrees, and the room they take.

    Words are never upside down: where the line runs from right to left, they run the other way on the same side. Where
    the line is too short for them they lie level beside it.
    """
    along = line[1] - line[0]
    length = max(float(np.hypot(*along)), 1e-9)
    unit = along / length
    normal = np.array([-unit[1], unit[0]])
    if size[0] > 0.97 * length:
        half = np.array(size) / 2 + 2.0  # from the middle of words to the frame, at least
        low, high = np.array(frame[:2]) + half, np.array(frame[2:4]) - half
        middles = [np.clip(line.mean(axis=0) + normal * step * size[1], low, high) for step in (1.0, 1.5, 2.0, 3.0)]
        obstacles, unit, angle = [*obstacles, *stroke(line)], np.array([1.0, 0.0]), 0.0
    else:
        room = size[0] / length / 2 + 0.015
        shares = np.linspace(1 - room, room, 21)
        if (unit[0], unit[1]) < (0.0, 0.0):
            shares = shares[::-1]  # all else equal, words stand at the right and the upper end
        middles = [line[0] + share * along + normal * (gap + size[1] / 2) for share in shares]
        angle = math.degrees(math.atan2(unit[1], unit[0]))
        angle = (angle + 90.0 - 1e-9) % 180.0 - 90.0 + 1e-9  # in (-90, 90]
    rooms = [_tiles(middle, unit, *size) for middle in middles]
    bad = [float(badness(tiles, obstacles, frame).sum()) for tiles in rooms]
    best = int(np.argmin(np.round(bad, 6)))
    return middles[best], angle, rooms[best]


def _tiles(middle: Floats, unit: Floats, width: float, height: float, weight: float = _SOLID) -> list[Box]:
    """Return a slanted rectangle as a row of squares."""
    number = max(1, round(width / height))
    half = height / 2
    centres = [middle + unit * width * ((k + 0.5) / number - 0.5) for k in range(number)]
    return [Box(x - half, y - half, x + half, y + half, weight) for x, y in centres]
