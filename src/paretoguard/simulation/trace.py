"""How a run went: where samples went, when arms were certified, how evidence grew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy import float64, int64, uint8

from paretoguard.engine.explain import progress
from paretoguard.engine.loop import NEXT, advance, observe_results, settle_now
from paretoguard.engine.state import CLOCK
from paretoguard.errors import SettingsError
from paretoguard.numeric import Bytes, Floats, Integers
from paretoguard.simulation.runner import Cell, Design, begin_runs
from paretoguard.trial.setup import Setup
from paretoguard.verdict import Result
from paretoguard.vocabulary import ANSWER_FOUND, STATUSES, UNDECIDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS, LIVE_LOOKS = 200, 60  # of a simulated run; of the results of a live experiment


class Done(NamedTuple):
    """What a study holds of one of its runs."""

    run: int
    samples: int
    stopped: str
    pulls: Integers  # [K]
    answer: Bytes  # [K] statuses


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Growth:
    """How evidence grew, at L looks. Statuses: 0 undecided, 1 optimal, 2 dominated, 3 infeasible.

    `progress` is each arm's evidence over what the status in `answer` requires: 1 is certified, and below that it grows
    about as the pulls do (`engine.explain.progress`).
    """

    arms: tuple[str, ...]
    stopped: str  # "answered", "budget" or "open"
    answer: Bytes  # [K] statuses at the end
    samples: Integers  # [L]
    pulls: Integers  # [L, K]
    statuses: Bytes  # [L, K] what is certified at that look
    progress: Floats  # [L, K]

    def certified(self) -> Integers:
        """Return the look from which each arm is certified to the end as what the answer says, [K]; -1 if undecided.

        Thresholds grow with time, also for arms that are no longer pulled, so that a certificate may lapse. If the
        answer says more than is certified at the end, the algorithm remembers (racing, two-stage): then an arm counts
        from the certificate that it had when it was last pulled or, if that held only between looks, from there.
        """
        holds = self.statuses == self.answer
        arms, end = np.arange(len(self.answer)), len(holds) - 1
        until = np.full(len(arms), end)
        remembers = self.stopped == ANSWER_FOUND and not holds[end].all()
        if remembers:
            last_pull = np.argmax(self.pulls == self.pulls[end], axis=0)
            holds[last_pull, arms] |= ~holds[end]
            until = np.where(holds[last_pull, arms], last_pull, end)
        begins = holds & (np.arange(end + 1)[:, None] <= until)
        begins[1:] &= ~holds[:-1]
        found = end - np.argmax(begins[::-1], axis=0)
        return np.where(self.answer == UNDECIDED, -1, found).astype(int64)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace(Growth):
    """A run at L looks, the last of them at its end."""

    cell: Cell
    run: int
    batch: int  # arms pulled before each decision
    wrong: bool  # is any claim of the answer false?

    def __repr__(self) -> str:
        return f"<run {self.run} of {self.cell}: {self.samples[-1]:,} samples, {len(self.samples)} looks>"

    def plot(self, target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
        """Return a picture of the run.

        Parameters
        ----------
        target
            A file to write (.png, .svg, .pdf), or a figure to draw on; None draws on a new one.
        """
        from paretoguard.pictures.run import draw_traces

        return draw_traces([self], target)


def trace(cell: Cell, design: Design, done: Done, looks: int = _LOOKS) -> Trace:
    """Simulate a finished run again and look about `looks` times, evenly in the logarithm of the samples."""
    arms = len(done.pulls)
    work = begin_runs(cell, np.array([done.run]), design)
    state, outcomes = work.engine.seen.state, work.outcomes
    samples, pulls, statuses, found = [], [], [], []
    for goal in goals(arms, done.samples, looks):
        ahead = goal - int(state.tally[CLOCK])
        if ahead <= 0:  # a decision pulls several arms, and may have gone past this look
            continue
        advance(*work.arguments(ahead))
        statuses.append(np.zeros(arms, dtype=uint8))
        settle_now(work.engine.seen, statuses[-1], outcomes.via)
        found.append(np.zeros(arms))
        progress(work.engine.seen, done.answer, found[-1])
        samples.append(int(state.tally[CLOCK]))
        pulls.append(state.counts.copy())
    advance(*work.arguments(1))  # to the decision to stop
    ended = outcomes.cursor[NEXT] == 1 and outcomes.samples[0] == done.samples
    if not (ended and np.array_equal(outcomes.pulls[0], done.pulls)):
        raise SettingsError(
            f"run {done.run} of {cell} does not go as it did in the study: {int(outcomes.pulls[0].sum()):,} samples "
            f"instead of {done.samples:,}. Was the study made with another version? Then simulate it anew"
        )
    wrong = bool(cell.instance.problem.wrong(done.answer[None], cell.instance.means)[0])
    return Trace(
        cell=cell,
        run=done.run,
        batch=design.batch,
        wrong=wrong,
        arms=cell.instance.problem.arms,
        stopped=done.stopped,
        answer=done.answer,
        samples=np.array(samples, dtype=int64),
        pulls=np.array(pulls),
        statuses=np.array(statuses),
        progress=np.array(found),
    )


def growth(
    setup: Setup, results: Sequence[tuple[str, Mapping[str, float]]], result: Result, since: Mapping[str, int]
) -> Growth:
    """Look about 60 times, evenly in the logarithm of the samples, at results (arm, values) as they are counted.

    `since` maps arms to the samples after which their verdicts were certain, by every result and not only by the looks.
    """
    problem = setup.problem
    K = len(problem.arms)
    view = setup.engine().seen
    via = np.zeros(K, dtype=int64)
    places = {arm: place for place, arm in enumerate(problem.arms)}
    arms = np.array([places[arm] for arm, _ in results], dtype=int64)
    rows = np.array([[values[name] for name in problem.objectives] for _, values in results], dtype=float64)
    answer = np.array([STATUSES.index(result.verdicts[arm].status) for arm in problem.arms], dtype=uint8)
    looks = goals(K, len(results), LIVE_LOOKS) if len(results) else []
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


def goals(arms: int, samples: int, looks: int) -> list[int]:
    """Return when to look: from the first sample of every arm to the end of the run."""
    spread = np.geomspace(min(arms, samples), samples, looks).round()
    return [int(goal) for goal in np.unique(spread)]
