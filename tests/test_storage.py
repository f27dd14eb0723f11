"""Every storage keeps the laws; storages broken on purpose break the right one."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from paretoguard import testing
from paretoguard.errors import LedgerError, StorageError
from paretoguard.experiment import events as ledger
from paretoguard.experiment.events import START, Draft, Event, chain, first_break
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.sql import SqlStorage
from paretoguard.experiment.storage import Make, open_storage
from paretoguard.testing.__main__ import main

FIRST = Draft("created", {}, 0.0)


def by_name(law: testing.StorageLaw) -> str:
    return getattr(law, "__name__", "law")


@pytest.mark.parametrize("law", testing.STORAGE_LAWS, ids=by_name)
def test_databases_keep_the_laws(url: str, law: testing.StorageLaw) -> None:
    law(testing.Opening(lambda: SqlStorage(url)))


def test_the_memory_keeps_the_laws() -> None:
    storage = MemoryStorage()
    testing.check_storage(lambda: storage)


def test_a_database_keeps_the_laws_twice_over(tmp_path: Path) -> None:
    for _ in range(2):
        testing.check_storage(lambda: open_storage(f"sqlite:///{tmp_path}/ledgers.db"))


# --- broken on purpose -----------------------------------------------------------------------------------------------


class Unlocked(MemoryStorage):
    """Numbers events without looking whether somebody else did meanwhile."""

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        held = list(self.events(name))
        added = chain(make(held[after:]), len(held), held[-1].hash)
        self._ledgers[name] += added
        return added


class Losing(MemoryStorage):
    """When somebody else was faster, what was to be added is lost, and nobody told."""

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        held = list(self.events(name))
        added = chain(make(held[after:]), len(held), held[-1].hash)
        if len(self._ledgers[name]) == len(held):
            self._ledgers[name] += added
        return added


class Halving(MemoryStorage):
    """Adds drafts one by one: those before a wrong one stay."""

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        added = []
        for draft in make(list(self.events(name, after))):
            added += super().append(name, after, lambda new, draft=draft: [draft])  # type: ignore[misc]
        return added


class Careless(MemoryStorage):
    """Begins a ledger anew where there is one."""

    def restore(self, name: str, events: list[Event]) -> None:
        self._ledgers[name] = list(events)


class Stripping(MemoryStorage):
    """Takes names for equal that are not."""

    def _ledger(self, name: str) -> list[Event]:
        return super()._ledger(name.strip())

    def restore(self, name: str, events: list[Event]) -> None:
        super().restore(name.strip(), events)


class Rounding(MemoryStorage):
    """Keeps the content of lines, not the lines."""

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        for event in super().events(name, after):
            yield event._replace(line=event.line.replace("-0.0", "0.0"))


class Impatient(MemoryStorage):
    """Does not let anybody write while somebody reads."""

    readers = 0

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        Impatient.readers += 1
        try:
            yield from super().events(name, after)
        finally:
            Impatient.readers -= 1

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        if Impatient.readers:
            raise OSError("somebody is reading")
        return super().append(name, after, make)


class Anonymous(MemoryStorage):
    """Does not say which ledger is missing."""

    def _ledger(self, name: str) -> list[Event]:
        if name not in self._ledgers:
            raise StorageError("there is no such ledger")
        return super()._ledger(name)


class Stale(MemoryStorage):
    """Does not look at `after`."""

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        return super().events(name)


BROKEN: list[tuple[type[MemoryStorage], str]] = [
    (Unlocked, "a counter has the values .*, expected"),
    (Losing, "returned were|a counter has the values"),
    (Halving, "after StorageError there are .*, expected the first alone"),
    (Careless, "create of '.* taken' is not refused"),
    (Stripping, "there is an experiment .* already"),
    (Rounding, "floats are .* expected .*-0.0"),
    (Impatient, "neither stops a writer .* Broken by OSError: somebody is reading"),
    (Anonymous, "without the name '.* missing'"),
    (Stale, "after 1 it reads"),
]


@pytest.mark.parametrize(("broken", "found"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_broken_storages_are_caught(broken: type[MemoryStorage], found: str) -> None:
    storage = broken()
    with pytest.raises(testing.BrokenLawError, match=found):
        testing.check_storage(lambda: storage)


def test_a_storage_that_keeps_nothing_is_caught() -> None:
    with pytest.raises(testing.BrokenLawError, match=r"read back by another connection.* there is no experiment"):
        testing.check_storage(MemoryStorage)


@dataclass(eq=False)
class InFolder(SqlStorage):
    """A storage that is named by its class."""

    folder: str

    def __post_init__(self) -> None:
        super().__init__(f"sqlite:///{self.folder}/ledgers.db")


def test_a_storage_is_named_by_its_class(tmp_path: Path) -> None:
    testing.check(f"test_storage:InFolder:folder={tmp_path}")
    assert (tmp_path / "ledgers.db").exists()


def test_the_command_checks_a_storage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"sqlite:///{tmp_path}/ledgers.db"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line[2:8] for line in lines] == ["holds "] * len(testing.STORAGE_LAWS)
    assert main([f"sqlite:///{tmp_path}/nowhere/ledgers.db"]) == 2
    assert "is there such a folder" in capsys.readouterr().err


# --- what is particular to databases ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "expected a URL"),
        ("ledgers.db", "expected a URL"),
        ("mysql://me:secret@host/ledgers", r"'mysql://me:\*\*\*@host/ledgers' is not known"),
        ("sqlite://", "would be lost with this process"),
        ("sqlite:///:memory:", "would be lost with this process"),
        ("sqlite://ledgers.db", "three slashes"),
        ("sqlite:///file:ledgers.db?mode=ro&uri=true", "give the file alone"),
        ("postgresql://host:port/ledgers", "expected a URL"),
    ],
)
def test_wrong_urls_are_refused(url: str, message: str) -> None:
    with pytest.raises(StorageError, match=message):
        open_storage(url)


def test_what_is_no_storage_is_refused() -> None:
    with pytest.raises(StorageError, match="storage is 3, expected a URL"):
        open_storage(3)  # type: ignore[arg-type]
    storage = MemoryStorage()
    assert open_storage(storage) is storage


def test_a_file_stays_the_same_wherever_the_process_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    storage = open_storage("sqlite:///ledgers.db")
    monkeypatch.chdir("/")
    storage.create("a", FIRST)
    storage.close()
    assert storage.names() == ["a"]
    storage.close()
    assert (tmp_path / "ledgers.db").exists()


def test_who_only_looks_makes_nothing(url: str, tmp_path: Path) -> None:
    storage = open_storage(url)
    assert storage.names() == []
    for attempt in (
        lambda: storage.head("a"),
        lambda: list(storage.events("a")),
        lambda: storage.append("a", 0, lambda new: []),
    ):
        with pytest.raises(StorageError, match="there is no experiment 'a' here; there are: none"):
            attempt()
    assert list(tmp_path.iterdir()) == []
    storage.create("a", FIRST)
    assert storage.names() == ["a"]
    storage.close()


def test_both_names_of_postgresql_are_known(postgresql: str) -> None:
    for given in (postgresql, postgresql.replace("postgresql:", "postgres:"), postgresql.replace(":", "+psycopg2:", 1)):
        storage = open_storage(given)
        assert storage.names() == []
        storage.close()


def test_a_storage_survives_a_fork(url: str) -> None:
    """In a process of its own: this one may have threads."""
    code = """
import os, sys
from paretoguard.experiment.sql import SqlStorage
from paretoguard.experiment.events import Draft, first_break
storage = SqlStorage(sys.argv[1])
storage.create("a", Draft("created", {}, 0.0))
children = []
for _ in range(4):
    if not (child := os.fork()):
        for _ in range(5):
            storage.append("a", 1, lambda new: [Draft("told", {"n": len(new)}, 0.0)])
        os._exit(0)
    children.append(child)
for _ in range(5):
    storage.append("a", 1, lambda new: [Draft("told", {"n": len(new)}, 0.0)])
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
events = list(storage.events("a"))
assert [event.read().data["n"] for event in events[1:]] == list(range(25)), events
assert first_break(events, storage.head("a")) == ""
storage.close()
"""
    subprocess.run([sys.executable, "-c", code, url], check=True)


def test_a_storage_is_opened_without_the_compiler() -> None:
    code = "import sys, paretoguard.experiment.sql; sys.exit(bool({'numba', 'numpy', 'psycopg'} & {*sys.modules}))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_benchmark_counts_what_is_there(url: str) -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))  # they are scripts, not a package
    found = importlib.import_module("storages").contend(url, ["a", "a", "b"], 0.1)
    storage = SqlStorage(url)
    held = [list(storage.events(name)) for name in ("a", "b")]
    storage.close()
    assert [first_break(events) for events in held] == ["", ""]
    assert (found["writers"], found["ledgers"]) == (3, 2)
    assert found["appends"] == sum(map(len, held)) - 2 - 3  # the first of each ledger, and one of each writer


def test_the_table_of_writers_is_the_one_measured() -> None:
    root = Path(__file__).parent.parent
    rows = json.loads((root / "benchmarks" / "results" / "storages.json").read_text(encoding="utf-8"))["appends"]
    page = (root / "docs" / "speed.md").read_text(encoding="utf-8")
    for row in rows:
        [line] = [line for line in page.splitlines() if line.startswith(f"| {row['database']} | ")]
        assert f"| {row['per_second']:,.0f} · {row['p99_ms']:.1f} |" in line


# --- events ----------------------------------------------------------------------------------------------------------


def whole(count: int = 4) -> list[Event]:
    return chain([FIRST, *(Draft("told", {"n": number}, 1.0) for number in range(1, count))], 0, START)


def edited(events: list[Event]) -> list[Event]:
    return [*events[:1], events[1]._replace(line=events[1].line.replace('"n":1', '"n":7')), *events[2:]]


def renumbered(events: list[Event]) -> list[Event]:
    """A hash that is right, in a line that says another number."""
    return [*events[:3], Event(4, events[1].line, ledger.seal(events[2].hash, events[1].line))]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (edited, "event 2 does not have the hash"),
        (lambda events: [events[0], *events[2:]], "event 2 is missing: event 3 follows event 1"),
        (lambda events: events[1:], "event 1 is missing: event 2 follows event 0"),
        (lambda events: [events[0], events[2], events[1], events[3]], "event 2 is missing: event 3 follows event 1"),
        (renumbered, "event 4 says of itself that it is event 2"),
        (lambda events: events[:-1], "event 4 is missing: event 4 was recorded, but the last one is event 3"),
        (lambda events: [], "event 1 is missing"),
        (lambda events: [*events[:3], *chain([FIRST], 3, events[2].hash)], "event 4 has the hash .* was recorded"),
    ],
)
def test_changes_are_found(change: Callable[[list[Event]], list[Event]], found: str) -> None:
    events = whole()
    head = events[-1].sequence, events[-1].hash
    assert (
        first_break(events) == first_break(events, head) == first_break([*events, *chain([FIRST], *head)], head) == ""
    )
    assert re.match(found, first_break(change(events), head))


def test_no_events_are_a_break() -> None:
    assert first_break([]) == "there are no events"


def test_lines_that_cannot_be_read_are_refused() -> None:
    line = whole()[0].line
    for wrong, message in [
        (line.replace('"version":1', '"version":2'), "event 1 has version 2, this program knows 1.* use that one"),
        (line.replace("created", "creatd"), "unknown kind 'creatd'; expected one of created, asked"),
        (line[:-1], "event 1 cannot be read"),
        ("[]", "event 1 cannot be read"),
    ]:
        with pytest.raises(LedgerError, match=message):
            Event(1, wrong, "").read()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}, b"x"])
def test_what_cannot_be_written_is_refused(value: object) -> None:
    with pytest.raises(LedgerError, match=r"event 1 \(told\) cannot be written as JSON"):
        chain([Draft("told", {"x": value}, 0.0)], 0, START)


def test_long_lines_are_refused() -> None:
    with pytest.raises(LedgerError, match="more than 1,000,000"):
        chain([Draft("told", {"x": 1_000_000 * "x"}, 0.0)], 0, START)
