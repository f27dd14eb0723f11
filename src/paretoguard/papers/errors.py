"""Beyond the paper: how often e-cAPE errs, with exact binomial limits, for three deltas."""

from functools import partial
from typing import Any

from paretoguard.papers.outcome import Effort, Line, Outcome, agrees
from paretoguard.papers.pictures import draw_errors
from paretoguard.papers.studies import summary_rows, timing_rows
from paretoguard.simulation.study import simulate

TITLE = "Error rates of e-cAPE at δ = 0.1, 0.01 and 0.001"
DELTAS = [0.1, 0.01, 0.001]
EVIDENCE = ["practical", "certified"]
MANY = {"two-stage-gap": 100_000, "racing-5": 100_000, "simplex": 100_000}  # each takes less than 5,000 samples
FEWER = ["secukinumab", "secukinumab:table=infections", "covboost", "cube", "ordered", "explainability", "racing-10"]
RUNS = {**MANY, **dict.fromkeys(FEWER, 10_000)}


def reproduce(effort: Effort) -> Outcome:
    """100,000 runs where they are short, 10,000 elsewhere."""
    rows: list[dict[str, Any]] = []
    timing: list[dict[str, Any]] = []
    for name, runs in RUNS.items():
        study = simulate(
            name, algorithms="e-cape", evidence=EVIDENCE, delta=DELTAS, runs=effort.runs(runs), threads=effort.threads
        )  # fmt: skip
        rows += summary_rows(study)
        timing += timing_rows(study)
    return Outcome(rows, _lines(rows), partial(draw_errors, rows), timing)


def _lines(rows: list[dict[str, Any]]) -> list[Line]:
    lines = []
    for evidence in EVIDENCE:
        for delta in DELTAS:
            here = [row for row in rows if row["evidence"] == evidence and row["delta"] == delta]
            worst = max(here, key=lambda row: row["error_ecpsi"])
            ours = (
                f"at most {worst['error_ecpsi']:.3%} (95% limit {worst['error_ecpsi_upper']:.3%}), "
                f"on {worst['instance']} in {worst['runs']:,} runs"
            )
            told = "negligible" if evidence == "practical" and delta == 0.1 else "not in the paper"
            lines.append(Line(f"{evidence}, δ = {delta:g}: errors", told, ours, agrees(worst["error_ecpsi"] <= delta)))
    return lines
