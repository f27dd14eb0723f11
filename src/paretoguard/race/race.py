"""A race: arms are measured, several at once where asked for, until the answer is certain. It says what happens, as
events; nothing is printed here. Every result is on the ledger before the next event: whatever stops it, it goes on.
"""

import random
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from paretoguard.errors import SampleError
from paretoguard.experiment.experiment import Experiment
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.storage import Storage, open_storage
from paretoguard.race.plan import Plan
from paretoguard.race.sources import ExhaustedError, Pull, RaceError, RunFailedError
from paretoguard.settings import HEURISTIC
from paretoguard.tickets import Ticket
from paretoguard.verdict import Result

WARM_UP = -1  # the number of a run whose result is thrown away
MOST_EXHAUSTED = 50  # tickets in a row for arms that have no more rows


class Measured(NamedTuple):
    """A result was recorded."""

    arm: str
    values: dict[str, float]


class Failed(NamedTuple):
    """A run did not end well; `then` says what is done about it."""

    arm: str
    why: str
    then: str


class Resumed(NamedTuple):
    """The race goes on where it was."""

    samples: int


class Ran(NamedTuple):
    """What became of one ticket."""

    ticket: Ticket
    values: dict[str, float] | None  # None: there are no more rows
    failures: tuple[str, ...]


Happening = Measured | Failed | Resumed


class Race:
    """One race on its ledger."""

    def __init__(self, plan: Plan, experiment: Experiment, *, jobs: int = 1, batch: int | None = None) -> None:
        self.plan, self.experiment, self.jobs = plan, experiment, jobs
        self._batch = batch or (1 if plan.recorded is not None else max(2, jobs))
        self._warm: set[str] = set()
        self.running: dict[Future[Ran], Ticket] = {}
        self.exhausted: set[str] = set()

    @property
    def seed(self) -> int:
        """Of what is drawn."""
        return int(self.plan.settings.get("seed", 0))

    def events(self) -> Iterator[Happening]:
        """Measure until there is nothing left to ask for."""
        waiting = deque(self.experiment.pending())
        samples = self.experiment.status().samples
        if samples or waiting:
            yield Resumed(samples)
        if self.plan.recorded is not None:
            self.plan.recorded.skip(self.experiment.result().pulls)
        with self._workers() as workers:
            while True:
                self._start(workers, waiting)
                if not self.running:
                    return
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    ticket = self.running.pop(future)
                    yield from self._record(future, ticket)

    @contextmanager
    def _workers(self) -> Iterator[ThreadPoolExecutor]:
        workers = ThreadPoolExecutor(self.jobs, thread_name_prefix="race")
        try:
            yield workers
        finally:
            for future in self.running:
                future.cancel()
            self.plan.source.close()
            workers.shutdown(wait=True, cancel_futures=True)

    def _start(self, workers: ThreadPoolExecutor, waiting: "deque[Ticket]") -> None:
        """Give every worker something to do, as far as there is anything."""
        while len(self.running) < self.jobs:
            if not waiting:
                waiting.extend(self._asked())
            if not waiting:
                return
            ticket = waiting.popleft()
            self.running[workers.submit(self._run, ticket)] = ticket

    def _asked(self) -> list[Ticket]:
        """A batch in random order; tickets of arms without more rows are left open, and others asked for instead."""
        for _ in range(MOST_EXHAUSTED):
            tickets = self.experiment.ask(self._batch)
            usable = [ticket for ticket in tickets if ticket.arm not in self.exhausted]
            if usable or not tickets:
                random.Random(f"{self.seed} order {tickets[0].id if tickets else 0}").shuffle(usable)
                return usable
        return []

    def _run(self, ticket: Ticket) -> Ran:
        """Measure, in a thread of its own; what fails is tried again where the policy says so."""
        how, failures = self.plan.how, list[str]()
        while True:
            try:
                self._warm_up(ticket.arm)
                return Ran(
                    ticket, self.plan.values(self.plan.source.measure(Pull(ticket.arm, ticket.id))), tuple(failures)
                )
            except ExhaustedError:
                return Ran(ticket, None, tuple(failures))
            except RunFailedError as error:
                failures.append(str(error))
                if how.on_failure == "infeasible":
                    return Ran(ticket, self.plan.failed_values(error), tuple(failures))
                if how.on_failure == "fail" or len(failures) > how.retries:
                    raise RaceError(self._stops(ticket, failures)) from error

    def _stops(self, ticket: Ticket, failures: list[str]) -> str:
        times = f" {len(failures)} times" if len(failures) > 1 else ""
        return (
            f"measuring {ticket.arm!r} failed{times}: {failures[-1]}. Nothing is lost: run it again to go on. "
            'measure.on_failure = "retry" tries again, "infeasible" counts failures'
        )

    def _warm_up(self, arm: str) -> None:
        if arm not in self._warm:
            for _ in range(self.plan.how.warmup):
                self.plan.source.measure(Pull(arm, WARM_UP))
            self._warm.add(arm)

    def _record(self, future: "Future[Ran]", ticket: Ticket) -> Iterator[Happening]:
        ran = future.result()
        counts = self.plan.how.on_failure == "infeasible"
        for why in ran.failures:
            yield Failed(ticket.arm, why, "it counts as a failure" if counts else "it is tried again")
        if ran.values is None:
            self.exhausted.add(ticket.arm)
            return
        try:
            self.experiment.tell(ticket, ran.values)
        except SampleError as error:
            raise RaceError(f"a result of {ticket.arm!r} cannot be used: {error}") from error
        yield Measured(ticket.arm, ran.values)

    def result(self) -> Result:
        """The answer, or what is certain so far."""
        found = self.experiment.result()
        if self.plan.how.replacement:
            return found
        note = "rows were drawn without replacement, for which no guarantee is claimed"
        if self.exhausted:
            note += f"; there were no more rows of {', '.join(sorted(self.exhausted))}"
        verdicts = {arm: replace(verdict, guarantee=HEURISTIC) for arm, verdict in found.verdicts.items()}
        return replace(found, guarantee=HEURISTIC, verdicts=verdicts, notes=(note, *found.notes))


def begin(plan: Plan, storage: str | Storage | None, *, name: str | None = None) -> Experiment:
    """The experiment of a race: a new one, or the one that was begun with the same file and settings."""
    called = name or plan.name
    place = MemoryStorage() if storage is None else open_storage(storage)
    if called in place.names():
        found = Experiment.open(called, place)
        _check_same(plan, found)
        return found
    return Experiment.create(called, plan.problem, storage=place, protocol=plan.protocol, **plan.settings)


def _check_same(plan: Plan, experiment: Experiment) -> None:
    """What was begun goes on with the same question only."""
    was, now = str(experiment.settings.get("protocol", "")).splitlines(), plan.protocol.splitlines()
    if was != now:
        gone, new = next(((a, b) for a, b in zip(was, now, strict=False) if a != b), ("…", "…"))
        raise RaceError(
            f"{plan.path} was changed after the race {experiment.name!r} began: where it now says {new!r}, it said "
            f"{gone!r}. Change it back to go on, or begin another race: --name NEW"
        )
    for key, value in plan.settings.items():
        if experiment.settings.get(key, value) != value:
            raise RaceError(
                f"the race {experiment.name!r} was begun with {key} = {experiment.settings[key]!r}, now {value!r} is "
                "asked for; what is fixed at the beginning is fixed for good. Begin another race: --name NEW"
            )
