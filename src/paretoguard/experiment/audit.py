"""An audit of a ledger: is it as it was written, and do its results support what is claimed?

The chain of hashes answers the first. For the second the claims are worked out anew from the raw results by
`paretoguard.reference`, which shares no code with the engine that made them.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from paretoguard.errors import SettingsError
from paretoguard.experiment.events import ASKED, CREATED, RETRACTED, STOPPED, TOLD, Entry, first_break
from paretoguard.experiment.experiment import Experiment
from paretoguard.verdict import UNDECIDED


class Audit(NamedTuple):
    """What an audit found."""

    sound: bool
    said: str
    claims: Mapping[str, bool]  # of each arm that is decided: do the results support its status?


def audit(experiment: Experiment, expected: str | None = None) -> Audit:
    """Check the chain, and every claim; and that an event with the `expected` hash, once written down, is there."""
    head = experiment.storage.head(experiment.name)  # before the events: more may come meanwhile
    events = list(experiment.storage.events(experiment.name))
    if broken := first_break(events, head):
        return Audit(False, f"the ledger was changed after it was written: {broken}", {})
    whole = f"the chain of hashes is whole ({len(events):,} events)"
    if expected is not None and all(event.hash != expected.strip().lower() for event in events):
        return Audit(False, f"{whole}, but no event of it has the hash {expected.strip()}: it was written anew", {})
    entries = [event.read() for event in events]
    results = list(counted(entries, len(experiment.problem.objectives)))
    result, settings = experiment.result(), experiment.settings
    if len(results) != result.samples:
        return Audit(False, f"{whole}, but has {len(results):,} results where {result.samples:,} are counted", {})
    claims = {arm: verdict.status for arm, verdict in result.verdicts.items() if verdict.status != UNDECIDED}
    claims |= _recorded(entries)
    try:
        from paretoguard import reference

        supported = reference.audit(
            experiment.problem,
            results,
            claims,
            delta=settings["delta"],
            evidence=settings["evidence"],
            order=settings["order"],
        )
    except SettingsError as error:
        return Audit(True, f"{whole}; its claims were not recomputed: {error}", {})
    wrong = [f"{arm} {claims[arm]}" for arm, holds in supported.items() if not holds]
    if wrong:
        return Audit(False, f"{whole}, but its results do not support: {', '.join(wrong)}", supported)
    return Audit(
        True, f"{whole}, and its results support all {len(claims)} claims, recomputed independently", supported
    )


def _recorded(entries: Iterable[Entry]) -> dict[str, str]:
    """What was claimed when the experiment stopped last, and no result has been retracted since."""
    found: dict[str, str] = {}
    for entry in entries:
        if entry.kind in (STOPPED, RETRACTED):
            found = entry.data.get("statuses", {})
    return {arm: status for arm, status in found.items() if status != UNDECIDED}


def counted(entries: Iterable[Entry], objectives: int) -> Iterator[tuple[str, dict[str, float]]]:
    """(arm, values) of the results that count, in the order in which they do."""
    entries = list(entries)
    as_asked = entries[0].kind == CREATED and entries[0].data["order"] == "asked"
    retracted = {entry.data["id"] for entry in entries if entry.kind == RETRACTED}
    values: dict[int, dict[str, float]] = defaultdict(dict)
    due: dict[str, deque[int]] = defaultdict(deque)  # of each arm: asked for, not counted
    issued = 0
    for entry in entries:
        if entry.kind == ASKED:
            for arm in entry.data["arms"]:
                due[arm].append(issued)
                issued += 1
        elif entry.kind == TOLD:
            number, arm = entry.data["id"], entry.data["arm"]
            if number == issued:  # not asked for
                due[arm].append(issued)
                issued += 1
            values[number] |= entry.data["values"]
            if not as_asked and len(values[number]) == objectives and number not in retracted:
                yield arm, values[number]
            if as_asked:
                yield from _ready(due[arm], arm, values, retracted, objectives)
        elif entry.kind == RETRACTED and as_asked:
            yield from _ready(due[entry.data["arm"]], entry.data["arm"], values, retracted, objectives)


def _ready(due: deque[int], arm: str, values: Mapping[int, Any], retracted: set[int], objectives: int) -> Iterator[Any]:
    """Results of an arm, as asked, up to the first that is missing."""
    while due and (due[0] in retracted or len(values[due[0]]) == objectives):
        number = due.popleft()
        if number not in retracted:
            yield arm, values[number]
