"""Error rates of `certified` on instances built to break bounds, with exact binomial limits; broken rows are caught.

Claims about pairs are too careful for frequencies to show a mistake: see test_mixtures. Each check allows the error
count that a true rate of exactly delta would exceed with probability 1e-4 only.
"""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

import paretoguard as pg
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.explain import shortcuts
from paretoguard.evidence.certified.certified import CertifiedLevels

ALARM = 1e-4
RUNS = 2_000


def on_the_border(noise: pg.Noise, bound: str, means: list[float]) -> pg.Instance:
    """Arms exactly on the border, and so just feasible: calling one infeasible is a mistake."""
    problem = pg.Problem(
        {f"x{c}": "max" for c in range(len(means))}, arms=["a"], noise=noise, constraints=[bound], name="border"
    )
    return pg.Instance(problem, [means])


def ties(K: int, d: int) -> pg.Instance:
    """K arms alike but in one coordinate, by hair's breadths: no claim between neighbours can be made honestly."""
    means = np.zeros((K, d))
    means[:, 0] = np.linspace(0, 0.01, K)
    problem = pg.Problem(
        {f"x{c}": "max" for c in range(d)},
        arms=[f"arm{i}" for i in range(K)],
        noise=pg.Gaussian(1.0),
        dependence="independent",
        name=f"ties {K} x {d}",
    )
    return pg.Instance(problem, means)


def errors(instance: pg.Instance, evidence: Any, delta: float, budget: int, runs: int = RUNS, **more: Any) -> int:
    study = pg.simulate(
        instance, algorithms=more.pop("algorithm", "uniform"), evidence=evidence, delta=delta, runs=runs, budget=budget,
        seed=3, **more,
    )  # fmt: skip
    return int(study.records["wrong_ecpsi"].sum())


def too_many(count: int, runs: int, delta: float) -> bool:
    return bool(stats.binom.sf(count - 1, runs, delta) < ALARM)


BORDERS = {
    "gaussian": on_the_border(pg.Gaussian(1.0), "x0 <= 0", [0.0]),
    "skewed": on_the_border(pg.Bernoulli(), "x0 <= 0.02", [0.02]),
    "worst bounded": on_the_border(pg.Bounded(-1.0, 1.0), "x0 <= 0", [0.0]),
}


@pytest.mark.parametrize("name", BORDERS)
def test_rows_keep_their_level(name: str) -> None:
    assert not too_many(errors(BORDERS[name], "certified", 0.05, budget=3_000), RUNS, 0.05)


def test_most_rivals_are_seen_at_a_glance_to_be_enough() -> None:
    """Else e-cAPE would work out in full what it need not know."""
    instance = pg.instances.load("covboost")
    trial, sample = pg.Trial(instance.problem, algorithm="e-cape"), pg.sampler(instance)
    view = trial._session._desk.engine.seen
    for _ in range(2000):
        arm = trial.next_arm()
        assert arm is not None
        trial.tell(arm, sample(arm))
    found, pairs = np.zeros(8), list(itertools.permutations(range(len(instance.problem.arms)), 2))

    def ask(i: int, j: int, floor: float) -> tuple[float, bool]:
        shortcuts(view, i, j, floor, found)
        return float(found[0]), bool(found[4])

    floor = float(np.median([ask(*pair, 0.0)[0] for pair in pairs]))
    above = [seen for value, seen in (ask(*pair, floor) for pair in pairs) if value > floor]
    assert floor < 0.0
    assert sum(above) >= 0.9 * len(above) > 10


def test_what_an_arm_weighs_is_seldom_worked_out() -> None:
    """A glance says that it is too little, where e-cAPE would not need it."""
    for name in ("cube", "secukinumab"):
        instance = pg.instances.load(name)
        trial, sample = pg.Trial(instance.problem, algorithm="e-cape"), pg.sampler(instance)
        outside = unknown = 0
        for _ in range(2000):
            arm = trial.next_arm()
            assert arm is not None
            trial.tell(arm, sample(arm))
            state = trial._session._state
            outside += int((state.inside == 0).sum())
            unknown += int((np.isnan(state.weight) & (state.inside == 0)).sum())
        assert unknown > 0.5 * outside > 100


def test_rows_use_their_level_up() -> None:
    """Not only below delta but near it: a bound twice as careful as it need be would be noticed."""
    count = errors(BORDERS["gaussian"], "certified", 0.05, budget=20_000)
    assert stats.binom.cdf(count, RUNS, 0.02) > ALARM


@pytest.mark.parametrize(("K", "d"), [(2, 1), (3, 2), (5, 6), (50, 3)])
def test_claims_keep_their_level_where_all_is_nearly_tied(K: int, d: int) -> None:
    runs = RUNS if K < 50 else 200
    assert not too_many(errors(ties(K, d), "certified", 0.2, budget=40 * K, runs=runs), runs, 0.2)


def test_a_row_that_an_exact_one_implies_only_without_its_tolerance_is_still_checked() -> None:
    problem = pg.Problem(
        {"x": "max", "price": "min"},
        arms=["a"],
        noise={"x": pg.Gaussian(1.0), "price": pg.Exact()},
        constraints={"cap": "price <= 10", "fair": "x - price <= 0", "top": "x <= 10"},
        tolerance={"cap": 4.0},
        name="implied",
    )
    assert not too_many(errors(pg.Instance(problem, [[10.05, 12.0]]), "certified", 0.05, budget=3_000), RUNS, 0.05)


@pytest.mark.parametrize("algorithm", ["pitfall", "e-cape", "racing", "two-stage"])
def test_answers_keep_their_level_for_every_algorithm(algorithm: str) -> None:
    instance = pg.instances.load("two-stage-gap:eps=2")
    assert not too_many(errors(instance, "certified", 0.1, budget=2_000, algorithm=algorithm), RUNS, 0.1)


# --- broken on purpose -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimistic(pg.evidence.Certified):
    """Rows of which each asks for log 2 too little: as if the half-normal mixture had a factor 4."""

    name: ClassVar[str] = "optimistic"

    def fit(self, delta: float, problem: ProblemArrays) -> CertifiedLevels:
        levels = super().fit(delta, problem)
        return levels._replace(row_bar=levels.row_bar - np.log(2.0))


def test_rows_that_ask_for_too_little_are_caught() -> None:
    assert too_many(errors(BORDERS["gaussian"], Optimistic(), 0.05, budget=20_000), RUNS, 0.05)


def correlated(rho: float, declared: str) -> tuple[pg.Instance, pg.Problem]:
    """Two objectives with this correlation, and the same problem as it would be with another declaration."""
    common: dict[str, Any] = {"arms": ["a"], "noise": pg.Gaussian(1.0), "constraints": ["x + y <= 0"], "name": "both"}
    true = pg.Problem({"x": "max", "y": "max"}, dependence=[[1.0, rho], [rho, 1.0]], **common)
    return pg.Instance(true, [[0.0, 0.0]]), pg.Problem({"x": "max", "y": "max"}, dependence=declared, **common)


@dataclass(frozen=True)
class Declared(pg.evidence.Certified):
    """The evidence of a problem that declares something else than is true."""

    dependence: str = "independent"
    name: ClassVar[str] = "declared"

    def fit(self, delta: float, problem: ProblemArrays) -> CertifiedLevels:
        wrong = correlated(0.9, self.dependence)[1].space().row_sigma
        levels = super().fit(delta, problem)
        # Along the row the scale enters as z / sigma: too small a sigma is as good as too many samples.
        return levels._replace(row_bar=levels.row_bar * float(wrong[0] / problem.row_sigma[0]) ** 2)


def test_a_known_correlation_is_used_and_a_wrong_independence_is_caught() -> None:
    instance, _ = correlated(0.9, "independent")
    assert not too_many(errors(instance, "certified", 0.05, budget=3_000), RUNS, 0.05)
    assert too_many(errors(instance, Declared(), 0.05, budget=3_000), RUNS, 0.05)
    assert not too_many(errors(instance, Declared(dependence="unknown"), 0.05, budget=3_000), RUNS, 0.05)


@pytest.mark.parametrize("given", [0, -3, float("inf"), 2.5, True])
def test_a_number_of_samples_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number of at least 1"):
        pg.evidence.Certified(expected_samples=given)


def walks(runs: int, steps: int, seed: int) -> Any:
    """Sums of standard normal numbers, [runs, steps]."""
    return np.cumsum(np.random.default_rng(seed).normal(size=(runs, steps)), axis=1)


def row(S: Any, rho: float) -> Any:
    n = np.arange(1, S.shape[1] + 1)
    z = S / np.sqrt(n + rho)
    return 0.5 * z**2 - 0.5 * np.log((n + rho) / rho) + stats.norm.logcdf(z) + np.log(2.0)


def exceed(log_e: Any, level: float = 0.05) -> int:
    return int(np.count_nonzero(log_e.max(axis=1) >= -np.log(level)))


def test_averaging_is_valid_and_the_largest_of_several_or_a_product_of_dependent_ones_is_not() -> None:
    S = walks(4_000, 3_000, seed=5)
    near, far = row(S, 3.0), row(S, 300.0)
    assert not too_many(exceed(near), 4_000, 0.05)
    rows = [row(walks(4_000, 3_000, seed), 10.0) for seed in (11, 12, 13)]  # of a feasible arm on three borders
    assert not too_many(exceed(np.logaddexp.reduce(rows) - np.log(3.0)), 4_000, 0.05)
    assert too_many(exceed(np.max(rows[:2], axis=0)), 4_000, 0.05)  # the larger of two
    assert too_many(exceed(np.max(rows, axis=0)), 4_000, 0.05)
    assert too_many(exceed(near + far), 4_000, 0.05)  # two rows over the same objective
    T = walks(4_000, 3_000, seed=6)
    half = np.log(0.5)
    product = np.logaddexp(half, half + near) + np.logaddexp(half, half + row(T, 3.0))
    assert not too_many(exceed(product), 4_000, 0.05)  # two independent rows
    alike = np.logaddexp(half, half + near) + np.logaddexp(half, half + row(0.9 * S + np.sqrt(0.19) * T, 3.0))
    assert too_many(exceed(alike), 4_000, 0.05)  # two correlated ones


def test_results_counted_as_they_come_are_misleading_when_bad_news_is_slow() -> None:
    """Outcomes of one arm on the border: good ones (above 0) arrive at once, bad ones 200 later."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(2_000, 1_500))
    arrival = np.arange(1_500) + np.where(x < 0, 200, 0)
    by_arrival = np.take_along_axis(x, np.argsort(arrival, axis=1, kind="stable"), axis=1)
    asked = row(np.cumsum(x, axis=1), 100.0)
    assert not too_many(exceed(asked), 2_000, 0.05)
    assert exceed(row(np.cumsum(by_arrival, axis=1), 100.0)) > 1_500


# --- limits ----------------------------------------------------------------------------------------------------------


def outside(shrink: float, seed: int) -> bool:
    """Does a mean, a slack or a difference ever lie outside its limits, at ten looks on the way?"""
    problem = pg.Problem(
        {"x": "max", "y": "min"}, arms=["a", "b"], noise=pg.Gaussian([1.0, 2.0]), constraints=["x + y <= 9"]
    )
    means = {"a": {"x": 0.0, "y": 1.0}, "b": {"x": 1.0, "y": 0.0}}
    trial, rng = pg.Trial(problem, delta=0.2), np.random.default_rng(seed)
    for n in np.diff([0, *np.unique(np.geomspace(1, 1_000, 10).astype(int))]):
        for arm, mean in means.items():
            for _ in range(int(n)):
                trial.tell(arm, {"x": rng.normal(mean["x"], 1.0), "y": rng.normal(mean["y"], 2.0)})
        for arm, verdict in trial.verdicts().items():
            for name, true in means[arm].items():
                half = shrink * 0.5 * (verdict.high[name] - verdict.low[name])
                if abs(verdict.mean[name] - true) > half:
                    return True
    return False


def test_limits_cover_all_means_at_all_times() -> None:
    runs = 40
    assert not too_many(sum(outside(1.0, seed) for seed in range(runs)), runs, 0.2)
    assert too_many(sum(outside(0.4, seed) for seed in range(runs)), runs, 0.2)
