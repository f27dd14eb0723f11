"""The plan of a design: numbers that agree with a study, and pages for people and programs."""

import dataclasses
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import paretoguard as pg
from paretoguard.cli.app import app
from paretoguard.pictures.comparison import draw_allocation

planning = importlib.import_module("paretoguard.theory.plan")  # as a name it is the function


@pytest.fixture(scope="module")
def scenarios() -> list[pg.theory.Scenario]:
    instances = [pg.instances.load("two-stage-gap:eps=1"), pg.instances.load("two-stage-gap:eps=0.5")]
    return pg.theory.plan(
        instances, algorithms=["e-cape", "uniform"], evidence="practical", delta=0.1, runs=40, budget=3_000
    )


def test_a_plan_holds_the_bound_and_what_a_study_finds(scenarios: list[pg.theory.Scenario]) -> None:
    for one in scenarios:
        study = pg.simulate(
            one.instance, algorithms=["e-cape", "uniform"], evidence="practical", delta=0.1, runs=40, budget=3_000
        )
        assert one.bound is not None
        assert one.bound.value == pg.theory.lower_bound(one.instance).value
        assert [row["mean"] for row in one.designs] == [row["mean"] for row in study.summary()]
        first = study.records["algorithm"] == "e-cape"
        row = one.designs[0]
        assert list(row["returned"].values()) == (study.statuses[first] == 1).mean(axis=0).tolist()
        assert [pulls["mean"] for pulls in row["pulls"].values()] == study.pulls[first].mean(axis=0).tolist()
        assert [pulls["q95"] for pulls in row["pulls"].values()] == np.quantile(
            study.pulls[first], 0.95, axis=0
        ).tolist()
        assert sum(one.bound.hard.values()) == pytest.approx(1.0, abs=0.02)
        assert all(factor >= 1 for factor in one.sensitivity.values())
    harder, easier = scenarios[1], scenarios[0]
    for mine, other in ((harder.bound, easier.bound), (harder.plain, easier.plain)):
        assert mine is not None
        assert other is not None
        assert mine.samples(0.1) > other.samples(0.1)


def test_a_plan_is_ready_for_json_and_drawn(scenarios: list[pg.theory.Scenario], tmp_path: Path) -> None:
    for one in scenarios:
        assert one.bound is not None
        assert json.loads(json.dumps(one.to_dict()))["lower_bound"]["answer"] == one.bound.answer
    figure = draw_allocation(scenarios, tmp_path / "plan.png")
    words = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    assert any(word.startswith("★ ") for word in words)
    assert (tmp_path / "plan.png").stat().st_size > 5_000


def test_the_command_prints_pages_for_people_and_programs() -> None:
    asked = ["plan", "two-stage-gap:eps=1", "--evidence", "practical", "--runs", "20", "--budget", "2000"]
    told = CliRunner().invoke(app, asked)
    assert told.exit_code == 0, told.output
    words = " ".join(told.output.split())
    assert "delta: 0.05 · runs: 20 · budget: 2,000 · batch: 1" in words
    assert "is below that" not in words
    assert "The budget of 9 is below that" in CliRunner().invoke(app, [*asked[:-1], "9"]).stdout
    assert "Whatever the algorithm, an error probability of 0.05 takes about" in words
    assert "Lower bound: asymptotic (for Gaussian, independent objectives" in words
    assert "What makes it hard" in words
    assert "Designs, by simulation" in words
    told = CliRunner().invoke(app, [*asked, "--json"])
    (one,) = json.loads(told.stdout)["scenarios"]
    assert json.loads(told.stdout)["design"] == {"delta": 0.05, "runs": 20, "budget": 2000, "batch": 1, "seed": 0}
    assert one["means"]["a1"] == dict(zip(("x", "y"), pg.instances.load("two-stage-gap:eps=1").means[0], strict=True))
    assert one["delta"] == 0.05
    assert set(one["lower_bound"]["weights"]) == set(one["designs"][0]["returned"])


def test_a_plan_for_means_without_a_unique_answer_says_why() -> None:
    problem = pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    with pytest.raises(pg.ProblemError, match=r"tie: no number of samples is enough: a and b have the same means\."):
        pg.theory.plan([pg.Instance(problem, [[0.0], [0.0]], name="tie")], evidence="practical", runs=1, budget=10)


@pytest.mark.parametrize("where", ["simulate", "_sensitivity"])
def test_ctrl_c_shows_what_was_known_by_then(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["plan", "two-stage-gap:eps=1", "--evidence", "practical", "--runs", "20", "--budget", "2000"]
    whole, calls = getattr(planning, where), []

    def stop(*given: Any, **settings: Any) -> Any:
        calls.append(given)
        if where == "simulate":
            raise pg.Interrupted(study=whole(*given, **{**settings, "runs": 3}))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*given, **settings)

    monkeypatch.setattr(planning, where, stop)
    told = CliRunner().invoke(app, [*asked, "--json"])
    assert told.exit_code == 130
    said = json.loads(told.stdout)
    (one,) = said["scenarios"]
    assert said["interrupted"] is True
    assert one["lower_bound"]["value"] == pg.theory.lower_bound(pg.instances.load("two-stage-gap:eps=1")).value
    assert one["designs"][0]["runs"] == (3 if where == "simulate" else 20)
    assert len(one["sensitivity"]) == (0 if where == "simulate" else 1)
    calls.clear()
    told = CliRunner().invoke(app, asked)
    assert "Designs, by simulation" in told.stdout
    assert "interrupted: this is what was known by then" in told.stderr


def test_a_study_cut_short_before_its_first_run_leaves_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*given: Any, **settings: Any) -> Any:
        study = pg.simulate(*given, **{**settings, "runs": 1})
        raise pg.Interrupted(study=dataclasses.replace(study, records=study.records[:0], pulls=study.pulls[:0]))

    monkeypatch.setattr(planning, "simulate", stop)
    told = CliRunner().invoke(app, ["plan", "two-stage-gap:eps=1", "--budget", "500"])
    assert told.exit_code == 130
    assert "What makes it hard" in told.stdout
    assert "Designs" not in told.stdout


def test_a_problem_that_theory_does_not_cover_is_planned_by_simulation(tmp_path: Path) -> None:
    file = str(Path(__file__).parent.parent / "examples" / "dose-finding.toml")  # it has a tolerance
    asked = ["plan", file, "--evidence", "practical", "--runs", "10", "--budget", "2000"]
    told = CliRunner().invoke(app, [*asked, "--plot", str(tmp_path / "plan.png")])
    assert told.exit_code == 0, told.output
    assert "No lower bound: theory does not cover tolerances." in told.stdout
    assert "Arms that are as good within the tolerances may be returned, too." in " ".join(told.stdout.split())
    (one,) = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["scenarios"]
    assert one["lower_bound"] is None
    assert one["designs"][0]["runs"] == 10


def test_errors_are_of_what_the_algorithm_promises() -> None:
    """Game-cPSI promises the set: its reasons are often wrong on this instance, the set is not."""
    study = pg.simulate("explainability", algorithms="game-cpsi", delta=0.1, runs=40, seed=3)
    (row,) = study.summary()
    assert row["task"] == "cpsi"
    assert row["error_cpsi"] == 0.0 < row["error_ecpsi"]
    (shown,) = study.rows()
    assert shown["error"].startswith("0.00%")


def test_ctrl_c_before_the_first_bound_leaves_nothing_to_draw(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(*given: Any, **settings: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(planning, "lower_bound", stop)
    picture = tmp_path / "plan.png"
    told = CliRunner().invoke(app, ["plan", "two-stage-gap:eps=1", "--json", "--plot", str(picture)])
    assert told.exit_code == 130
    assert json.loads(told.stdout)["scenarios"] == []
    assert not picture.exists()
    with pytest.raises(pg.SettingsError, match="nothing to draw"):
        draw_allocation([], picture)
