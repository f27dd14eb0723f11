"""Which algorithm should be the default? `pitfall` beside `e-cape` with `certified`, in the ways that people use them.

    python benchmarks/default.py             goes on where it was stopped; writes benchmarks/results/default.csv and the
                                             table of docs/pitfall.md
    python benchmarks/default.py --page      only the table

Each line is one way to state or run a problem: as declared, with nothing known of how objectives depend on each other,
with scales to be learnt, with tolerances, with an exact objective, with one that only guards, in batches, in the order
asked.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import rows
from outcomes import Coin, Hidden, Normal
from table import put

import paretoguard as pg

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "default.csv", ROOT / "docs" / "pitfall.md"
NAMES = ["covboost", "racing-5", "simplex", "ordered", "random:K=8,d=2,m=2,seed=1", "random:K=10,d=3"]
HOW = ["e-cape", "pitfall"]
DELTA, RUNS, BUDGET = 0.05, 300, 2_000_000
TOLERANCE = 0.1  # standard deviations


def changed(instance: pg.Instance, means: Any = None, **fields: Any) -> pg.Instance:
    """The same problem, stated otherwise."""
    problem = instance.problem
    settings: dict[str, Any] = {
        "objectives": dict(problem.objectives),
        "arms": list(problem.arms),
        "noise": dict(problem.noise),
        "constraints": problem.constraint_texts,
        "dependence": problem.dependence,
        "name": instance.name,
    }
    return pg.Instance(pg.Problem(**(settings | fields)), instance.means if means is None else means)


def unknown_scales(instance: pg.Instance) -> pg.Instance:
    laws = {
        name: Coin() if isinstance(one, pg.Bernoulli) else Normal(one.sigma)
        for name, one in instance.problem.noise.items()
    }
    noise = {name: Hidden(drawn=law) for name, law in laws.items()}
    return changed(instance, noise=noise, dependence="unknown")


def tolerant(instance: pg.Instance) -> pg.Instance:
    problem = instance.problem
    tolerance = {name: TOLERANCE * float(one.sigma) for name, one in problem.noise.items()}
    return changed(instance, tolerance=tolerance | {row.label: TOLERANCE for row in problem.constraints})


def priced(instance: pg.Instance) -> pg.Instance:
    """With a price, exact, that the better arms have more of."""
    problem = instance.problem
    price = np.round(instance.means.sum(axis=1) * 10) + 100
    return changed(
        instance,
        np.column_stack([instance.means, price]),
        objectives={**problem.objectives, "price": "min"},
        noise={**problem.noise, "price": pg.Exact()},
        dependence="unknown",
    )


def guarded(instance: pg.Instance) -> pg.Instance:
    """The last objective only has to stay above a level, in the widest gap between arms."""
    problem = instance.problem
    last, values = list(problem.objectives)[-1], np.sort(instance.means[:, -1])
    below = int(np.argmax(np.diff(values)))
    level = float(np.round(0.5 * (values[below] + values[below + 1]), 3))
    return changed(instance, objectives={**problem.objectives, last: "guard"}, constraints=[f"{last} >= {level}"])


WAYS: dict[str, Any] = {
    "as declared": lambda instance: instance,
    "dependence unknown": lambda instance: changed(instance, dependence="unknown"),
    "scales learnt": unknown_scales,
    "tolerances": tolerant,
    "an exact objective": priced,
    "an objective that only guards": guarded,
    "batches of 10": lambda instance: instance,
    "batches of 64": lambda instance: instance,
    "counted in the order asked": lambda instance: instance,
}
BATCH = {"batches of 10": 10, "batches of 64": 64}
EVIDENCE = {"counted in the order asked": "certified:order=asked"}


def measure() -> None:
    found: list[Any] = list(rows.read(RESULTS)) if RESULTS.exists() else []
    seen = {(row["way"], row["instance"]) for row in found}
    for way, state in WAYS.items():
        for name in NAMES:
            if (way, name) in seen:
                continue
            instance = state(pg.instances.load(name))
            settings: dict[str, Any] = {"evidence": EVIDENCE.get(way, "certified"), "batch": BATCH.get(way, 1)}
            study = pg.simulate(instance, algorithms=HOW, delta=DELTA, runs=RUNS, budget=BUDGET, **settings)
            means = {row["algorithm"]: row for row in study.summary()}
            line = {"way": way, "instance": name, "runs": RUNS}
            line |= {how: float(means[how]["mean"]) for how in HOW}
            line |= {"ratio": line["pitfall"] / line["e-cape"], "errors": float(means["pitfall"]["error_ecpsi"])}
            found.append({**line, "undecided": float(means["pitfall"]["undecided"])})
            rows.write(found, RESULTS)
            print(way, name, {key: value for key, value in line.items() if key not in ("way", "instance")}, flush=True)


def fill(page: str, table: list[dict[str, str]]) -> str:
    """The page with its table."""
    lines = ["| | instances | samples over those of `e-cape` | most | errors, at most |", "|---|---:|---:|---:|---:|"]
    for way in WAYS:
        here = [row for row in table if row["way"] == way]
        ratios = [float(row["ratio"]) for row in here]
        errors = max(float(row["errors"]) for row in here)
        lines.append(f"| {way} | {len(here)} | {np.mean(ratios):.2f} | {max(ratios):.2f} | {errors:.1%} |")
    return put(page, {"default": "\n".join(lines)})


def main() -> int:
    if "--page" not in sys.argv:
        measure()
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), rows.read(RESULTS)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
