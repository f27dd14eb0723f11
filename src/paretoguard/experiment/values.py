"""Results from outside: checked before anything is recorded."""

from paretoguard.errors import SampleError
from paretoguard.experiment.fold import WITHDRAWN, Fold, Slot


def news(fold: Fold, number: int, slot: Slot, values: dict[str, float]) -> dict[str, float]:
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
