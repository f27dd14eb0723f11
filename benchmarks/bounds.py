"""Time of a lower bound: 100 arms in 3 objectives, by how many of them are both infeasible and dominated.

python benchmarks/bounds.py    writes benchmarks/results/bounds.csv and a table of docs/theory.md
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rows
from table import put

import paretoguard as pg
from paretoguard.theory.exact import truth

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "bounds.csv", ROOT / "docs" / "theory.md"
GROUPS = [(0, 4), (5, 8), (9, 12), (13, 20), (21, 40)]  # arms that are both
EACH, LIMIT = 8, 60.0


def cases(arms: int = 100, d: int = 3) -> Iterator[tuple[pg.Instance, int]]:
    """Random instances, with the number of arms that have two right reasons."""
    for seed in range(1000):
        rng = np.random.default_rng([7, seed])
        means, m = rng.normal(size=(arms, d)), int(rng.integers(1, 4))
        A = rng.normal(size=(m, d))
        A /= np.linalg.norm(A, axis=1, keepdims=True)
        problem = pg.Problem(
            {f"x{c}": "max" for c in range(d)}, arms=[f"a{i}" for i in range(arms)], noise=pg.Gaussian(1.0),
            constraints=(A, np.full(m, rng.uniform(0.9, 1.6))), dependence="independent",
        )  # fmt: skip
        instance = pg.Instance(problem, means, name=f"random {seed}")
        yield instance, int(truth(instance).either.sum())


def measure() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for task in ("e-cpsi", "cpsi"):
        pg.theory.lower_bound(next(cases(arms=20))[0], task)  # compiles
    for instance, both in cases():
        group = next((k for k, (low, high) in enumerate(GROUPS) if low <= both <= high), None)
        if group is None or sum(row["group"] == group for row in found) == EACH:
            continue
        facts: dict[str, Any] = {"group": group, "instance": instance.name, "both": both}
        for task, name in (("e-cpsi", "ecpsi"), ("cpsi", "cpsi")):
            start = time.perf_counter()
            bound = pg.theory.lower_bound(instance, task, time_limit=LIMIT)
            facts |= {f"{name}_seconds": time.perf_counter() - start, f"{name}_gap": bound.gap}
        found.append(facts)
        print(facts, flush=True)
        if len(found) == EACH * len(GROUPS):
            break
    return sorted(found, key=lambda row: row["group"])


def fill(page: str, found: list[dict[str, str]]) -> str:
    lines = ["| arms that are both | e-cPSI: median | longest | widest gap | cPSI: median | longest | widest gap |"]
    lines.append("|---|" + "---:|" * 6)
    for k, (low, high) in enumerate(GROUPS):
        here = [row for row in found if int(row["group"]) == k]
        cells = []
        for name in ("ecpsi", "cpsi"):
            seconds, gaps = ([float(row[f"{name}_{what}"]) for row in here] for what in ("seconds", "gap"))
            cells += [f"{np.median(seconds):.1f} s", f"{max(seconds):.1f} s", f"{max(gaps):.2%}"]
        lines.append(f"| {low} to {high} | {' | '.join(cells)} |")
    return put(page, {"bounds": "\n".join(lines)})


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    rows.write(measure(), RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
