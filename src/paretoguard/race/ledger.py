"""The ledger of a race: a new one, or the one on which it goes on with the same question."""

from itertools import zip_longest
from typing import Any

from paretoguard.experiment.events import TOLD
from paretoguard.experiment.experiment import Experiment
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.storage import Storage, open_storage
from paretoguard.race.ledger_notes import read_written
from paretoguard.race.race_plan import Plan
from paretoguard.race.sources import RaceError
from paretoguard.race.watched_files import read_named, without_named
from paretoguard.trial import promises, registry


def begin(plan: Plan, storage: str | Storage | None, *, name: str | None = None, jobs: int = 1) -> Experiment:
    """The experiment of a race: a new one, or the one that was begun with the same file and settings.

    Of several runs at once the quick ones end first: their results then count in the order asked. A race without any
    result binds nobody: with another file, or other settings, one with the next number in its name is begun.
    """
    place = MemoryStorage() if storage is None else open_storage(storage)
    called = latest(name or plan.name, place)
    order = "asked" if jobs > 1 and plan.recorded is None else None
    if called in place.names():
        found = Experiment.open(called, place)
        if _has_results(found) or _is_same(plan, found, order):
            _check_same(plan, found)
            return found
        called = _numbered(name or plan.name, place)[1]
    stated: dict[str, Any] = {"protocol": plan.protocol, "assumptions": plan.assumptions, "doubt": plan.doubt}
    return Experiment.create(called, plan.problem, storage=place, order=order, **stated, **plan.settings)


def latest(name: str, place: Storage) -> str:
    """The name of the race that was begun last under this name: those before it have no results."""
    return _numbered(name, place)[0]


def _numbered(name: str, place: Storage) -> tuple[str, str]:
    """The last name of a row such as "race", "race (2)", "race (3)" that there is, and the one after it."""
    names, number = set(place.names()), 2
    while f"{name} ({number})" in names:
        number += 1
    return name if number == 2 else f"{name} ({number - 1})", f"{name} ({number})"


def _has_results(experiment: Experiment) -> bool:
    return any(event.read().kind == TOLD for event in experiment.storage.events(experiment.name))


def _is_same(plan: Plan, experiment: Experiment, order: str | None) -> bool:
    """Can this race go on with this plan?"""
    try:
        _check_same(plan, experiment)
    except RaceError:
        return False
    return order is None or experiment.settings["order"] == order


def _check_same(plan: Plan, experiment: Experiment) -> None:
    """What was begun goes on with the same question only."""
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
    """A script must be as it was; what runs write, and what was not there at the beginning, may change."""
    changed = {name for name, digest in was.items() if now.get(name) != digest}
    if changed:
        changed -= read_written(event.read() for event in experiment.storage.events(experiment.name))
    for name in sorted(changed):
        happened = "was changed" if name in now else "was removed"
        raise RaceError(
            f"{name}, which a command names, {happened} after the race {experiment.name!r} began: old and new results "
            "would be mixed. Change it back to go on, or begin another race: --name NEW"
        )


def _canonical(key: str, value: Any, order: str) -> Any:
    """A setting as the ledger has it."""
    if key == "algorithm":
        return registry.label(registry.algorithm(value))
    if key == "evidence":
        return registry.label(promises.in_order(registry.evidence(value), order))
    return value
