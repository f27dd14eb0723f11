"""Compare e-cAPE with its baselines where the paper does, and write the tables of docs/baselines.md.

    python docs/figures/baselines.py

writes baselines.csv, baselines.png and baselines.svg beside this file, and the tables between the markers of the page.
"""

import csv
from pathlib import Path
from typing import Any

import paretoguard as pg
from paretoguard.report.comparison import draw_comparison

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "baselines.md"
ALGORITHMS = ["e-cape", "two-stage", "two-stage:form=e-cape", "racing", "uniform"]
TRIALS = ["secukinumab", "covboost"]
HARD = ["racing-5", "racing-10"]
GAPS = [0.4, 0.2, 0.1, 0.05]
COLUMNS = ["instance", "algorithm", "delta", "runs", "mean", "std", "error_ecpsi", "error_ecpsi_upper"]


def measure() -> tuple[pg.Study, list[dict[str, Any]]]:
    """The study that is drawn (runs of the two trials), and a row for each kind of run of all studies."""
    trials = pg.simulate(TRIALS, algorithms=ALGORITHMS, delta=0.1, runs=500)
    hard = pg.simulate(HARD, algorithms=ALGORITHMS, delta=0.01, runs=250)
    gap = pg.simulate([f"two-stage-gap:eps={eps:g}" for eps in GAPS], algorithms=ALGORITHMS, delta=0.1, runs=500)
    return trials, [{key: row[key] for key in COLUMNS} for one in (trials, hard, gap) for row in one.summary()]


def write_numbers(rows: list[dict[str, Any]], path: Path) -> None:
    """One line for each instance and algorithm."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})


def read_numbers(path: Path = HERE / "baselines.csv") -> list[dict[str, str]]:
    """What `write_numbers` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(rows: list[dict[str, str]]) -> str:
    """Mean samples (their spread) and errors: a line for each instance, a column for each algorithm."""
    lines = ["| instance | δ | runs | " + " | ".join(f"`{name}`" for name in ALGORITHMS) + " |"]
    lines.append("|---|---:|---:|" + "---:|" * len(ALGORITHMS))
    for instance in dict.fromkeys(row["instance"] for row in rows):
        here = {row["algorithm"]: row for row in rows if row["instance"] == instance}
        cells = []
        for name in ALGORITHMS:
            mean, std, error = (float(here[name][key]) for key in ("mean", "std", "error_ecpsi"))
            cells.append(f"{mean:,.0f} ± {std:,.0f}; {error:.1%}")
        first = here[ALGORITHMS[0]]
        lines.append(f"| `{instance}` | {float(first['delta']):g} | {first['runs']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def fill(page: str, rows: list[dict[str, str]]) -> str:
    """The page with its table replaced."""
    before, start, rest = page.partition("<!-- table -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not start or not end:
        raise ValueError("the page has no place for the table: expected <!-- table --> and then <!-- end -->")
    return f"{before}{start}{table(rows)}\n{end}{after}"


def main() -> None:
    """Simulate, write the numbers, fill the page, draw."""
    study, rows = measure()
    write_numbers(rows, HERE / "baselines.csv")
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read_numbers()), encoding="utf-8")
    for suffix in (".png", ".svg"):
        draw_comparison(study, HERE / f"baselines{suffix}")


if __name__ == "__main__":
    main()
