"""Problems and instances: what they hold, what they refuse, and how they look in engine units."""

import copy
import math
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from paretoguard.errors import ConstraintError, ProblemError
from paretoguard.problem import Instance, Problem
from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Gaussian, Noise, SubGaussian, Unknown
from paretoguard.vocabulary import STATUSES

DOSES: dict[str, Any] = {
    "objectives": {"efficacy": "max", "harm": "min"},
    "arms": ["75mg", "150mg", "300mg"],
    "noise": Bernoulli(),
    "constraints": ["efficacy >= 0.4", "harm <= 0.5"],
    "name": "dose-finding",
}
MIXED: dict[str, Any] = {
    "objectives": {"price": "min", "speed": "max", "load": "min", "rate": "max"},
    "arms": ["a", "b"],
    "noise": {"price": Exact(), "speed": Gaussian(2.0), "load": Gaussian(0.5), "rate": Bernoulli()},
}


def problem(**changes: Any) -> Problem:
    arguments = DOSES | changes
    return Problem(arguments.pop("objectives"), **arguments)


def mixed(**changes: Any) -> Problem:
    arguments = MIXED | changes
    return Problem(arguments.pop("objectives"), **arguments)


def test_attributes_are_in_the_users_words() -> None:
    doses = problem(tolerance=0.01)
    assert doses.objectives == {"efficacy": "max", "harm": "min"}
    assert doses.arms == ("75mg", "150mg", "300mg")
    assert doses.noise == {"efficacy": Bernoulli(), "harm": Bernoulli()}
    assert [(row.label, row.coefficients, row.bound) for row in doses.constraints] == [
        ("efficacy >= 0.4", (-1.0, 0.0), -0.4),
        ("harm <= 0.5", (0.0, 1.0), 0.5),
    ]
    assert doses.dependence == "unknown"
    assert doses.tolerance == dict.fromkeys(["efficacy", "harm", "efficacy >= 0.4", "harm <= 0.5"], 0.01)
    assert doses.notes == ()
    assert STATUSES == ("undecided", "optimal", "dominated", "infeasible")


def test_repr_is_short_and_readable() -> None:
    assert repr(problem()) == (
        "Problem('dose-finding'; max efficacy, min harm; 3 arms; constraints 'efficacy >= 0.4', 'harm <= 0.5')"
    )
    assert repr(problem(constraints=(), name="")) == "Problem(max efficacy, min harm; 3 arms)"
    assert repr(Instance(problem(), np.full((3, 2), 0.5))) == "Instance('dose-finding', 3 arms, 2 objectives)"


def test_a_problem_cannot_be_changed() -> None:
    doses = problem()
    with pytest.raises(AttributeError):
        doses.arms = ("a",)  # type: ignore[misc]
    with pytest.raises(TypeError):
        doses.objectives["x"] = "max"  # type: ignore[index]


def test_equality_hash_and_copies() -> None:
    covariance = [[4.0, 0.5], [0.5, 0.25]]
    for one, same in [
        (problem(), problem()),
        (problem(constraints=([[-1, 0], [0, 1]], [-0.4, 0.5])), problem()),
        (problem(tolerance={"harm": 0.1, "harm <= 0.5": 0.2}), problem(tolerance={"harm <= 0.5": 0.2, "harm": 0.1})),
        (mixed(dependence=covariance), mixed(dependence=np.array(covariance))),
        (
            problem(constraints={"floor": "0.1 <= efficacy <= 0.9"}),
            problem(constraints={"floor": "0.1 <= efficacy <= 0.9"}),
        ),
        (problem(constraints=["efficacy >= 0.4", "harm\u00a0<= 0.5", "1 <= 2"]),) * 2,
    ]:
        assert one == same
        assert hash(one) == hash(same)
        assert pickle.loads(pickle.dumps(one)) == one
        assert copy.deepcopy(one) == one
    changes: list[dict[str, Any]] = [
        {"tolerance": 0.1},
        {"arms": ["75mg"]},
        {"dependence": "independent"},
        {"noise": Unknown()},
        {"name": "b"},
    ]
    for other in changes:
        assert problem(**other) != problem()
    backwards = {"harm": "min", "efficacy": "max"}
    assert problem(objectives=backwards, constraints=()) != problem(constraints=())
    assert problem() != "dose-finding"


def test_noise_may_be_shared_out() -> None:
    assert problem(noise=Gaussian([1, 2])).noise == {"efficacy": Gaussian(1), "harm": Gaussian(2)}


def test_one_arm_one_objective_no_constraint() -> None:
    smallest = Problem({"x": "min"}, arms=["a"], noise=Gaussian(2.0))
    space = smallest.space()
    assert (space.arms, space.objectives, space.noisy) == (1, 1, 1)
    assert space.scale.tolist() == [-0.5]
    assert space.region.A.shape == (0, 1)
    assert space.sigma_u == 1.0
    assert smallest.truth([[3.0]]).pareto == ("a",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objectives": ["x"]}, r"objectives are \['x'\], expected a mapping from names to directions"),
        ({"objectives": {}}, r"there are no objectives; expected at least one"),
        ({"objectives": {"": "max"}}, r"objective '' is empty; give it a name"),
        ({"objectives": {" x": "max"}}, r"objective ' x' begins or ends with a space; write 'x'"),
        ({"objectives": {"a\nb": "max"}}, r"objective 'a\\nb' holds a character that cannot be printed; remove it"),
        (
            {"objectives": {"a`b": "max"}},
            r"objective 'a`b' holds a backtick, which constraints use for quoting; rename it",
        ),
        ({"objectives": {3: "max"}}, r"objective 3 is not a name: got int, expected a string"),
        ({"objectives": {"x": "up"}}, r"objective 'x' has direction 'up', expected 'max', 'min' or 'guard'"),
        ({"arms": []}, r"there are no arms; expected at least one name"),
        ({"arms": "abc"}, r"arms are 'abc', expected a list of names"),
        ({"arms": 3}, r"arms are 3, expected a list of names"),
        ({"arms": ["a", "b", "a"]}, r"arm 'a' is given twice, at places 1 and 3; remove or rename one"),
        ({"arms": ["a", 2]}, r"arm 2 is not a name: got int, expected a string"),
        ({"arms": ["a", ""]}, r"arm '' is empty; give it a name"),
        (
            {"noise": {"efficacy": Bernoulli()}},
            r"noise is missing for 'harm'; give one model for each objective, or one",
        ),
        (
            {"noise": {"efficacy": Bernoulli(), "harm": Bernoulli(), "hram": Exact()}},
            r"noise is given for 'hram', which is no objective; did you mean 'harm'\?",
        ),
        ({"noise": Bernoulli}, r"noise is the class Bernoulli, expected a model: write Bernoulli\(…\)"),
        ({"noise": Noise()}, r"noise is Noise\(\), expected a noise model such as Bernoulli\(\) or Gaussian\(std\)"),
        ({"noise": 0.5}, r"noise is 0.5, expected a noise model"),
        ({"noise": {"efficacy": 1, "harm": Exact()}}, r"noise of 'efficacy' is 1, expected a noise model"),
        ({"noise": Gaussian([1, 2, 3])}, r"std has 3 numbers, expected one for each of the 2 objectives"),
        (
            {"noise": {"efficacy": Gaussian([1, 2]), "harm": Exact()}},
            r"noise of 'efficacy' is Gaussian\(std=\(1.0, 2.0\)\), expected single numbers: it is for one objective",
        ),
        ({"constraints": "efficacy >= 0.4"}, r"constraints are 'efficacy >= 0.4', expected a list of texts"),
        ({"constraints": ["eficacy >= 0.4"]}, r"names no objective 'eficacy'; did you mean 'efficacy'\?"),
        ({"constraints": ["harm <= 0.1", "harm >= 0.2"]}, r"constraints 'harm <= 0.1' and 'harm >= 0.2' cannot hold"),
        ({"constraints": ["2 <= 1"]}, r"constraint '2 <= 1' can never hold"),
        (
            {"constraints": {"harm": "harm <= 1"}},
            r"'harm' names both an objective and a constraint; rename the constraint",
        ),
        ({"dependence": "none"}, r"dependence is 'none', expected 'unknown', 'independent' or a covariance matrix"),
        (
            {"dependence": object()},
            r"dependence is <object.*>, expected 'unknown', 'independent' or a covariance matrix",
        ),
        ({"dependence": [[1]]}, r"dependence is a covariance, but no objective has Gaussian noise; use 'unknown'"),
        ({"tolerance": -1}, r"tolerance of 'efficacy' is -1, expected a finite number, 0 or above"),
        ({"tolerance": math.nan}, r"tolerance of 'efficacy' is nan, expected a finite number"),
        ({"tolerance": {"harm": math.inf}}, r"tolerance of 'harm' is inf, expected a finite number"),
        ({"tolerance": {"harm": "1"}}, r"tolerance of 'harm' is '1', expected a finite number"),
        (
            {"tolerance": {"harm <= 0.4": 0.1}},
            r"tolerance is given for 'harm <= 0.4', which is no objective or constraint; did you mean 'harm <= 0.5'\?",
        ),
        ({"name": 3}, r"the name of the problem is 3, expected a string"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(**changes)


def test_a_constraint_that_cannot_be_read_is_a_constraint_error() -> None:
    with pytest.raises(ConstraintError):
        problem(constraints=["harm <= "])


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (
            [[4.0]],
            r"the covariance has shape \(1, 1\), expected \(2, 2\): one row for each Gaussian obj.*'speed', 'load'",
        ),
        ([[4.0, 0.1], [0.1, math.nan]], r"the covariance holds a number that is not finite"),
        ([[9.0, 0.1], [0.1, 0.25]], r"gives 'speed' the variance 9, but its std 2 means 4; make them agree"),
        ([[4.0, 0.1], [0.2, 0.25]], r"is not symmetric: 'speed' with 'load' is 0.1, the other way round 0.2"),
        (
            [[4.0, 1.0], [1.0, 0.25]],
            r"is not positive definite: the smallest eigenvalue of its correlation is 0, expected",
        ),
        ([[4.0, 2.0], [2.0, 0.25]], r"the smallest eigenvalue of its correlation is -1, expected at least 1e-10"),
    ],
)
def test_covariances_that_cannot_be(covariance: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        mixed(dependence=covariance)


def test_notes_are_kept_and_do_not_hinder() -> None:
    odd = problem(constraints=["efficacy >= -1", "harm <= 0.5", "harm <= 0.6", "1 <= 2"])
    assert odd.notes == (
        "constraint '1 <= 2' always holds and is left out",
        "constraint 'efficacy >= -1' never binds: efficacy is Bernoulli, so between 0 and 1",
        "constraint 'harm <= 0.6' never binds: the other constraints already imply it",
    )
    assert len(odd.constraints) == 3
    assert (
        problem(constraints=["efficacy >= 1.2"]).notes[0].startswith("no arm can satisfy constraint 'efficacy >= 1.2'")
    )


@pytest.mark.parametrize(
    ("arm", "values", "message"),
    [
        ("75", {"efficacy": 1, "harm": 0}, r"there is no arm '75'; did you mean '75mg'\?"),
        (3, {"efficacy": 1, "harm": 0}, r"there is no arm 3; expected one of '75mg', '150mg', '300mg'"),
        ("75mg", {"efficacy": 1}, r"arm '75mg' has no value for 'harm'; expected one for each objective"),
        (
            "75mg",
            {"efficacy": 1, "harm": 0, "hram": 0},
            r"arm '75mg' has a value for 'hram', which is no objective; did you mean 'harm'\?",
        ),
        ("75mg", [1, 0], r"arm '75mg' has \[1, 0\], expected \{objective: value\} for 'efficacy', 'harm'"),
        (
            "75mg",
            {"efficacy": 0.5, "harm": 0},
            r"arm '75mg', objective 'efficacy': got 0.5, expected 0 or 1 \(Bernoulli noise\)",
        ),
        ("75mg", {"efficacy": math.nan, "harm": 0}, r"objective 'efficacy': got nan, expected 0 or 1"),
        ("75mg", {"efficacy": "1", "harm": 0}, r"objective 'efficacy': got '1', expected 0 or 1"),
        ("75mg", {"efficacy": None, "harm": 0}, r"objective 'efficacy': got None, expected 0 or 1"),
    ],
)
def test_impossible_measurements(arm: Any, values: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem().values(arm, values)


def test_measurements_outside_a_range_are_refused_not_clipped() -> None:
    bounded = problem(noise={"efficacy": Bounded(0, 10), "harm": Gaussian(1)}, constraints=())
    with pytest.raises(ProblemError, match=r"got 10.5, expected a number between 0 and 10 \(Bounded noise\)"):
        bounded.values("75mg", {"efficacy": 10.5, "harm": 0})
    with pytest.raises(ProblemError, match=r"got inf, expected a finite number \(Gaussian noise\)"):
        bounded.values("75mg", {"efficacy": 10, "harm": math.inf})


def test_measurements_come_in_the_order_of_the_objectives() -> None:
    values = mixed().values("b", {"rate": True, "load": np.float32(0.5), "speed": 3, "price": 9.5})
    assert values.tolist() == [9.5, 3.0, 0.5, 1.0]
    assert values.dtype == np.float64
    assert mixed().index("b") == 1


@pytest.mark.parametrize(
    ("means", "message"),
    [
        (np.zeros((2, 3)), r"means have shape \(2, 3\), expected \(3, 2\): one row per arm, one column per objective"),
        ([[1, 2], [3]], r"means are not an array of numbers"),
        ([["a", 1]] * 3, r"means are not an array of numbers"),
        ([[0, 0], [0, math.nan], [0, 0]], r"the mean of arm '150mg', objective 'harm' is not a finite number"),
        ({"75mg": {"efficacy": 1, "harm": 0}}, r"means are missing for '150mg', '300mg'; expected every arm"),
        ({"75": {}}, r"there is no arm '75'; did you mean '75mg'\?"),
        ({arm: {"efficacy": 1} for arm in DOSES["arms"]}, r"arm '75mg' has no value for 'harm'"),
        (dict.fromkeys(DOSES["arms"], 3), r"arm '75mg' has 3, expected \{objective: value\}"),
        (
            {arm: {"efficacy": "1", "harm": 0} for arm in DOSES["arms"]},
            r"the mean of arm '75mg', objective 'efficacy' is not a finite number",
        ),
        (
            [[0, 0], [1.2, 0], [0, 0]],
            r"'150mg', objective 'efficacy' is 1.2, expected a number between 0 and 1 \(Bernoulli",
        ),
    ],
)
def test_means_that_cannot_be(means: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Instance(problem(), means)


def test_instances() -> None:
    means = {arm: {"harm": 0.1 * i, "efficacy": 0.3 * i} for i, arm in enumerate(DOSES["arms"])}
    instance = Instance(problem(), means, provenance="made up")
    assert instance.means.tolist() == [[0.0, 0.0], [0.3, 0.1], [0.6, 0.2]]
    assert instance.name == "dose-finding"
    assert instance.truth() is instance.truth()
    assert instance.truth().pareto == ("300mg",)
    assert instance == Instance(problem(), instance.means, provenance="made up")
    assert hash(instance) == hash(Instance(problem(), means, provenance="made up"))
    assert instance != Instance(problem(), instance.means)
    assert pickle.loads(pickle.dumps(instance)) == instance
    with pytest.raises(ValueError, match="read-only"):
        instance.means[0, 0] = 1
    mine = np.zeros((3, 2))
    kept = Instance(problem(), mine)
    mine[:] = 1
    assert np.all(kept.means == 0)
    with pytest.raises(ProblemError, match="an instance is made from a Problem, got SimpleNamespace"):
        Instance(SimpleNamespace(), mine)  # type: ignore[arg-type]


def test_engine_units_by_hand() -> None:
    """Exact objectives last, signs and sigmas divided out, rows unit over their noisy part."""
    problem = mixed(
        constraints=["price <= 10", "3*speed + 8*load + price <= 20", "rate >= 0.5"],
        tolerance={"speed": 0.1, "price": 1.0, "price <= 10": 2.0, "rate >= 0.5": 0.05},
    )
    space = problem.space()
    assert space.order.tolist() == [1, 2, 3, 0]
    assert space.scale.tolist() == [0.5, -2.0, 2.0, -1.0]
    assert space.noisy == 3
    # 3·speed + 8·load = 6·u₀ − 4·u₁ with norm √52
    norm = math.sqrt(52)
    np.testing.assert_allclose(space.region.A, [[6 / norm, -4 / norm, 0.0], [0.0, 0.0, -1.0]], rtol=1e-15)
    np.testing.assert_allclose(space.region.b, [20 / norm, -1.0], rtol=1e-15)
    np.testing.assert_allclose(space.exact_part, [[-1 / norm], [0.0]], rtol=1e-15)
    assert space.exact_A.tolist() == [[-1.0]]
    assert space.exact_b.tolist() == [10.0]
    np.testing.assert_allclose(space.tolerance, [0.05, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(space.row_tolerance, [0.0, 0.1])
    assert space.exact_row_tolerance.tolist() == [2.0]
    assert [row.constraint for row in problem.engine_rows()] == [1, 2, 0]
    np.testing.assert_allclose([row.norm for row in problem.engine_rows()], [norm, 0.5, 1.0])
    for part in space:
        if isinstance(part, np.ndarray):
            assert part.flags.c_contiguous
            assert part.dtype in (np.float64, np.int64, np.uint8)


@pytest.mark.parametrize(
    ("noise", "dependence", "expected"),
    [
        ([Gaussian(1)] * 3, "unknown", math.sqrt(3)),
        ([Gaussian(1), Bernoulli(), Exact()], "unknown", math.sqrt(2)),
        ([Gaussian(1)] * 3, "independent", 1.0),
        ([Exact()] * 3, "unknown", 1.0),
        ([Gaussian(2), Gaussian(3), Exact()], [[4, 3], [3, 9]], math.sqrt(1.5)),
        ([Gaussian(2), Bernoulli(), Gaussian(3)], [[4, -3], [-3, 9]], math.sqrt(1.5 + 1)),
        ([Bernoulli(), Gaussian(3), SubGaussian(1)], [[9]], math.sqrt(3)),
    ],
)
def test_sigma_u(noise: list[Noise], dependence: Any, expected: float) -> None:
    names = ("x", "y", "z")
    problem = Problem(
        dict.fromkeys(names, "min"), arms=["a"], noise=dict(zip(names, noise, strict=True)), dependence=dependence
    )
    assert problem.space().sigma_u == pytest.approx(expected, rel=1e-12)


def test_an_objective_of_unknown_scale_keeps_its_unit() -> None:
    noise: dict[str, Noise] = {"efficacy": Unknown(), "harm": Gaussian(2.0)}
    space = problem(noise=noise, constraints=["harm <= 0.4", "efficacy - harm >= 1"]).space()
    assert space.scale.tolist() == [1.0, -0.5]
    assert (space.learnt.tolist(), space.row_learnt.tolist()) == ([1, 0], [0, 1])


def test_overflow_in_engine_units_is_refused() -> None:
    tiny = Problem({"x": "max"}, arms=["a"], noise=Gaussian(1e-200), constraints=["x <= 1e200"])
    with pytest.raises(ProblemError, match="overflows once noise scales are divided out; measure in units nearer to 1"):
        tiny.space()


@st.composite
def random_problems(draw: st.DrawFn) -> tuple[Problem, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(1, 5))
    names = [f"o{c}" for c in range(d)]
    kinds = [draw(st.sampled_from(["gaussian", "bounded", "exact", "bernoulli"])) for _ in names]
    made = {"gaussian": Gaussian(float(rng.uniform(0.1, 9))), "bounded": Bounded(-3, 40), "exact": Exact()}
    noise: dict[str, Noise] = {name: made.get(kind, Bernoulli()) for name, kind in zip(names, kinds, strict=True)}
    m = draw(st.integers(0, 5))
    A = np.where(rng.uniform(size=(m, d)) < 0.3, 0.0, rng.normal(size=(m, d)) * 10.0 ** rng.integers(-3, 4))
    b = np.abs(rng.normal(size=m)) + 0.1  # 0 is inside, so the rows are consistent
    n = kinds.count("gaussian")
    root = rng.normal(size=(n, n)) + 2 * np.eye(n)
    R = root @ root.T
    R /= np.sqrt(np.outer(np.diag(R), np.diag(R)))
    dependence = draw(st.sampled_from(["unknown", "independent", "covariance"]))
    problem = Problem(
        {name: draw(st.sampled_from(["max", "min"])) for name in names},
        arms=["a", "b", "c"],
        noise=noise,
        constraints=(A, b),
        dependence=dependence if dependence != "covariance" else made["gaussian"].sigma ** 2 * R if n else "unknown",
        tolerance=float(rng.uniform(0, 0.2)),
    )
    return problem, rng


@given(random_problems())
@settings(max_examples=150, deadline=None)
def test_engine_units_agree_with_the_users(made: tuple[Problem, np.random.Generator]) -> None:
    """Slacks go back by their norm; feasibility, dominance and tolerances are the same in both units."""
    problem, rng = made
    space = problem.space()
    d = len(problem.objectives)
    x = rng.normal(size=(3, d))
    u = x[:, space.order] * space.scale
    np.testing.assert_allclose(np.linalg.norm(space.region.A, axis=1), 1.0, rtol=1e-14)
    noisy, exact = u[:, : space.noisy], u[:, space.noisy :]
    slack = np.hstack(
        [
            space.region.b - noisy @ space.region.A.T - exact @ space.exact_part.T,
            space.exact_b - exact @ space.exact_A.T,
        ]
    )
    tolerances = np.concatenate([space.row_tolerance, space.exact_row_tolerance])
    assert slack.shape[1] == len(problem.constraints)
    assert sorted(row.constraint for row in problem.engine_rows()) == list(range(len(problem.constraints)))
    inside = np.ones(3, dtype=bool)
    for column, (index, norm) in enumerate(problem.engine_rows()):
        row = problem.constraints[index]
        users = row.bound - x @ np.array(row.coefficients)
        size = abs(row.bound) + np.abs(x * row.coefficients).sum(axis=1)
        assert np.all(np.abs(slack[:, column] * norm - users) <= 1e-12 * size)
        assert tolerances[column] * norm == pytest.approx(problem.tolerance[row.label])
        inside &= users >= 0
    truth = problem.truth(x)
    assert truth.is_feasible.tolist() == inside.tolist()
    assert np.all(slack >= 0, axis=1).tolist() == inside.tolist()
    for i in range(3):
        assert truth.is_dominated[i] == any(inside[j] and np.all(u[j] >= u[i]) for j in range(3) if j != i)
    sigma = np.array([model.sigma or 1.0 for model in problem.noise.values()])[space.order]
    np.testing.assert_allclose(space.tolerance * sigma, list(problem.tolerance.values())[:d])
    assert 1.0 <= space.sigma_u <= math.sqrt(max(1, space.noisy)) + 1e-12
