"""The two-stage gap: as two dominated arms near the border, two-stage pays 1/eps^2 and e-cAPE does not."""

from functools import partial

import numpy as np

from paretoguard.papers.outcome import Effort, Line, Outcome, agrees
from paretoguard.papers.pictures import draw_growth
from paretoguard.papers.studies import listed, summary_rows, timing_rows
from paretoguard.simulation.study import simulate

TITLE = "The two-stage gap: cost as eps goes to 0"
EPSILONS = [0.4, 0.2, 0.1, 0.05, 0.025]
ALGORITHMS = ["e-cape", "two-stage"]
SMALLEST = 3  # distances, for the exponent
DELTA, RUNS = 0.1, 500


def reproduce(effort: Effort) -> Outcome:
    """Mean samples for five distances to the border, and how they grow."""
    names = [f"two-stage-gap:eps={eps:g}" for eps in EPSILONS]
    study = simulate(names, algorithms=ALGORITHMS, delta=DELTA, runs=effort.runs(RUNS), threads=effort.threads)
    rows = [{"eps": EPSILONS[names.index(row["instance"])], **row} for row in summary_rows(study)]
    costs = {name: [float(row["mean"]) for row in rows if row["algorithm"] == name] for name in ALGORITHMS}
    slopes = {name: _slope(costs[name][-SMALLEST:]) for name in ALGORITHMS}
    lines = [
        Line(f"mean samples, eps = {eps:g}", "no number", listed({name: costs[name][k] for name in ALGORITHMS}))
        for k, eps in enumerate(EPSILONS)
    ]
    for name, told in (("two-stage", 2.0), ("e-cape", 0.0)):
        holds = agrees(abs(slopes[name] - told) < 0.2)
        what, why = f"{name}: growth of the cost, exponent of 1/eps", f"over the {SMALLEST} smallest eps"
        lines.append(Line(what, f"{told:g}", f"{slopes[name]:.2f}", holds, why))
    return Outcome(rows, lines, partial(draw_growth, EPSILONS, costs), timing_rows(study))


def _slope(costs: list[float]) -> float:
    """The exponent of 1/eps over the smallest distances."""
    smallest = EPSILONS[-len(costs) :]
    return float(np.polyfit(-np.log(smallest), np.log(costs), 1)[0])
