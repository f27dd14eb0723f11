"""Results from outside: checked before anything is recorded."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

from paretoguard.errors import SampleError, SettingsError
from paretoguard.experiment.events import TOLD
from paretoguard.experiment.ledger_state import COMPLETE, OPEN, WITHDRAWN, Fold, Slot
from paretoguard.experiment.writer import Writer
from paretoguard.problem import Problem
from paretoguard.trial.tickets import Ticket

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


class Given(NamedTuple):
    """A result from outside: of a ticket, or else of an arm, perhaps with a key by which its teller knows it."""

    what: Ticket | int | None
    arm: str | None
    values: Mapping[str, float]
    key: str | None = None


def record(fold: Fold, write: Writer, given: Given) -> Told:
    """Draft the event of a result that may be recorded; refuse any other."""
    what = given.what if given.key is None else _known_by(fold, given)
    if what is None:
        return _unasked(fold, write, given)
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
        fold.trial.check(slot.arm if slot.trial_ticket is None else slot.trial_ticket, whole)
    sequence = write(TOLD, {"id": number, "arm": slot.arm, "values": added})
    return Told(sequence, False, slot.state == COMPLETE, number)


def _unasked(fold: Fold, write: Writer, given: Given) -> Told:
    """Draft the event of a result without a ticket."""
    arm = given.arm
    if arm is None:
        raise SettingsError("neither a ticket nor an arm was given: whose result is it?")
    part, number = _part(fold, arm, given.values), len(fold.slots)
    if len(part) == len(fold.problem.objectives):
        fold.trial.check(arm, part)
    elif fold.trial.order == "asked":
        message = "results count in the order asked: without a ticket a result is told whole, not in parts"
        raise SampleError(message, arm=arm, values=given.values)
    data = {"id": number, "arm": arm, "values": part} | ({} if given.key is None else {"key": given.key})
    return Told(write(TOLD, data), False, fold.slots[number].state == COMPLETE, number)


def _known_by(fold: Fold, given: Given) -> int | None:
    """The number of the result with this key, if it has come before."""
    key = given.key
    if not isinstance(key, str) or not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
        raise SettingsError(f"the key is {key!r}, expected a text of 1 to {LONGEST_KEY} characters on one line")
    if given.what is not None:
        raise SettingsError(f"the key {key!r} was given with a ticket; a key is for results without one")
    return fold.keys.get(key)


def _part(fold: Fold, arm: str, values: Any) -> dict[str, float]:
    try:
        part = fold.problem.part(arm, values)
        fold.trial.check_known(arm, part)
        return part
    except ValueError as error:
        raise SampleError(str(error), arm=arm, values=values) from None


def find_slot(fold: Fold, what: Any, *, of_any: bool = False) -> tuple[int, Slot]:
    """The result of this number, or of this ticket; who looks for one of any state is told of all that there are."""
    number = what.id if isinstance(what, Ticket) else what
    if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= int(number) < len(fold.slots):
        if of_any:
            raise SettingsError(f"there is no result {number!r}; there are: {_all_of(fold) or 'none'}")
        waiting = [f"{k} ({slot.arm})" for k, slot in fold.open.items()]
        shown = ", ".join(waiting[:MOST_SHOWN]) + (", …" if len(waiting) > MOST_SHOWN else "")
        raise SettingsError(f"there is no ticket {number!r}; waiting for a result are: {shown or 'none'}")
    return int(number), fold.slots[int(number)]


def _all_of(fold: Fold) -> str:
    """The numbers of the results and tickets, the last of them with their arms and states."""
    first = max(0, len(fold.slots) - MOST_SHOWN)
    words = {COMPLETE: "told", OPEN: "waiting"}
    last = [
        f"{first + k} ({slot.arm}, {words.get(slot.state, slot.state)})" for k, slot in enumerate(fold.slots[first:])
    ]
    return (f"0 to {first - 1}, " if first else "") + ", ".join(last)


def _news(fold: Fold, number: int, slot: Slot, values: dict[str, float]) -> dict[str, float]:
    """The values that are new for this result; another value than before is refused."""
    added = {name: value for name, value in values.items() if name not in slot.values}
    is_other = any(slot.values.get(name, value) != value for name, value in values.items())
    if slot.state == WITHDRAWN and (added or is_other):
        instead = "" if fold.trial.order == "asked" else "; tell the right one without a ticket, or by a new key"
        message = f"result {number} ({slot.arm}) was retracted: {fold.retracted[number]['reason']}{instead}"
        raise SampleError(message, arm=slot.arm, values=values)
    for name, value in values.items():
        if slot.values.get(name, value) != value:
            instead = "" if fold.trial.order == "asked" else " and tell the right one without a ticket, or by a new key"
            message = (
                f"result {number} ({slot.arm}) has {name} = {slot.values[name]:.12g} already, got {value:.12g}; if the "
                f"first was a mistake, retract it{instead}"
            )
            raise SampleError(message, arm=slot.arm, values=values)
    return added
