"""`pitfall` beside the other algorithms: samples, and their ratio to the lower bound, for deltas from 0.1 to 1e-10.

    python benchmarks/pitfall.py             goes on where it was stopped; writes benchmarks/results/pitfall.csv,
                                             the picture docs/figures/pitfall and the tables of docs/pitfall.md
    python benchmarks/pitfall.py --page      only the picture and the tables

All named instances and ten random ones, chosen before anything was measured. Each line of the file is a kind of run.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import rows
from table import put
from tracking import oracle

import paretoguard as pg
from paretoguard.pictures.canvas import figure_for, look, save
from paretoguard.theory.bounds import LowerBound, lower_bound

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "pitfall.csv", ROOT / "docs" / "pitfall.md"
PICTURES = [ROOT / "docs" / "figures" / f"pitfall.{kind}" for kind in ("svg", "png")]
NAMED = [
    "two-stage-gap", "explainability", "racing-5", "racing-10", "simplex", "ordered", "cube", "covboost", "secukinumab",
]  # fmt: skip
RANDOM = [
    "random:K=5,d=2,m=2,seed=1", "random:K=6,d=2,m=1,seed=2", "random:K=6,d=3,m=2,seed=3", "random:K=8,d=2,m=2,seed=1",
    "random:K=8,d=3,m=3,seed=4", "random:K=10,d=3", "random:K=10,d=2,m=2,seed=5,noise=bernoulli",
    "random:K=12,d=4,m=2,seed=6", "random:K=15,d=4,m=3,seed=2", "random:K=20,d=3,m=2,seed=7",
]  # fmt: skip
DELTAS = [0.1, 0.001, 1e-10]
FIRST, EVIDENCE = ["e-cape", "pitfall"], ["practical", "certified"]
OTHERS = ["two-stage", "racing", "uniform", "pitfall:task=cpsi"]
RUNS, GAME_RUNS, GAME_SIZE, GAME_SAMPLES = 1000, 20, 15, 1000  # fewer runs of Game-cPSI where T is above the last
LONGEST = 100  # times what the bound asks for: a rare run never ends, as only a tie is left to decide
VARIANTS = ["pitfall", "pitfall:catch_up=0", "pitfall:catch_up=1.0", "pitfall:explore=0"]
VARIED = ["two-stage-gap", "explainability", "cube", "secukinumab", "racing-10"]
FARTHER, FEWER_RUNS, CLEARLY = [1e-40, 1e-160], 200, 3.0  # standard errors
FALLING = [
    "cube", "random:K=6,d=2,m=1,seed=2", "random:K=8,d=2,m=2,seed=1", "random:K=8,d=3,m=3,seed=4",
    "random:K=12,d=4,m=2,seed=6",
]  # fmt: skip
ALONE = {  # the pair that takes most of the samples: that the first is dominated by the second
    "random:K=8,d=3,m=3,seed=4": ("a5", "a6"),
    "random:K=8,d=2,m=2,seed=1": ("a2", "a3"),
}
SEVERAL = "certified:several=0.05"
KIND = ("instance", "algorithm", "evidence", "delta")
COLUMNS = (*KIND, "guarantee", "runs", "mean", "std", "error_cpsi", "error_ecpsi", "error_ecpsi_upper", "undecided")
BARS = {"share": 0.9, "fewer": 0.85, "bound": 1.15, "certified": 1.8, "errors": 1.0}


def kinds() -> list[tuple[str, str, str, float]]:
    """What is measured, what matters most first."""
    names = [*NAMED, *RANDOM]
    small = [name for name in names if pg.instances.load(name).means.size <= GAME_SIZE]
    found = [(name, how, "practical", delta) for delta in DELTAS for how in FIRST for name in names]
    found += [(name, how, "certified", 0.1) for how in FIRST for name in names]
    found += [(name, how, "practical", 0.1) for how in OTHERS[:-1] for name in names]
    found += [(name, "oracle", "practical", 1e-10) for name in FALLING]
    found += [(f"{name}, {' and '.join(pair)}", "pitfall", "practical", 1e-10) for name, pair in ALONE.items()]
    found += [(name, how, "practical", delta) for delta in (0.1, 1e-10) for how in VARIANTS[1:] for name in VARIED]
    found += [(name, "pitfall", "practical", delta) for delta in FARTHER for name in FALLING]
    found += [(name, "pitfall", SEVERAL, 0.1) for name in names if is_apart(name)]
    found += [(name, how, "certified", delta) for delta in DELTAS[1:] for how in FIRST for name in names]
    found += [(name, how, "certified", 0.1) for how in OTHERS[:-1] for name in names]
    found += [(name, how, kind, 1e-10) for kind in EVIDENCE for how in OTHERS[:-1] for name in names]
    found += [(name, "game-cpsi", "glr", delta) for delta in DELTAS for name in small]
    found += [(name, how, kind, 0.001) for kind in EVIDENCE for how in OTHERS[:-1] for name in names]
    found += [(name, "pitfall", SEVERAL, 1e-10) for name in names if is_apart(name)]
    found += [  # long, of a general polyhedron
        (name, OTHERS[-1], kind, delta) for delta in (0.1, 1e-10, 0.001) for kind in EVIDENCE for name in names
    ]
    return list(dict.fromkeys(found))


def is_apart(name: str) -> bool:
    """Are the objectives declared independent?"""
    return bool(pg.instances.load(name).problem.space().independent)


def loaded(name: str) -> pg.Instance:
    """The instance; of a name that ends in a pair of arms, these two, without constraints."""
    whole, _, pair = name.partition(", ")
    instance = pg.instances.load(whole)
    if not pair:
        return instance
    problem, arms = instance.problem, pair.split(" and ")
    alone = pg.Problem(problem.objectives, arms=arms, noise=problem.noise, dependence=problem.dependence, name=name)
    return pg.Instance(alone, instance.means[[problem.arms.index(arm) for arm in arms]])


def measure() -> None:
    """One kind after the other; what is in the file already stays."""
    done = rows.read(RESULTS) if RESULTS.exists() else []
    seen = {tuple(row[key] for key in KIND) for row in done}
    kept: list[Any] = list(done)
    bounds: dict[tuple[str, str], LowerBound] = {}
    for name, how, kind, delta in kinds():
        if (name, how, kind, f"{delta:.6g}") in seen:
            continue
        task = "cpsi" if how in ("pitfall:task=cpsi", "game-cpsi") else "e-cpsi"
        instance = loaded(name)
        if (name, task) not in bounds:
            bounds[name, task] = lower_bound(instance, task, time_limit=math.inf)
        bound = bounds[name, task]
        least = bound.value * math.log(1.0 / delta)
        is_short = delta in DELTAS and how not in ("oracle", *VARIANTS[1:])
        is_long = how == "game-cpsi" and bound.value > GAME_SAMPLES
        runs = GAME_RUNS if is_long else RUNS if is_short else FEWER_RUNS
        algorithm = oracle(instance, task) if how == "oracle" else how
        study = pg.simulate(
            instance, algorithms=algorithm, evidence=kind, delta=delta, runs=runs, budget=int(LONGEST * least) + 10_000
        )
        row = study.summary()[0]
        facts = {key: row[key] for key in COLUMNS} | {"instance": name, "evidence": kind, "algorithm": how}
        kept.append({**facts, "bound": bound.value, "ratio": row["mean"] / least})
        rows.write(kept, RESULTS)
        print(name, how, kind, f"{delta:g}: {row['mean']:,.0f} samples, {row['mean'] / least:.2f}", flush=True)


# --- what it shows ---------------------------------------------------------------------------------------------------


def column(table: list[dict[str, str]], what: str, how: str, kind: str, delta: float) -> dict[str, float]:
    """One number for each instance."""
    return {
        row["instance"]: float(row[what])
        for row in table
        if (row["algorithm"], row["evidence"], float(row["delta"])) == (how, kind, delta)
    }


def near_bound(table: list[dict[str, str]]) -> dict[str, float]:
    """Of each instance, the ratio of `pitfall` to the lower bound at the least delta."""
    found = column(table, "ratio", "pitfall", "practical", DELTAS[-1])
    return {name: found[name] for name in [*NAMED, *RANDOM] if name in found}


def headline(table: list[dict[str, str]]) -> dict[str, float]:
    """The numbers that the bars are about."""
    ecape, pitfall = (column(table, "mean", how, "practical", 0.1) for how in FIRST)
    certified = column(table, "mean", "pitfall", "certified", 0.1)
    fewer = [pitfall[name] / ecape[name] for name in pitfall]
    errors = [float(row["error_ecpsi"]) / float(row["delta"]) for row in table if row["algorithm"] == "pitfall"]
    return {
        "share": float(np.mean([ratio <= 1.0 for ratio in fewer])),
        "fewer": float(np.mean(fewer)),
        "bound": max(near_bound(table).values(), default=math.nan),
        "certified": float(np.mean([certified[name] / ecape[name] for name in certified] or [math.nan])),
        "errors": max(errors),
    }


def bars_table(table: list[dict[str, str]]) -> str:
    found = headline(table)
    near = near_bound(table)
    within = sum(ratio <= BARS["bound"] for ratio in near.values())
    lines = ["| what | measured | bar | holds? |", "|---|---:|---:|---|"]
    for key, what in (
        ("share", "share of instances where `pitfall` needs no more than `e-cape`, δ = 0.1"),
        ("fewer", "its samples over those of `e-cape`, δ = 0.1, on average"),
        ("bound", "its ratio to the lower bound, δ = 1e-10, at most"),
        ("certified", "with `certified`, over `e-cape` with `practical`, δ = 0.1, on average"),
        ("errors", "its error rates over δ, at most"),
    ):
        value, bar = found[key], BARS[key]
        said = "yes" if (value >= bar if key == "share" else value <= bar) else "no"
        said += f": holds on {within} of {len(near)} instances" if key == "bound" and said == "no" else ""
        measured = "–" if math.isnan(value) else f"{value:.2f}"
        lines.append(f"| {what} | {measured} | {bar:.2f} | {'not measured yet' if math.isnan(value) else said} |")
    return "\n".join(lines)


def ratios_table(table: list[dict[str, str]], kind: str) -> str:
    """Ratios to the lower bound: e-cAPE and pitfall, for each delta."""
    lines = [
        "| instance | T | " + " | ".join(f"{how}, {delta:g}" for delta in DELTAS for how in FIRST) + " |",
        "|---|---:|" + "---:|" * (len(DELTAS) * len(FIRST)),
    ]
    for name in [*NAMED, *RANDOM]:
        bound = column(table, "bound", "pitfall", "practical", 0.1).get(name)
        cells = [column(table, "ratio", how, kind, delta).get(name) for delta in DELTAS for how in FIRST]
        shown = " | ".join("–" if cell is None else f"{cell:.2f}" for cell in cells)
        lines.append(f"| `{name}` | {bound:,.0f} | {shown} |")
    return "\n".join(lines)


def others_table(table: list[dict[str, str]]) -> str:
    """Samples of the others over those of pitfall, for each delta; geometric means over what was measured."""
    heads = " | ".join(f"δ = {delta:g}" for delta in DELTAS)
    lines = [f"| algorithm | evidence | {heads} |", "|---|---|" + "---:|" * len(DELTAS)]
    names = [*NAMED, *RANDOM]
    for how, kind in [*((how, kind) for how in (*FIRST, *OTHERS) for kind in EVIDENCE), ("game-cpsi", "glr")]:
        cells = []
        for delta in DELTAS:
            ours = column(table, "mean", "pitfall", kind if kind in EVIDENCE else "practical", delta)
            theirs = column(table, "mean", how, kind, delta)
            both = [name for name in names if name in theirs and name in ours]
            if not both:
                cells.append("–")
                continue
            mean = math.exp(float(np.mean([math.log(theirs[name] / ours[name]) for name in both])))
            cells.append(f"{mean:.2f}" + (f" ({len(both)})" if len(both) < len(names) else ""))
        if how != "pitfall" and set(cells) != {"–"}:
            lines.append(f"| `{how}` | `{kind}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def losses_table(table: list[dict[str, str]]) -> str:
    """Where another algorithm for the same task needs clearly fewer samples than pitfall, over those of pitfall."""
    lines = [
        "| instance | algorithm | evidence | " + " | ".join(f"δ = {delta:g}" for delta in DELTAS) + " |",
        "|---|---|---|" + "---:|" * len(DELTAS),
    ]
    for name in [*NAMED, *RANDOM]:
        for how in ("e-cape", *OTHERS[:-1]):
            for kind in EVIDENCE:
                compared = [_over_pitfall(table, name, how, kind, delta) for delta in DELTAS]
                if any(is_clear for _, is_clear in compared):
                    cells = ["–" if math.isnan(ratio) else f"{ratio:.2f}" for ratio, _ in compared]
                    marked = [
                        f"**{cell}**" if is_clear else cell for cell, (_, is_clear) in zip(cells, compared, strict=True)
                    ]
                    lines.append(f"| `{name}` | `{how}` | `{kind}` | {' | '.join(marked)} |")
    return "\n".join(lines)


def _over_pitfall(table: list[dict[str, str]], name: str, how: str, kind: str, delta: float) -> tuple[float, bool]:
    """Samples over those of pitfall, and whether they are clearly fewer."""
    theirs, ours = (
        [column(table, what, one, kind, delta).get(name, math.nan) for what in ("mean", "std", "runs")]
        for one in (how, "pitfall")
    )
    error = math.hypot(theirs[1] / math.sqrt(theirs[2]), ours[1] / math.sqrt(ours[2]))
    return theirs[0] / ours[0], ours[0] - theirs[0] > CLEARLY * error


def several_table(table: list[dict[str, str]]) -> str:
    """Samples with claims about several arms over those without, for each delta; where independence is declared."""
    deltas = [DELTAS[0], DELTAS[-1]]
    lines = ["| instance | " + " | ".join(f"δ = {delta:g}" for delta in deltas) + " |", "|---|" + "---:|" * len(deltas)]
    ratios: dict[float, dict[str, float]] = {}
    for delta in deltas:
        plain, with_sets = (column(table, "mean", "pitfall", kind, delta) for kind in ("certified", SEVERAL))
        ratios[delta] = {name: with_sets[name] / plain[name] for name in with_sets if name in plain}
    for name in [*NAMED, *RANDOM]:
        cells = [ratios[delta].get(name) for delta in deltas]
        if any(cell is not None for cell in cells):
            shown = " | ".join("–" if cell is None else f"{cell:.3f}" for cell in cells)
            lines.append(f"| `{name}` | {shown} |")
    means = [f"{np.mean(list(found.values())):.3f}" if found else "–" for found in ratios.values()]
    return "\n".join([*lines, f"| on average | {' | '.join(means)} |"])


def variants_table(table: list[dict[str, str]]) -> str:
    """Ratios to the lower bound without doubt, with more of it, and without exploration."""
    heads = [f"{name}, {delta:g}" for name in VARIED for delta in (0.1, 1e-10)]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for how in VARIANTS:
        cells = [column(table, "ratio", how, "practical", delta).get(name) for name in VARIED for delta in (0.1, 1e-10)]
        lines.append(f"| `{how}` | " + " | ".join("–" if cell is None else f"{cell:.2f}" for cell in cells) + " |")
    return "\n".join(lines)


def threshold_alone(mean: float, delta: float) -> float:
    """What f(t)/log(1/delta) makes of the ratio, at the mean number of samples."""
    return 1.0 + math.log(math.log(mean)) / math.log(1.0 / delta)


def floor(table: list[dict[str, str]], name: str, delta: float) -> float | None:
    """About the least ratio to expect: the hardest pair takes what it takes alone, the rest what the threshold does."""
    pair = f"{name}, {' and '.join(ALONE.get(name, ()))}"
    ratios, bounds, means = (column(table, what, "pitfall", "practical", delta) for what in ("ratio", "bound", "mean"))
    if pair not in ratios or name not in ratios:
        return None
    share = bounds[pair] / bounds[name]
    return share * ratios[pair] + (1.0 - share) * threshold_alone(means[name], delta)


def falling_table(table: list[dict[str, str]]) -> str:
    """How ratios fall with delta, what the threshold alone makes of it, and what an oracle does at the first delta."""
    deltas = [1e-10, *FARTHER]
    heads = ["oracle, δ = 1e-10", "hardest pair alone, δ = 1e-10", "with the rest, about"]
    heads += [f"δ = {delta:g}" for delta in deltas]
    lines = ["| instance | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    known = column(table, "ratio", "oracle", "practical", 1e-10)
    near = column(table, "ratio", "pitfall", "practical", 1e-10)
    alone = {name: near.get(f"{name}, {' and '.join(pair)}") for name, pair in ALONE.items()}
    for name in FALLING:
        values = (known.get(name), alone.get(name), floor(table, name, 1e-10))
        cells = [f"{value:.2f}" if value is not None else "–" for value in values]
        for delta in deltas:
            mean = column(table, "mean", "pitfall", "practical", delta).get(name)
            ratio = column(table, "ratio", "pitfall", "practical", delta).get(name)
            if mean is None or ratio is None:
                cells.append("–")
                continue
            cells.append(f"{ratio:.2f} (threshold {threshold_alone(mean, delta):.2f})")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(table: list[dict[str, str]]) -> None:
    """Ratio to the lower bound against delta, one line an instance."""
    with look():
        figure = figure_for(None, 7.0, 3.4)
        panels: Any = figure.subplots(1, 2, sharex=True, sharey=True)
        for panel, how in zip(panels, FIRST, strict=True):
            for name in [*RANDOM, *NAMED]:
                points = [(delta, column(table, "ratio", how, "practical", delta).get(name)) for delta in DELTAS]
                drawn = [(math.log10(1.0 / delta), ratio) for delta, ratio in points if ratio is not None]
                is_named = name in NAMED
                style: dict[str, Any] = {
                    "color": "#0072b2" if is_named else "#999999",
                    "marker": "o" if is_named else "s",
                }
                panel.plot(*zip(*drawn, strict=True), markersize=3, linewidth=1, **style)
            panel.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
            panel.set_title(how)
            panel.set_xlabel("log10(1/δ)")
        panels[0].set_ylabel("mean samples over the lower bound")
        panels[1].plot([], [], color="#0072b2", marker="o", markersize=3, label="named instances")
        panels[1].plot([], [], color="#999999", marker="s", markersize=3, label="random instances")
        panels[1].legend(frameon=False)
        for place in PICTURES:
            save(figure, place)


def fill(page: str, table: list[dict[str, str]]) -> str:
    """The page with its tables."""
    tables = {
        "bars": bars_table(table),
        "practical": ratios_table(table, "practical"),
        "certified": ratios_table(table, "certified"),
        "others": others_table(table),
        "losses": losses_table(table),
        "several": several_table(table),
        "variants": variants_table(table),
        "falling": falling_table(table),
    }
    return put(page, tables)


def main() -> int:
    if "--page" not in sys.argv:
        measure()
    table = rows.read(RESULTS)
    draw(table)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
