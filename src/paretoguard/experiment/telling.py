"""Results from outside: checked before anything is recorded."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from paretoguard.errors import SampleError, SettingsError
from paretoguard.experiment.events import TOLD
from paretoguard.experiment.fold import COMPLETE, WITHDRAWN, Fold, Slot
from paretoguard.experiment.writer import Writer
from paretoguard.tickets import Ticket


class Told(NamedTuple):
    """What became of a result."""

    sequence: int  # the event that recorded it
    duplicate: bool  # everything was known before; nothing was recorded
    complete: bool  # is there a value for every objective, so that it counts?
    id: int  # of the result, for a second part or a retraction


def record(fold: Fold, write: Writer, what: Ticket | int | None, arm: str | None, values: Mapping[str, float]) -> Told:
    """Draft the event of a result that may be recorded; refuse any other."""
    number = what.id if isinstance(what, Ticket) else what
    if number is None:
        if arm is None:
            raise SettingsError("neither a ticket nor an arm was given: whose result is it?")
        part = _part(fold, arm, values)
        number, slot, added = len(fold.slots), None, part
    else:
        slot = find_slot(fold, number)
        if arm is not None and arm != slot.arm:
            raise SampleError(f"ticket {number} is for {slot.arm!r}, got a result of {arm!r}", arm=arm, values=values)
        part = _part(fold, slot.arm, values)
        added = _news(fold, number, slot, part)
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


def find_slot(fold: Fold, number: Any) -> Slot:
    """The result of this number."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(fold.slots):
        waiting = [f"{k} ({slot.arm})" for k, slot in fold.open.items()]
        shown = ", ".join(waiting[:20]) + (", …" if len(waiting) > 20 else "")
        raise SettingsError(f"there is no ticket {number!r}; waiting for a result are: {shown or 'none'}")
    return fold.slots[number]


def _news(fold: Fold, number: int, slot: Slot, values: dict[str, float]) -> dict[str, float]:
    """The values that are new for this result; another value than before is refused."""
    for name, value in values.items():
        if slot.values.get(name, value) != value:
            instead = "" if fold.trial.order == "asked" else " and tell the right one without a ticket"
            message = (
                f"result {number} ({slot.arm}) has {name} = {slot.values[name]:.12g} already, got {value:.12g}; if the "
                f"first was a mistake, retract it{instead}"
            )
            raise SampleError(message, arm=slot.arm, values=values)
    added = {name: value for name, value in values.items() if name not in slot.values}
    if added and slot.state == WITHDRAWN:
        message = f"result {number} ({slot.arm}) was retracted: {fold.retracted[number]['reason']}"
        raise SampleError(message, arm=slot.arm, values=values)
    return added
