"""Which guarantee still holds, after what was done to the ledger."""

from dataclasses import replace

from paretoguard import vocabulary
from paretoguard.experiment.assumed import corrected
from paretoguard.experiment.ledger_state import COMPLETE, LATE, Fold
from paretoguard.verdict import Result

CHANGED = "none: the ledger was changed after it was written"


def guarantee(fold: Fold) -> str:
    """The label of all that is said."""
    if fold.broken:
        return CHANGED
    is_blind = all(data["blind"] for data in fold.retracted.values())
    return fold.session.setup.guarantee if is_blind and not fold.settings.get("doubt") else vocabulary.HEURISTIC


def relabelled(fold: Fold, result: Result) -> Result:
    """What holds, given how the experiment was begun, and what was retracted."""
    said, notes = list(fold.settings.get("assumptions", ())), list[str]()
    states = [slot.state for slot in fold.slots]
    if expired := states.count(LATE):
        said.append(f"tickets that expired without a result: {expired:,}; that is assumed not to depend on its value")
    if unasked := sum(slot.state == COMPLETE and not slot.asked for slot in fold.slots):
        said.append(
            f"results told without a ticket: {unasked:,}; all results of their sources are assumed to be told, good "
            "and bad"
        )
    if fold.settings.get("doubt"):
        notes.append(fold.settings["doubt"])
    count = len(fold.retracted)
    retracted = "1 result was" if count == 1 else f"{count} results were"
    if count and all(data["blind"] for data in fold.retracted.values()):
        said.append(f"{retracted} retracted, as declared, without regard to any measured value")
    elif count:
        notes.append(
            f"{retracted} retracted, not all of them blind to the measured values: that may favour an answer, and no "
            "guarantee stands"
        )
    label = guarantee(fold)
    verdicts = dict(result.verdicts)
    if label != result.guarantee:
        verdicts = {arm: replace(verdict, guarantee=label) for arm, verdict in verdicts.items()}
    found = replace(
        result,
        guarantee=label,
        verdicts=verdicts,
        assumptions=(*result.assumptions, *said),
        notes=(*notes, *result.notes),
    )
    return corrected(found)
