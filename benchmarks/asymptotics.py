"""What remains above the lower bound as delta falls: mean samples over T log(1/delta), for delta from 1e-1 to 1e-100.

    python benchmarks/asymptotics.py         measures (half an hour), writes and draws
    python benchmarks/asymptotics.py --only game-cpsi    measures one algorithm anew, and keeps the rest
    python benchmarks/asymptotics.py --draw  draws what was measured

Writes benchmarks/results/asymptotics.csv, docs/figures/asymptotics.svg and .png, and a table of docs/theory.md. T is
that of the problem each algorithm solves: e-cPSI for e-cAPE (`practical`), cPSI for Game-cPSI and for tracking, which
is told the best weights and stops as Game-cPSI does. Beside it h(t, delta)/log(1/delta) at the mean samples t, the
price of Game-cPSI's threshold; `losses` are what the sampling rule adds, as a factor.
"""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rows
from table import put
from tracking import oracle

import paretoguard as pg
from paretoguard.evidence.kaufmann_koolen import threshold
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.pictures.palette import QUIET

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "asymptotics.csv", ROOT / "docs" / "theory.md"
FIGURE = ROOT / "docs" / "figures" / "asymptotics"
INSTANCES = ["two-stage-gap", "explainability", "racing-5", "secukinumab", "random:K=5,d=3"]  # K d <= 15
DIGITS = [1, 2, 3, 5, 10, 20, 50, 100]  # of delta
RUNS = 40
STYLES = {
    "e-cape": ("#E69F00", "s", "-", "e-cAPE, practical (of T for e-cPSI)"),
    "game-cpsi": ("#0072B2", "o", "-", "Game-cPSI"),
    "tracking": ("#009E73", "^", "--", "tracking the best weights"),
}
LOSS, ABOVE_TRACKING = 1.2, 0.1  # bars, at the smallest delta


def price(t: float, K: int, d: int, delta: float) -> float:
    """h(t, delta)/log(1/delta)."""
    level = 2.0 * math.log(4.0 + math.log(max(1.0, t / K))) + threshold(math.log(1.0 / delta) / (K * d))
    return K * d * level / math.log(1.0 / delta)


def measure(wanted: Sequence[str] = tuple(STYLES)) -> list[dict[str, Any]]:
    found = []
    for name in INSTANCES:
        instance = pg.instances.load(name)
        K, d = instance.means.shape
        bounds = {task: pg.theory.lower_bound(instance, task=task).value for task in ("cpsi", "e-cpsi")}
        for algorithm in wanted:
            bound = bounds["e-cpsi" if algorithm == "e-cape" else "cpsi"]
            for digits in DIGITS:
                study = pg.simulate(
                    instance, algorithms=oracle(instance) if algorithm == "tracking" else algorithm,
                    evidence="practical", delta=10.0**-digits, runs=RUNS,
                )  # fmt: skip
                (row,) = study.summary()
                ratio = row["mean"] / (bound * digits * math.log(10.0))
                h = price(row["mean"], K, d, 10.0**-digits)
                facts = {"bound": bound, "samples": row["mean"], "std": row["std"], "ratio": ratio, "h": h}
                found.append({"instance": name, "algorithm": algorithm, "digits": digits, "runs": RUNS, **facts})
                print(found[-1], flush=True)
    return found


def losses(found: list[dict[str, str]], name: str, algorithm: str) -> list[float]:
    """What the sampling rule adds to the price of its threshold, from the largest delta to the smallest."""
    mine = [row for row in found if row["instance"] == name and row["algorithm"] == algorithm]
    return [float(row["ratio"]) / float(row["h"]) for row in mine]


def holds(game: list[float], tracking: list[float]) -> bool:
    """Small at the smallest delta, lower than at 1e-10, and not far from tracking."""
    fell = game[-1] < game[DIGITS.index(10)]
    return game[-1] <= LOSS and fell and game[-1] <= tracking[-1] + ABOVE_TRACKING


def missed(found: list[dict[str, str]]) -> list[str]:
    """The instances on which the bar does not hold."""
    return [name for name in INSTANCES if not holds(*(losses(found, name, one) for one in ("game-cpsi", "tracking")))]


def fill(page: str, found: list[dict[str, str]]) -> str:
    kept = [0, 4, 7]
    heads = [f"{algorithm}, 1e-{DIGITS[k]}" for algorithm in ("game-cpsi", "tracking") for k in kept]
    lines = ["| instance | " + " | ".join(heads) + " | bar holds? |", "|---|" + "---:|" * len(heads) + "---|"]
    for name in INSTANCES:
        game, tracking = (losses(found, name, algorithm) for algorithm in ("game-cpsi", "tracking"))
        cells = [f"{one[k]:.2f}" for one in (game, tracking) for k in kept]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {'**no**' if name in missed(found) else 'yes'} |")
    return put(page, {"asymptotics": "\n".join(lines)})


def draw(found: list[dict[str, str]]) -> None:
    with look():
        figure = figure_for(None, 9.0, 5.6)
        panels: Any = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
        for name, axes in zip(INSTANCES, panels, strict=False):
            _panel(axes, name, found)
        for axes in panels[2:5]:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("δ", color=QUIET)
        for axes in panels[::3]:
            axes.set_ylabel("mean samples / (T log 1/δ)", color=QUIET)
        panels[5].axis("off")
        panels[5].legend(*panels[0].get_legend_handles_labels(), loc="center left", frameon=False)
        for suffix in (".svg", ".png"):
            save(figure, FIGURE.with_suffix(suffix))


def _panel(axes: Any, name: str, found: list[dict[str, str]]) -> None:
    for algorithm, (colour, mark, dashes, label) in STYLES.items():
        mine = [row for row in found if row["instance"] == name and row["algorithm"] == algorithm]
        digits, ratios = [int(row["digits"]) for row in mine], [float(row["ratio"]) for row in mine]
        if algorithm == "game-cpsi":
            h = [float(row["h"]) for row in mine]
            axes.plot(digits, h, color="#222222", linestyle=":", label="h(t, δ)/log(1/δ): its threshold")
        axes.plot(digits, ratios, color=colour, marker=mark, markersize=4, linestyle=dashes, label=label)
    axes.axhline(1.0, color="#8A8A8A", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([1, 3, 10, 30, 100], ["0.1", "1e-3", "1e-10", "1e-30", "1e-100"])
    axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    axes.minorticks_off()
    axes.set_title(name, loc="left", fontweight="bold", parse_math=False)


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    asked = sys.argv[1:]
    if asked[:1] == ["--only"]:
        kept = [row for row in read() if row["algorithm"] != asked[1]]
        rows.write([*kept, *measure(asked[1:])], RESULTS)
    elif asked != ["--draw"]:
        rows.write(measure(), RESULTS)
    draw(read())
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return len(missed(read()))


if __name__ == "__main__":
    sys.exit(main())
