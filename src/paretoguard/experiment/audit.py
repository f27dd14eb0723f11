"""An audit of a ledger: is it as it was written, and do its results support what is claimed?

The chain of hashes answers the first. For the second the claims are worked out anew from the raw results by
`paretoguard.reference`, which shares no code with the engine that made them.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from paretoguard.errors import LedgerError, SettingsError
from paretoguard.experiment.events import ASKED, CREATED, EXPIRED, RETRACTED, STOPPED, TOLD, Entry, Event, first_break
from paretoguard.experiment.experiment import Experiment
from paretoguard.experiment.storage import Storage
from paretoguard.vocabulary import AS_ASKED, STATUSES, STILL_OPEN, UNDECIDED


class Audit(NamedTuple):
    """What an audit found."""

    sound: bool  # nothing is wrong
    said: str
    recomputed: bool = False  # were the claims worked out anew? Not with every evidence
    claims: Mapping[str, bool] = {}  # of each arm that is decided: do the results support its status?
    recorded: Mapping[int, Mapping[str, bool]] = {}  # the same of what each event 'stopped' says
    whole: bool = True  # is the chain of hashes?


def audit(experiment: Experiment, expected: str | None = None) -> Audit:
    """Check the chain, every claim, and that there is an event with the `expected` hash."""
    return verify(experiment.name, experiment.storage, expected)[0]


def verify(name: str, storage: Storage, expected: str | None = None) -> tuple[Audit, Experiment | None]:
    """Audit a ledger as it stands now; return the experiment of now too, if its events make sense."""
    head = storage.head(name)  # before the events: more may come meanwhile
    events = list(storage.events(name))
    if broken := first_break(events, head):
        return _of_changed(name, events, broken)
    whole = f"the chain of hashes is whole ({len(events):,} events)"
    try:
        experiment = Experiment.at(name, events, "")
    except LedgerError as error:
        return Audit(False, f"{whole}, but {error}"), None
    if expected is not None and all(event.hash != expected.strip().lower() for event in events):
        said = f"{whole}, but the hash {expected.strip()} is not in this ledger: mistyped, cut, or written anew"
        return Audit(False, said), experiment
    return _of_claims(experiment, [event.read() for event in events], whole), experiment


def glance(name: str, storage: Storage) -> tuple[Audit | None, Experiment | None]:
    """As `verify`, but audit the chain alone; the audit is None if nothing is wrong."""
    head = storage.head(name)
    events = list(storage.events(name))
    if broken := first_break(events, head, reads=False):
        return _of_changed(name, events, broken)
    return None, Experiment.at(name, events, "")


def _of_changed(name: str, events: list[Event], broken: str) -> tuple[Audit, Experiment | None]:
    """Return the audit of a ledger that was changed, and the experiment if its events make sense."""
    found = Audit(False, f"the ledger was changed after it was written: {broken}", whole=False)
    try:
        return found, Experiment.at(name, events, broken)
    except LedgerError:
        return found, None


def _of_claims(experiment: Experiment, entries: list[Entry], whole: str) -> Audit:
    result, settings = experiment.result(), experiment.settings
    results = list(counted(entries, len(experiment.problem.objectives)))
    if len(results) != result.samples:
        return Audit(False, f"{whole}, but has {len(results):,} results where {result.samples:,} are counted")
    how = {key: settings[key] for key in ("delta", "evidence", "order")}
    claims = {0: _decided({arm: verdict.status for arm, verdict in result.verdicts.items()}), **_recorded(entries)}
    found: dict[int, dict[str, bool]] = {}
    wrong = []
    try:
        from paretoguard import reference

        for event, claimed in claims.items():
            same = next((other for other in found if claims[other] == claimed), None)
            again = found[same] if same is not None else reference.audit(experiment.problem, results, claimed, **how)
            found[event] = again
            if bad := ", ".join(f"{arm} {claimed[arm]}" for arm, holds in again.items() if not holds):
                wrong.append(f"what event {event} says ({bad})" if event else f"what is claimed now ({bad})")
    except SettingsError as error:
        return Audit(True, f"{whole}; its claims were not recomputed: {error}")
    number = len({claim for claimed in claims.values() for claim in claimed.items()})
    said = f"{whole}, and its results support all {number} claims, recomputed independently"
    if wrong:
        said = f"{whole}, but its results do not support {', nor '.join(wrong)}"
    return Audit(not wrong, said, True, found.pop(0), found)


def _decided(statuses: Mapping[str, str]) -> dict[str, str]:
    return {arm: status for arm, status in statuses.items() if status != STATUSES[UNDECIDED]}


def _recorded(entries: Iterable[Entry]) -> dict[int, dict[str, str]]:
    """Return the claims of each event 'stopped' after the last retraction."""
    found: dict[int, dict[str, str]] = {}
    for entry in entries:
        if entry.kind == RETRACTED:
            found.clear()
        elif entry.kind == STOPPED:
            found[entry.sequence] = _decided(entry.data["statuses"])
    return found


def counted(entries: Iterable[Entry], objectives: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield (arm, values) of the results that count, in the order in which they count."""
    entries = list(entries)
    as_asked = entries[0].kind == CREATED and entries[0].data["order"] == AS_ASKED
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
    """Yield results of an arm in the order asked, up to the first that is missing."""
    while due and (due[0] in retracted or len(values[due[0]]) == objectives):
        number = due.popleft()
        if number not in retracted:
            yield arm, values[number]


class Tally(NamedTuple):
    """Where a ledger stands."""

    state: str  # "answered", "budget" or "open", as recorded
    results: int  # that count
    waiting: int  # tickets without their whole result
    retracted: int


def tally(entries: Sequence[Entry], objectives: int) -> Tally:
    """Count the results in the events of a ledger, without working them in."""
    state, issued, known = STILL_OPEN, 0, defaultdict[int, set[str]](set)
    expired, retracted = set[int](), set[int]()
    for entry in entries:
        data = entry.data
        if entry.kind in (ASKED, RETRACTED):
            state = STILL_OPEN
        if entry.kind == ASKED:
            issued += len(data["arms"])
        elif entry.kind == TOLD:
            issued += data["id"] == issued  # not asked for
            known[data["id"]].update(data["values"])
        elif entry.kind == EXPIRED:
            expired.update(data["ids"])
        elif entry.kind == RETRACTED:
            retracted.add(data["id"])
        elif entry.kind == STOPPED:
            state = str(data["why"])
    complete = {number for number, names in known.items() if len(names) == objectives}
    waiting = set(range(issued)) - complete - expired - retracted
    return Tally(state, sum(1 for _ in counted(entries, objectives)), len(waiting), len(retracted))
