"""Which guarantee still holds, after what was done to the ledger."""

from dataclasses import replace

from paretoguard import settings
from paretoguard.experiment.fold import Fold
from paretoguard.verdict import Result


def guarantee(fold: Fold) -> str:
    """The label of all that is said."""
    is_blind = all(data["blind"] for data in fold.retracted.values())
    return fold.trial.guarantee if is_blind else settings.HEURISTIC


def relabelled(fold: Fold, result: Result) -> Result:
    """What still holds after retractions."""
    count = len(fold.retracted)
    if count == 0:
        return result
    retracted = "1 result was" if count == 1 else f"{count} results were"
    if guarantee(fold) == result.guarantee:
        said = f"{retracted} retracted, as declared, without regard to any measured value"
        return replace(result, assumptions=(*result.assumptions, said))
    note = (
        f"{retracted} retracted, not all of them blind to the measured values: that may favour an answer, and no "
        "guarantee stands"
    )
    verdicts = {arm: replace(verdict, guarantee=settings.HEURISTIC) for arm, verdict in result.verdicts.items()}
    return replace(result, guarantee=settings.HEURISTIC, verdicts=verdicts, notes=(note, *result.notes))
