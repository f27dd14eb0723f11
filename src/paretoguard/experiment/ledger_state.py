"""From the events of a ledger to the state of its experiment: a pure fold, through the same Session as everything else.

Nothing is read from clocks here, and nothing is decided that an event does not record: whoever folds the same events
has the same state, and so the same next decision.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from paretoguard.errors import LedgerError, ParetoguardError
from paretoguard.experiment import events as ledger
from paretoguard.experiment.events import NEEDED, RETRACTED, START, Entry, Event, check_entry
from paretoguard.files.problem_file import loads
from paretoguard.problem import Problem
from paretoguard.trial.session import Session
from paretoguard.trial.setup import Setup
from paretoguard.trial.tickets import Ticket
from paretoguard.verdict import Result
from paretoguard.vocabulary import HEURISTIC, STATUSES

LONG = 2_000  # events; from here on the engine works them in at once
OPEN, LATE, COMPLETE, WITHDRAWN = "open", "expired", "complete", "retracted"
CHANGED = "none: the ledger was changed after it was written"
NOT_REPLACED = "rows were drawn without replacement, for which no guarantee is claimed"
INDEPENDENT = "each measurement of an arm is an independent draw"
INSTEAD = "rows of an arm are drawn one after the other, none of them twice, so that each depends on those before"
_WRONG = (ParetoguardError, LookupError, TypeError, ValueError, AttributeError)  # what an event of nonsense causes


def _ledger_error(what: str, error: Exception) -> LedgerError:
    return LedgerError(f"{what}: {f'there is no {error}' if isinstance(error, KeyError) else error}")


@contextmanager
def _as_ledger_errors(what: str) -> Iterator[None]:
    try:
        yield
    except LedgerError:
        raise
    except _WRONG as error:
        raise _ledger_error(what, error) from error


def _retractions(events: list[Event]) -> Iterator[Entry]:
    for event in events:
        if f'"{RETRACTED}"' in event.line and (entry := event.read()).kind == RETRACTED:
            check_entry(entry)
            yield entry


@dataclass(slots=True)
class Slot:
    """One result, from its ticket to its end."""

    arm: str
    asked: bool = False
    expires: float | None = None
    ticket: Ticket | None = None  # of the session, while it waits for the result
    values: dict[str, float] = field(default_factory=dict)  # so far
    state: str = OPEN
    told: int = 0  # the event that told it last


class Fold:
    """The state of an experiment after some events."""

    def __init__(self, events: Iterable[Event], broken: str = "") -> None:
        events = list(events)
        first = events[0].read() if events else None
        if first is None or first.kind != ledger.CREATED:
            raise LedgerError("a ledger begins with an event 'created'; this one does not")
        self.broken = broken  # what is wrong with the chain of hashes
        self.settings: dict[str, Any] = first.data
        with _as_ledger_errors("event 1 (created) cannot be worked in"):
            check_entry(first)
            self.problem: Problem = loads(self.settings["problem"], "the problem in the ledger").problem
            fixed = ("delta", "algorithm", "evidence", "budget", "seed", "order")
            self.session = Session(Setup.of(self.problem, **{key: self.settings[key] for key in fixed}), asks=True)
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
            for event, entry in zip(events, ledger.read_all(events), strict=True):
                self.apply(entry, event.hash)

    def apply(self, entry: Entry, seal: str) -> None:
        """Work in the next event."""
        number, time, kind, data = entry
        if number != self.sequence + 1:
            raise LedgerError(f"event {self.sequence + 1} is missing: event {number} follows")
        if data.keys() != NEEDED.get(kind):  # most have no more, and a ledger may be long
            check_entry(entry)
        try:
            self._HANDLERS[kind](self, entry)
        except _WRONG as error:
            raise _ledger_error(f"event {number} ({kind}) cannot be worked in", error) from error
        self.sequence, self.hash, self.time = number, seal, time

    def _created(self, entry: Entry) -> None:
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
            self._add(Slot(ticket.arm, asked=True, expires=expires, ticket=ticket))
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
            self._add(Slot(arm))
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

    def _stopped(self, entry: Entry) -> None:
        if set(entry.data["statuses"]) - set(self.problem.arms) or set(entry.data["statuses"].values()) - set(STATUSES):
            raise ValueError(f"the statuses are {entry.data['statuses']!r}")
        self.stopped, self.program = entry.data, entry.data.get("program", self.program)

    _HANDLERS: ClassVar[dict[str, Callable[["Fold", Entry], None]]] = {
        ledger.CREATED: _created,
        ledger.ASKED: _asked,
        ledger.TOLD: _told,
        ledger.EXPIRED: _expired,
        RETRACTED: _retracted,
        ledger.NOTED: lambda fold, entry: None,
        ledger.STOPPED: _stopped,
    }

    # --- what is said ------------------------------------------------------------------------------------------------

    @property
    def _is_blind(self) -> bool:
        return all(data["blind"] for data in self.retracted.values())

    @property
    def guarantee(self) -> str:
        """The guarantee that still stands after what was done to the ledger."""
        if self.broken:
            return CHANGED
        return self.session.setup.guarantee if self._is_blind and not self.settings.get("doubt") else HEURISTIC

    def result(self) -> Result:
        """Return the answer, or what is certain so far; it says what was done to the ledger."""
        self.session.look()
        result, guarantee, doubt = self.session.result(), self.guarantee, self.settings.get("doubt")
        said, notes = [*result.assumptions, *self.settings.get("assumptions", ())], [doubt] if doubt else []
        if expired := sum(slot.state == LATE for slot in self.slots):
            said.append(
                f"tickets that expired without a result: {expired:,}; that is assumed not to depend on its value"
            )
        if unasked := sum(slot.state == COMPLETE and not slot.asked for slot in self.slots):
            said.append(
                f"results told without a ticket: {unasked:,}; all results of their sources are assumed to be told, "
                "good and bad"
            )
        count = len(self.retracted)
        retracted = "1 result was" if count == 1 else f"{count} results were"
        if count and self._is_blind:
            said.append(f"{retracted} retracted, as declared, without regard to any measured value")
        elif count:
            notes.append(
                f"{retracted} retracted, not all of them blind to the measured values: that may favour an answer, and "
                "no guarantee stands"
            )
        if doubt == NOT_REPLACED:
            said = [INSTEAD if line.startswith(INDEPENDENT) else line for line in said]
        verdicts = result.verdicts
        if guarantee != result.guarantee:
            verdicts = {arm: replace(verdict, guarantee=guarantee) for arm, verdict in verdicts.items()}
        return replace(
            result,
            guarantee=guarantee,
            verdicts=verdicts,
            assumptions=tuple(said),
            notes=(*notes, *result.notes),
        )
