"""What each kind of evidence costs: mean samples of e-cAPE on named instances, against `practical`.

    python benchmarks/evidence.py            writes benchmarks/results/evidence*.csv and the tables of docs/evidence.md
    python benchmarks/evidence.py --certified    measures `certified` anew, and keeps the rest
    python benchmarks/evidence.py --times        only the time of a decision, on a quiet machine

Also `certified` with other scales rho, which is how its own was chosen.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import rows
from table import put

import paretoguard as pg
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.evidence.certified.certified import CertifiedLevels

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "evidence.csv", ROOT / "docs" / "evidence.md"
TIMES = RESULTS.with_name("evidence-times.csv")
TIMED = {"covboost": 200_000, "random:K=500,d=3,m=1": 10_000}  # samples
INSTANCES = [
    "secukinumab", "covboost", "cube", "simplex", "ordered",
    "random:K=10,d=3", "random:K=8,d=2,m=2,seed=1", "random:K=15,d=4,m=3,seed=2",
]  # fmt: skip
EVIDENCE = ["practical", "certified", "lil", "hanson-wright", "theorem"]
RHOS = [25.0, 50.0, 100.0, 200.0, 400.0]
RUNS, RUNS_OF_RHO = 1000, 200
COLUMNS = ["instance", "arms", "evidence", "guarantee", "runs", "mean", "std", "error_ecpsi", "error_ecpsi_upper"]


@dataclass(frozen=True)
class Scaled(pg.evidence.Certified):
    """`certified` with another rho."""

    rho: float = 100.0
    name: ClassVar[str] = "certified-rho"

    def fit(self, delta: float, problem: ProblemArrays) -> CertifiedLevels:
        return super().fit(delta, problem)._replace(rho=self.rho)


def measure(wanted: Sequence[str] = EVIDENCE) -> list[dict[str, Any]]:
    rows = []
    for name in INSTANCES:
        instance = pg.instances.load(name)
        kinds: list[Any] = [one for one in wanted if one != "hanson-wright" or instance.problem.space().gaussian]
        studies = [pg.simulate(instance, algorithms="e-cape", evidence=kinds, delta=0.1, runs=RUNS)]
        scaled = [Scaled(rho=rho) for rho in RHOS]
        studies.append(pg.simulate(instance, algorithms="e-cape", evidence=scaled, delta=0.1, runs=RUNS_OF_RHO))
        for study in studies:
            for row, cell in zip(study.summary(), study.cells, strict=True):
                kind = f"rho={cell.evidence.rho:g}" if isinstance(cell.evidence, Scaled) else row["evidence"]
                facts = {**row, "evidence": kind, "arms": len(instance.problem.arms)}
                rows.append({key: facts[key] for key in COLUMNS})
        print(name, *(f"{row['evidence']} {row['mean']:,.0f}" for row in rows if row["instance"] == name), flush=True)
    return rows


def times() -> list[dict[str, Any]]:
    """CPU time a sample of e-cAPE, drawing and taking in included: the least of five, on one core."""
    rows = []
    for name, samples in TIMED.items():
        for kind in EVIDENCE:
            runs: list[float] = []
            for seed in range(5):
                study = pg.simulate(
                    name, algorithms="e-cape", evidence=kind, runs=1, budget=samples, seed=seed, threads=1
                )
                runs.append(study.summary()[0]["ns_per_sample"])
            rows.append({"instance": name, "evidence": kind, "ns": min(runs)})
    return rows


def read(path: Path = RESULTS) -> list[dict[str, str]]:
    return rows.read(path)


def times_table(rows: list[dict[str, str]]) -> str:
    lines = ["| instance | " + " | ".join(f"`{kind}`" for kind in EVIDENCE) + " |", "|---|" + "---:|" * len(EVIDENCE)]
    for name in TIMED:
        ns = {row["evidence"]: float(row["ns"]) for row in rows if row["instance"] == name}
        cells = [f"{ns[kind]:,.0f} ns ({ns[kind] / ns['practical']:.2f})" for kind in EVIDENCE]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ratios(rows: list[dict[str, str]], instance: str) -> dict[str, float]:
    """Mean samples of each kind over those of `practical`."""
    mean = {row["evidence"]: float(row["mean"]) for row in rows if row["instance"] == instance}
    return {kind: value / mean["practical"] for kind, value in mean.items()}


def costs(rows: list[dict[str, str]], kinds: list[str]) -> str:
    lines = [
        "| instance | K | " + " | ".join(f"`{kind}`" for kind in kinds) + " |",
        "|---|---:|" + "---:|" * len(kinds),
    ]
    for instance in INSTANCES:
        here = {row["evidence"]: row for row in rows if row["instance"] == instance}
        ratio = ratios(rows, instance)
        cells = [f"{float(here[k]['mean']):,.0f} ({ratio[k]:.2f})" if k in here else "–" for k in kinds]
        lines.append(f"| `{instance}` | {here['practical']['arms']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def fill(page: str, rows: list[dict[str, str]], timed: list[dict[str, str]]) -> str:
    scales = costs(rows, [f"rho={rho:g}" for rho in RHOS])
    return put(page, {"costs": costs(rows, EVIDENCE), "scales": scales, "times": times_table(timed)})


def missed(rows: list[dict[str, str]]) -> list[str]:
    """Where `certified` costs more than it should, or errs more often than delta."""
    found = []
    for instance in INSTANCES:
        ratio, here = ratios(rows, instance), [row for row in rows if row["instance"] == instance]
        of_practical, of_theorem = (2.6, 0.2) if int(here[0]["arms"]) <= 10 else (3.6, 0.27)
        if ratio["certified"] > of_practical or ratio["certified"] > of_theorem * ratio["theorem"]:
            found.append(f"{instance}: {ratio['certified']:.2f} times practical")
        found += [f"{instance}: {row['evidence']} errs" for row in here if float(row["error_ecpsi"]) > 0.1]
    return found


def main() -> int:
    if "--certified" in sys.argv:
        new = measure(["certified"])
        kept = [row for row in read() if row["evidence"] in EVIDENCE and row["evidence"] != "certified"]
        rows.write([*kept, *new], RESULTS)
    elif "--times" not in sys.argv:
        rows.write(measure(), RESULTS)
    if "--certified" not in sys.argv:
        rows.write(times(), TIMES)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read(), read(TIMES)), encoding="utf-8")
    print(*missed(read()) or ["every bar holds"], sep="\n")
    return len(missed(read()))


if __name__ == "__main__":
    sys.exit(main())
