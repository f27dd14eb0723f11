"""Lower bounds and complexities: known values, brute force over all answers, and the inequalities between them."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.engine.alternatives import alternative, nearest_alternative
from paretoguard.engine.geometry import polyhedron
from paretoguard.theory import bounds
from paretoguard.theory.cuts import maximise
from paretoguard.theory.truth import truth


def instance(means: Any, **stated: Any) -> pg.Instance:
    d = np.shape(means)[1]
    problem = pg.Problem(
        {f"x{c}": "max" for c in range(d)}, arms=[f"arm{i}" for i in range(len(means))],
        noise=pg.Gaussian(1.0), dependence="independent", **stated,
    )  # fmt: skip
    return pg.Instance(problem, means)


def random_instance(seed: int, K: int = 6, d: int = 2) -> pg.Instance:
    rng = np.random.default_rng([3, seed])
    A = rng.normal(size=(int(rng.integers(1, 4)), d))
    return instance(rng.normal(size=(K, d)), constraints=(A, A @ rng.normal(size=d) * 0.2 + 0.5))


def test_the_bound_of_the_literature() -> None:
    """Crépon and others (2024) give 2103.78 for COV-BOOST without constraints, with the means as printed."""
    found = pg.theory.lower_bound(pg.instances.load("covboost:constrained=false,table=printed"), "cpsi")
    assert found.value == pytest.approx(2103.78, rel=1e-3)
    assert found.lower <= found.value <= found.upper
    assert found.gap <= 1e-3


def test_two_arms_in_one_objective() -> None:
    """The larger of two: 1/T is the largest w v/(w + v) gap²/2, at equal weights."""
    found = pg.theory.lower_bound(instance([[0.0], [0.5]]), "cpsi")
    assert found.value == pytest.approx(8 / 0.5**2, rel=1e-3)
    assert found.weights == pytest.approx({"arm0": 0.5, "arm1": 0.5}, abs=0.05)
    assert found.answer == {"arm0": "not returned", "arm1": "optimal"}
    assert found.hard == pytest.approx({"arm0 is close to being undominated": 1.0})
    assert found.samples(0.01) == pytest.approx(32 * 0.98 * math.log(99), rel=2e-3)


def test_one_arm_and_its_limit() -> None:
    found = pg.theory.lower_bound(instance([[0.5]], constraints=["x0 <= 1"]))
    assert found.value == pytest.approx(2 / 0.5**2)
    assert found.hard == pytest.approx({"arm0 is close to violating 'x0 <= 1'": 1.0})
    everything = pg.theory.lower_bound(instance([[2.0], [3.0]], constraints=["x0 <= 1"]))
    assert everything.answer == {"arm0": "infeasible", "arm1": "infeasible"}
    assert everything.value == pytest.approx(2 / 1**2 + 2 / 2**2, rel=1e-3)


@pytest.mark.parametrize("seed", range(30))
def test_weights_reach_what_is_claimed_and_no_weights_more(seed: int) -> None:
    one = random_instance(seed)
    found, true = pg.theory.lower_bound(one, "cpsi"), truth(one)
    memory = alternative(*true.means.shape, len(true.region.b))  # type: ignore[call-arg]
    w = np.array(list(found.weights.values()))
    assert 1 / nearest_alternative(true.region, true.means, true.answer, w, memory) == pytest.approx(found.upper)
    rng = np.random.default_rng(seed)
    for other in rng.dirichlet(np.ones(len(w)), size=300):
        value = nearest_alternative(true.region, true.means, true.answer, 0.3 * other + 0.7 * w, memory)
        assert value <= 1 / found.lower * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_easiest_answer_is_that_of_brute_force_over_all(seed: int) -> None:
    """Every arm that is both infeasible and dominated called one or the other; each answer solved by itself."""
    one = random_instance(seed, K=8)
    true, found = truth(one), pg.theory.lower_bound(one)
    K, d = true.means.shape
    free = polyhedron(np.zeros((0, d)), np.zeros(0))
    either = np.flatnonzero(true.either)
    best = 0.0
    for reasons in itertools.product((True, False), repeat=len(either)):
        dominated = dict(zip(either.tolist(), reasons, strict=True))
        ways = bounds._common(true)
        for i in np.flatnonzero(~true.optimal):
            if dominated.get(int(i), bool(true.inside[i])):
                ways.append(bounds._rising(true, free, int(i)))
            else:
                ways.append(bounds._linear(int(i), 0.5 * true.eta[i] ** 2, K, (-1, -1, -1)))
        best = max(best, maximise(ways, K, 1e-4).lower)
    assert found.lower * (1 - 1e-9) <= 1 / best
    assert 1 / best == pytest.approx(found.value, rel=1.2e-3)
    assert found.gap <= 1e-3
    assert found.upper >= pg.theory.lower_bound(one, "cpsi").lower * (1 - 1e-9)  # a reason more is never easier


@pytest.mark.parametrize("seed", range(60))
def test_the_least_complexity_is_that_of_brute_force_and_the_papers_inequalities_hold(seed: int) -> None:
    from paretoguard.theory.gaps import _Gaps

    one = random_instance(seed, K=9, d=2 + seed % 2)
    true, found = truth(one), pg.theory.complexity(one)
    gaps = _Gaps(true, found.sigma_u)
    fixed = np.flatnonzero(true.inside & ~true.optimal).tolist()
    either = np.flatnonzero(true.either).tolist()
    costs = [
        gaps.cost(fixed + list(chosen))
        for size in range(len(either) + 1)
        for chosen in itertools.combinations(either, size)
    ]
    assert found.easiest == pytest.approx(min(costs), rel=1e-9)
    assert found.easiest <= found.plain * (1 + 1e-12)
    assert found.plain <= (found.H_PSI + found.H_F) * (1 + 1e-12)
    assert found.upper_bound(0.1) > found.upper_bound(0.5) > 1000 * found.easiest


def test_gaps_by_hand() -> None:
    """a and b trade off, c is below a by 0.5 in its closer objective, d is outside."""
    found = pg.theory.complexity(instance([[0.0, 1.0], [1.0, 0.0], [-0.5, 0.5], [3.0, 0.2]], constraints=["x0 <= 2"]))
    assert found.delta_gaps["arm2"] == pytest.approx(0.5)
    assert found.delta_gaps["arm0"] == pytest.approx(min(1.0, 0.0 + 0.5))  # c may rise to it
    assert found.delta_gaps["arm1"] == pytest.approx(min(1.0, 0.5 + 0.5))
    assert found.eta == pytest.approx({"arm0": 2.0, "arm1": 1.0, "arm2": 2.5, "arm3": 1.0})
    assert found.answer == {"arm0": "optimal", "arm1": "optimal", "arm2": "dominated", "arm3": "infeasible"}


@pytest.mark.parametrize(
    ("means", "constraints", "message"),
    [
        (
            [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
            (),
            "arm0 is dominated, but not in every objective: it equals arm1 in one",
        ),
        ([[0.5, 0.0], [0.0, 1.0]], ["x0 <= 0.5"], "arm0 lies on the border of the constraints"),
        ([[1.0, 0.0], [0.5, 0.0]], (), "arm1 is dominated, but not in every objective: it equals arm0 in one"),
    ],
)
def test_where_no_number_of_samples_is_enough_the_arms_are_named(means: Any, constraints: Any, message: str) -> None:
    for ask in (pg.theory.lower_bound, pg.theory.complexity):
        with pytest.raises(pg.ProblemError, match=f"no number of samples is enough: .*{message}"):
            ask(instance(means, constraints=constraints))


def test_what_the_theory_does_not_cover_is_refused() -> None:
    with pytest.raises(pg.SettingsError, match="task is 'psi'; expected one of e-cpsi, cpsi"):
        pg.theory.lower_bound(instance([[0.0], [1.0]]), "psi")
    with pytest.raises(pg.ProblemError, match="do not cover tolerances"):
        pg.theory.lower_bound(instance([[0.0], [1.0]], tolerance=0.1))
