"""Complex polyhedra in three dimensions: the instances, Table 1 (samples) and Table 2 (runtimes)."""

import math
from functools import partial

from paretoguard.papers.outcome import Effort, Line, Outcome, agrees
from paretoguard.papers.pictures import draw_trials
from paretoguard.papers.studies import by_kind, run_rows, timing_rows
from paretoguard.simulation.study import simulate

TITLE = "Complex polyhedra: samples (Table 1) and runtimes (Table 2)"
ALGORITHMS = ["e-cape", "two-stage", "uniform"]
DELTA, RUNS = 0.1, 500
PAPER = {  # mean and standard deviation of the samples
    "simplex": ((2679, 517), (4886, 873), (12156, 2428)),
    "cube": ((19034, 3158), (59841, 10186), (56184, 14392)),
    "ordered": ((4313, 693), (7183, 792), (11895, 1932)),
}
RUNTIMES = {"simplex": (672, 2890, 7543), "cube": (12300, 18000, 2000), "ordered": (4010, 4460, 10200)}
PAPER_MS = {
    (name, algorithm): times[place] for name, times in RUNTIMES.items() for place, algorithm in enumerate(ALGORITHMS)
}
NOTE = "The paper shows its means only in pictures that are lost: these are ours, with its polyhedra."
CLOSE = math.log(1.5)
VARY = "runs vary more here than the paper's; its means are lost, and with them the reason"
WHY = "the means are ours, tuned towards the paper's numbers: the order is compared, not the numbers"


def reproduce(effort: Effort) -> Outcome:
    """Three algorithms on three polyhedra."""
    study = simulate(
        list(PAPER), algorithms=ALGORITHMS, delta=DELTA, runs=effort.runs(RUNS), threads=effort.threads
    )  # fmt: skip
    mean, spread, lines = by_kind(study), by_kind(study, "std"), []
    for name, numbers in PAPER.items():
        for algorithm, (theirs, their_spread) in zip(ALGORITHMS, numbers, strict=True):
            ours = f"{mean[name][algorithm]:,.0f} ({spread[name][algorithm]:,.0f})"
            paper = f"{theirs:,} ({their_spread:,})"
            lines.append(Line(f"Table 1, {name}, {algorithm}: mean (std) of samples", paper, ours))
        first = ALGORITHMS[0]
        theirs_of = " : ".join(f"{theirs / numbers[0][0]:.2f}" for theirs, _ in numbers)
        ours_of = " : ".join(f"{mean[name][algorithm] / mean[name][first]:.2f}" for algorithm in ALGORITHMS)
        same = _order([theirs for theirs, _ in numbers]) == _order([mean[name][algorithm] for algorithm in ALGORITHMS])
        lines.append(Line(f"Table 1, {name}: {' : '.join(ALGORITHMS)}", theirs_of, ours_of, agrees(same), WHY))
        theirs_vary = [their_spread / theirs for theirs, their_spread in numbers]
        ours_vary = [spread[name][algorithm] / mean[name][algorithm] for algorithm in ALGORITHMS]
        close = all(abs(math.log(ours / theirs)) < CLOSE for ours, theirs in zip(ours_vary, theirs_vary, strict=True))
        told, found = (" : ".join(f"{one:.2f}" for one in vary) for vary in (theirs_vary, ours_vary))
        lines.append(Line(f"Table 1, {name}: std over mean", told, found, agrees(close), "" if close else VARY))
    return Outcome(run_rows(study), lines, partial(draw_trials, study, NOTE), timing_rows(study, PAPER_MS))


def _order(numbers: list[float]) -> list[int]:
    return sorted(range(len(numbers)), key=lambda place: numbers[place])
