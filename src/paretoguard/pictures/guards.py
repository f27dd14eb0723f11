"""Objectives that only guard: beside each other, a row for each arm, its interval and where the constraints hold."""

from os import PathLike
from typing import TYPE_CHECKING

from paretoguard.pictures.axes import axis
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.front import settled
from paretoguard.pictures.regions import half_planes
from paretoguard.pictures.rows import draw_rows, write_bounds
from paretoguard.problem import Problem
from paretoguard.verdict import ACROSS, Result, crossed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BESIDE = 3  # in one line
ROW, ROOM = 0.24, 0.75  # inches: an arm, and the axis with its words
MOST_INCHES = 24.0


def guards(problem: Problem) -> list[str]:
    """The objectives that only guard."""
    return [name for name in problem.objectives if name not in problem.compared]


def guard_remarks(result: Result, problem: Problem) -> list[str]:
    """What to know of limits in the picture that reach across a constraint, against what a verdict says."""
    found = crossed(problem, result.verdicts.values())
    places = [list(problem.objectives).index(name) for name in guards(problem)]
    drawn = [plane.text for place in places for plane in half_planes(found, place)[0]]
    return [ACROSS] if drawn else []


def draw_guards(result: Result, problem: Problem, target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
    """Draw every objective that only guards; `target` is a file to write or a figure to draw on."""
    seen = [verdict for verdict in result.verdicts.values() if verdict.pulls > 0]
    shown = [axis(problem, seen, name) for name in guards(problem)]
    lines, columns = -(-len(shown) // BESIDE), min(len(shown), BESIDE)
    height = min(lines * (ROOM + ROW * max(len(seen), 1)), MOST_INCHES)
    with look():
        figure = figure_for(target, 7.2, height)
        grid = figure.add_gridspec(lines, columns)
        drawn = []
        for place, one in enumerate(shown):
            axes = figure.add_subplot(grid[place // BESIDE, place % BESIDE])
            draw_rows(axes, one, seen, problem)
            axes.tick_params(labelleft=place % BESIDE == 0)
            drawn.append(axes)
        renderer = settled(figure)
        for axes, one in zip(drawn, shown, strict=True):
            write_bounds(axes, one, seen, problem, renderer)
        save(figure, target)
    return figure
