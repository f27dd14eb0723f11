"""Measure speed and scale, each number against a named alternative in the same run.

    python benchmarks/speed.py                    everything; writes benchmarks/results/speed.json and docs/speed.md
    python benchmarks/speed.py --quick            a look in a few minutes; writes nothing unless --out says where
    python benchmarks/speed.py --vopy PYTHON      with VOPy's Auer, run by a Python that has VOPy

Run it on a quiet machine. Times a sample are CPU times of one thread; times of processes and threads are wall times.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import machine
import processes
import table

import paretoguard as pg

RESULTS = Path(__file__).parent / "results" / "speed.json"
ALGORITHMS = ["e-cape", "two-stage", "two-stage:form=e-cape", "racing", "uniform"]
INSTANCES = ["secukinumab", "covboost", "simplex", "cube", "ordered", "racing-10"]
UNCONSTRAINED = "covboost:constrained=false"
NAIVE, NUMPY = "compiled O(K²) loop", "vectorised NumPy"
Row = dict[str, Any]


class Effort(NamedTuple):
    """How much to measure."""

    processes: int
    windows: int
    repeats: int  # of processes that are timed as a whole
    runs: int  # of each algorithm on each instance
    scale: float  # of what is done in a window


FULL, QUICK = Effort(5, 9, 9, 50, 1.0), Effort(1, 3, 3, 2, 0.2)


class Case(NamedTuple):
    """An instance in steady state: samples before the clock starts, and in each window."""

    instance: str
    K: int
    d: int
    warm: int
    window: int
    rivals: tuple[str, ...] = ("naive",)


FIVE = [Case(name, 5, 2, 300_000, 200_000) for name in ("secukinumab", "explainability", "racing-5")]
TWENTY = [Case(name, 20, 3, 100_000, 50_000) for name in ("covboost", "random:K=20,d=3,m=1")]
HUNDRED = Case("random:K=100,d=3,m=1", 100, 3, 10_000, 10_000)
FIVE_HUNDRED = Case("random:K=500,d=3,m=1", 500, 3, 4_000, 2_000)
ALL_OPTIMAL = Case("front:K=500,d=3", 500, 3, 4_000, 2_000)
FOUR_THOUSAND = Case("random:K=4000,d=3,m=1", 4000, 3, 32_000, 16_000, ())
LARGEST = Case("random:K=20000,d=5,m=1", 20_000, 5, 20_000, 4_000, ())
WITH_NUMPY = Case("covboost", 20, 3, 5_000, 2_000, ("numpy",))


class Steady(NamedTuple):
    """For each competitor, the least time of each window over all processes."""

    best: dict[str, list[float]]

    def ratios(self, above: str, below: str) -> list[float]:
        return [a / b for a, b in zip(self.best[above], self.best[below], strict=True)]


def steady(case: Case, effort: Effort) -> Steady:
    window = max(1, int(case.window * effort.scale))
    count = effort.processes if case.K <= 500 else min(2, effort.processes)
    warm = int(case.warm * effort.scale) if case.K <= 100 else case.warm
    arguments = case.instance, warm, window, effort.windows, list(case.rivals)
    found = [processes.steady(*arguments)["times"] for _ in range(count)]
    return Steady(
        {name: [min(times) for times in zip(*(one[name] for one in found), strict=True)] for name in found[0]}
    )


def row(what: str, ours: list[float], unit: str, **more: Any) -> Row:
    """A line of the table; `ratio` and `bar` = ("<=" or ">=", number) decide whether it holds."""
    line: Row = {"what": what, "ours": statistics.median(ours), "ours_range": [min(ours), max(ours)], "unit": unit}
    if "alternative" in more:
        other = more.pop("alternative")
        line |= {"alternative": statistics.median(other), "alternative_range": [min(other), max(other)]}
    line |= more
    if "ratios" in line:
        values = line.pop("ratios")
        line |= {"ratio": statistics.median(values), "ratio_range": [min(values), max(values)]}
    if "bar" in line:
        sense, limit = line["bar"]
        value = line.get("ratio", line["ours"])
        line["holds"] = bool(value <= limit if sense == "<=" else value >= limit)
    return line


def against_naive(case: Case, found: Steady, bar: tuple[str, float] | None) -> Row:
    slower = bar is not None and bar[0] == "<="
    ratios = found.ratios("engine", "naive") if slower else found.ratios("naive", "engine")
    return row(
        f"e-cAPE, K = {case.K:,}, d = {case.d} ({case.instance})",
        found.best["engine"],
        "ns/sample",
        alternative=found.best["naive"],
        against=NAIVE,
        ratios=ratios,
        ratio_of="time / its time" if slower else "times faster",
        **({"bar": bar} if bar else {}),
    )


def not_a_straw_man(case: Case, found: Steady, limit: float) -> Row:
    what = f"the compiled O(K²) loop itself, K = {case.K:,}"
    return row(what, found.best["naive"], "ns/sample", bar=("<=", limit))


def samples(effort: Effort) -> Iterator[Row]:
    """Time a sample, from 5 to 20,000 arms."""
    for case in FIVE:
        yield against_naive(case, steady(case, effort), ("<=", 1.2))
    for case in TWENTY:
        found = steady(case, effort)
        yield against_naive(case, found, (">=", 1.5))
        yield not_a_straw_man(case, found, 1_000)
    yield against_naive(HUNDRED, steady(HUNDRED, effort), None)
    medium = steady(FIVE_HUNDRED, effort)
    yield against_naive(FIVE_HUNDRED, medium, (">=", 30))
    yield not_a_straw_man(FIVE_HUNDRED, medium, 700_000)
    yield against_naive(ALL_OPTIMAL, steady(ALL_OPTIMAL, effort), (">=", 30))
    large = steady(FOUR_THOUSAND, effort).best["engine"]
    growth = statistics.median(large) / statistics.median(medium.best["engine"])
    yield row(
        f"e-cAPE, K = 4,000, d = 3 ({FOUR_THOUSAND.instance})",
        large,
        "ns/sample",
        alternative=medium.best["engine"],
        against="itself at K = 500",
        ratio=growth,
        ratio_of="time / its time",
        bar=("<=", 14),
    )
    yield row(f"e-cAPE, K = 20,000, d = 5 ({LARGEST.instance})", steady(LARGEST, effort).best["engine"], "ns/sample")


def memory(effort: Effort) -> Iterator[Row]:
    peak, _ = processes.largest(LARGEST.instance, LARGEST.K + int(20_000 * effort.scale))
    yield row("peak memory of a whole simulation, K = 20,000, d = 5", [peak], "MB", bar=("<=", 500))


def numpy(effort: Effort) -> Iterator[Row]:
    found = steady(WITH_NUMPY, effort)
    yield row(
        f"e-cAPE, K = 20, d = 3 ({WITH_NUMPY.instance})",
        found.best["engine"],
        "ns/sample",
        alternative=found.best["numpy"],
        against=NUMPY,
        ratios=found.ratios("numpy", "engine"),
        ratio_of="times faster",
        bar=(">=", 30),
    )


def threads(effort: Effort) -> Iterator[Row]:
    """Wall time of the same study on one core and on two."""
    if machine.cores() < 2:
        raise processes.SkippedError("threads: this process may use one core only")
    runs = int(1000 * effort.scale)
    spent: dict[int, list[float]] = {1: [], 2: []}
    pg.simulate("secukinumab", algorithms="e-cape", runs=2)
    for _ in range(effort.repeats):
        for count, times in spent.items():
            begun = time.perf_counter()
            pg.simulate("secukinumab", algorithms="e-cape", runs=runs, threads=count)
            times.append(time.perf_counter() - begun)
    yield row(
        f"{runs:,} runs of secukinumab on two cores",
        spent[2],
        "s",
        alternative=spent[1],
        against="one core",
        ratios=[one / two for one, two in zip(spent[1], spent[2], strict=True)],
        ratio_of="times faster",
        bar=(">=", 1.7),
    )


def starting(effort: Effort) -> Iterator[Row]:
    yield row("`import paretoguard`", processes.import_times(effort.repeats), "s", bar=("<=", 1.0))
    yield row("the same, and every public name used once", processes.import_times(effort.repeats, whole=True), "s")


def helping(effort: Effort) -> Iterator[Row]:
    yield row("`paretoguard --help`", processes.help_times(effort.repeats), "s", bar=("<=", 0.5))


def compiling(effort: Effort) -> Iterator[Row]:
    first, second = processes.first_and_second(ALGORITHMS)
    yield row("kernels that a second process compiles", [second["compiled"]], "kernels", bar=("<=", 0))
    yield row(
        "a process that uses every algorithm",
        [second["seconds"]],
        "s",
        alternative=[first["seconds"]],
        against="the first one, which compiles",
        ratio=first["seconds"] / second["seconds"],
        ratio_of="times faster",
    )


def vopy(effort: Effort, python: str) -> Iterator[Row]:
    """VOPy's Auer pulls in rounds, as our racing does; both without constraints."""
    instance = pg.instances.load(UNCONSTRAINED)
    found = processes.vopy(python, instance, int(100 * effort.scale), effort.windows)
    for algorithm in ("racing", "e-cape"):
        study = pg.simulate(instance, algorithms=algorithm, runs=max(10, effort.runs), threads=1)
        ours = (study.records["ns"] / study.records["samples"]).tolist()
        yield row(
            f"{algorithm}, K = 20, d = 3 ({UNCONSTRAINED})",
            ours,
            "ns/sample",
            alternative=found["times"],
            against=f"VOPy {found['version']}, Auer",
            ratio=statistics.median(found["times"]) / statistics.median(ours),
            ratio_of="times faster",
        )


def algorithms(effort: Effort) -> list[Row]:
    """Each algorithm on named instances, on one core: what a sample and what an answer costs."""
    found = []
    for name in INSTANCES:
        study = pg.simulate(name, algorithms=ALGORITHMS, runs=effort.runs, threads=1, budget=5_000_000)
        for one in study.summary():
            kept = {key: one[key] for key in ("instance", "algorithm", "runs", "mean", "undecided", "ns_per_sample")}
            found.append({**kept, "ms_per_run": one["mean"] * one["ns_per_sample"] / 1e6})
    return found


def measure(effort: Effort, python: str) -> dict[str, Any]:
    """Everything; what cannot be measured is named with the reason."""
    results: dict[str, Any] = {"machine": machine.describe(), "rows": [], "skipped": []}
    parts: list[Callable[[], Iterator[Row]]] = [
        lambda: samples(effort),
        lambda: memory(effort),
        lambda: numpy(effort),
        lambda: threads(effort),
        lambda: starting(effort),
        lambda: helping(effort),
        lambda: compiling(effort),
        lambda: vopy(effort, python),
    ]
    for part in parts:
        try:
            for line in part():
                results["rows"].append(line)
                print(table.bars([line]).splitlines()[-1], flush=True)
        except processes.SkippedError as reason:
            results["skipped"].append(str(reason))
            print("skipped:", reason, flush=True)
    results["algorithms"] = algorithms(effort)
    print(table.costs(results["algorithms"]))
    results["machine"]["load_after"] = machine.load()
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter windows: a look, not a measurement")
    parser.add_argument("--out", type=Path, help="where the JSON goes (of a full run: benchmarks/results)")
    parser.add_argument("--vopy", default=sys.executable, metavar="PYTHON", help="a Python that has VOPy")
    options = parser.parse_args()
    results = measure(QUICK if options.quick else FULL, options.vopy)
    out = options.out or (None if options.quick else RESULTS)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps({"quick": options.quick, **results}, indent=1) + "\n", encoding="utf-8")
    if out == RESULTS:
        table.write(RESULTS)
    missed = [line["what"] for line in results["rows"] if not line.get("holds", True)]
    print("\n".join(["below the bar:", *missed]) if missed else "every bar holds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
