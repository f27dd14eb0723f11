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
        *((how, what) for how in ("e-cape", "uniform", "racing", "two-stage") for what in ("practical", "certified")),
        *(("e-cape", what) for what in ("lil", "theorem")),
    ],
)
@pytest.mark.parametrize(
    "instance", [close_pair(0.2), boundary(0.05), boundary_with_ties(), tolerant()], ids=lambda one: one.name
)
def test_errors_stay_within_delta(instance: pg.Instance, evidence: str, algorithm: str) -> None:
    assert not too_many_errors(instance, evidence, budget=20_000, algorithm=algorithm)


def test_broken_widths_are_caught() -> None:
    from broken import NoRoot

    assert too_many_errors(close_pair(0.2), NoRoot(), budget=20_000)


def test_broken_feasibility_is_caught() -> None:
    from broken import DoubleRows

    assert too_many_errors(boundary(0.05), DoubleRows(), budget=20_000)
