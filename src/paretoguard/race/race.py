"""A race: arms are measured, several at once if asked for, until the answer is certain.

It yields what happens, as events; nothing is printed here. Every result is on the ledger before the next event:
whatever stops a race, it can go on.
"""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import NamedTuple

from paretoguard.compiler.beside import nobody_beside
from paretoguard.errors import SampleError
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.experiment.experiment import Experiment
from paretoguard.race.command_words import read_named
from paretoguard.race.ledger import FAILURE, RUN, STUCK, WRITTEN, entries_of, read_stuck, read_written
from paretoguard.race.measuring import ExhaustedError, GivenUpError, RaceError, RunFailedError
from paretoguard.race.race_plan import Plan
from paretoguard.race.unvarying import advice, constant_metrics, why_stuck
from paretoguard.trial import checks
from paretoguard.trial.tickets import Ticket
from paretoguard.verdict import Result
from paretoguard.vocabulary import ANSWER_FOUND, AS_ASKED, STILL_OPEN

WARM_UP = -1  # the number of a run whose result is thrown away
PATIENCE = 1.0  # seconds without an event
MOST_EXHAUSTED = 50  # tickets in a row for arms that have no more rows
UNASKED = -1  # no ticket
STUCK_SHARE = 0.25  # after so many more results in which nothing else was open, nothing will be
LONGEST_WHY = 500  # characters of a failure on the ledger


class Measured(NamedTuple):
    """A result was recorded."""

    arm: str
    values: dict[str, float]


class Failed(NamedTuple):
    """A run failed; `then` says what is done about it."""

    arm: str
    why: str
    then: str


class Resumed(NamedTuple):
    """The race goes on where it was."""

    samples: int


class Unvarying(NamedTuple):
    """A metric has not varied in enough results of these arms: its scale is not known, and `advice` what to do."""

    name: str
    arms: tuple[str, ...]
    advice: str


class Written(NamedTuple):
    """Files that commands name were changed by a run: they may be others when the race goes on."""

    files: tuple[str, ...]  # in quotes


class Waiting(NamedTuple):
    """Nothing has ended for a while."""


class Ran(NamedTuple):
    """The end of one ticket."""

    ticket: Ticket
    values: dict[str, float] | None  # None: there are no more rows
    failures: tuple[str, ...]
    warm_ups: tuple[str, ...]  # those that failed


Happening = Measured | Failed | Resumed | Unvarying | Written | Waiting


class Race:
    """One race on its ledger."""

    def __init__(self, plan: Plan, experiment: Experiment, *, jobs: int = 1, batch: int | None = None) -> None:
        if jobs > 1 and plan.recorded is None and experiment.settings["order"] != AS_ASKED:
            raise RaceError(
                f"the race {experiment.name!r} was begun with one run at a time, and counts results as they arrive: of "
                "several at once the quick ones would count first. Go on with --jobs 1, or begin another: --name NEW"
            )
        self.plan, self.experiment = plan, experiment
        self.jobs = 1 if plan.recorded is not None else jobs
        self._batch = batch or (1 if plan.recorded is not None else max(2, jobs))
        self._seed = int(experiment.settings["seed"])
        self._noted = False
        protocol = str(experiment.settings.get("protocol") or "").splitlines()
        self._bound = read_named(protocol).keys() - read_written(entries_of(experiment))  # files that must not change
        self._warm: set[str] = set()
        self._same = {arm for arm, pulls in experiment.result().pulls.items() if pulls}  # arms known to give it twice
        self.running: dict[Future[Ran], Ticket] = {}
        self.exhausted: set[str] = set()  # arms without more rows
        self._only_exhausted = False  # nothing else is asked for
        begun, given = experiment.settings["budget"], plan.settings.get("budget")
        self._limit = checks.check_budget(given) if begun is None and given is not None else None
        self.budget: int | None = begun if begun is not None else self._limit
        self.stuck = ""  # why it was stopped, if all that is open rests on what has not varied
        status = experiment.status()
        self._had, self._held = status.samples, status.held
        self._recorded, self._next_look = 0, LEAST_PULLS  # results, by this race
        self._told: set[str] = set()  # metrics that have not varied
        self._stuck_since: int | None = None

    def events(self) -> Iterator[Happening]:
        """Measure until there is nothing left to ask for."""
        waiting = deque(self.experiment.pending())
        if self._had or waiting:
            yield Resumed(self._had)
        yield from self._stuck_before()
        if self.plan.recorded is not None:
            self.plan.recorded.skip(self.experiment.result().pulls)
        was_stuck = bool(self.stuck)
        with self._workers() as workers:
            while not self.stuck:
                self._start(workers, waiting)
                if not self.running:
                    break
                done = wait(self.running, timeout=PATIENCE, return_when=FIRST_COMPLETED).done
                if not done:
                    yield Waiting()
                    continue
                happened = self._record_all(done)
                if not (self.plan.source.in_process and self.jobs == 1):  # else what is drawn would be in its way
                    self._start(workers, waiting)
                yield from happened
                yield from self._look_for_unvarying()
        if self.stuck and not was_stuck:
            self.experiment.note(STUCK, results=self.experiment.status().samples)

    def _stuck_before(self) -> Iterator[Happening]:
        """Say at once what stopped the race before, if nothing has come since: more results would decide nothing."""
        if self._had and read_stuck(entries_of(self.experiment)) == self._had:
            result = self.experiment.result()
            yield from self._say_unvarying(result)
            self.stuck = why_stuck(result) if self.budget is None else ""

    def _look_for_unvarying(self) -> Iterator[Happening]:
        """Now and then: say what has not varied, and stop when more results would decide nothing."""
        if not self.experiment.problem.learnt or self._recorded < self._next_look:
            return
        self._next_look = self._recorded + LEAST_PULLS
        result = self.experiment.result()
        yield from self._say_unvarying(result)
        why = why_stuck(result) if self.budget is None else ""
        self._stuck_since = (self._stuck_since or result.samples) if why else None
        if self._stuck_since is not None and result.samples >= self._stuck_since * (1 + STUCK_SHARE):
            self.stuck = why

    def _say_unvarying(self, result: Result) -> Iterator[Happening]:
        for name, arms in constant_metrics(result).items():
            if name not in self._told:
                self._told.add(name)
                yield Unvarying(name, tuple(arms), advice(name, arms, result, self.plan.source.least_peak))

    def _record_all(self, done: "set[Future[Ran]]") -> list[Happening]:
        """Record the results of runs, then raise the first of what went wrong."""
        happened, wrong = list[Happening](), list[Exception]()
        for future in done:
            try:
                happened += self._record(future.result())
            except GivenUpError as error:
                self._note_failed(error.ticket, error.failures)
                wrong.append(RaceError(f"{error}. {self._advice(error)}"))
            except Exception as error:
                wrong.append(error)
            del self.running[future]
        happened += self._note_written()
        if wrong:
            raise wrong[0]
        return happened

    @contextmanager
    def _workers(self) -> Iterator[ThreadPoolExecutor]:
        workers = ThreadPoolExecutor(self.jobs, thread_name_prefix="race")
        quiet = nobody_beside() if self.plan.recorded is None else nullcontext()
        try:
            with quiet:
                yield workers
        finally:
            self.plan.source.close()
            workers.shutdown(wait=True, cancel_futures=True)
            for future in self.running:  # what ended well meanwhile
                if not future.cancelled() and future.exception() is None:
                    with suppress(RaceError):  # its ticket stays open
                        list(self._record(future.result()))
            self.running.clear()
            list(self._note_written())

    def _start(self, workers: ThreadPoolExecutor, waiting: "deque[Ticket]") -> None:
        """Give every worker a run, if there is one."""
        while len(self.running) < self.jobs and self._room() > 0:
            if not waiting:
                waiting.extend(self._asked())
            if not waiting:
                return
            if not self._noted:
                self.experiment.note(RUN, jobs=self.jobs, batch=self._batch)
                self._noted = True
            ticket = waiting.popleft()
            self.running[workers.submit(self._run, ticket)] = ticket

    def _room(self) -> int:
        """Return how many more runs to ask for: at most a batch, and at most as --budget says now."""
        if self._limit is None:
            return self._batch
        return min(self._batch, self._limit - self._had - self._held - self._recorded - len(self.running))

    def _asked(self) -> list[Ticket]:
        """Ask for a batch, in random order; tickets of exhausted arms are left open, and others asked for instead."""
        for _ in range(0 if self._only_exhausted else MOST_EXHAUSTED):
            tickets = self.experiment.ask(self._room())
            usable = [ticket for ticket in tickets if ticket.arm not in self.exhausted]
            if usable or not tickets:
                random.Random(f"{self._seed} order {tickets[0].id if tickets else 0}").shuffle(usable)
                return usable
        self._only_exhausted = True
        return self._unasked()

    def _unasked(self) -> list[Ticket]:
        """Return the least pulled arm that has rows left: its results may settle the exhausted arms."""
        status = self.experiment.status()
        left = [arm for arm in self.plan.problem.arms if arm not in self.exhausted]
        told = status.samples + status.held
        if not left or status.stopped == ANSWER_FOUND or (self.budget is not None and told >= self.budget):
            return []
        pulls = self.experiment.result().pulls
        return [Ticket(UNASKED, min(left, key=lambda arm: pulls[arm]))]

    def _run(self, ticket: Ticket) -> Ran:
        """Measure, in a thread of its own; a run that fails is tried again if the file says so."""
        how, failures = self.plan.how, list[str]()
        warm_ups = tuple(self._warm_up(ticket.arm))
        while True:
            try:
                values = self.plan.values(self.plan.source.measure(ticket))
                self._check_exact(ticket, values)
                return Ran(ticket, values, tuple(failures), warm_ups)
            except ExhaustedError:
                return Ran(ticket, None, tuple(failures), warm_ups)
            except RunFailedError as error:
                failures.append(str(error))
                if how.on_failure == "infeasible":
                    return Ran(ticket, self.plan.failed_values(ticket.arm, error), tuple(failures), warm_ups)
                if how.on_failure == "fail" or len(failures) > how.retries:
                    raise GivenUpError(ticket, failures, lasting=error.lasting) from error

    def _check_exact(self, ticket: Ticket, values: dict[str, float]) -> None:
        """Run once more what should be the same each time: one run can never show the contrary."""
        if not self.plan.taken_exact or ticket.arm in self._same:
            return
        again = self.plan.values(self.plan.source.measure(ticket))
        for name in self.plan.taken_exact:
            if again[name] != values[name]:
                raise RaceError(
                    f"{name} of {ticket.arm!r} was {values[name]:.12g}, then {again[name]:.12g}: where the file states "
                    "no noise for it, it is taken to be the same in every run. State its noise, as "
                    f'[noise.{name}] with kind = "unknown", and begin again: --name NEW'
                )
        self._same.add(ticket.arm)

    def _warm_up(self, arm: str) -> Iterator[str]:
        """Make runs whose results are thrown away; yield why some failed."""
        runs = self.plan.how.warmup if arm not in self._warm else 0
        self._warm.add(arm)
        for _ in range(runs):
            try:
                self.plan.source.measure(Ticket(WARM_UP, arm))
            except RunFailedError as error:
                yield str(error)

    def _record(self, ran: Ran) -> Iterator[Happening]:
        counts = self.plan.how.on_failure == "infeasible"
        yield from (Failed(ran.ticket.arm, why, "in a warm-up, which does not count") for why in ran.warm_ups)
        for why in ran.failures:
            yield Failed(ran.ticket.arm, why, "it counts as a failure" if counts else "it is tried again")
        if ran.failures and not counts:
            self._note_failed(ran.ticket, ran.failures)
        if ran.values is None:
            self.exhausted.add(ran.ticket.arm)
            return
        try:
            if ran.ticket.id == UNASKED:
                self.experiment.tell(None, ran.values, arm=ran.ticket.arm)
            else:
                self.experiment.tell(ran.ticket, ran.values)
        except SampleError as error:
            raise RaceError(f"a result of {ran.ticket.arm!r} cannot be used: {error}") from error
        self._recorded += 1
        yield Measured(ran.ticket.arm, ran.values)

    def _advice(self, error: GivenUpError) -> str:
        """Say what to do after a failure that stops the race; a race with results keeps the file it was begun with."""
        pulls, how = self.experiment.result().pulls, self.plan.how
        other = "begin another race: --name NEW" if any(pulls.values()) else "run it again"
        if error.lasting and not pulls[error.ticket.arm]:
            return f"That looks like a mistake which comes again in each run: correct it, and {other}"
        choices = 'measure.on_failure = "infeasible" counts failures'
        if how.on_failure == "retry":
            choices = f"more measure.retries try more often, {choices}"
        elif how.timeout is None:  # with one, trying again is refused where times are measured
            choices = f'measure.on_failure = "retry" tries again, {choices}'
        return (
            "What ended well is saved: run it again to go on, if it was chance. Else change the file "
            f"({choices}) and {other}"
        )

    def _note_failed(self, ticket: Ticket, failures: Sequence[str]) -> None:
        why = failures[-1][:LONGEST_WHY].encode(errors="replace").decode()
        self.experiment.note(FAILURE, id=ticket.id, arm=ticket.arm, attempts=len(failures), why=why)

    def _note_written(self) -> Iterator[Happening]:
        """Put on the ledger which files runs write: they may change before the race goes on."""
        files = tuple(sorted(self.plan.source.written & self._bound))
        if files:
            self._bound -= set(files)
            self.experiment.note(WRITTEN, files=list(files))
            yield Written(files)

    def result(self) -> Result:
        """The answer, or what is certain so far."""
        found = self.experiment.result()
        notes = [f"there were no more rows of {', '.join(sorted(self.exhausted))}"] if self.exhausted else []
        if self.stuck:
            notes.append(self.stuck)
        told = found.samples + self.experiment.status().held
        if self._limit is not None and found.stopped == STILL_OPEN and told >= self._limit:
            notes.append(f"stopped after {told:,} results, as --budget says; the race itself has no budget")
        return replace(found, notes=(*notes, *found.notes))
