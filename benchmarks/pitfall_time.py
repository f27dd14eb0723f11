"""What a decision of `pitfall` takes beside one of `e-cape`, in the same run: by arms, and by the size p of the answer.

    python benchmarks/pitfall_time.py    writes benchmarks/results/pitfall-time.csv and the tables of docs/pitfall.md

Nanoseconds a sample of runs that are cut at a budget, one thread; both in turns, the least of several rounds counts.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rows
from alternatives import case
from table import number, put

import paretoguard as pg

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "pitfall-time.csv", ROOT / "docs" / "pitfall.md"
BY_ARMS = ["random:K=20,d=3,m=2,seed=7", "random:K=20,d=3,m=4,seed=1", "random:K=500,d=3,m=2,seed=1"]
BY_ANSWER, OBJECTIVES = [2, 4, 8, 16, 32], 3  # sizes of the answer; with five arms below it
ALL_BEST = 500  # arms, every one of them in the answer
HOW = ["e-cape", "pitfall"]
DELTA, BUDGET, RUNS, ROUNDS = 1e-10, 20_000, 3, 3
BAR = 20.0  # times e-cape


def of_size(p: int) -> pg.Instance:
    """So many arms that are the answer, and five below them; no constraints."""
    means, _ = case(p, OBJECTIVES)
    names = [f"a{k}" for k in range(len(means))]
    goals = {f"y{c}": "max" for c in range(OBJECTIVES)}
    noise = {goal: pg.Gaussian(1.0) for goal in goals}
    return pg.Instance(
        pg.Problem(goals, arms=names, noise=noise, dependence="independent", name=f"answer of {p}"), means
    )


def all_best(arms: int) -> pg.Instance:
    """Arms on a sphere, none of which dominates another; no constraints."""
    means = np.abs(np.random.default_rng(1).normal(size=(arms, OBJECTIVES)))
    means *= 10.0 / np.linalg.norm(means, axis=1, keepdims=True)
    goals = {f"y{c}": "max" for c in range(OBJECTIVES)}
    noise = {goal: pg.Gaussian(1.0) for goal in goals}
    names = [f"a{k}" for k in range(arms)]
    return pg.Instance(pg.Problem(goals, arms=names, noise=noise, dependence="independent", name="all best"), means)


def nanoseconds(instance: pg.Instance, how: str) -> float:
    begun = time.perf_counter()
    study = pg.simulate(instance, algorithms=how, delta=DELTA, runs=RUNS, budget=BUDGET, threads=1)
    return 1e9 * (time.perf_counter() - begun) / (RUNS * float(study.summary()[0]["mean"]))


def measured(name: str, instance: pg.Instance) -> dict[str, Any]:
    for how in HOW:
        pg.simulate(instance, algorithms=how, delta=DELTA, runs=1, budget=1_000, threads=1)  # compiles
    found = [[nanoseconds(instance, how) for how in HOW] for _ in range(ROUNDS)]
    ecape, pitfall = np.min(found, axis=0)
    size = len(instance.truth().pareto)
    line = {"instance": name, "arms": len(instance.means), "answer": size, "ecape": ecape, "pitfall": pitfall}
    print(name, {key: f"{value:.4g}" for key, value in line.items() if key in ("ecape", "pitfall")}, flush=True)
    return {**line, "times": pitfall / ecape}


def fill(page: str, found: list[dict[str, str]]) -> str:
    """The page with its table."""
    lines = ["| instance | arms | answer | `e-cape`, ns | `pitfall`, ns | times |", "|---|---:|---:|---:|---:|---:|"]
    for row in found:
        cells = [number(float(row[key])) for key in ("ecape", "pitfall", "times")]
        lines.append(f"| {row['instance']} | {row['arms']} | {row['answer']} | {' | '.join(cells)} |")
    return put(page, {"times": "\n".join(lines)})


def main() -> int:
    found = [measured(f"`{name}`", pg.instances.load(name)) for name in BY_ARMS]
    found += [measured(f"p = {p}", of_size(p)) for p in BY_ANSWER]
    found.append(measured(f"p = {ALL_BEST}, no other", all_best(ALL_BEST)))
    rows.write(found, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), rows.read(RESULTS)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
