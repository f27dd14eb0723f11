"""The ledger of a race: a new one, or the one on which it goes on with the same question, and the notes on it."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.experiment.events import NOTED, TOLD, Entry
from paretoguard.experiment.experiment import Experiment
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.storage import Storage, open_storage
from paretoguard.race.command_words import read_named, without_named
from paretoguard.race.measuring import RaceError
from paretoguard.trial import promises, registry

if TYPE_CHECKING:
    from paretoguard.race.race_plan import Plan

RUN, FAILURE, WRITTEN, STUCK = "run", "failed", "written", "stuck"  # what notes are about


def begin(plan: "Plan", storage: str | Storage | None, *, name: str | None = None, jobs: int = 1) -> Experiment:
    """Return the experiment of a race: a new one, or the one that was begun with the same file and settings.

    Of several runs at once the quick ones end first: their results then count in the order asked. If a race has no
    result, another file or other settings begin a new one, with the next number in its name.
    """
    place = MemoryStorage() if storage is None else open_storage(storage)
    called = latest(name or plan.name, place)
    order = "asked" if jobs > 1 and plan.recorded is None else None
    if called in place.names():
        found = Experiment.open(called, place)
        if any(entry.kind == TOLD for entry in entries_of(found)) or _is_same(plan, found, order):
            _check_same(plan, found)
            return found
        called = _numbered(name or plan.name, place)[1]
    stated: dict[str, Any] = {"protocol": plan.protocol, "assumptions": plan.assumptions, "doubt": plan.doubt}
    return Experiment.create(called, plan.problem, storage=place, order=order, **stated, **plan.settings)


def latest(name: str, place: Storage) -> str:
    """Return the name of the race that was begun last under this name: those before it have no results."""
    return _numbered(name, place)[0]


def _numbered(name: str, place: Storage) -> tuple[str, str]:
    """Return the last name in a row such as "race", "race (2)", "race (3)" that is in use, and the one after it."""
    names, number = set(place.names()), 2
    while f"{name} ({number})" in names:
        number += 1
    return name if number == 2 else f"{name} ({number - 1})", f"{name} ({number})"


def _is_same(plan: "Plan", experiment: Experiment, order: str | None) -> bool:
    try:
        _check_same(plan, experiment)
    except RaceError:
        return False
    return order is None or experiment.settings["order"] == order


def _check_same(plan: "Plan", experiment: Experiment) -> None:
    """Refuse another question than the one that was begun with."""
    was, now = str(experiment.settings.get("protocol", "")).splitlines(), plan.protocol.splitlines()
    if without_named(was) != without_named(now):
        pairs = zip_longest(without_named(was), without_named(now), fillvalue="nothing")
        gone, new = next((a, b) for a, b in pairs if a != b)
        raise RaceError(
            f"{plan.path}, or what it measures, was changed after the race {experiment.name!r} began: where it now "
            f"says {new!r}, it said {gone!r}. Change it back to go on, or begin another race: --name NEW"
        )
    _check_named(experiment, read_named(was), read_named(now))
    for key, value in {"seed": 0, **plan.settings}.items():
        begun = experiment.settings.get(key)
        if key == "budget" and begun is None:  # whoever goes on may stop at any time
            continue
        if _canonical(key, value, experiment.settings["order"]) != begun:
            raise RaceError(
                f"the race {experiment.name!r} was begun with {key} = {begun!r}, now {value!r} is asked for; what is "
                "fixed at the beginning is fixed for good. Begin another race: --name NEW"
            )


def _check_named(experiment: Experiment, was: dict[str, str], now: dict[str, str]) -> None:
    """Refuse a script that was changed; files that runs write, and files that are new, may change."""
    changed = {name for name, digest in was.items() if now.get(name) != digest}
    for name in sorted(changed - read_written(entries_of(experiment))):
        happened = "was changed" if name in now else "was removed"
        raise RaceError(
            f"{name}, which a command names, {happened} after the race {experiment.name!r} began: old and new results "
            "would be mixed. Change it back to go on, or begin another race: --name NEW"
        )


def _canonical(key: str, value: Any, order: str) -> Any:
    """Return a setting as the ledger has it."""
    if key == "algorithm":
        return registry.label(registry.algorithm(value))
    if key == "evidence":
        return registry.label(promises.in_order(registry.evidence(value), order))
    return value


# --- notes: how it was run, which attempts failed, which files it writes ----------------------------------------------


class Run(NamedTuple):
    """How a race was run from some result on."""

    results: int  # there were before
    jobs: int
    batch: int


class Failures(NamedTuple):
    """Attempts to measure an arm that failed, and count for nothing else."""

    attempts: int
    why: str  # of the last one


def entries_of(experiment: Experiment) -> Iterator[Entry]:
    return (event.read() for event in experiment.storage.events(experiment.name))


def _notes(entries: Iterable[Entry], about: str) -> Iterator[dict[str, Any]]:
    return (entry.data for entry in entries if entry.kind == NOTED and entry.data["about"] == about)


def read_runs(entries: Iterable[Entry]) -> tuple[Run, ...]:
    """Return how a race was begun, and how it went on each time that this changed."""
    found, results = list[Run](), 0
    for entry in entries:
        results += entry.kind == TOLD
        for data in _notes([entry], RUN):
            run = Run(results, data["jobs"], data["batch"])
            if not found or found[-1][1:] != run[1:]:
                found.append(run)
    return tuple(found)


def read_failures(entries: Iterable[Entry]) -> dict[str, Failures]:
    """Return the failed attempts of each arm that has any."""
    found: dict[str, Failures] = {}
    for data in _notes(entries, FAILURE):
        before = found[data["arm"]].attempts if data["arm"] in found else 0
        found[data["arm"]] = Failures(before + data["attempts"], data["why"])
    return found


def read_stuck(entries: Iterable[Entry]) -> int | None:
    """Return after how many results the race was stopped last because more would decide nothing."""
    return max((int(data["results"]) for data in _notes(entries, STUCK)), default=None)


def read_written(entries: Iterable[Entry]) -> set[str]:
    """Return the files, as they are quoted, that runs of the race write themselves."""
    return {name for data in _notes(entries, WRITTEN) for name in data["files"]}
