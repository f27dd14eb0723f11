"""How many more samples batches cost: e-cAPE with 1, 4, 16 and 64 arms asked for before each decision.

    python docs/figures/batches.py

writes batches.csv (the numbers), batches.png and batches.svg beside this file; the same bytes every time.
"""

import csv
from pathlib import Path
from typing import Any

import paretoguard as pg
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.palette import SERIES

HERE = Path(__file__).resolve().parent
INSTANCES = ["secukinumab", "covboost", "simplex", "cube", "ordered", "racing-10"]
SIZES = [1, 4, 16, 64]
RUNS = 500
MARKERS = "osv^DX"
COLUMNS = ["instance", "arms", "batch", "runs", "mean", "median", "q05", "q95", "error_ecpsi"]


def measure() -> list[dict[str, Any]]:
    """A row for each instance and each size of batch."""
    rows = []
    for size in SIZES:
        study = pg.simulate(INSTANCES, algorithms="e-cape", delta=0.1, runs=RUNS, batch=size)
        for row, cell in zip(study.summary(), study.cells, strict=True):
            facts = {**row, "batch": size, "arms": len(cell.instance.problem.arms)}
            rows.append({key: facts[key] for key in COLUMNS})
    return sorted(rows, key=lambda row: (INSTANCES.index(row["instance"]), row["batch"]))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Left: samples against those of a batch of 1. Right: how many rounds that is; 2 arms in each where n is 1."""
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    with look():
        figure = figure_for(path, 7.2, 3.4)
        left, right = figure.subplots(1, 2)
        for number, instance in enumerate(INSTANCES):
            mine = [row for row in rows if row["instance"] == instance]
            style: dict[str, Any] = {"color": SERIES[number], "marker": MARKERS[number], "markersize": 5}
            name = f"{instance} (K = {mine[0]['arms']})"
            left.plot(SIZES, [row["mean"] / mine[0]["mean"] - 1.0 for row in mine], label=name, **style)
            right.plot(SIZES, [row["mean"] / max(2, row["batch"]) for row in mine], **style)
        left.set(title="Samples more than with batches of 1")
        left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        right.set(title="Rounds until the answer", yscale="log")
        right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for axes in (left, right):
            axes.set_xscale("log", base=2)
            axes.set_xticks(SIZES, [str(size) for size in SIZES])
            axes.set_xlabel("arms asked for before each decision")
            axes.grid(axis="y", color="#E4E4E4", linewidth=0.7)
            axes.set_title(axes.get_title(), loc="left", fontsize=10, fontweight="bold")
            axes.set_title("")
        left.legend(frameon=False, fontsize=7.5)
        save(figure, path)


def main() -> None:
    """Simulate, write the numbers, draw."""
    rows = measure()
    with (HERE / "batches.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
    for suffix in (".png", ".svg"):
        draw(rows, HERE / f"batches{suffix}")


if __name__ == "__main__":
    main()
