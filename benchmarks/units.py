"""e-cAPE with `certified` evidence in units of its own logarithm instead of widths: what it would cost.

    python benchmarks/units.py    writes benchmarks/results/units.csv and the table of docs/evidence.md

Pairs in the closed two-sided form, sgn(D) D^2/(2 (1/q_i + 1/q_j)), given as many nats as the one-sided form brings.
"""

import math
import sys
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import rows
from evidence import INSTANCES
from table import put

import paretoguard as pg
from paretoguard.compiler.jit import inner
from paretoguard.engine import questions
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import best_lead, least_gain
from paretoguard.engine.view import View
from paretoguard.evidence.certified import certified
from paretoguard.evidence.certified.comparisons import NOMINAL

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "units.csv", ROOT / "docs" / "evidence.md"
RUNS, MOST = 50, 20  # runs, and times the samples of `certified` after which one is given up

Levels = namedtuple("Levels", certified.CertifiedLevels._fields)  # type: ignore[misc]


@dataclass(frozen=True)
class InNats(pg.evidence.Certified):
    """`certified`, but e-cAPE sees logarithms of e-values."""

    name: ClassVar[str] = "in-nats"

    def fit(self, delta: float, problem: ProblemArrays) -> Any:
        return Levels(*super().fit(delta, problem))


@inner
def nats(view: View, lead: float, i: int, j: int, bar: float) -> float:
    evidence = view.evidence
    if lead == math.inf or lead == -math.inf:
        return lead
    square = lead * abs(lead) / (2.0 * (evidence.inverse[i] + evidence.inverse[j]))
    return square - evidence.penalty[i] - evidence.penalty[j] - bar + NOMINAL


for question in ("moment", "prepare", "weigh", "radius", "row_radius", "pair_radius", "gap_radius", "lead_radius"):
    part = getattr(questions, question)
    part.register(Levels, part.dispatch(certified.CertifiedLevels))
questions.widening.register(Levels, lambda view, then, i: 0.0)
questions.dominated.register(
    Levels,
    lambda view, i, j: nats(view, least_gain(view.problem, view.state, i, j), i, j, view.evidence.below_bar),
)
questions.undominated.register(
    Levels,
    lambda view, i, j: nats(view, best_lead(view.problem, view.state, i, j), i, j, view.evidence.lead_bar),
)


def measure() -> list[dict[str, Any]]:
    rows = []
    for name in INSTANCES:
        plain = pg.simulate(name, algorithms="e-cape", evidence="certified", delta=0.1, runs=RUNS).summary()[0]["mean"]
        study = pg.simulate(
            name, algorithms="e-cape", evidence=InNats(), delta=0.1, runs=RUNS, budget=int(MOST * plain)
        )
        given_up = int((study.records["stopped"] != "answered").sum())
        rows.append(
            {"instance": name, "widths": plain, "nats": study.summary()[0]["mean"], "given_up": given_up, "runs": RUNS}
        )
        print(rows[-1], flush=True)
    return rows


def fill(page: str, rows: list[dict[str, str]]) -> str:
    lines = ["| instance | in widths | in nats | ratio |", "|---|---:|---:|---:|"]
    for row in rows:
        least = "> " if int(row["given_up"]) else ""
        ratio = float(row["nats"]) / float(row["widths"])
        cells = f"{float(row['widths']):,.0f} | {least}{float(row['nats']):,.0f} | {least}{ratio:.2f}"
        lines.append(f"| `{row['instance']}` | {cells} |")
    return put(page, {"units": "\n".join(lines)})


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    found = measure()
    rows.write(found, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
