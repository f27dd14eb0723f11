"""Draw the picture of docs/pictures.md: one run of e-cAPE and of two-stage on the instance simplex, sample by sample.

    python docs/figures/trace.py

writes trace.csv (the numbers) and trace.png beside this file; the same bytes every time.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import paretoguard as pg
from paretoguard.pictures.run import draw_traces
from paretoguard.simulation.trace import Trace

HERE = Path(__file__).resolve().parent
STATUSES = ("undecided", "optimal", "dominated", "infeasible")


def traces() -> tuple[Trace, ...]:
    """Run 0 of both, which see the same measurements."""
    return pg.simulate("simplex", algorithms=["e-cape", "two-stage"], evidence="practical", delta=0.1, runs=1).trace()


def write_numbers(drawn: Sequence[Trace], path: Path) -> None:
    """One line per algorithm and arm: its pulls, its status, and after how many samples that was certified."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["algorithm", "arm", "pulls", "status", "certified_after"])
        for one in drawn:
            when = one.samples[one.certified()]
            for i, arm in enumerate(one.cell.instance.problem.arms):
                status = STATUSES[one.answer[i]]
                writer.writerow(
                    [one.cell.algorithm.name, arm, one.pulls[-1, i], status, when[i] if one.answer[i] else ""]
                )


def main() -> None:
    """Run, write the numbers, draw."""
    drawn = traces()
    write_numbers(drawn, HERE / "trace.csv")
    draw_traces(drawn, HERE / "trace.png")
    print(", ".join(f"{one.cell.algorithm.name}: {one.samples[-1]:,} samples" for one in drawn))


if __name__ == "__main__":
    main()
