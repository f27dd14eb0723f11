"""Objectives that only guard: constraints look at them, dominance does not."""

import numpy as np
import pytest
from scipy.stats import binom

import paretoguard as pg
from paretoguard.problem.noise import Noise
from paretoguard.reference import statuses

ARMS = ["fast", "slow", "hungry", "lean"]
MEANS = [[0.9, 0.3], [0.4, 0.3], [0.95, 0.9], [0.3, 0.05]]


def problem(direction: str = "guard", noise: Noise | None = None, **given: object) -> pg.Problem:
    model: dict[str, pg.Noise] = {"speed": pg.Gaussian(0.2), "memory": noise or pg.Gaussian(0.2)}
    given = {"constraints": ["memory <= 0.6"], **given}
    return pg.Problem({"speed": "max", "memory": direction}, arms=ARMS, noise=model, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", [pg.Gaussian(0.2), pg.Bernoulli(), pg.Exact()])
@pytest.mark.parametrize("evidence", ["practical", "certified"])
def test_what_ties_in_a_guard_is_dominated_all_the_same(noise: pg.Noise, evidence: str) -> None:
    instance = pg.Instance(problem(noise=noise), MEANS)
    assert instance.truth().pareto == ("fast",)
    assert pg.Instance(problem("min", noise=noise), MEANS).truth().pareto == ("fast", "lean")
    result = pg.identify(instance.problem, pg.sampler(instance, seed=1), evidence=evidence, budget=20_000)
    assert {arm: verdict.status for arm, verdict in result.verdicts.items()} == {
        "fast": "optimal",
        "slow": "dominated",
        "hungry": "infeasible",
        "lean": "dominated",
    }
    assert result.verdicts["slow"].margins.keys() == {"speed"}
    assert "memory" not in result.verdicts["slow"].reason
    assert "memory" in result.verdicts["hungry"].reason
    assert result.verdicts["lean"].mean.keys() == {"speed", "memory"}


def test_errors_stay_within_delta() -> None:
    study = pg.simulate(
        pg.Instance(problem(), MEANS), algorithms=["e-cape", "uniform", "racing", "two-stage"], runs=300, delta=0.1
    )
    most = binom.ppf(0.9999, 300, 0.1)
    assert all(row["error_ecpsi"] * 300 <= most for row in study.summary())


def test_the_reference_claims_the_same() -> None:
    for number in range(12):
        rng = np.random.default_rng([5, number])
        instance = pg.Instance(problem(dependence="independent" if number % 2 else "unknown"), MEANS)
        sample = pg.sampler(instance, seed=number)
        trial = pg.Trial(instance.problem, delta=0.1)
        results = []
        for _ in range(int(rng.integers(50, 400))):
            arm = str(rng.choice(ARMS))
            values = sample(arm)
            trial.tell(arm, values)
            results.append((arm, values))
        found = statuses(instance.problem, results, delta=0.1, evidence="certified")
        certain = {arm: status for arm, status in found.items() if status != "undecided"}
        assert certain.items() <= trial.statuses().items()
        assert certain or len(results) < 150


def test_a_covariance_is_that_of_the_objectives_as_listed() -> None:
    covariance = [[0.04, 0.03], [0.03, 0.09]]
    model = pg.Gaussian([0.2, 0.3])
    listed = pg.Problem({"memory": "guard", "speed": "max"}, arms=ARMS, noise=model, dependence=covariance)
    space = listed.space()
    assert space.order.tolist() == [1, 0]
    assert (space.compared, space.noisy) == (1, 2)
    assert np.allclose(space.correlation, [[1.0, 0.5], [0.5, 1.0]])
    rows = pg.Problem(
        {"memory": "guard", "speed": "max"},
        arms=ARMS,
        noise=model,
        dependence=covariance,
        constraints=["2*memory + speed <= 1"],
    )
    variance = 4 * 0.04 + 2 * 2 * 0.03 + 0.09
    norm = rows.engine_rows()[0].norm
    assert rows.space().row_sigma[0] * norm == pytest.approx(variance**0.5)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(pg.ProblemError, match="'memory' only guard, so that no arm is better"):
        pg.Problem({"memory": "guard"}, arms=ARMS, noise=pg.Bernoulli())
    with pytest.raises(pg.ProblemError, match="memory"):
        problem(tolerance={"memory": 0.1})
    with pytest.raises(pg.SettingsError, match="nor such as only guard"):
        pg.Trial(problem(), algorithm="game-cpsi")
    with pytest.raises(pg.ProblemError, match="objectives that only guard"):
        pg.theory.lower_bound(pg.Instance(problem(), MEANS))


def test_arms_that_are_exactly_equal_are_refused_where_only_a_guard_is_noisy() -> None:
    noise: dict[str, pg.Noise] = {"speed": pg.Exact(), "memory": pg.Gaussian(0.2)}
    question = pg.Problem(
        {"speed": "max", "memory": "guard"}, arms=ARMS, noise=noise, constraints=["memory <= 0.6"], name="exact"
    )
    instance = pg.Instance(question, MEANS)
    result = pg.identify(question, pg.sampler(instance), delta=0.1)
    assert result.pareto == ("fast",)
    assert {verdict.status for verdict in result.verdicts.values()} == {"optimal", "dominated", "infeasible"}
    equal = pg.Instance(question, [[0.9, 0.3], [0.9, 0.3], [0.95, 0.9], [0.3, 0.05]])
    with pytest.raises(pg.ProblemError, match="are exactly equal in 'speed'"):
        pg.simulate(equal, algorithms="e-cape", runs=1)
    trial = pg.Trial(question)
    trial.tell("fast", {"speed": 0.9, "memory": 0.1})
    with pytest.raises(pg.SampleError, match="are exactly equal in 'speed'"):
        trial.tell("slow", {"speed": 0.9, "memory": 0.2})
