"""Run blocks of simulated runs on all cores. Kernels release the GIL, so threads do."""

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import int64, uint64

from paretoguard.algorithms import Algorithm
from paretoguard.compiler.tiers import has_compiler
from paretoguard.engine.draws import Ahead
from paretoguard.engine.engine import Engine, Pace, cohort
from paretoguard.engine.loop import FAULT, NEXT, Outcomes, advance, new_outcomes
from paretoguard.errors import NotCompiledError
from paretoguard.evidence import Evidence
from paretoguard.numeric import Bytes, Integers
from paretoguard.problem import Instance
from paretoguard.simulation.rewards import source
from paretoguard.trial import checks, registry
from paretoguard.trial.setup import bad_queue, engine_for, not_compiled

MOST_STEPS = 200_000  # samples between two looks at the clock and at Ctrl-C …
PATIENCE_NS = 100_000_000  # … or as many as take about a tenth of a second
BLOCKS_PER_THREAD = 2  # of the runs that are left
LONGEST_BLOCK = 1000  # runs
QUIET_SECONDS = 2.0  # before a progress bar appears

Report = Callable[[int], None]


@dataclass(frozen=True)
class Cell:
    """One instance × algorithm × evidence × delta."""

    instance: Instance
    algorithm: Algorithm
    evidence: Evidence
    delta: float

    @property
    def labels(self) -> tuple[str, str, str, float]:
        """The names of instance, algorithm and evidence, and delta, as they stand in a study's records."""
        return self.instance.name, registry.label(self.algorithm), registry.label(self.evidence), self.delta

    def __str__(self) -> str:
        instance, algorithm, evidence, delta = self.labels
        return f"{instance} × {algorithm} × {evidence} × {delta:g}"


class Design(NamedTuple):
    """The settings that all runs of a study share."""

    seed: int
    budget: int | None = None
    batch: int = 1


class Block(NamedTuple):
    """Finished runs of one cell."""

    cell: Cell
    runs: Integers
    samples: Integers
    stopped: Bytes
    pulls: Integers
    statuses: Bytes
    ns: Integers  # CPU time


def run_cells(todo: Sequence[tuple[Cell, Integers]], design: Design, threads: int | None) -> tuple[list[Block], bool]:
    """Return finished blocks of the given runs of each cell, and whether Ctrl-C cut the work short."""
    if not has_compiler():
        warnings.warn(
            "numba is not installed: simulations run as plain Python, some hundred times slower. To mend this: "
            "pip install numba",
            stacklevel=4,
        )
    workers = _available_cores() if threads is None else checks.check_count(threads, "threads", "how many to use")
    jobs = [(cell, part) for cell, runs in todo for part in _parts(runs, workers)]
    crew = _Crew(jobs, design)
    interrupted = False
    with progress_bar(sum(len(runs) for _, runs in jobs), "simulating") as report:
        try:
            _compile(todo, design, workers)
            crew.start(workers, report)
        except KeyboardInterrupt:
            interrupted = True
            crew.stop.set()
        while any(thread.is_alive() for thread in crew.threads):
            try:
                time.sleep(0.01)
            except KeyboardInterrupt:  # runs at work end at their next look; asking again changes nothing
                interrupted = True
                crew.stop.set()
    if crew.failures:
        raise crew.failures[0]
    return crew.done, interrupted


class _Crew:
    """Threads that take jobs until none is left or `stop` is set.

    Not an executor: `concurrent.futures.wait` holds the locks of all futures while it looks at them, and a Ctrl-C at
    that moment would leave them held for ever.
    """

    def __init__(self, jobs: Sequence[tuple[Cell, Integers]], design: Design) -> None:
        self.design = design
        self.stop = threading.Event()
        self.done: list[Block] = []
        self.failures: list[BaseException] = []
        self.threads: list[threading.Thread] = []
        self._jobs = iter(jobs)
        self._lock = threading.Lock()

    def start(self, workers: int, report: Report) -> None:
        for _ in range(workers):
            self.threads.append(threading.Thread(target=self._work, args=(report,), daemon=True))
            self.threads[-1].start()

    def _work(self, report: Report) -> None:
        while not self.stop.is_set():
            with self._lock:
                job = next(self._jobs, None)
            if job is None:
                return
            try:
                with _named(job[0]):
                    self.done.append(_run(*job, self.design, self.stop, report))
            except BaseException as failure:
                self.failures.append(failure)
                self.stop.set()


def _available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(runs: Integers, workers: int) -> Iterator[Integers]:
    """Split runs into few blocks, small ones last, so that threads end at about the same time."""
    while len(runs) > 0:
        size = min(LONGEST_BLOCK, -(-len(runs) // (BLOCKS_PER_THREAD * workers)))
        yield runs[:size]
        runs = runs[size:]


def _compile(todo: Sequence[tuple[Cell, Integers]], design: Design, workers: int) -> None:
    """Compile (or load) what all runs need before all threads ask for it; several kernels at once."""
    wanted: dict[tuple[type, ...], tuple[Cell, Work]] = {}
    for cell, runs in todo:
        if len(runs) > 0:
            work = begin_runs(cell, runs[:0], design)
            wanted.setdefault(advance.kind(*work.arguments(0)), (cell, work))
    lacking = advance.lacking(work.arguments(0) for _, work in wanted.values())
    if lacking:
        with progress_bar(len(lacking), "compiling") as report:
            advance.compile_apart(lacking, min(workers, _available_cores()), report)
    for cell, work in wanted.values():
        with _named(cell):
            advance.compile(*work.arguments(0))


@contextmanager
def _named(cell: Cell) -> Iterator[None]:
    """Name a part of the user's that does not compile."""
    try:
        yield
    except NotCompiledError as error:
        raise not_compiled(error, cell.algorithm, cell.evidence) from error.__cause__


class Work(NamedTuple):
    """What some runs of a cell are simulated with."""

    engine: Engine
    source: Ahead
    outcomes: Outcomes
    budget: int
    pace: Pace

    def arguments(self, steps: int) -> tuple[Engine, Ahead, Outcomes, int, int, Pace]:
        """Return the arguments of `advance`, for about so many samples."""
        return self.engine, self.source, self.outcomes, steps, self.budget, self.pace


def begin_runs(cell: Cell, runs: Integers, design: Design) -> Work:
    """Return what these runs of a cell are simulated with, before the first of them."""
    problem, how = cell.instance.problem, (cell.algorithm, cell.evidence, cell.delta)
    return Work(
        engine_for(problem, *how, seed=design.seed, batch=design.batch),
        source(cell.instance),
        new_outcomes(runs.astype(uint64), len(problem.arms)),
        checks.check_budget(design.budget),
        cohort(design.batch, len(problem.arms)),
    )


def _run(cell: Cell, runs: Integers, design: Design, stop: threading.Event, report: Report) -> Block:
    """Simulate the given runs, looking at `stop` every tenth of a second; if it is set, return the finished runs."""
    work = begin_runs(cell, runs, design)
    outcomes = work.outcomes
    ns, steps = np.zeros(len(runs), dtype=int64), 1000
    while not stop.is_set():
        first, begun = int(outcomes.cursor[NEXT]), time.thread_time_ns()
        taken = advance(*work.arguments(steps))
        took = time.thread_time_ns() - begun
        last = int(outcomes.cursor[NEXT])
        if last < len(runs) and outcomes.stopped[last] == FAULT:
            raise bad_queue(cell.algorithm, len(cell.instance.problem.arms))
        if taken == 0 and last == first:
            break
        if taken > 0:
            steps = int(min(max(taken * PATIENCE_NS / max(took, 1), 100), MOST_STEPS))
        _share(ns, took, first, last, outcomes.samples, taken)
        report(last - first)
    kept = slice(0, int(outcomes.cursor[NEXT]))
    samples, stopped, pulls, statuses = outcomes.samples, outcomes.stopped, outcomes.pulls, outcomes.statuses
    return Block(cell, runs[kept], samples[kept], stopped[kept], pulls[kept], statuses[kept], ns[kept])


def _share(ns: Integers, spent: int, first: int, last: int, samples: Integers, taken: int) -> None:
    """Charge the time of one call to the runs it worked on, by their samples; the unfinished run gets the rest."""
    ended = samples[first:last]
    total = max(int(ended.sum()), taken)
    ns[first:last] += (spent * ended // total).astype(int64)
    if last < len(ns):
        ns[last] += spent - int((spent * ended // total).sum())


@contextmanager
def progress_bar(total: int, title: str) -> Iterator[Report]:
    """Yield a function to call with how much more is done; the bar appears after two seconds, on a terminal only."""
    if not sys.stderr.isatty() or total == 0:
        yield lambda finished: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=total)
    begun, lock = time.monotonic(), threading.Lock()

    def report(finished: int) -> None:
        with lock:
            bar.advance(task, finished)
            if not bar.live.is_started and time.monotonic() - begun > QUIET_SECONDS:
                bar.start()

    try:
        yield report
    finally:
        bar.stop()
