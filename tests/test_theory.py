"""Lower bounds and complexities: known values, brute force over all answers, and the inequalities between them."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.evidence.theorem import ALPHA, K1
from paretoguard.geometry.nearest_alternative import alternative, nearest_alternative
from paretoguard.geometry.polyhedron import polyhedron
from paretoguard.theory import bounds
from paretoguard.theory.cuts import maximise
from paretoguard.theory.exact import truth


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
    # The Theorem's first term, alone: what the other two are does not depend on delta.
    size, logs = 256 * ALPHA * found.easiest, [math.log(1 / delta) for delta in (0.01, 0.1)]
    assert found.upper_bound(0.01) - found.upper_bound(0.1) == pytest.approx(size * (logs[0] - logs[1]) / ALPHA)


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
            "arm0 and arm1 have the same means",
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


def test_the_bound_of_the_theorem_by_hand() -> None:
    """One arm at distance 1 within one row: C = 2 sigma_u^2, H = 16 log(5) C, and Lambda summed term by term."""
    found = pg.theory.complexity(instance([[0.0]], constraints=["x0 <= 1"]))
    assert found.easiest == pytest.approx(2.0)
    T = np.arange(1, 400_000, dtype=float)
    s, level = ALPHA - 1, math.log(4 * K1)
    terms = (np.log(T) + 1) * (2 * (level + ALPHA * np.log(T)) + math.log(5) + 2 / math.e) / T**s
    # beyond the last term: the integral of (log T + 1)(a + b log T)/T^s
    a, b, L, N = 2 * level + math.log(5) + 2 / math.e, 2 * ALPHA, math.log(T[-1] + 0.5), T[-1] + 0.5
    parts = [L**k for k in range(3)]
    integral = [
        1 / (s - 1), parts[1] / (s - 1) + 1 / (s - 1) ** 2,
        parts[2] / (s - 1) + 2 * parts[1] / (s - 1) ** 2 + 2 / (s - 1) ** 3,
    ]  # fmt: skip
    tail = N ** (1 - s) * (a * (integral[1] + integral[0]) + b * (integral[2] + integral[1]))
    overhead = 2 ** (ALPHA - 1) / (4 * K1) * (float(terms.sum()) + tail)
    first = 256 * ALPHA * 2 * math.log(128 * ALPHA * 2 * (4 * K1 / 0.1) ** (1 / ALPHA))
    assert found.upper_bound(0.1) == pytest.approx(first + 8 * 16 * math.log(5) * 2 + overhead, rel=1e-6)


def test_an_arm_that_ties_where_it_need_not_be_told_apart_is_no_matter() -> None:
    """arm1 equals the best one in an objective, but is infeasible by far."""
    one = instance([[1.0, 1.0], [1.0, 0.0]], constraints=["x1 >= 0.5"])
    assert pg.theory.complexity(one).answer == {"arm0": "optimal", "arm1": "infeasible"}
    assert pg.theory.lower_bound(one).answer == {"arm0": "optimal", "arm1": "infeasible"}
    on_border = instance([[1.0, 1.0], [0.0, 0.5]], constraints=["x0 + x1 >= 0.5", "x1 >= 0.6"])
    assert pg.theory.complexity(on_border).easiest < math.inf


def test_one_arm_without_constraints_needs_no_sample() -> None:
    one = instance([[1.0, 2.0]])
    found, bound = pg.theory.complexity(one), pg.theory.lower_bound(one)
    assert (found.easiest, bound.value) == (0.0, 0.0)
    assert found.upper_bound(0.1) > 0
    (scenario,) = pg.theory.plan([one], evidence="practical", runs=2)
    assert scenario.sensitivity == {"arm0": 1.0}


def test_the_bracket_holds_where_scales_differ_by_far() -> None:
    """A border 0.01 standard deviations away, and everything else hundreds: T is 2/0.01^2."""
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Gaussian(0.003), constraints=["x <= 5"],
        dependence="independent",
    )  # fmt: skip
    for task in ("cpsi", "e-cpsi"):
        found = pg.theory.lower_bound(pg.Instance(problem, [[5 - 3e-5, 5.0], [4.0, 6.0], [3.0, 3.0]]), task)
        assert found.lower <= 20_000 * (1 + 1e-6)
        assert 20_000 * (1 - 1e-6) <= found.upper <= found.lower * 1.001


@pytest.mark.parametrize("seed", [2, 4, 6])
def test_a_hundred_arms_take_seconds_and_little_time_gives_a_wider_bracket(seed: int) -> None:
    """9 to 12 arms that are both infeasible and dominated. Rounds are counted, not seconds."""
    rng = np.random.default_rng([7, seed])
    means, rows = rng.normal(size=(100, 3)), int(rng.integers(1, 4))
    A = rng.normal(size=(rows, 3))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    one = instance(means.tolist(), constraints=(A, np.full(rows, rng.uniform(0.9, 1.6))))
    assert 9 <= truth(one).either.sum() <= 12
    found, hurried = pg.theory.lower_bound(one, time_limit=math.inf), pg.theory.lower_bound(one, time_limit=0.0)
    assert 0 <= found.gap <= 1e-3
    assert hurried.lower <= found.upper * (1 + 1e-9)
    assert found.lower <= hurried.upper * (1 + 1e-9)
    assert hurried.gap > found.gap


def test_delta_is_checked_and_beyond_a_half_a_guess_will_do() -> None:
    bound = pg.theory.lower_bound(instance([[0.0], [1.0]]))
    assert bound.samples(0.9) == 0.0 < bound.samples(0.49)
    for delta in (0.0, 1.0, float("nan")):
        with pytest.raises(pg.SettingsError, match="delta is"):
            bound.samples(delta)


def test_what_the_bound_assumes_is_said() -> None:
    alone = pg.Instance(pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0)), [[0.0], [1.0]])
    assert pg.theory.lower_bound(alone).assumption == "Gaussian, independent objectives of the declared scales"
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0), dependence=[[1.0, 0.9], [0.9, 1.0]]
    )
    with pytest.raises(pg.ProblemError, match="do not cover a declared covariance"):
        pg.theory.lower_bound(pg.Instance(problem, [[0.0, 1.0], [1.0, 0.0]]))


def test_an_instance_may_be_given_by_name() -> None:
    assert pg.theory.lower_bound("racing-5").value == pg.theory.lower_bound(pg.instances.load("racing-5")).value
    assert pg.theory.complexity("racing-5") == pg.theory.complexity(pg.instances.load("racing-5"))
    with pytest.raises(pg.SettingsError, match="expected an Instance, the name of one"):
        pg.theory.lower_bound(pg.instances.load("racing-5").problem)  # type: ignore[arg-type]
