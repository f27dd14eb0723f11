"""Experiment: ask what to measure next, tell the result, from any number of processes, for as long as it takes."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from paretoguard import settings
from paretoguard.errors import ParetoguardError, SampleError, SettingsError
from paretoguard.experiment.events import ASKED, CREATED, EXPIRED, RETRACTED, START, STOPPED, TOLD, Draft, Entry, Event
from paretoguard.experiment.fold import COMPLETE, LATE, WITHDRAWN, Fold, Slot
from paretoguard.experiment.storage import DEFAULT, Storage, checked_name, open_storage
from paretoguard.experiment.values import news
from paretoguard.files import ProblemFile, dumps
from paretoguard.problem import Problem
from paretoguard.tickets import Ticket
from paretoguard.trial import Trial
from paretoguard.verdict import Result, Verdict
from paretoguard.version import __version__

MOST_AT_ONCE = 10_000  # tickets: they are one event


class Told(NamedTuple):
    """What became of a result."""

    sequence: int  # the event that recorded it
    duplicate: bool  # everything was known before; nothing was recorded
    complete: bool  # is there a value for every objective, so that it counts?
    id: int  # of the result, for a second part or a retraction


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
    ) -> "Experiment":
        """Begin an experiment: what is fixed here is fixed for good."""
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
        }
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

        def make(fold: Fold, write: "_Writer") -> None:
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
                _note_end(fold, write)

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

        def make(fold: Fold, write: "_Writer") -> None:
            told.clear()
            wrong.clear()
            for place, (what, arm, values) in enumerate(given):
                try:
                    told.append(_tell(fold, write, what, arm, values))
                except (SampleError, SettingsError) as error:
                    if refused is None:
                        raise
                    wrong[place] = error
            if wrong and atomic:
                raise _RefusedError
            if told and not fold.trial.peek():
                _note_end(fold, write)

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

        def make(fold: Fold, write: "_Writer") -> None:
            slot = _slot(fold, chosen)
            if slot.state == WITHDRAWN:
                raise SettingsError(f"result {chosen} ({slot.arm}) has been retracted already")
            write(RETRACTED, {"id": chosen, "arm": slot.arm, "reason": reason.strip(), "blind": bool(blind)})

        self._change(make)
        self._known = None  # what follows is folded without it

    # --- what reads it -----------------------------------------------------------------------------------------------

    def result(self) -> Result:
        """The answer, or what is certain so far."""
        fold = self._fold()
        fold.trial.peek()
        return _relabelled(fold, fold.trial.result())

    def verdicts(self) -> dict[str, Verdict]:
        """Each arm's verdict."""
        return dict(self.result().verdicts)

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
            guarantee=_guarantee(fold),
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
            write = _Writer(self._known)
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


class _Writer:
    """Drafts events and works each into the fold at once. Time never goes back."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self.time = max(time.time(), fold.time)
        self.drafts: list[Draft] = []

    def __call__(self, kind: str, data: dict[str, Any]) -> int:
        draft = Draft(kind, data, self.time)
        if kind != RETRACTED:  # that needs a new fold
            self._fold.apply(Entry(self._fold.sequence + 1, round(self.time, 6), kind, data), START)
        else:
            self._fold.sequence += 1
        self.drafts.append(draft)
        return self._fold.sequence


def _tell(fold: Fold, write: _Writer, what: Ticket | int | None, arm: str | None, values: Mapping[str, float]) -> Told:
    number = what.id if isinstance(what, Ticket) else what
    if number is None:
        if arm is None:
            raise SettingsError("neither a ticket nor an arm was given: whose result is it?")
        part = _part(fold, arm, values)
        number, slot, added = len(fold.slots), None, part
    else:
        slot = _slot(fold, number)
        if arm is not None and arm != slot.arm:
            raise SampleError(f"ticket {number} is for {slot.arm!r}, got a result of {arm!r}", arm=arm, values=values)
        part = _part(fold, slot.arm, values)
        added = news(fold, number, slot, part)
        if not added:
            return Told(slot.told, True, slot.state == COMPLETE, number)
    whose = slot.arm if slot is not None else str(arm)
    whole = {**(slot.values if slot is not None else {}), **added}
    if len(whole) == len(fold.problem.objectives):
        ticket = slot.trial_ticket if slot is not None else None
        fold.trial.check(whose if ticket is None else ticket, whole)
    sequence = write(TOLD, {"id": number, "arm": whose, "values": added})
    return Told(sequence, False, fold.slots[number].state == COMPLETE, number)


def _part(fold: Fold, arm: str, values: Any) -> dict[str, float]:
    try:
        return fold.problem.part(arm, values)
    except ValueError as error:
        raise SampleError(str(error), arm=arm, values=values) from None


def _slot(fold: Fold, number: Any) -> Slot:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(fold.slots):
        waiting = [f"{k} ({slot.arm})" for k, slot in fold.open.items()]
        shown = ", ".join(waiting[:20]) + (", …" if len(waiting) > 20 else "")
        raise SettingsError(f"there is no ticket {number!r}; waiting for a result are: {shown or 'none'}")
    return fold.slots[number]


def _note_end(fold: Fold, write: _Writer) -> None:
    """Record that the answer was found, or the budget spent, once."""
    trial = fold.trial
    if fold.stopped is not None or not (trial.answered or trial.samples >= trial.budget):
        return
    statuses = trial.statuses()
    write(STOPPED, {"why": "answered" if trial.answered else "budget", "samples": trial.samples, "statuses": statuses})


def _guarantee(fold: Fold) -> str:
    is_blind = all(data["blind"] for data in fold.retracted.values())
    return fold.trial.guarantee if is_blind else settings.HEURISTIC


def _relabelled(fold: Fold, result: Result) -> Result:
    """What still holds after retractions."""
    count = len(fold.retracted)
    if count == 0:
        return result
    retracted = "1 result was" if count == 1 else f"{count} results were"
    if _guarantee(fold) == result.guarantee:
        said = f"{retracted} retracted, as declared, without regard to any measured value"
        return replace(result, assumptions=(*result.assumptions, said))
    note = (
        f"{retracted} retracted, not all of them blind to the measured values: that may favour an answer, and no "
        "guarantee stands"
    )
    verdicts = {arm: replace(verdict, guarantee=settings.HEURISTIC) for arm, verdict in result.verdicts.items()}
    return replace(result, guarantee=settings.HEURISTIC, verdicts=verdicts, notes=(note, *result.notes))


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
