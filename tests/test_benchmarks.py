"""The alternatives that speed is measured against make the engine's pulls, and docs/speed.md says what was measured.

Nothing is timed here: see benchmarks/speed.py.
"""

import importlib
import itertools
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paretoguard as pg

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))  # they are scripts, not a package
NAMES = ("naive", "speed", "steady", "table", "evidence", "outcomes", "units")
naive, speed, steady, table, evidence, outcomes, units = map(importlib.import_module, NAMES)
FIRST = ("first_compile", "install", "start")
first_compile, install, start = map(importlib.import_module, FIRST)
MORE = ("alternatives", "asymptotics", "bounds", "default", "game", "live", "pitfall", "pitfall_time")
alternatives, asymptotics, bounds, default, game, live, pitfall, pitfall_time = map(importlib.import_module, MORE)

SMALL = ["secukinumab", "explainability", "racing-5", "covboost:constrained=false"]
LARGER = ["random:K=12,d=1,m=1", "random:K=30,d=2,m=0", "random:K=25,d=3,m=1,noise=bernoulli", "front:K=30,d=3"]


@pytest.mark.parametrize("text", SMALL + LARGER)
def test_the_alternatives_make_the_same_pulls(text: str) -> None:
    found = steady.measure(text, 700, 300, 2, ["naive", "numpy"])
    assert found["samples"] >= 1300
    assert all(len(times) == 2 for times in found["times"].values())


@pytest.mark.parametrize(
    ("text", "runs", "budget"),
    [("two-stage-gap", 40, None), ("covboost", 4, None), *((text, 3, 9001) for text in LARGER[:3])],
)
def test_the_compiled_loop_ends_its_runs_as_the_engine_does(text: str, runs: int, budget: int | None) -> None:
    study = pg.simulate(text, algorithms="e-cape", runs=runs, seed=5, budget=budget, threads=1)
    assert np.array_equal(naive.simulate(pg.instances.load(text), runs=runs, seed=5, budget=budget), study.pulls)


def test_a_loop_that_decides_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(steady.COMPETITORS, "naive", lambda instance: steady.engine(pg.instances.load("racing-5")))
    with pytest.raises(AssertionError, match="naive and the engine did not make the same pulls"):
        steady.measure("secukinumab", 100, 100, 1, ["naive"])


@pytest.mark.parametrize(
    "changes",
    [
        {"constraints": ["x + y <= 1", "x >= 0"]},
        {"constraints": ["x >= 0.1", "x >= 0.2"]},
        {"noise": {"x": pg.Gaussian(1.0), "y": pg.Exact()}},
        {"tolerance": 0.1},
    ],
)
def test_problems_that_the_alternatives_do_not_know_are_refused(changes: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"noise": pg.Gaussian(1.0), "name": "unknown", **changes}
    problem = pg.Problem({"x": "max", "y": "max"}, arms=["a", "b"], **fields)
    with pytest.raises(
        ValueError, match="only noisy objectives, no tolerance, and no constraints, a half-space or a box"
    ):
        naive.simulate(pg.Instance(problem, [[0.3, 0.4], [0.5, 0.2]]))


def test_a_bar_is_judged_by_its_ratio_or_else_by_our_number() -> None:
    assert speed.row("a", [3.0, 1.0, 2.0], "s", bar=("<=", 2.0))["holds"]
    assert not speed.row("a", [3.0], "s", bar=("<=", 2.0))["holds"]
    line = speed.row(
        "a", [3.0], "s", alternative=[6.0], against="b", ratios=[2.0], ratio_of="times faster", bar=(">=", 3)
    )
    assert not line["holds"]
    assert table.bars([line]).splitlines()[-1] == "| a | 3 s | b: 6 s | 2 times faster | ≥ 3 | **no** |"


def test_the_page_shows_what_was_measured() -> None:
    results = json.loads(speed.RESULTS.read_text(encoding="utf-8"))
    page = table.PAGE.read_text(encoding="utf-8")
    assert table.fill(page, results) == page
    assert all(line["what"] in page for line in results["rows"])


def test_the_pages_show_what_a_first_use_costs() -> None:
    for script in (first_compile, install, start):
        page = script.PAGE.read_text(encoding="utf-8")
        assert script.fill(page, script.rows.read(script.RESULTS)) == page


def test_a_first_use_waits_for_no_compiler() -> None:
    seconds = {row["what"]: row for row in start.rows.read(start.RESULTS)}
    assert set(seconds) == set(start.CASES)
    for name, row in seconds.items():
        bar = start.BARS.get(name, start.BAR)
        assert max(float(row["cold_auto_s"]), float(row["warm_auto_s"])) < bar, name
    run = seconds[start.RUN]
    assert float(run["cold_auto_s"]) <= start.SHARE * float(run["cold_compiled_s"])
    small = {row["install"]: float(row["mb"]) for row in install.rows.read(install.RESULTS)}["small"]
    assert small < 250


def test_the_results_name_no_path() -> None:
    text = speed.RESULTS.read_text(encoding="utf-8")
    private = (str(Path.home()), str(BENCHMARKS.parent), sys.executable)
    assert [path for path in private if len(path) > 1 and path in text] == []


def test_the_page_on_evidence_shows_what_was_measured_and_every_bar_holds() -> None:
    rows, timed = evidence.read(), evidence.read(evidence.TIMES)
    page = evidence.PAGE.read_text(encoding="utf-8")
    assert evidence.fill(page, rows, timed) == page
    assert evidence.missed(rows) == []
    assert outcomes.fill(page, outcomes.read()) == page
    assert units.fill(page, units.read()) == page
    for name in evidence.TIMED:
        ns = {row["evidence"]: float(row["ns"]) for row in timed if row["instance"] == name}
        assert ns["certified"] <= 5 * ns["practical"]


def test_the_page_shows_what_live_experiments_cost_and_every_bar_holds() -> None:
    found = live.read()
    page = live.PAGE.read_text(encoding="utf-8")
    assert live.fill(page, found) == page
    assert [int(row["results"]) for row in found if row["what"] == live.OURS] == list(live.HISTORIES)
    assert live.missed(found) == []


def test_a_slow_ledger_would_be_noticed() -> None:
    found = live.read()
    slower = [{**row, "growth": "2"} for row in found]
    assert "times as long at 10,000 results" in live.missed(slower)[-1]
    others = [{**row, "times_ours": "0.5"} for row in found]
    assert len(live.missed(others)) == 2


def test_our_side_of_the_comparison_works(tmp_path: Path) -> None:
    pair = live.Ours(tmp_path).after(7)
    pair()
    assert (tmp_path / "ours-7.db").exists()


def test_the_page_on_theory_shows_what_was_measured() -> None:
    page = alternatives.PAGE.read_text(encoding="utf-8")
    for script in (alternatives, asymptotics, bounds, game):
        assert script.fill(page, script.read()) == page
    assert asymptotics.missed(asymptotics.read()) == []
    assert all(float(row["ecpsi_gap"]) <= 1e-3 for row in bounds.read() if int(row["both"]) <= 12)
    for row in alternatives.read():
        assert float(row["numpy"]) >= 50 * float(row["engine"])
        p, d = int(row["p"]), int(row["d"])
        assert int(row["maps"]) <= math.comb(p + d - 1, d - 1)


def test_the_page_on_pitfall_shows_what_was_measured() -> None:
    page = pitfall.PAGE.read_text(encoding="utf-8")
    assert pitfall.fill(page, pitfall.rows.read(pitfall.RESULTS)) == page
    times = pitfall.rows.read(pitfall_time.RESULTS)
    assert pitfall_time.fill(page, times) == page
    assert max(float(row["times"]) for row in times) <= pitfall_time.BAR
    ways = pitfall.rows.read(default.RESULTS)
    assert default.fill(page, ways) == page
    assert {(row["way"], row["instance"]) for row in ways} == set(itertools.product(default.WAYS, default.NAMES))


@pytest.mark.parametrize(("p", "d"), [(3, 2), (6, 3), (5, 4)])
def test_the_alternative_in_numpy_gives_the_same(p: int, d: int) -> None:
    means, optimal = alternatives.case(p, d)
    w = np.random.default_rng(p).dirichlet(np.ones(len(means)))
    found = alternatives.alternative(len(means), d, 0)
    free = alternatives.polyhedron(np.zeros((0, d)), np.zeros(0))
    value = alternatives.nearest_alternative(free, means, optimal, w, found)
    assert value == pytest.approx(alternatives.by_numpy(means, optimal, w), rel=1e-9)
