"""How the evidence of a live experiment grew: its results again, in the order in which they count, with some looks."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64, int64, uint8

from paretoguard.engine.explain import progress
from paretoguard.engine.loop import observe_results, settle_now
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.evidence_lines import draw_lines
from paretoguard.pictures.run import HEAD, LEGEND, LINES, MOST_ARMS, ROW, add_keys, set_time
from paretoguard.pictures.strips import draw_strips, shown_arms
from paretoguard.problem import STATUSES
from paretoguard.simulation.trace import Growth, goals
from paretoguard.trial.setup import Setup
from paretoguard.verdict import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = 60


def growth(
    setup: Setup, results: Sequence[tuple[str, Mapping[str, float]]], result: Result, since: Mapping[str, int]
) -> Growth:
    """Look about 60 times, evenly in the logarithm of the samples, at results (arm, values) as they are counted.

    `since` are the samples after which verdicts were certain: they are known from
    what was certain after every result, not only at the looks.
    """
    problem = setup.problem
    K = len(problem.arms)
    view = setup.engine().seen
    via = np.zeros(K, dtype=int64)
    places = {arm: place for place, arm in enumerate(problem.arms)}
    arms = np.array([places[arm] for arm, _ in results], dtype=int64)
    rows = np.array([[values[name] for name in problem.objectives] for _, values in results], dtype=float64)
    answer = np.array([STATUSES.index(result.verdicts[arm].status) for arm in problem.arms], dtype=uint8)
    looks = goals(K, len(results), LOOKS) if len(results) else []
    pulls, statuses = np.zeros((len(looks), K), dtype=int64), np.zeros((len(looks), K), dtype=uint8)
    found, done = np.zeros((len(looks), K)), 0
    for place, goal in enumerate(looks):
        observe_results(view.problem, view.state, arms[done:goal], rows[done:goal])
        settle_now(view, statuses[place], via)
        progress(view, answer, found[place])
        pulls[place], done = view.state.counts, goal
    samples = np.array(looks, dtype=int64)
    for arm, first in since.items():
        statuses[:, places[arm]] = np.where(samples >= first, answer[places[arm]], 0)
    return Growth(
        arms=problem.arms,
        stopped=result.stopped,
        answer=answer,
        samples=samples,
        pulls=pulls,
        statuses=statuses,
        progress=found,
    )


def draw_growth(grown: Growth, target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
    """Above: a row for each arm, darker where it took more of the samples. Below: evidence over what is required."""
    shown = shown_arms([grown], MOST_ARMS)
    heights = [LEGEND, 0.1 + ROW * len(shown), LINES]
    with look():
        figure = figure_for(target, 7.2, HEAD + sum(heights))
        figure.get_layout_engine().set(h_pad=0.02, hspace=0.0)  # type: ignore[union-attr, call-arg]
        grid = figure.add_gridspec(3, 1, height_ratios=heights)
        add_keys(figure.add_subplot(grid[0]), [grown])
        strips = figure.add_subplot(grid[1])
        lines = figure.add_subplot(grid[2], sharex=strips)
        set_time(strips, lines, [grown])
        draw_strips(strips, grown, shown)
        draw_lines(lines, grown, shown)
        save(figure, target)
    return figure
