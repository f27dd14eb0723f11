"""Draw the picture of the README: one adaptive run on the doses of secukinumab.

    python docs/figures/secukinumab.py

writes secukinumab.csv (the numbers), secukinumab.png and secukinumab.svg beside this file; the same bytes every time.
"""

import csv
from pathlib import Path

import paretoguard as pg

HERE = Path(__file__).resolve().parent


def answer(instance: pg.Instance) -> pg.Result:
    """One simulated run with the thresholds of the paper's experiments."""
    trial = pg.Trial(instance.problem, delta=0.1, evidence="practical")
    sample = pg.sampler(instance, seed=0, run=0)
    while (arm := trial.next_arm()) is not None:
        trial.tell(arm, sample(arm))
    return trial.result(simulated=True)


def write_numbers(result: pg.Result, instance: pg.Instance, path: Path) -> None:
    """One line per arm: what the picture draws, and the mean that was simulated."""
    truth = dict(zip(instance.problem.arms, instance.means.tolist(), strict=True))
    names = list(instance.problem.objectives)
    parts = ("mean", "low", "high")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = [f"{name}_{part}" for name in names for part in (*parts, "truth")]
        writer.writerow(["arm", "status", "pulls", *columns])
        for arm, verdict in result.verdicts.items():
            cells = []
            for name, true_mean in zip(names, truth[arm], strict=True):
                cells += [f"{getattr(verdict, part)[name]:.6f}" for part in parts] + [f"{true_mean:g}"]
            writer.writerow([arm, verdict.status, verdict.pulls, *cells])


def main() -> None:
    """Run, write the numbers, draw."""
    instance = pg.instances.load("secukinumab")
    result = answer(instance)
    write_numbers(result, instance, HERE / "secukinumab.csv")
    for suffix in (".png", ".svg"):
        result.plot(HERE / f"secukinumab{suffix}")
    print(result.headline())


if __name__ == "__main__":
    main()
