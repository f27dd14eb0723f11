"""Dose finding, the secukinumab trial: the doses, and the samples that each algorithm needs."""

from functools import partial

from paretoguard.papers.outcome import Effort, Line, Outcome, agrees
from paretoguard.papers.pictures import draw_trials
from paretoguard.papers.studies import by_kind, errors_line, listed, not_beaten, run_rows, timing_rows
from paretoguard.simulation.study import simulate

TITLE = "Secukinumab: samples needed for dose finding"
TABLES = {"secukinumab": "no adverse event", "secukinumab:table=infections": "no infection"}  # what safety is
ALGORITHMS = ["e-cape", "two-stage", "racing", "uniform"]
DELTA, RUNS = 0.1, 500
PAPER_MS = {("secukinumab", "e-cape"): 2759, ("secukinumab", "two-stage"): 54890, ("secukinumab", "uniform"): 3787}
NOTE = "The paper's own means are not published; these are the two published tables of the trial."
WHY = {
    "secukinumab": "neither table matches the paper's remark that 75mg is near the border and worse than 150mg: here "
    "150mg dominates no dose near the border, so that every algorithm must settle the feasibility of two doses",
    "secukinumab:table=infections": "75mg and 150mg are close in both rates, and telling them apart is what costs",
}


def reproduce(effort: Effort) -> Outcome:
    """All four algorithms on both published tables of the trial."""
    study = simulate(
        list(TABLES), algorithms=ALGORITHMS, delta=DELTA, runs=effort.runs(RUNS), threads=effort.threads
    )  # fmt: skip
    found = by_kind(study)
    lines = [Line("rates of response and safety", "not published", "the two published tables of the trial")]
    for name, safety in TABLES.items():
        rivals = not_beaten(study, name, "e-cape")
        ours, claim = listed(found[name]), "e-cAPE needs fewest (a picture without numbers)"
        why = f"{rivals}: {WHY[name]}" if rivals else ""
        lines.append(Line(f"mean samples, safety: {safety}", claim, ours, agrees(not rivals), why))
    lines.append(errors_line(study, "negligible at δ = 0.1"))
    return Outcome(run_rows(study), lines, partial(draw_trials, study, NOTE), timing_rows(study, PAPER_MS))
