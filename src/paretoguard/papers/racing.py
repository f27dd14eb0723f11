"""Hard for racing: every arm is feasible, one is optimal, and elimination pulls all until its feasibility is known."""

import math
from functools import partial

import numpy as np

from paretoguard.papers.outcome import Effort, Line, Outcome, agrees
from paretoguard.papers.pictures import draw_trials
from paretoguard.papers.studies import by_kind, errors_line, listed, run_rows, timing_rows
from paretoguard.simulation.instances import load
from paretoguard.simulation.study import simulate
from paretoguard.theory.exact import truth

TITLE = "Hard for racing: five and ten arms"
INSTANCES = ["racing-5", "racing-10"]
ALGORITHMS = ["e-cape", "two-stage", "racing", "uniform"]
DELTA, RUNS = 0.01, 250
NOTE = "The paper shows its means only in pictures that are lost: these are ours, in the setting that it describes."


def predicted(name: str) -> float:
    """2 K/eta^2 + sum 2/Delta_i^2 in standard deviations, times log(1/delta): what the analysis predicts for racing."""
    found = truth(load(name))
    best = int(np.flatnonzero(found.optimal)[0])
    gaps = [float((found.means[best] - found.means[i]).min()) for i in np.flatnonzero(~found.optimal)]
    cost = 2.0 * len(found.means) / found.eta[best] ** 2 + sum(2.0 / gap**2 for gap in gaps)
    return float(cost * math.log(1.0 / DELTA))


def reproduce(effort: Effort) -> Outcome:
    """Four algorithms on five and on ten arms."""
    study = simulate(
        INSTANCES, algorithms=ALGORITHMS, delta=DELTA, runs=effort.runs(RUNS), threads=effort.threads
    )  # fmt: skip
    found, lines = by_kind(study), []
    for name in INSTANCES:
        lines.append(Line(f"{name}: mean samples", "a picture without numbers", listed(found[name])))
        for rival in ("e-cape", "two-stage"):
            ratio = found[name]["racing"] / found[name][rival]
            lines.append(Line(f"{name}: racing over {rival}", "above 1", f"{ratio:.2f}", agrees(ratio > 1)))
        ratio = found[name]["two-stage"] / found[name]["e-cape"]
        lines.append(Line(f"{name}: two-stage over e-cape", "close to 1 in theory", f"{ratio:.2f}"))
        ours = f"{found[name]['racing']:,.0f}"
        told = f"{predicted(name):,.0f} (its formula, times log 1/δ)"
        lines.append(Line(f"{name}: racing, predicted by the analysis", told, ours))
    growth = found["racing-10"]["racing"] / found["racing-5"]["racing"]
    expected = predicted("racing-10") / predicted("racing-5")
    close = abs(growth / expected - 1) < 0.2
    lines.append(Line("racing, ten arms over five", f"{expected:.2f} (predicted)", f"{growth:.2f}", agrees(close)))
    lines.append(errors_line(study, "negligible at δ = 0.01"))
    return Outcome(run_rows(study), lines, partial(draw_trials, study, NOTE), timing_rows(study))
