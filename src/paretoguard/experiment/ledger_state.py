"""From the events of a ledger to the state of its experiment: a pure fold, through the same Session as everything else.

Nothing is read from clocks here, and nothing is decided that an event does not record: whoever folds the same events
has the same state, and so the same next decision.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

from paretoguard.compiler.gc_pause import without_collecting
from paretoguard.errors import LedgerError, ParetoguardError
from paretoguard.experiment.events import (
    ASKED,
    CREATED,
    EXPIRED,
    NOTED,
    RETRACTED,
    START,
    STOPPED,
    TOLD,
    Entry,
    Event,
    read_all,
)  # fmt: skip
from paretoguard.experiment.keys import NEEDED, check_keys
from paretoguard.files.problem_file import loads
from paretoguard.problem import Problem
from paretoguard.trial.session import Session
from paretoguard.trial.setup import Setup
from paretoguard.trial.tickets import Ticket
from paretoguard.vocabulary import STATUSES

LONG = 2_000  # events; from here on the engine works them in at once
OPEN, LATE, COMPLETE, WITHDRAWN = "open", "expired", "complete", "retracted"


@contextmanager
def _as_ledger_errors(what: str) -> Iterator[None]:
    """Whatever is wrong here is wrong with the ledger."""
    try:
        yield
    except LedgerError:
        raise
    except (ParetoguardError, LookupError, TypeError, ValueError, AttributeError) as error:
        why = f"there is no {error}" if isinstance(error, KeyError) else error
        raise LedgerError(f"{what}: {why}") from error


def _retractions(events: list[Event]) -> Iterator[Entry]:
    for event in events:
        if f'"{RETRACTED}"' in event.line and (entry := event.read()).kind == RETRACTED:
            check_keys(entry)
            yield entry


class Slot:
    """One result, from its ticket to its end."""

    __slots__ = ("arm", "asked", "expires", "state", "ticket", "told", "values")

    def __init__(self, arm: str, expires: float | None, ticket: Ticket | None) -> None:
        self.arm = arm
        self.asked = ticket is not None
        self.expires = expires
        self.ticket = ticket  # of the session, while it waits for the result
        self.values: dict[str, float] = {}  # so far
        self.state = OPEN
        self.told = 0  # the event that told it last


class Fold:
    """The state of an experiment after some events."""

    def __init__(self, events: Iterable[Event], broken: str = "") -> None:
        self.broken = broken  # what is wrong with the chain of hashes
        with without_collecting():
            self._begin(list(events))

    def _begin(self, events: list[Event]) -> None:
        first = events[0].read() if events else None
        if first is None or first.kind != CREATED:
            raise LedgerError("a ledger begins with an event 'created'; this one does not")
        self.settings: dict[str, Any] = first.data
        with _as_ledger_errors("event 1 (created) cannot be worked in"):
            check_keys(first)
            self.problem: Problem = loads(self.settings["problem"], "the problem in the ledger").problem
            self.session = self._session()
        self._objectives = len(self.problem.objectives)
        self.slots: list[Slot] = []
        self.open: dict[int, Slot] = {}  # those without their whole result
        self.keys: dict[str, int] = {}  # of results without a ticket, as their tellers call them
        self.stopped: dict[str, Any] | None = None  # what the last event 'stopped' says, if nothing was asked since
        self.retracted = {entry.data["id"]: entry.data for entry in _retractions(events)}
        self.program = self.settings["program"]  # which decided last
        self.sequence, self.hash, self.time = 0, START, 0.0
        with (
            _as_ledger_errors("the results in this ledger cannot be counted"),
            self.session.replaying() if len(events) > LONG else nullcontext(),
        ):
            for event, entry in zip(events, read_all(events), strict=True):
                self.apply(entry, event.hash)

    def _session(self) -> Session:
        given = self.settings
        chosen = {key: given[key] for key in ("delta", "algorithm", "evidence", "budget", "seed", "order")}
        return Session(Setup.of(self.problem, **chosen))

    def apply(self, entry: Entry, seal: str) -> None:
        """Work in the next event."""
        number, time, kind, data = entry
        if number != self.sequence + 1:
            raise LedgerError(f"event {self.sequence + 1} is missing: event {number} follows")
        if data.keys() != NEEDED.get(kind):  # what most have, and a ledger may be long
            check_keys(entry)
        try:
            self._HANDLERS[kind](self, entry)
        except (ParetoguardError, LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"there is no {error}" if isinstance(error, KeyError) else error
            raise LedgerError(f"event {number} ({kind}) cannot be worked in: {why}") from error
        self.sequence, self.hash, self.time = number, seal, time

    def _created(self, entry: Entry) -> None:
        """Nothing more: it came first."""
        if entry.sequence != 1:
            raise ValueError("a ledger begins once")

    def _asked(self, entry: Entry) -> None:
        data = entry.data
        arms, expires = data["arms"], data.get("expires")
        if type(arms) is not list or (expires is not None and type(expires) not in (float, int)):
            raise TypeError(f"it says {data}, expected a list of arms, and seconds")
        self.issue(self.session.asked(arms), data)

    def issue(self, tickets: Sequence[Ticket], data: Mapping[str, Any]) -> list[Ticket]:
        """Work in the tickets that the session gave; return them with their numbers on the ledger."""
        self.stopped, self.program = None, data.get("program", self.program)
        expires, first = data.get("expires"), len(self.slots)
        for ticket in tickets:
            self._add(Slot(ticket.arm, expires, ticket))
        return [Ticket(first + k, ticket.arm, expires) for k, ticket in enumerate(tickets)]

    def _add(self, slot: Slot) -> None:
        self.open[len(self.slots)] = slot
        self.slots.append(slot)

    def _slot(self, number: Any) -> Slot:
        if type(number) is not int or not 0 <= number < len(self.slots):
            raise ValueError(f"there is no result {number!r}")
        return self.slots[number]

    def _name(self, key: Any, number: int) -> None:
        if not isinstance(key, str) or key in self.keys:
            raise ValueError(f"the key {key!r} is no text, or was given before")
        self.keys[key] = number

    def _told(self, entry: Entry) -> None:
        data = entry.data
        number, arm, values = data["id"], data["arm"], data["values"]
        if number == len(self.slots):  # not asked for
            self._add(Slot(arm, None, None))
            if "key" in data:
                self._name(data["key"], number)
        slot = self._slot(number)
        if slot.arm != arm:
            raise ValueError(f"result {number} is of {slot.arm!r}, not of {arm!r}")
        if slot.state in (COMPLETE, WITHDRAWN):
            raise ValueError(f"result {number} has come before")
        slot.told = entry.sequence
        slot.values = {**slot.values, **values} if slot.values else values
        if len(slot.values) < self._objectives:
            self.problem.part(arm, values)
            return
        slot.state, ticket, slot.ticket = COMPLETE, slot.ticket, None
        self.open.pop(number, None)
        if number in self.retracted:
            slot.state = WITHDRAWN
            if ticket is not None:
                self.session.drop(ticket, for_good=True)
        else:
            self.session.told(slot.arm if ticket is None else ticket, slot.values)

    def _expired(self, entry: Entry) -> None:
        for number in entry.data["ids"]:
            slot = self._slot(number)
            slot.state, ticket, slot.ticket = LATE, slot.ticket, None
            self.open.pop(number, None)
            if ticket is not None:
                self.session.drop(ticket)

    def _retracted(self, entry: Entry) -> None:
        """A result that counted was left out from the start; one that did not may still be waited for."""
        slot = self._slot(entry.data["id"])
        self.stopped = None
        if slot.ticket is not None:
            self.session.drop(slot.ticket, for_good=True)
        slot.state, slot.ticket = WITHDRAWN, None
        self.open.pop(entry.data["id"], None)

    def _noted(self, entry: Entry) -> None:
        """Nothing: notes are for reports."""

    def _stopped(self, entry: Entry) -> None:
        if set(entry.data["statuses"]) - set(self.problem.arms) or set(entry.data["statuses"].values()) - set(STATUSES):
            raise ValueError(f"the statuses are {entry.data['statuses']!r}")
        self.stopped, self.program = entry.data, entry.data.get("program", self.program)

    _HANDLERS: ClassVar[dict[str, Callable[["Fold", Entry], None]]] = {
        CREATED: _created,
        ASKED: _asked,
        TOLD: _told,
        EXPIRED: _expired,
        RETRACTED: _retracted,
        NOTED: _noted,
        STOPPED: _stopped,
    }
