"""What is recorded on a ledger: events drafted from decisions and from results, which are checked first."""

import time
from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

from paretoguard.errors import SampleError, SettingsError
from paretoguard.experiment.events import ASKED, RETRACTED, START, STOPPED, TOLD, Draft, Entry
from paretoguard.experiment.ledger_state import COMPLETE, OPEN, WITHDRAWN, Fold, Slot
from paretoguard.problem import Problem
from paretoguard.trial.tickets import Ticket
from paretoguard.version import __version__
from paretoguard.vocabulary import AS_ASKED, STILL_OPEN

LONGEST_KEY = 200  # characters
MOST_SHOWN = 20  # results in a message
RESERVED = ("ticket", "arm", "key")


class Told(NamedTuple):
    """What became of a result."""

    sequence: int  # the event that recorded it
    duplicate: bool  # everything was known before; nothing was recorded
    complete: bool  # is there a value for every objective, so that it counts?
    id: int  # of the result, for a second part or a retraction
    retracted: bool = False  # it was known, and then left out


def check_tellable(problem: Problem) -> None:
    """Refuse objectives whose names mean something else where results are told."""
    for name in problem.objectives:
        if name in RESERVED or "=" in name:
            words = ", ".join(RESERVED)
            raise SettingsError(f"objective {name!r} cannot be told: a result says {words}, OBJECTIVE=VALUE; rename it")


class Reported(NamedTuple):
    """A result from outside: of a ticket, or else of an arm, perhaps with a key by which its teller knows it."""

    what: Ticket | int | None
    arm: str | None
    values: Mapping[str, float]
    key: str | None = None


class Recorder:
    """Drafts the events of one change, each worked into the state at once. Times never go back, whatever clocks do."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.now = time.time()  # by this machine's clock: one that was wrong once must not count for ever
        self.drafts: list[Draft] = []
        self._time = max(self.now, fold.time)

    def write(self, kind: str, data: dict[str, Any]) -> int:
        """Draft an event and work it in; return its number."""
        number, fold = self.fold.sequence + 1, self.fold
        if kind == RETRACTED:  # that needs a new state
            fold.sequence = number
        else:
            fold.apply(Entry(number, round(self._time, 6), kind, data), START)
        self.drafts.append(Draft(kind, data, self._time))
        return number

    def ask(self, n: int, seconds: float | None) -> list[Ticket]:
        """Ask the session for up to n arms and draft the event; return the tickets, good for so many seconds."""
        tickets, fold = self.fold.session.ask(n), self.fold
        if not tickets:
            return []
        data: dict[str, Any] = {"arms": [ticket.arm for ticket in tickets]}
        if seconds is not None:
            data["expires"] = self.now + seconds
        data = self._signed(data)
        fold.sequence, fold.time = fold.sequence + 1, round(self._time, 6)
        self.drafts.append(Draft(ASKED, data, self._time))
        return fold.issue(tickets, data)

    def tell(self, given: Reported) -> Told:
        """Draft the event of a result that may be recorded; raise SampleError or SettingsError for any other."""
        fold = self.fold
        what = given.what if given.key is None else _known_by(fold, given)
        if what is None:
            return self._tell_unasked(given)
        number, slot = find_slot(fold, what)
        for arm in (given.arm, what.arm if isinstance(what, Ticket) else None):
            if arm is not None and arm != slot.arm:
                named = f"ticket {number} is for" if given.key is None else f"the result {given.key!r} is of"
                message = f"{named} {slot.arm!r}, got a result of {arm!r}"
                raise SampleError(message, arm=arm, values=given.values)
        added = _news(fold, number, slot, _part(fold, slot.arm, given.values))
        if not added:
            return Told(slot.told, True, slot.state == COMPLETE, number, slot.state == WITHDRAWN)
        whole = {**slot.values, **added}
        if len(whole) == len(fold.problem.objectives):
            fold.session.check(slot.arm if slot.ticket is None else slot.ticket, whole)
        sequence = self.write(TOLD, {"id": number, "arm": slot.arm, "values": added})
        return Told(sequence, False, slot.state == COMPLETE, number)

    def _tell_unasked(self, given: Reported) -> Told:
        fold, arm = self.fold, given.arm
        if arm is None:
            raise SettingsError("neither a ticket nor an arm was given: whose result is it?")
        part, number = _part(fold, arm, given.values), len(fold.slots)
        if len(part) == len(fold.problem.objectives):
            fold.session.check(arm, part)
        elif fold.session.setup.order == AS_ASKED:
            message = "results count in the order asked: without a ticket a result is told whole, not in parts"
            raise SampleError(message, arm=arm, values=given.values)
        data = {"id": number, "arm": arm, "values": part} | ({} if given.key is None else {"key": given.key})
        return Told(self.write(TOLD, data), False, fold.slots[number].state == COMPLETE, number)

    def note_end(self) -> None:
        """Record that the answer was found, or the budget spent; and again where late results made it another."""
        session, stopped = self.fold.session, self.fold.stopped
        session.look()
        if session.stopped == STILL_OPEN:
            return
        why, statuses = session.stopped, session.statuses()
        if stopped is None or (stopped["why"], stopped["statuses"]) != (why, statuses):
            self.write(STOPPED, self._signed({"why": why, "samples": session.samples, "statuses": statuses}))

    def _signed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return what was decided, with the program that decided it if that is another than before."""
        return data if self.fold.program == __version__ else {**data, "program": __version__}


def _known_by(fold: Fold, given: Reported) -> int | None:
    """Return the number of the result with this key, if it has come before."""
    key = given.key
    if not isinstance(key, str) or not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
        raise SettingsError(f"the key is {key!r}, expected a text of 1 to {LONGEST_KEY} characters on one line")
    if given.what is not None:
        raise SettingsError(f"the key {key!r} was given with a ticket; a key is for results without one")
    return fold.keys.get(key)


def _part(fold: Fold, arm: str, values: Any) -> dict[str, float]:
    try:
        part = fold.problem.part(arm, values)
        fold.session.check_known(arm, part)
        return part
    except ValueError as error:
        raise SampleError(str(error), arm=arm, values=values) from None


def find_slot(fold: Fold, what: Any, *, of_any: bool = False) -> tuple[int, Slot]:
    """Return the number and the slot of a result or a ticket.

    If there is none, raise SettingsError: its message lists the tickets that wait, or with `of_any` all results.
    """
    number = what.id if isinstance(what, Ticket) else what
    if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= int(number) < len(fold.slots):
        if of_any:
            raise SettingsError(f"there is no result {number!r}; there are: {_all_of(fold) or 'none'}")
        waiting = [f"{k} ({slot.arm})" for k, slot in fold.open.items()]
        shown = ", ".join(waiting[:MOST_SHOWN]) + (", …" if len(waiting) > MOST_SHOWN else "")
        raise SettingsError(f"there is no ticket {number!r}; waiting for a result are: {shown or 'none'}")
    return int(number), fold.slots[int(number)]


def _all_of(fold: Fold) -> str:
    """Return the numbers of the results and tickets, the last of them with their arms and states."""
    first = max(0, len(fold.slots) - MOST_SHOWN)
    words = {COMPLETE: "told", OPEN: "waiting"}
    last = [
        f"{first + k} ({slot.arm}, {words.get(slot.state, slot.state)})" for k, slot in enumerate(fold.slots[first:])
    ]
    return (f"0 to {first - 1}, " if first else "") + ", ".join(last)


def _news(fold: Fold, number: int, slot: Slot, values: dict[str, float]) -> dict[str, float]:
    """Return the values that are new for this result; raise SampleError if one is other than before."""
    added = {name: value for name, value in values.items() if name not in slot.values}
    other = next((name for name, value in values.items() if slot.values.get(name, value) != value), None)
    instead = "tell the right one without a ticket, or by a new key"
    in_order = fold.session.setup.order == AS_ASKED  # where nothing can be told without a ticket
    if slot.state == WITHDRAWN and (added or other is not None):
        message = f"result {number} ({slot.arm}) was retracted: {fold.retracted[number]['reason']}"
        raise SampleError(message + ("" if in_order else f"; {instead}"), arm=slot.arm, values=values)
    if other is not None:
        message = (
            f"result {number} ({slot.arm}) has {other} = {slot.values[other]:.12g} already, got {values[other]:.12g}; "
            "if the first was a mistake, retract it"
        )
        raise SampleError(message + ("" if in_order else f" and {instead}"), arm=slot.arm, values=values)
    return added
