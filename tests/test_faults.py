"""Faults for real: processes killed, databases gone, full, in use, damaged, or changed behind our back."""

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest
import sqlalchemy as sa

from paretoguard.errors import LedgerError, StorageError
from paretoguard.experiment import database
from paretoguard.experiment.events import START, Draft, Event, chain, first_break, seal
from paretoguard.experiment.sql import SqlStorage
from servers import Server

FIRST = Draft("created", {}, 0.0)


def told(*numbers: int) -> Callable[[list[Event]], list[Draft]]:
    return lambda new: [Draft("told", {"n": number}, 0.0) for number in numbers]


def numbers(storage: SqlStorage) -> list[int]:
    events = list(storage.events("a"))
    assert first_break(events, storage.head("a")) == ""
    return [event.read().data["n"] for event in events[1:]]


@pytest.fixture
def storage(url: str) -> Iterator[SqlStorage]:
    storage = SqlStorage(url)
    storage.create("a", FIRST)
    storage.append("a", 1, told(1, 2))
    yield storage
    storage.close()


def change(url: str, *statements: str) -> None:
    """Behind our back."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as lite:
            for statement in statements:
                lite.execute(statement)
    else:
        with psycopg.connect(url, autocommit=True) as postgres:
            for statement in statements:
                postgres.execute(statement.encode())


# --- processes killed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kills", [100, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_processes_lose_and_double_nothing(url: str, kills: int) -> None:
    chance, script = random.Random(11), Path(__file__).with_name("appending.py")
    acknowledged = dict[tuple[int, int], tuple[int, str]]()
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for _ in range(kills // 2):
            parent.stdin.write(2 * f"{url} a\n")  # two lives at once
            _end_both(parent.stdout, chance, acknowledged)
        parent.stdin.close()
    assert parent.returncode == 0
    storage = SqlStorage(url)
    assert len(acknowledged) > kills
    _check(list(storage.events("a")), storage.head("a"), acknowledged)
    storage.append("a", 0, told(1))
    storage.close()


def _end_both(said: IO[str], chance: random.Random, acknowledged: dict[tuple[int, int], tuple[int, str]]) -> None:
    started, ended, added = list[int](), 0, 0
    patience = chance.choice([0, 0, 1, 4, 9])  # 0: perhaps before it has connected
    while ended < 2:
        what, *words = said.readline().split()
        if what == "started":
            started.append(int(words[0]))
        elif what == "added":
            added += 1
            acknowledged[int(words[0]), int(words[1])] = (int(words[2]), words[3])
        else:
            assert int(words[1]) == signal.SIGKILL, "it died by itself"
            ended += 1
        if len(started) == 2 and added >= patience:
            for process in started:
                time.sleep(chance.uniform(0.0, 0.012))
                os.kill(process, signal.SIGKILL)
            started = []


def _check(events: list[Event], head: tuple[int, str], acknowledged: dict[tuple[int, int], tuple[int, str]]) -> None:
    assert first_break(events, head) == ""
    for sequence, sealed in acknowledged.values():
        assert events[sequence - 1].hash == sealed
    parts = defaultdict[tuple[int, int], list[int]](list)
    for event in events[1:]:
        data = event.read().data
        parts[data["life"], data["n"]].append(data["part"])
    assert all(found == list(range(1 + n % 3)) for (_, n), found in parts.items())  # whole, and once
    assert {*acknowledged} <= {*parts}
    unsaid = [life for life, _ in {*parts} - {*acknowledged}]
    assert len(unsaid) == len({*unsaid})  # at most one each was recorded whose acknowledgement death prevented


# --- databases gone and back -----------------------------------------------------------------------------------------


def test_a_server_that_crashes_and_comes_back() -> None:
    server = Server()
    try:
        storage = SqlStorage(server.url)
        storage.create("a", FIRST)
        storage.append("a", 1, told(1))
        os.kill(server.process, signal.SIGQUIT)  # at once, and without ceremony
        _wait_for(lambda: not server.is_running)
        for attempt in (storage.names, lambda: storage.append("a", 1, told(2)), lambda: list(storage.events("a"))):
            with pytest.raises(StorageError, match=r"cannot be used: .*server"):
                attempt()
        server.start()
        assert storage.append("a", 2, told(3))[0].sequence == 3
        assert numbers(storage) == [1, 3]
        storage.close()
    finally:
        server.close()


def _wait_for(happened: Callable[[], bool]) -> None:
    for _ in range(2000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within 20 s")


def test_a_connection_that_breaks_in_the_middle(postgresql: str) -> None:
    storage = SqlStorage(postgresql)
    storage.create("a", FIRST)

    def breaking(new: list[Event]) -> list[Draft]:
        change(postgresql, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        return told(1)(new)

    with pytest.raises(StorageError, match="nothing of this change was recorded"):
        storage.append("a", 1, breaking)
    assert numbers(storage) == []
    storage.append("a", 1, told(2))
    assert numbers(storage) == [2]
    storage.close()


def test_a_connection_that_breaks_at_the_end(postgresql: str) -> None:
    """Nobody can know then whether the change was recorded, and that is said."""
    storage = SqlStorage(postgresql)
    storage.create("a", FIRST)
    change(
        postgresql,
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER dying AFTER INSERT ON paretoguard_event INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION die()",
    )
    with pytest.raises(StorageError, match="it may be recorded or not; look before you repeat it"):
        storage.append("a", 1, told(1))
    change(postgresql, "DROP TRIGGER dying ON paretoguard_event")
    assert numbers(storage) == []
    storage.close()


def test_a_folder_that_is_moved_and_comes_back(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    storage = SqlStorage(f"sqlite:///{here}/ledgers.db")
    storage.create("a", FIRST)
    storage.append("a", 1, told(1))
    here.rename(there)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"ledgers.db is gone: .* bring it back"):
            storage.append("a", 1, told(2))
    there.rename(here)
    storage.append("a", 1, told(3))
    assert numbers(storage) == [1, 3]
    storage.close()


def test_a_file_that_is_deleted_is_not_written_to(tmp_path: Path) -> None:
    storage = SqlStorage(f"sqlite:///{tmp_path}/ledgers.db")
    storage.create("a", FIRST)
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(StorageError, match=r"ledgers.db is gone"):
        storage.append("a", 1, told(2))
    assert list(tmp_path.iterdir()) == []
    other = SqlStorage(f"sqlite:///{tmp_path}/ledgers.db")
    other.create("b", FIRST)
    with pytest.raises(StorageError, match="there is no experiment 'a' here; there are: b"):
        storage.append("a", 1, told(2))
    storage.close()
    other.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    storage = SqlStorage(f"sqlite:///{tmp_path}/nowhere/ledgers.db")
    with pytest.raises(StorageError, match=r"cannot open .* is there such a folder"):
        storage.names()
    with pytest.raises(StorageError, match=r"cannot be used: .*"):
        SqlStorage("postgresql://nobody@localhost:1/nothing").names()


# --- full, in use, damaged -------------------------------------------------------------------------------------------


def test_a_full_disk(tmp_path: Path) -> None:
    storage = SqlStorage(f"sqlite:///{tmp_path}/ledgers.db")
    storage.create("a", FIRST)
    engine = storage._database.engine

    def limit(connection: Any, record: Any) -> None:
        connection.execute("PRAGMA max_page_count=100")

    sa.event.listen(engine, "connect", limit)
    storage.close()
    added = 0

    def small_and_large(new: list[Event]) -> list[Draft]:
        return [*told(added)(new), Draft("told", {"n": added, "x": 9000 * "x"}, 0.0)]

    def fill() -> None:
        nonlocal added
        while added < 1000:
            storage.append("a", 1, small_and_large)
            added += 1

    with pytest.raises(StorageError, match="is full; nothing of this change was recorded"):
        fill()
    assert added > 10
    kept = [number for number in range(added) for _ in range(2)]
    assert numbers(storage) == kept
    with pytest.raises(StorageError, match="is full"):
        storage.append("a", 1, told(*range(1000)))
    storage.append("a", 1, told(7))  # a small one still has room
    sa.event.remove(engine, "connect", limit)
    storage.close()
    storage.append("a", 1, told(*range(1000)))
    assert numbers(storage) == [*kept, 7, *range(1000)]
    storage.close()


def test_a_disk_that_refuses_to_write(tmp_path: Path) -> None:
    """The system's own limit on files, in a process of its own."""
    code = """
import resource, sys
from paretoguard.errors import StorageError
from paretoguard.experiment.sql import SqlStorage
from paretoguard.experiment.events import Draft
storage = SqlStorage(sys.argv[1])
storage.create("a", Draft("created", {}, 0.0))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
try:
    for n in range(1000):
        storage.append("a", 1, lambda new: [Draft("told", {"n": n, "x": 900 * "x"}, 0.0)])
except StorageError as error:
    assert "nothing of this change was recorded" in str(error), error
else:
    raise AssertionError("not refused")
print(n)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
storage.append("a", 1, lambda new: [Draft("told", {"n": n}, 0.0)])
storage.close()
"""
    url = f"sqlite:///{tmp_path}/ledgers.db"
    done = subprocess.run([sys.executable, "-c", code, url], check=True, capture_output=True, text=True)
    storage = SqlStorage(url)
    assert numbers(storage) == list(range(int(done.stdout) + 1))
    storage.close()


def test_a_database_in_use(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    storage = SqlStorage(url)
    storage.create("a", FIRST)
    held = "another process has held it for more than 0.05 s"
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageError, match=held):
                storage.append("a", 1, told(1))
    else:
        with psycopg.connect(url) as holder:
            holder.execute("SELECT * FROM paretoguard_ledger FOR UPDATE")
            with pytest.raises(StorageError, match=held):
                storage.append("a", 1, told(1))
    storage.append("a", 1, told(2))
    assert numbers(storage) == [2]
    storage.close()


def test_what_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "ledgers.db"
    file.write_bytes(random.Random(1).randbytes(5000))
    storage = SqlStorage(f"sqlite:///{file}")
    for attempt in (storage.names, lambda: storage.create("a", FIRST)):
        with pytest.raises(StorageError, match="is no SQLite database, or a damaged one"):
            attempt()
    storage.close()


def test_half_a_database(tmp_path: Path) -> None:
    file = tmp_path / "ledgers.db"
    storage = SqlStorage(f"sqlite:///{file}")
    storage.create("a", FIRST)
    storage.append("a", 1, told(*range(2000)))
    storage.close()
    os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(StorageError, match="damaged"):
        list(storage.events("a"))
    storage.close()
    file.write_bytes(b"")  # which SQLite takes for a new one
    with pytest.raises(StorageError, match="no such table"):
        storage.head("a")
    storage.close()


# --- changed behind our back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (["UPDATE paretoguard_event SET line = replace(line, '2}', '7}') WHERE sequence = 3"], "event 3 does not have"),
        (["DELETE FROM paretoguard_event WHERE sequence = 2"], "event 2 is missing: event 3 follows"),
        (["DELETE FROM paretoguard_event WHERE sequence = 3"], "event 3 is missing: event 3 was recorded"),
        (["DELETE FROM paretoguard_event"], "event 1 is missing: event 3 was recorded"),
        (
            [f"UPDATE paretoguard_event SET sequence = {a} WHERE sequence = {b}" for a, b in ((9, 2), (2, 3), (3, 9))],
            "event 2 does not have the hash",
        ),
        (["UPDATE paretoguard_ledger SET sequence = 2"], "event 2 has the hash .* was recorded for it"),
    ],
)
def test_changes_are_found(url: str, storage: SqlStorage, statements: list[str], found: str) -> None:
    assert first_break(storage.events("a"), storage.head("a")) == ""
    change(url, *statements)
    head = storage.head("a")
    assert re.match(found, first_break(storage.events("a"), head))


def test_events_that_somebody_else_added_are_not_overwritten(url: str, storage: SqlStorage) -> None:
    change(url, "UPDATE paretoguard_ledger SET sequence = 2")
    with pytest.raises(LedgerError, match=r"holds more events than it says, from event 3 on: .* nothing was recorded"):
        storage.append("a", 2, told(9))
    change(url, "UPDATE paretoguard_ledger SET sequence = 3")
    assert numbers(storage) == [1, 2]


def test_a_ledger_of_a_later_version_is_left_alone(url: str) -> None:
    storage, events = SqlStorage(url), chain([FIRST], 0, START)
    line = '{"version":2,"sequence":2,"time":0.0,"kind":"told","data":{}}'
    events.append(Event(2, line, seal(events[0].hash, line)))
    storage.restore("a", events)

    def decide(new: list[Event]) -> list[Draft]:
        return told(len([event.read() for event in new]))(new)

    for attempt in (
        lambda: [event.read() for event in storage.events("a")],
        lambda: storage.append("a", 0, decide),
        lambda: first_break(storage.events("a")),
    ):
        with pytest.raises(LedgerError, match=r"event 2 has version 2, this program knows 1: .* use that one"):
            attempt()
    assert list(storage.events("a")) == events
    storage.close()
