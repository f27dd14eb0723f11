"""COV-BOOST: twenty vaccination strategies, and the samples that each algorithm needs."""

from functools import partial

from paretoguard.papers.outcome import Effort, Line, Outcome, agrees
from paretoguard.papers.pictures import draw_trials
from paretoguard.papers.studies import by_kind, errors_line, listed, run_rows, same_mean, timing_rows
from paretoguard.simulation.study import simulate

TITLE = "COV-BOOST: samples needed for twenty vaccination strategies"
ALGORITHMS = ["e-cape", "two-stage", "racing", "uniform"]
DELTA, RUNS = 0.1, 500
NOTE = "Means and pooled variances of the trial, as published. The paper leaves Uniform out."


def reproduce(effort: Effort) -> Outcome:
    """All four algorithms, Uniform too."""
    study = simulate(
        "covboost", algorithms=ALGORITHMS, delta=DELTA, runs=effort.runs(RUNS), threads=effort.threads
    )  # fmt: skip
    found = by_kind(study)["covboost"]
    lines = [Line("mean samples", "a picture without numbers", listed(found))]
    for rival in ("two-stage", "racing"):
        ratio = found[rival] / found["e-cape"]
        alike = same_mean(study, "covboost", "e-cape", rival)
        holds = ratio > 1 and not alike
        why = f"{rival} cannot be told apart from e-cAPE by this many runs" if alike else ""
        lines.append(Line(f"{rival} over e-cAPE", "above 1", f"{ratio:.2f}", agrees(holds), why))
    ratio = found["uniform"] / found["e-cape"]
    lines.append(Line("uniform over e-cAPE", "left out: excessively high", f"{ratio:.2f}", agrees(ratio > 1)))
    lines.append(errors_line(study, "negligible at δ = 0.1"))
    return Outcome(run_rows(study), lines, partial(draw_trials, study, NOTE), timing_rows(study))
