"""Experiment: ask what to measure next, tell the result, from any number of processes, for as long as it takes."""

import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numba
import numpy as np

from paretoguard import settings
from paretoguard.errors import ParetoguardError, SampleError, SettingsError
from paretoguard.experiment import labels
from paretoguard.experiment.events import ASKED, CREATED, EXPIRED, NOTED, RETRACTED, Draft, Event
from paretoguard.experiment.fold import LATE, WITHDRAWN, Fold
from paretoguard.experiment.storage import DEFAULT, Storage, checked_name, open_storage
from paretoguard.experiment.telling import Told, find_slot, record
from paretoguard.experiment.writer import Writer, note_end
from paretoguard.files import ProblemFile, dumps
from paretoguard.problem import Problem
from paretoguard.tickets import Ticket
from paretoguard.trial import Trial
from paretoguard.verdict import Result, Verdict
from paretoguard.version import __version__

MOST_AT_ONCE = 10_000  # tickets: they are one event


class Status(NamedTuple):
    """Where an experiment stands."""

    name: str
    samples: int  # results that count
    done: bool  # nothing is left to ask for
    stopped: str  # "answered", "budget" or "open"
    pending: int  # tickets without their whole result
    partial: int  # … of which so many have a part of it
    expired: int  # tickets that ran out, and whose results have not come
    retracted: int
    sequence: int  # of the last event
    hash: str  # and its hash: with it, nobody can change the ledger unseen
    guarantee: str


class Experiment:
    """A live experiment on a ledger. Make one with `create`, go on with `open`; both in as many processes as you like.

    >>> import paretoguard as pg
    >>> from paretoguard.experiment.memory import MemoryStorage
    >>> problem = pg.Problem({"speed": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    >>> exp = pg.Experiment.create("speeds", problem, delta=0.1, storage=MemoryStorage())
    >>> [ticket] = exp.ask()
    >>> exp.tell(ticket, {"speed": 3.5}).complete
    True
    """

    def __init__(self, name: str, storage: Storage) -> None:
        self.name = name
        self.storage = storage
        self._known: Fold | None = None

    @classmethod
    def create(
        cls,
        name: str,
        problem: Problem,
        *,
        delta: float = 0.05,
        storage: str | Storage = DEFAULT,
        algorithm: str | settings.Algorithm = settings.DEFAULT_ALGORITHM,
        evidence: str | settings.Evidence = settings.DEFAULT_EVIDENCE,
        budget: int | None = None,
        seed: int = 0,
        order: str | None = None,
        ticket_seconds: float | None = None,
        protocol: str | None = None,
        assumptions: Sequence[str] = (),
        doubt: str | None = None,
    ) -> "Experiment":
        """Begin an experiment: what is fixed here is fixed for good.

        `protocol` is a text to keep, such as a file; `assumptions` are stated with every answer; with a `doubt`, which
        says why, answers are heuristic.
        """
        chosen = {"delta": delta, "algorithm": algorithm, "evidence": evidence, "budget": budget, "seed": seed}
        trial = Trial(problem, order=order, **chosen)  # type: ignore[arg-type]
        data = {
            "name": checked_name(name),
            "problem": dumps(ProblemFile(problem)),
            "delta": trial.delta,
            "algorithm": settings.label(trial.algorithm),
            "evidence": settings.label(trial.evidence),
            "budget": budget,
            "seed": seed,
            "order": trial.order,
            "ticket_seconds": _checked_seconds(ticket_seconds, trial.order),
            "program": __version__,
            "versions": {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__},
        }
        more = {"protocol": protocol, "assumptions": list(assumptions), "doubt": doubt}
        data |= {key: value for key, value in more.items() if value}
        place = open_storage(storage)
        place.create(name, Draft(CREATED, data, time.time()))
        return cls(name, place)

    @classmethod
    def open(cls, name: str, storage: str | Storage = DEFAULT) -> "Experiment":
        """Go on with an experiment."""
        found = cls(name, open_storage(storage))
        found._fold()
        return found

    # --- what changes the ledger -------------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> list[Ticket]:
        """Up to n arms to measure next, on top of those asked for before; [] when there is nothing to ask for.

        Tickets that have run out are given up first, and their arms may be asked for again.
        """
        settings.check_count(n, "n", "how many arms to ask for", MOST_AT_ONCE)
        issued: list[Ticket] = []

        def make(fold: Fold, write: Writer) -> None:
            issued.clear()
            overdue = [k for k, slot in fold.open.items() if slot.expires is not None and slot.expires <= write.time]
            if overdue:
                write(EXPIRED, {"ids": overdue})
            arms = fold.trial.peek(n)
            if arms:
                seconds = fold.settings["ticket_seconds"]
                expires = None if seconds is None else write.time + seconds
                write(ASKED, {"arms": arms} | ({} if expires is None else {"expires": expires}))
                first = len(fold.slots) - len(arms)
                issued.extend(Ticket(first + k, arm, expires) for k, arm in enumerate(arms))
            else:
                note_end(fold, write)

        self._change(make)
        return issued

    def tell(self, what: Ticket | int | None, values: Mapping[str, float], *, arm: str | None = None) -> Told:
        """Record the result of a ticket, or of an arm measured elsewhere (`what` = None, arm = …).

        `values` may be a part of it: it counts when the last part has come. Telling the same again changes nothing.
        """
        return self.tell_all([(what, arm, values)])[0]

    def tell_all(
        self,
        results: Iterable[tuple[Ticket | int | None, str | None, Mapping[str, float]]],
        refused: dict[int, ParetoguardError] | None = None,
        *,
        atomic: bool = True,
    ) -> list[Told]:
        """Record several results (ticket or id or None, arm or None, values) at once: all of them, or none.

        With a dictionary for what is `refused` (by position) nothing is raised, and unless `atomic` the others are
        recorded nevertheless.
        """
        given, told, wrong = list(results), list[Told](), dict[int, ParetoguardError]()

        def make(fold: Fold, write: Writer) -> None:
            told.clear()
            wrong.clear()
            for place, (what, arm, values) in enumerate(given):
                try:
                    told.append(record(fold, write, what, arm, values))
                except (SampleError, SettingsError) as error:
                    if refused is None:
                        raise
                    wrong[place] = error
            if wrong and atomic:
                raise _RefusedError
            if told and not fold.trial.peek():
                note_end(fold, write)

        try:
            self._change(make)
        except _RefusedError:
            told.clear()
        if refused is not None:
            refused.update(wrong)
        return told

    def retract(self, number: Ticket | int, reason: str, *, blind: bool = False) -> None:
        """Leave a result out, as if it had never come. The ledger keeps it, and the reason.

        `blind` declares that this was decided without regard to any measured value: only then a guarantee stands.
        """
        chosen = number.id if isinstance(number, Ticket) else number
        if not isinstance(reason, str) or not reason.strip():
            raise SettingsError(f"the reason is {reason!r}, expected a text: why is result {chosen} left out?")

        def make(fold: Fold, write: Writer) -> None:
            slot = find_slot(fold, chosen)
            if slot.state == WITHDRAWN:
                raise SettingsError(f"result {chosen} ({slot.arm}) has been retracted already")
            write(RETRACTED, {"id": chosen, "arm": slot.arm, "reason": reason.strip(), "blind": bool(blind)})

        self._change(make)
        self._known = None  # what follows is folded without it

    def note(self, about: str, **facts: Any) -> None:
        """Record what reports should tell, and what changes no answer: how measurements were made, and which failed."""
        self._change(lambda fold, write: write(NOTED, {"about": about, **facts}))

    # --- what reads it -----------------------------------------------------------------------------------------------

    def result(self) -> Result:
        """The answer, or what is certain so far."""
        fold = self._fold()
        fold.trial.peek()
        return labels.relabelled(fold, fold.trial.result())

    def verdicts(self) -> dict[str, Verdict]:
        """Each arm's verdict."""
        return dict(self.result().verdicts)

    def since(self) -> dict[str, int]:
        """After how many samples the verdicts that are kept for good were certain first."""
        return self._fold().trial.since()

    def status(self) -> Status:
        """Where the experiment stands."""
        fold = self._fold()
        states = [slot.state for slot in fold.slots]
        fold.trial.peek()
        answered, spent = fold.trial.answered, fold.trial.samples >= fold.trial.budget
        return Status(
            name=self.name,
            samples=fold.trial.samples,
            done=answered or spent,
            stopped="answered" if answered else "budget" if spent else "open",
            pending=len(fold.open),
            partial=sum(bool(slot.values) for slot in fold.open.values()),
            expired=states.count(LATE),
            retracted=states.count(WITHDRAWN),
            sequence=fold.sequence,
            hash=fold.hash,
            guarantee=labels.guarantee(fold),
        )

    def pending(self) -> list[Ticket]:
        """The tickets without their whole result."""
        fold = self._fold()
        return [Ticket(k, slot.arm, slot.expires) for k, slot in fold.open.items()]

    def history(self) -> list[dict[str, Any]]:
        """Every event, with its hash."""
        return [{**event.read()._asdict(), "hash": event.hash} for event in self.storage.events(self.name)]

    @property
    def problem(self) -> Problem:
        """What is asked."""
        return self._fold().problem

    @property
    def settings(self) -> dict[str, Any]:
        """How, as fixed at the beginning."""
        return dict(self._fold().settings)

    def close(self) -> None:
        """Let go of the storage."""
        self.storage.close()

    def __enter__(self) -> "Experiment":
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()

    # --- the fold, kept up to date -----------------------------------------------------------------------------------

    def _fold(self) -> Fold:
        """The state after the last event."""
        if self._known is None:
            self._known = Fold(self.storage.events(self.name))
        else:
            self._work_in(list(self.storage.events(self.name, self._known.sequence)))
        return self._known

    def _work_in(self, events: list[Event]) -> None:
        assert self._known is not None
        entries = [(event.read(), event.hash) for event in events]
        if any(entry.kind == RETRACTED for entry, _ in entries):
            self._known = Fold(self.storage.events(self.name))
            return
        for entry, seal in entries:
            self._known.apply(entry, seal)

    def _change(self, make: Any) -> None:
        """Let `make(fold, write)` add events to the ledger, after all others; if that fails nothing has changed."""
        fold = self._known
        if fold is None:  # before the lock: others need wait neither for this nor for the compiler
            fold = self._fold()
            fold.trial.peek()

        def draft(events: list[Event]) -> list[Draft]:
            self._work_in(events)
            assert self._known is not None
            write = Writer(self._known)
            make(self._known, write)
            return write.drafts

        try:
            added = self.storage.append(self.name, fold.sequence, draft)
        except BaseException:
            self._known = None  # it may be ahead of the ledger
            raise
        if added and self._known is not None:
            self._known.hash = added[-1].hash


class _RefusedError(Exception):
    """One of several results is refused, and so all are."""


def _checked_seconds(seconds: Any, order: str) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e10:
        raise SettingsError(f"ticket_seconds is {seconds!r}, expected how many seconds a ticket is good for, or None")
    if order == "asked":
        raise SettingsError(
            "in the order asked tickets cannot expire: whether a result comes may depend on its value; leave "
            "ticket_seconds away, or choose order='arrival'"
        )
    return float(seconds)
