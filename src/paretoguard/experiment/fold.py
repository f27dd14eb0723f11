"""From the events of a ledger to the state of its experiment: a pure fold, through the same Trial as everything else.

Nothing is read from clocks here, and nothing is decided that an event does not record: whoever folds the same events
has the same state, and so the same next decision.
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

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
from paretoguard.files import loads
from paretoguard.problem import Problem
from paretoguard.tickets import Ticket
from paretoguard.trial import Trial

LONG = 2_000  # events; from here on the engine works them in at once
OPEN, LATE, COMPLETE, WITHDRAWN = "open", "expired", "complete", "retracted"


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Nothing here makes cycles, and in a long ledger looking for some takes longer than all the rest."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Slot:
    """One result, from its ticket to its end."""

    __slots__ = ("arm", "expires", "state", "told", "trial_ticket", "values")

    def __init__(self, arm: str, expires: float | None, trial_ticket: Ticket | None) -> None:
        self.arm = arm
        self.expires = expires
        self.trial_ticket = trial_ticket  # while the trial waits for it
        self.values: dict[str, float] = {}  # so far
        self.state = OPEN
        self.told = 0  # the event that told it last


class Fold:
    """The state of an experiment after some events."""

    def __init__(self, events: Iterable[Event]) -> None:
        with _without_collecting():
            self._begin(list(events))

    def _begin(self, events: list[Event]) -> None:
        first = events[0].read() if events else None
        if first is None or first.kind != CREATED:
            raise LedgerError("a ledger begins with an event 'created'; this one does not")
        self.settings: dict[str, Any] = first.data
        self.problem: Problem = loads(self.settings["problem"], "the problem in the ledger").problem
        self.trial = self._trial()
        self.slots: list[Slot] = []
        self.open: dict[int, Slot] = {}  # those without their whole result
        self.stopped: dict[str, Any] | None = None  # what the last event 'stopped' says, if nothing was asked since
        withdrawn = (event.read() for event in events if f'"{RETRACTED}"' in event.line)
        self.retracted = {entry.data["id"]: entry.data for entry in withdrawn if entry.kind == RETRACTED}
        self.sequence, self.hash, self.time = 0, START, 0.0
        with self.trial.replaying() if len(events) > LONG else nullcontext():
            for event, entry in zip(events, read_all(events), strict=True):
                self.apply(entry, event.hash)

    def _trial(self) -> Trial:
        given = self.settings
        chosen = {key: given[key] for key in ("delta", "algorithm", "evidence", "budget", "seed", "order")}
        return Trial(self.problem, **chosen)

    def apply(self, entry: Entry, seal: str) -> None:
        """Work in the next event."""
        try:
            self._HANDLERS[entry.kind](self, entry)
        except (ParetoguardError, LookupError, TypeError, ValueError) as error:
            raise LedgerError(f"event {entry.sequence} ({entry.kind}) cannot be worked in: {error}") from error
        self.sequence, self.hash, self.time = entry.sequence, seal, entry.time

    def _created(self, entry: Entry) -> None:
        """Nothing more: it came first."""

    def _asked(self, entry: Entry) -> None:
        arms, expires = entry.data["arms"], entry.data.get("expires")
        self.stopped = None
        for ticket in self.trial.asked(arms):
            self._add(Slot(ticket.arm, expires, ticket))

    def _add(self, slot: Slot) -> None:
        self.open[len(self.slots)] = slot
        self.slots.append(slot)

    def _told(self, entry: Entry) -> None:
        number, arm, values = entry.data["id"], entry.data["arm"], entry.data["values"]
        if number == len(self.slots):  # not asked for
            self._add(Slot(arm, None, None))
        slot = self.slots[number]
        slot.values.update(values)
        slot.told = entry.sequence
        if len(slot.values) < len(self.problem.objectives):
            return
        slot.state, ticket = COMPLETE, slot.trial_ticket
        slot.trial_ticket = None
        self.open.pop(number, None)
        if number in self.retracted:
            slot.state = WITHDRAWN
            if ticket is not None:
                self.trial.drop(ticket, for_good=True)
        else:
            self.trial.tell(slot.arm if ticket is None else ticket, slot.values)

    def _expired(self, entry: Entry) -> None:
        for number in entry.data["ids"]:
            slot = self.slots[number]
            slot.state, ticket = LATE, slot.trial_ticket
            slot.trial_ticket = None
            self.open.pop(number, None)
            if ticket is not None:
                self.trial.drop(ticket)

    def _retracted(self, entry: Entry) -> None:
        """A result that counted was left out from the start; one that did not may still be waited for."""
        slot = self.slots[entry.data["id"]]
        if slot.trial_ticket is not None:
            self.trial.drop(slot.trial_ticket, for_good=True)
        slot.state, slot.trial_ticket = WITHDRAWN, None
        self.open.pop(entry.data["id"], None)

    def _noted(self, entry: Entry) -> None:
        """Nothing: notes are for reports."""

    def _stopped(self, entry: Entry) -> None:
        self.stopped = entry.data

    _HANDLERS: ClassVar[dict[str, Callable[["Fold", Entry], None]]] = {
        CREATED: _created,
        ASKED: _asked,
        TOLD: _told,
        EXPIRED: _expired,
        RETRACTED: _retracted,
        NOTED: _noted,
        STOPPED: _stopped,
    }
