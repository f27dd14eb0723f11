"""How Game-cPSI's options were chosen: samples and time for each bonus, and for looking less often.

python benchmarks/game.py    writes benchmarks/results/game.csv and a table of docs/theory.md
"""

import sys
import time
from pathlib import Path
from typing import Any

import rows
from table import put

import paretoguard as pg

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "game.csv", ROOT / "docs" / "theory.md"
INSTANCES = ["two-stage-gap", "explainability", "racing-5", "random:K=5,d=3"]
OPTIONS = ["", "bonus=all", "test=10", "test=100", "respond=10", "respond=100", "respond=10,test=10"]
RUNS, DELTA = 200, 0.01


def measure() -> list[dict[str, Any]]:
    found = []
    for name in INSTANCES:
        for options in OPTIONS:
            algorithm = f"game-cpsi:{options}" if options else "game-cpsi"
            pg.simulate(name, algorithms=algorithm, delta=DELTA, runs=2)  # compiles
            start = time.perf_counter()
            study = pg.simulate(name, algorithms=algorithm, delta=DELTA, runs=RUNS, threads=1)
            took = time.perf_counter() - start
            (row,) = study.summary()
            samples = study.records["samples"].sum()
            found.append(
                {
                    "instance": name, "options": options or "none", "runs": RUNS, "mean": row["mean"],
                    "error_cpsi": row["error_cpsi"], "us_per_sample": float(1e6 * took / samples),
                }
            )  # fmt: skip
            print(found[-1], flush=True)
    return found


def fill(page: str, found: list[dict[str, str]]) -> str:
    names = list(dict.fromkeys(row["instance"] for row in found))
    lines = ["| options | " + " | ".join(f"`{name}`" for name in names) + " |", "|---|" + "---:|" * len(names)]
    base = {row["instance"]: float(row["mean"]) for row in found if row["options"] == "none"}
    for options in dict.fromkeys(row["options"] for row in found):
        cells = []
        for name in names:
            (row,) = [row for row in found if row["instance"] == name and row["options"] == options]
            mean = float(row["mean"])
            samples = f"{mean:,.0f}" if options == "none" else f"{mean / base[name]:.3f}"
            cells.append(f"{samples} · {float(row['us_per_sample']):.1f} µs")
        lines.append(f"| {'as it is' if options == 'none' else f'`{options}`'} | {' | '.join(cells)} |")
    return put(page, {"game": "\n".join(lines)})


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    rows.write(measure(), RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
