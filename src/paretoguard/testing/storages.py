"""The laws of storages: what a ledger rests on, wherever it is kept."""

import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from paretoguard.errors import StorageError
from paretoguard.experiment.events import CREATED, START, TOLD, Draft, Event, chain, first_break
from paretoguard.experiment.storage import Storage
from paretoguard.testing.cases import Laws, demand

WRITERS, WRITES = 8, 10  # threads, and what each appends
_PATIENCE = 120.0  # seconds until a storage is said to be stuck
FLOATS = (0.1, 1e-300, 5e300, -0.0, 1 / 3, 2.0**53 + 2)
_LONG = 900_000  # characters of a text
_NAMES = (
    "{}", "{} ", " {}", "{}A", "{}a", "Grüße 🌍 {}", "it's {}", 'say "{}"', "100% {}", "%s %(name)s :name ? {{}} {}",
    "back\\slash {}", "{}\nsecond\tline", "x'; DROP TABLE paretoguard_event; -- {}", "{}\u00e4", "{}a\u0308",
    "{}" + 180 * "x",
)  # fmt: skip


class _ThrownError(Exception):
    """On purpose."""


@dataclass(frozen=True)
class Opening:
    """How a storage is opened: each call of `make` connects to the same one anew. All names here have a mark."""

    make: Callable[[], Storage]
    mark: str = field(default_factory=lambda: secrets.token_hex(4))

    def opened(self) -> closing[Storage]:
        return closing(self.make())

    def read(self, name: str, after: int = 0) -> list[Event]:
        """Return what another connection reads."""
        with self.opened() as storage:
            return list(storage.events(name, after))

    def __str__(self) -> str:
        with self.opened() as storage:
            return type(storage).__name__


StorageLaw = Callable[[Opening], None]
STORAGE_LAWS = Laws[Opening]()
_FIRST = Draft(CREATED, {"problem": "none"}, 0.0)


def _told(*numbers: int) -> list[Draft]:
    return [Draft(TOLD, {"n": number}, float(number)) for number in numbers]


def _refusal(attempt: Callable[[], object], error: type[Exception] = StorageError) -> str | None:
    """Return what an attempt says when it raises this error, None if it succeeds."""
    try:
        attempt()
    except error as refused:
        return str(refused)
    return None


@STORAGE_LAWS.state
def what_is_appended_is_read_back(opening: Opening) -> None:
    """What was appended is read back by another connection: numbered 1, 2, 3, …, chained, in order, byte for byte."""
    name, batches = f"{opening.mark} read", [_told(1), _told(2, 3, 4), [], _told(5)]
    with opening.opened() as storage:
        given = [storage.create(name, _FIRST)]
        for batch in batches:
            given += storage.append(name, len(given), lambda new, batch=batch: batch)  # type: ignore[misc]
        head = storage.head(name)
    due = chain([_FIRST, *(draft for batch in batches for draft in batch)], 0, START)
    for who, events in (("the calls returned", given), ("another connection reads", opening.read(name))):
        demand(events == due, f"{who} {events}, expected {due}")
    last = due[-1].sequence, due[-1].hash
    demand(head == last, f"head gives {head}, expected {last}")


@STORAGE_LAWS.state
def only_later_events_are_read(opening: Opening) -> None:
    """`events(name, after)`, and `make` in `append(name, after, make)`, get exactly the events that follow `after`."""
    name, seen = f"{opening.mark} after", list[list[Event]]()

    def note(new: list[Event]) -> list[Draft]:
        seen.append(new)
        return []

    with opening.opened() as storage:
        storage.create(name, _FIRST)
        storage.append(name, 1, lambda new: _told(1, 2, 3, 4, 5))
        whole = list(storage.events(name))
        for after in (0, 1, 4, 6, 9):
            read, added = list(storage.events(name, after)), storage.append(name, after, note)
            found = f"after {after} it reads {read} and `make` gets {seen}, once; expected {whole[after:]}"
            demand(read == whole[after:] and seen == [read], found)
            demand(added == [], f"without drafts it added {added}")
            seen.clear()


@STORAGE_LAWS.state
def drafts_are_added_all_or_none(opening: Opening) -> None:
    """If `make` raises, or one draft cannot be written, nothing is added, and the storage can still be used."""
    name = f"{opening.mark} whole"

    def throw(new: list[Event]) -> list[Draft]:
        raise _ThrownError

    def spoilt(new: list[Event]) -> list[Draft]:
        return [*_told(1), Draft(TOLD, {"text": "\ud800"}, 1.0)]  # half a character

    with opening.opened() as storage:
        storage.create(name, _FIRST)
        for make, error in ((throw, _ThrownError), (spoilt, StorageError)):
            said = _refusal(partial(storage.append, name, 1, make), error)
            demand(said is not None, f"{make.__name__} did not raise {error.__name__}")
            events = opening.read(name)
            demand(len(events) == 1, f"after {error.__name__} there are {events}, expected the first alone")
        storage.append(name, 1, lambda new: _told(1, 2))
    events = opening.read(name)
    demand(len(events) == 3, f"afterwards 2 were added, there are {events}")


@STORAGE_LAWS.state
def wrong_names_are_refused(opening: Opening) -> None:
    """A ledger that is not there, and a name that is taken, are StorageErrors that say the name and change nothing."""
    name, missing = f"{opening.mark} taken", f"{opening.mark} missing"
    with opening.opened() as storage:
        first = storage.create(name, _FIRST)
        other = chain([Draft(CREATED, {"problem": "other"}, 1.0)], 0, START)
        attempts: list[tuple[str, str, Callable[[], object]]] = [
            ("create", name, lambda: storage.create(name, _FIRST)),
            ("restore", name, lambda: storage.restore(name, other)),
            ("events", missing, lambda: list(storage.events(missing))),
            ("head", missing, lambda: storage.head(missing)),
            ("append", missing, lambda: storage.append(missing, 0, lambda new: _told(1))),
        ]
        for what, whose, attempt in attempts:
            said = _refusal(attempt)
            demand(said is not None, f"{what} of {whose!r} is not refused")
            demand(repr(whose)[1:-1] in str(said), f"{what} says {said!r}, without the name {whose!r}")
        known = storage.names()
    demand(missing not in known, f"there is a ledger {missing!r} now")
    events = opening.read(name)
    demand(events == [first], f"{name!r} holds {events}, expected {[first]}")


@STORAGE_LAWS.state
def a_ledger_begins_once(opening: Opening) -> None:
    """Of several who begin a ledger with one name at once, one does, and the others are told that it is taken."""
    name, begun = f"{opening.mark} once", list[Event]()

    def begin(number: int, storage: Storage) -> None:
        try:
            begun.append(storage.create(name, Draft(CREATED, {"n": number}, 0.0)))
        except StorageError as error:
            if name not in str(error):
                raise

    _together(opening, begin)
    events = opening.read(name)
    demand(events == begun, f"begun were {begun}, there is {events}")


@STORAGE_LAWS.state
def writers_do_not_meet(opening: Opening) -> None:
    """Connections that append at once lose nothing, double nothing, and decide on the last state of their ledger."""
    names = [f"{opening.mark} counter {number}" for number in (0, 1)]
    with opening.opened() as storage:
        for name in names:
            storage.create(name, _FIRST)
    returned = dict[str, list[Event]]({name: [] for name in names})

    def count(number: int, storage: Storage) -> None:
        name, after, reached = names[number % 3 == 0], 1, 0

        def one_more(new: list[Event]) -> list[Draft]:
            nonlocal after, reached
            after, reached = (new[-1].sequence, new[-1].read().data["n"]) if new else (after, reached)
            time.sleep(0.001)  # others may try meanwhile
            return _told(reached + 1)

        for _ in range(WRITES):
            returned[name] += storage.append(name, after, one_more)

    _together(opening, count)
    for name in names:
        events = opening.read(name)
        numbers = [event.read().data["n"] for event in events[1:]]
        due = list(range(1, len(returned[name]) + 1))
        demand(numbers == due, f"a counter has the values {numbers}, expected {due}")
        same = sorted(returned[name]) == events[1:]
        demand(same, f"returned were {sorted(returned[name])}, there are {events[1:]}")
        broken = first_break(events)
        demand(not broken, broken)


@STORAGE_LAWS.state
def readers_are_not_disturbed(opening: Opening) -> None:
    """Who is in the middle of reading neither stops a writer nor misses anything, and may leave off at any event."""
    name = f"{opening.mark} reading"
    with opening.opened() as reader, opening.opened() as writer:
        reader.create(name, _FIRST)
        writer.append(name, 1, lambda new: _told(*range(300)))
        before = list(reader.events(name))
        events = reader.events(name)
        read = [next(events)]
        added = writer.append(name, 301, lambda new: _told(300, 301))
        read += events
        found = f"{len(read)} events were read while {len(added)} were added to {len(before)}: not those, in order"
        demand(read in (before, before + added), found)
        left = reader.events(name)
        next(left)
        del left
        reader.append(name, 303, lambda new: _told(302))
        writer.append(name, 304, lambda new: _told(303))
    count = len(opening.read(name))
    demand(count == 305, f"there are {count} events, expected 305")


@STORAGE_LAWS.state
def ledgers_are_apart(opening: Opening) -> None:
    """Ledgers do not mix, however odd their names are; `names` gives them as they are, in alphabetical order."""
    names = [odd.format(opening.mark) for odd in _NAMES]
    with opening.opened() as storage:
        for number, name in enumerate(names):
            storage.create(name, Draft(CREATED, {"n": number}, 0.0))
        for number, name in enumerate(names):
            storage.append(name, 1, lambda new, number=number: _told(number))  # type: ignore[misc]
        known = storage.names()
    for number, name in enumerate(names):
        held = [event.read().data["n"] for event in opening.read(name)]
        demand(held == [number, number], f"{name!r} holds {held}, expected {[number] * 2}")
    demand(known == sorted(known), f"names gives {known}, expected them sorted")
    lost = sorted({*names} - {*known})
    demand(not lost, f"names gives {known}, without {lost}")


@STORAGE_LAWS.state
def values_survive(opening: Opening) -> None:
    """Numbers, odd texts and long ones are read back as they were told."""
    name = f"{opening.mark} values"
    data = {"floats": FLOATS, "texts": [odd.format("x") for odd in _NAMES] + ["\x00", "\u2028"], "long": _LONG * "ü"}
    with opening.opened() as storage:
        storage.create(name, _FIRST)
        storage.append(name, 1, lambda new: [Draft(TOLD, data, 1.5)])
    entry = opening.read(name, 1)[0].read()
    for key, value in data.items():
        due, held = json.dumps(value), json.dumps(entry.data[key])
        demand(held == due, f"{key} are {held[:500]}, expected {due[:500]}")
    demand(entry.time == 1.5, f"the time is {entry.time}, expected 1.5")


@STORAGE_LAWS.state
def restored_events_are_the_same(opening: Opening) -> None:
    """A ledger that is restored has the very events that were given, and goes on from the last."""
    name = f"{opening.mark} restored"
    events = chain([_FIRST, *_told(*range(1200))], 0, START)
    with opening.opened() as storage:
        storage.restore(name, events)
        restored = opening.read(name)
        added = storage.append(name, len(events), lambda new: _told(7))
        demand(restored == events, "they are not those that were given")
        head, last = storage.head(name), (added[-1].sequence, added[-1].hash)
        demand(head == last, f"head gives {head}, expected {last}")
        said = _refusal(lambda: storage.restore(f"{name} empty", []))
        demand(said is not None, "a ledger without events is not refused")
    broken = first_break(opening.read(name))
    demand(not broken, broken)


def _together(opening: Opening, work: Callable[[int, Storage], None]) -> None:
    """Do the work in several threads at once, each with a connection of its own."""
    start, failures = threading.Barrier(WRITERS), list[str]()

    def run(number: int) -> None:
        try:
            with opening.opened() as storage:
                start.wait(_PATIENCE)
                work(number, storage)
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + _PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    stuck = sum(thread.is_alive() for thread in threads)
    demand(stuck == 0, f"{stuck} of {WRITERS} threads are not done after {_PATIENCE:g} s")
    demand(not failures, f"{len(failures)} of {WRITERS} threads failed: {', '.join(failures[:3])}")
