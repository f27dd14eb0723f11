"""How long a ledger takes to open from SQLite, without a snapshot: every event read, and folded through the engine.

    python benchmarks/opening.py [--results N]    writes benchmarks/results/opening.csv

Two events a result (asked, told), as a program writes them that measures one at a time. Kernels are on disk, and run as
they do by default.
"""

import argparse
import csv
import tempfile
import time
from pathlib import Path
from typing import Any

import paretoguard as pg
from paretoguard.compiler.tiers import COMPILED, forced
from paretoguard.experiment.events import ASKED, TOLD, Draft
from paretoguard.experiment.experiment import Experiment
from paretoguard.experiment.sql import SqlStorage

RESULTS = Path(__file__).parent / "results" / "opening.csv"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
AT_ONCE = 50_000
DELTA = 1e-9


def write_ledger(storage: SqlStorage, name: str, results: int) -> None:
    """A ledger of secukinumab with so many results, asked for in turn."""
    instance = pg.instances.load("secukinumab")
    problem, sample = instance.problem, pg.sampler(instance)
    Experiment.create(name, problem, storage=storage, delta=DELTA, algorithm="e-cape")
    for first in range(0, results, AT_ONCE):
        drafts = []
        for number in range(first, min(first + AT_ONCE, results)):
            arm = problem.arms[number % len(problem.arms)]
            drafts.append(Draft(ASKED, {"arms": [arm]}, 0.0))
            drafts.append(Draft(TOLD, {"id": number, "arm": arm, "values": dict(sample(arm))}, 0.0))
        storage.append(name, 10**12, lambda events, drafts=drafts: drafts)


def measured(folder: Path, results: int) -> dict[str, Any]:
    storage = SqlStorage(f"sqlite:///{folder}/ledger-{results}.db")
    write_ledger(storage, "opening", results)
    seconds = []
    for _ in range(3 if results < 100_000 else 1):
        begun = time.perf_counter()
        experiment = Experiment.open("opening", storage)
        seconds.append(time.perf_counter() - begun)
    assert experiment.status().samples == results
    storage.close()
    best = min(seconds)
    return {"results": results, "seconds": f"{best:.3g}", "microseconds_per_result": f"{1e6 * best / results:.3g}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--results", type=int, help="this many results only; nothing is written")
    chosen = parser.parse_args().results
    with tempfile.TemporaryDirectory() as folder:
        with forced(COMPILED):
            measured(Path(folder), 10)
        rows = []
        for results in [chosen] if chosen else SIZES:
            rows.append(measured(Path(folder), results))
            print(f"{results:,} results: {rows[-1]['seconds']} s", flush=True)
    if chosen is None:
        with RESULTS.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
