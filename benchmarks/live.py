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
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import rows
from table import number, put

import paretoguard as pg
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
AT, FLAT = 500, 1.25  # and: 10,000 results at most so many times 100
Pair = Callable[[], None]


class Ours:
    """An experiment whose history grows in memory; each point is timed on a fresh SQLite file with all of it."""

    def __init__(self, folder: Path) -> None:
        instance = pg.instances.load(INSTANCE)
        self._folder, self._sample = folder, pg.sampler(instance)
        self._memory = MemoryStorage()
        self._past = pg.Experiment.create("live", instance.problem, storage=self._memory)

    def grow(self, results: int) -> Pair:
        while self._past.status().samples < results:
            self._tell(self._past, min(100, results - self._past.status().samples))
        storage = SqlStorage(f"sqlite:///{self._folder}/ours-{results}.db")
        storage.restore("live", list(self._memory.events("live")))
        experiment = pg.Experiment.open("live", storage)
        return lambda: self._tell(experiment, 1)

    def _tell(self, experiment: pg.Experiment, n: int) -> None:
        for ticket in experiment.ask(n):
            experiment.tell(ticket, self._sample(ticket.arm))


class Optunas:
    """A study whose history grows by finished trials put in at once."""

    def __init__(self, storage: Any, sampler: Any) -> None:
        import optuna

        instance = pg.instances.load(INSTANCE)
        self._optuna, self._arms, self._sample = optuna, list(instance.problem.arms), pg.sampler(instance)
        self._study = optuna.create_study(storage=storage, sampler=sampler, directions=["maximize", "maximize"])
        self._kinds = {"arm": optuna.distributions.CategoricalDistribution(self._arms)}
        self._results = 0

    def grow(self, results: int) -> Pair:
        past = []
        for place in range(self._results, results):
            arm = self._arms[place % len(self._arms)]
            values = list(self._sample(arm).values())
            past.append(
                self._optuna.trial.create_trial(
                    params={"arm": arm}, distributions=self._kinds, values=values, constraints=self._limit(values)
                )
            )
        self._study.add_trials(past)
        self._results = max(results, self._results)
        return self._pair

    def _limit(self, values: list[float]) -> dict[str, float]:
        return {"efficacious": 0.4 - values[0]}

    def _pair(self) -> None:
        trial = self._study.ask()
        values = list(self._sample(trial.suggest_categorical("arm", self._arms)).values())
        for name, value in self._limit(values).items():
            trial.set_constraint(name, value)
        self._study.tell(trial, values)
        self._results += 1


def competitors(folder: Path) -> dict[str, Any]:
    import optuna
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    found: dict[str, Any] = {OURS: Ours(folder)}
    for suffix, sampler in (("", optuna.samplers.RandomSampler), (GENETIC, optuna.samplers.NSGAIISampler)):
        sql = RDBStorage(f"sqlite:///{folder}/optuna{len(suffix)}.db")
        file = JournalStorage(JournalFileBackend(f"{folder}/optuna{len(suffix)}.log"))
        found[SQLITE + suffix] = Optunas(sql, sampler(seed=0))
        found[JOURNAL + suffix] = Optunas(file, sampler(seed=0))
    return found


def disk(folder: Path) -> Pair:
    """What every durable commit pays at least."""
    file = os.open(folder / "disk", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write() -> None:
        os.write(file, b"x" * 200)
        os.fsync(file)

    return write


def measure(folder: Path, histories: tuple[int, ...], windows: int) -> list[dict[str, Any]]:
    rivals, found = competitors(folder), []
    for results in histories:
        pairs = {name: rival.grow(results) for name, rival in rivals.items()} | {DISK: disk(folder)}
        for pair in pairs.values():
            for _ in range(3):  # compiles, reads the history
                pair()
        times: dict[str, list[float]] = {name: [] for name in pairs}
        for _ in range(windows):  # one after the other, so that all see the same disk and the same neighbours
            for name, pair in pairs.items():
                gc.collect()
                start = time.perf_counter()
                for _ in range(PAIRS):
                    pair()
                times[name].append(1e3 * (time.perf_counter() - start) / PAIRS)
        for name, seen in times.items():
            ratios = [other / ours for other, ours in zip(seen, times[OURS], strict=True)]
            found.append(
                {
                    "what": name, "results": results, "ms": statistics.median(seen), "least": min(seen),
                    "greatest": max(seen), "times_ours": statistics.median(ratios),
                }
            )  # fmt: skip
            print(found[-1], flush=True)
    return found


def missed(found: list[dict[str, str]]) -> list[str]:
    """The bars that do not hold."""
    times = {(row["what"], int(row["results"])): row for row in found}
    wrong = []
    if float(times[SQLITE, AT]["times_ours"]) < BARS[SQLITE][1]:
        wrong.append(f"{SQLITE}: {float(times[SQLITE, AT]['times_ours']):.2f} times ours, expected at least 8")
    share = 1 / float(times[JOURNAL, AT]["times_ours"])
    if share > BARS[JOURNAL][1]:
        wrong.append(f"{JOURNAL}: ours is {share:.2f} times it, expected at most 1.2")
    growth = float(times[OURS, max(HISTORIES)]["ms"]) / float(times[OURS, min(HISTORIES)]["ms"])
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
    return put(page, {"live": "\n".join(lines)})


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look: little history, few windows; nothing is written")
    parser.add_argument("--folder", type=Path, help="where the databases go while measured; the disk matters")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # Optuna's about what is experimental
    print(machine.describe(), flush=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        found = measure(Path(folder), (100, 500) if given.quick else HISTORIES, 3 if given.quick else WINDOWS)
    print("load after:", machine.load())
    if given.quick:
        return 0
    rows.write(found, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    for bar in missed(read()):
        print("missed:", bar)
    return 0


if __name__ == "__main__":
    sys.exit(main())
