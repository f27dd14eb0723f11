"""What a durable ask and tell cost, beside Optuna's in the same run: two objectives and a constraint, five arms.

    python benchmarks/live.py            writes benchmarks/results/live.csv and the table of docs/speed.md
    python benchmarks/live.py --quick    a look in a minute; writes nothing

Needs Optuna: pip install -e '.[bench]'. Ours: an `Experiment` with `certified` evidence on SQLite as it comes. Optuna:
a study with two directions, the arm a categorical parameter, the constraint by `Trial.set_constraint`; on SQLite
(`RDBStorage`) and on a journal file (`JournalFileBackend`); with the cheapest sampler there is (`RandomSampler`, which
looks at no history), and with `NSGAIISampler`, which decides by it, as we do. What a commit costs depends on the disk:
`fsync` is timed beside them.
"""

import argparse
import gc
import os
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import machine
import rows
from sqlalchemy import event
from table import number, put

import paretoguard as pg
from paretoguard.compiler.tiers import COMPILED, forced
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.sql import SqlStorage

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "live.csv", ROOT / "docs" / "speed.md"
INSTANCE = "secukinumab"
HISTORIES = (100, 500, 1_000, 10_000)
WINDOWS, PAIRS = 9, 20  # so many pairs of ask and tell in a window
OURS, SQLITE, JOURNAL = "paretoguard, SQLite", "Optuna, SQLite", "Optuna, journal file"
GENETIC = ", NSGA-II"
DISK = "fsync of 200 bytes"
BARS = {SQLITE: (">=", 8.0), JOURNAL: ("<=", 1.2)}  # at AT results; his time / ours, and ours / his
AT, FLAT = 500, 1.25  # and: so many times the time at 10,000 results of that at 100, at most
ABOUT = ("date", "python", "optuna", "cores", "load_before", "load_after")
Pair = Callable[[], None]


class Ours:
    """An experiment whose history grows in memory; at each point it goes on in a SQLite file of its own."""

    def __init__(self, folder: Path) -> None:
        instance = pg.instances.load(INSTANCE)
        self._folder, self._sample = folder, pg.sampler(instance)
        self._memory = MemoryStorage()
        self._past = pg.Experiment.create("live", instance.problem, storage=self._memory, algorithm="e-cape")

    def after(self, results: int) -> Pair:
        while (known := self._past.status().samples) < results:
            self._tell(self._past, min(100, results - known))
        storage = SqlStorage(f"sqlite:///{self._folder}/ours-{results}.db")
        storage.restore("live", list(self._memory.events("live")))
        experiment = pg.Experiment.open("live", storage)
        return lambda: self._tell(experiment, 1)

    def _tell(self, experiment: pg.Experiment, n: int) -> None:
        for ticket in experiment.ask(n):
            experiment.tell(ticket, self._sample(ticket.arm))


class Optunas:
    """A study whose history grows by finished trials, put in without waiting for the disk; each point is a copy."""

    def __init__(self, folder: Path, suffix: str) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        instance = pg.instances.load(INSTANCE)
        self._arms, self._sample = list(instance.problem.arms), pg.sampler(instance)
        self._folder, self._suffix, self._results = folder, suffix, 0
        self._kinds = {"arm": optuna.distributions.CategoricalDistribution(self._arms)}
        optuna.create_study(study_name="live", storage=self._open("past"), directions=["maximize", "maximize"])

    def _open(self, stem: str) -> Any:
        from optuna.storages import JournalStorage, RDBStorage
        from optuna.storages.journal import JournalFileBackend

        path = f"{self._folder}/{stem}{self._suffix}"
        return RDBStorage(f"sqlite:///{path}") if self._suffix == ".db" else JournalStorage(JournalFileBackend(path))

    def after(self, results: int, sampler: str) -> Pair:
        import optuna

        self._grow(results)
        stem = f"optuna-{results}-{sampler}"
        shutil.copy(self._folder / f"past{self._suffix}", self._folder / f"{stem}{self._suffix}")
        made = getattr(optuna.samplers, sampler)(seed=0)
        study = optuna.load_study(study_name="live", storage=self._open(stem), sampler=made)
        return lambda: self._pair(study)

    def _grow(self, results: int) -> None:
        import optuna

        past = []
        for place in range(self._results, results):
            arm = self._arms[place % len(self._arms)]
            values = list(self._sample(arm).values())
            past.append(
                optuna.trial.create_trial(
                    params={"arm": arm}, distributions=self._kinds, values=values, constraints=_limits(values)
                )
            )
        storage = self._open("past")
        if self._suffix == ".db":
            event.listen(storage.engine, "connect", lambda one, record: one.execute("PRAGMA synchronous=OFF"))
            storage.engine.dispose()
        with mock.patch("os.fsync"):
            optuna.load_study(study_name="live", storage=storage).add_trials(past)
        if self._suffix == ".db":
            storage.engine.dispose()
        self._results = max(results, self._results)

    def _pair(self, study: Any) -> None:
        trial = study.ask()
        values = list(self._sample(trial.suggest_categorical("arm", self._arms)).values())
        for name, value in _limits(values).items():
            trial.set_constraint(name, value)
        study.tell(trial, values)


def _limits(values: list[float]) -> dict[str, float]:
    return {"efficacious": 0.4 - values[0]}


def disk(folder: Path) -> Pair:
    """What every durable commit pays at least."""
    file = os.open(folder / "disk", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write() -> None:
        os.write(file, b"x" * 200)
        os.fsync(file)

    return write


def competitors(folder: Path, histories: tuple[int, ...]) -> dict[tuple[str, int], Pair]:
    ours, sql, journal = Ours(folder), Optunas(folder, ".db"), Optunas(folder, ".log")
    found: dict[tuple[str, int], Pair] = {}
    for results in histories:
        found[OURS, results] = ours.after(results)
        for suffix, sampler in (("", "RandomSampler"), (GENETIC, "NSGAIISampler")):
            found[SQLITE + suffix, results] = sql.after(results, sampler)
            found[JOURNAL + suffix, results] = journal.after(results, sampler)
        found[DISK, results] = disk(folder)
        print(f"prepared: {results:,} results", flush=True)
    return found


def measure(folder: Path, histories: tuple[int, ...], windows: int) -> list[dict[str, Any]]:
    pairs = competitors(folder, histories)
    for pair in pairs.values():
        for _ in range(3):  # compiles, reads the history
            pair()
    times: dict[tuple[str, int], list[float]] = {key: [] for key in pairs}
    for _ in range(windows):  # they take turns, so that all see the same disk and the same neighbours
        for key, pair in pairs.items():
            gc.collect()
            start = time.perf_counter()
            for _ in range(PAIRS):
                pair()
            times[key].append(1e3 * (time.perf_counter() - start) / PAIRS)
    found = []
    for (name, results), seen in times.items():
        found.append(
            {
                "what": name, "results": results, "ms": statistics.median(seen), "least": min(seen),
                "greatest": max(seen), "times_ours": _ratio(seen, times[OURS, results]),
                "growth": _ratio(seen, times[name, min(histories)]),
            }
        )  # fmt: skip
        print(found[-1], flush=True)
    return found


def _ratio(above: list[float], below: list[float]) -> float:
    """The median of the ratios window by window."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def missed(found: list[dict[str, str]]) -> list[str]:
    """The bars that do not hold."""
    times = {(row["what"], int(row["results"])): row for row in found}
    wrong = []
    if float(times[SQLITE, AT]["times_ours"]) < BARS[SQLITE][1]:
        wrong.append(f"{SQLITE}: {float(times[SQLITE, AT]['times_ours']):.2f} times ours, expected at least 8")
    share = 1 / float(times[JOURNAL, AT]["times_ours"])
    if share > BARS[JOURNAL][1]:
        wrong.append(f"{JOURNAL}: ours is {share:.2f} times it, expected at most 1.2")
    growth = float(times[OURS, max(HISTORIES)]["growth"])
    if growth > FLAT:
        wrong.append(f"{OURS}: {growth:.2f} times as long at {max(HISTORIES):,} results as at {min(HISTORIES):,}")
    return wrong


def fill(page: str, found: list[dict[str, str]]) -> str:
    points = list(dict.fromkeys(int(row["results"]) for row in found))
    lines = ["| ms for an ask and a tell, after | " + " | ".join(f"{at:,} results" for at in points) + " |"]
    lines.append("|---|" + "---:|" * len(points))
    for name in dict.fromkeys(row["what"] for row in found):
        cells = []
        for row in (row for row in found if row["what"] == name):
            times = f" · {number(float(row['times_ours']))} ×" if name not in (OURS, DISK) else ""
            cells.append(f"{number(float(row['ms']))}{times}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    last = found[0]
    lines.append(
        f"\nPython {last['python']}, Optuna {last['optuna']}, {last['cores']} cores; load average (1 minute) before "
        f"and after: {last['load_before']} and {last['load_after']}."
    )
    return put(page, {"live": "\n".join(lines)})


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look: little history, few windows; nothing is written")
    parser.add_argument("--folder", type=Path, help="where the databases go while measured; the disk matters")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # Optuna's about what is experimental
    about = machine.describe()
    print(about, flush=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, forced(COMPILED):
        found = measure(Path(folder), (100, 500) if given.quick else HISTORIES, 3 if given.quick else WINDOWS)
    about |= {"optuna": version("optuna"), "load_before": about["load_before"][0], "load_after": machine.load()[0]}
    found = [row | {key: about[key] for key in ABOUT} for row in found]
    print("load after:", about["load_after"])
    if given.quick:
        return 0
    rows.write(found, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    for bar in missed(read()):
        print("missed:", bar)
    return 0


if __name__ == "__main__":
    sys.exit(main())
