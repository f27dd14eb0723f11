"""Error rates against delta, with exact binomial limits, on instances where mistakes are easy to make.

Each check allows the error count that a true rate of exactly delta would exceed with probability 1e-4 only. The same
checks must fail on evidence that is broken on purpose.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import paretoguard as pg

ALARM = 1e-4
DELTA = 0.1
RUNS = 2_000


def close_pair(gap: float) -> pg.Instance:
    """Two arms that differ by `gap` in one objective and trade off in the other."""
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Gaussian(1.0), dependence="independent", name="close"
    )
    return pg.Instance(problem, [[gap, 0.0], [0.0, gap], [-1.0, -1.0]])


def boundary(gap: float) -> pg.Instance:
    """Arms just inside and just outside the constraints."""
    problem = pg.Problem(
        {"x": "max", "y": "max"},
        arms=["in", "out", "far"],
        noise=pg.Bernoulli(),
        constraints=["x >= 0.5"],
        dependence="unknown",
        name="boundary",
    )
    return pg.Instance(problem, [[0.5 + gap, 0.3], [0.5 - gap, 0.6], [0.1, 0.1]])


def boundary_with_ties() -> pg.Instance:
    """No right answer exists for the tied arms: only claims made by the budget are judged."""
    problem = pg.Problem({"x": "max"}, arms=["a", "b", "c"], noise=pg.Gaussian(1.0), name="ties")
    return pg.Instance(problem, [[0.0], [0.05], [0.02]])


def tolerant() -> pg.Instance:
    """Ties, and an arm outside by half the tolerance: certified feasible up to it and infeasible are both true."""
    problem = pg.Problem(
        {"x": "max", "y": "max"},
        arms=["i", "j", "k"],
        noise=pg.Gaussian(1.0),
        constraints={"cap": "x <= 0"},
        dependence="independent",
        tolerance={"cap": 1.0, "x": 0.02, "y": 0.02},
        name="tolerant",
    )
    return pg.Instance(problem, [[-3.0, -3.0], [0.5, 0.0], [-4.0, 0.06]])


def too_many_errors(instance: pg.Instance, evidence: Any, budget: int, algorithm: str = "e-cape") -> bool:
    """Do so many runs make a false claim that a rate of delta would not explain it?"""
    study = pg.simulate(
        instance, algorithms=algorithm, evidence=evidence, delta=DELTA, runs=RUNS, seed=4, budget=budget
    )
    errors = int(study.records["wrong_ecpsi"].sum())
    assert np.all(study.records["wrong_ecpsi"] >= study.records["wrong_cpsi"])  # every cPSI error is an e-cPSI error
    return bool(stats.binom.sf(errors - 1, RUNS, DELTA) < ALARM)


@pytest.mark.parametrize(
    ("algorithm", "evidence"),
    [
        *((how, "certified") for how in ("pitfall", "e-cape", "uniform", "racing", "two-stage")),
        *((how, "practical") for how in ("pitfall", "e-cape")),
        *(pytest.param(how, "practical", marks=pytest.mark.slow) for how in ("uniform", "racing", "two-stage")),
        *(("e-cape", what) for what in ("lil", "theorem")),
    ],
)
@pytest.mark.parametrize(
    "instance", [close_pair(0.2), boundary(0.05), boundary_with_ties(), tolerant()], ids=lambda one: one.name
)
def test_errors_stay_within_delta(instance: pg.Instance, evidence: str, algorithm: str) -> None:
    assert not too_many_errors(instance, evidence, budget=20_000, algorithm=algorithm)


def ties_and_borders(tolerance: float) -> pg.Instance:
    """Two arms alike, one on the border of the constraint, one below both."""
    problem = pg.Problem(
        {"x": "max", "y": "max"},
        arms=["a", "b", "border", "low"],
        noise={"x": pg.Gaussian(1.0), "y": pg.Bernoulli()},
        constraints={"cap": "x <= 1"},
        tolerance=tolerance,
        name="ties and borders",
    )
    return pg.Instance(problem, [[0.0, 0.5], [0.0, 0.5], [1.0, 0.2], [-1.0, 0.1]])


@pytest.mark.parametrize("algorithm", ["pitfall", "e-cape", "racing"])
def test_with_tolerances_ties_and_borders_stop_and_the_promise_is_kept(algorithm: str) -> None:
    """The promise of docs/guarantees.md is what `wrong_ecpsi` judges where there are tolerances."""
    instance, runs = ties_and_borders(0.4), 500
    study = pg.simulate(instance, algorithms=algorithm, evidence="certified", delta=DELTA, runs=runs, budget=200_000)
    assert study.records["stopped"].tolist() == ["answered"] * runs
    assert stats.binom.sf(int(study.records["wrong_ecpsi"].sum()) - 1, runs, DELTA) >= ALARM
    returned = study.statuses == 1
    assert returned[:, :3].all(axis=1).mean() > 0.9  # ties and the arm on the border are returned


def test_without_tolerances_ties_and_borders_are_undecided_when_the_budget_ends() -> None:
    study = pg.simulate(
        ties_and_borders(0.0), algorithms="e-cape", evidence="certified", delta=DELTA, runs=200, budget=20_000
    )
    assert study.records["stopped"].tolist() == ["budget"] * 200
    assert stats.binom.sf(int(study.records["wrong_ecpsi"].sum()) - 1, 200, DELTA) >= ALARM
    assert (study.statuses[:, :3] == 0).all(axis=1).mean() > 0.9
    assert (study.statuses[:, 3] == 2).mean() > 0.5  # what can be decided is


@pytest.mark.parametrize("evidence", ["glr", "certified"])
def test_an_arm_that_is_out_makes_no_other_dominated(evidence: str) -> None:
    """The cheaper arm is infeasible, by little; the dearer one is not, by less. Prices are exact."""
    problem = pg.Problem(
        {"price": "min", "y": "guard"},
        arms=["cheap", "dear"],
        noise={"price": pg.Exact(), "y": pg.Gaussian(1.0)},
        constraints=["y >= 0"],
        dependence="independent",
        name="out",
    )
    instance = pg.Instance(problem, [[1.0, -0.1], [2.0, 0.05]])
    study = pg.simulate(instance, algorithms="pitfall", evidence=evidence, delta=DELTA, runs=300, budget=100_000)
    assert study.records["stopped"].tolist() == ["answered"] * 300
    assert stats.binom.sf(int(study.records["wrong_ecpsi"].sum()) - 1, 300, DELTA) >= ALARM


def test_broken_widths_are_caught() -> None:
    from broken import NoRoot

    assert too_many_errors(close_pair(0.2), NoRoot(), budget=20_000)


def test_broken_feasibility_is_caught() -> None:
    from broken import DoubleRows

    assert too_many_errors(boundary(0.05), DoubleRows(), budget=20_000)
