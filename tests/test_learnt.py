"""Noise of unknown scale: learnt from the results, labelled asymptotic, and silent where nothing is known."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from scipy import stats

import paretoguard as pg
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.simulation.rewards import reward

RUNS = 2_000


class Law(NamedTuple):
    std: float


@dataclass(frozen=True)
class Hidden(pg.Unknown):
    """Normal noise that the problem does not say the scale of."""

    std: float = 1.0
    kind: ClassVar[str] = "hidden"

    def law(self) -> Law:
        return Law(self.std)


@reward.register(Law)
def _reward(law: Law, mean: float, u: float, v: float) -> float:
    return mean + law.std * math.sqrt(-2.0 * math.log(1.0 - u)) * math.cos(2.0 * math.pi * v)


def problem(**changes: Any) -> pg.Problem:
    stated: dict[str, Any] = {"arms": ["a", "b"], "noise": pg.Unknown(), "constraints": ["mb <= 5"]}
    return pg.Problem({"ms": "min", "mb": "min"}, **{**stated, **changes})


def jitter(means: dict[str, tuple[float, float]], spread: float, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return lambda arm: {
        name: float(mean + spread * rng.normal()) for name, mean in zip(("ms", "mb"), means[arm], strict=True)
    }


MEANS = {"a": (10.0, 3.0), "b": (12.0, 4.0)}


def test_answers_are_labelled_asymptotic_with_what_they_rest_on() -> None:
    result = pg.identify(problem(), jitter(MEANS, 1.0))
    assert (result.pareto, result.stopped, result.guarantee) == (("a",), "answered", "asymptotic")
    assert {verdict.guarantee for verdict in result.verdicts.values()} == {"asymptotic"}
    assert min(result.pulls.values()) >= LEAST_PULLS
    learnt = next(line for line in result.assumptions if "is learnt" in line)
    assert learnt.startswith("the scale of ms, mb is learnt from the results")
    assert f"before {LEAST_PULLS} of them nothing is claimed about an arm" in learnt
    assert "asymptotic" in result.footer()
    mixed = problem(noise={"ms": pg.Unknown(), "mb": pg.Gaussian(1.0)})
    assert pg.identify(mixed, jitter(MEANS, 1.0)).guarantee == "asymptotic"


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e9])
def test_the_unit_does_not_matter(factor: float) -> None:
    sample = jitter(MEANS, 1.0)
    scaled = problem(constraints=[f"mb <= {5 * factor!r}"])
    result = pg.identify(scaled, lambda arm: {name: factor * value for name, value in sample(arm).items()})
    assert result.pulls == pg.identify(problem(), jitter(MEANS, 1.0)).pulls


@pytest.mark.parametrize(("algorithm", "louder"), [("e-cape", 3.0), ("pitfall", 10.0)])
def test_less_noise_needs_fewer_samples(algorithm: str, louder: float) -> None:
    """The least of 30 results an arm leaves `pitfall`, which takes fewer of a spread of 3, less to save there."""
    quiet, loud = (
        pg.identify(problem(), jitter(MEANS, spread), algorithm=algorithm).samples for spread in (0.1, louder)
    )
    assert quiet < loud / 5


def test_nothing_is_claimed_before_the_least() -> None:
    trial = pg.Trial(problem())
    sample = jitter(MEANS, 1e-3)
    for _ in range(LEAST_PULLS - 1):
        for arm in ("a", "b"):
            trial.tell(arm, sample(arm))
    assert set(trial.statuses().values()) == {"undecided"}
    verdict = trial.verdicts()["a"]
    assert verdict.high["ms"] == math.inf
    assert verdict.reason == f"its scale is learnt, and nothing is claimed before {LEAST_PULLS} results"
    assert verdict.missing is not None
    assert verdict.missing.pulls == {"a": 1}
    assert str(trial.result())  # a table without limits


def test_an_objective_that_does_not_vary_proves_nothing_and_is_named() -> None:
    result = pg.identify(problem(), lambda arm: dict(zip(("ms", "mb"), MEANS[arm], strict=True)), budget=200)
    assert {verdict.status for verdict in result.verdicts.values()} == {"undecided"}
    note = "ms has not varied in the results of a, b: its scale is not known, and nothing is claimed that rests on it"
    assert any(line.startswith(note) for line in result.notes)
    assert "Note: ms has not varied" in str(result).replace("\n", " ")
    assert result.verdicts["a"].reason.startswith("ms and mb has not varied in its results")
    exact = problem(noise={"ms": pg.Unknown(), "mb": pg.Exact()})
    sample = jitter(MEANS, 1.0)
    result = pg.identify(exact, lambda arm: {"ms": sample(arm)["ms"], "mb": MEANS[arm][1]})
    assert result.pareto == ("a",)


def test_until_scales_are_known_no_arm_takes_more_than_its_share() -> None:
    arms = [f"arm {number}" for number in range(6)]
    sample = jitter({arm: (10.0 + number, 5.0 - number) for number, arm in enumerate(arms)}, 1.0)
    trial = pg.Trial(problem(arms=arms, constraints=["mb <= 50"]))
    for _ in range(6 * (LEAST_PULLS - 2)):
        arm = trial.next_arm()
        assert arm is not None
        trial.tell(arm, sample(arm))
    pulls = trial.result().pulls.values()
    assert max(pulls) - min(pulls) <= 2


def test_an_infeasible_arm_fails_what_it_fails_not_what_has_not_varied() -> None:
    sample = jitter(MEANS, 1.0)
    asked = problem(arms=["a"], constraints=["mb <= 64", "ms <= 8"])
    result = pg.identify(asked, lambda arm: {"ms": sample(arm)["ms"], "mb": 11.0}, budget=2000)
    assert result.verdicts["a"].status == "infeasible"
    assert result.verdicts["a"].reason.startswith("'ms <= 8' fails by ")
    assert "mb" not in result.verdicts["a"].reason


def test_rows_that_do_not_vary_prove_nothing_even_where_their_objectives_do() -> None:
    """ms + mb is 13 in every result of a, up to rounding."""
    rng = np.random.default_rng(0)

    def sample(arm: str) -> dict[str, float]:
        ms = float(rng.normal(10, 1))
        return {"ms": ms, "mb": 13 - ms}

    result = pg.identify(problem(arms=["a"], constraints=["ms + mb <= 14"]), sample, budget=100)
    assert result.verdicts["a"].status == "undecided"
    assert any(note.startswith("'ms + mb <= 14' has not varied in the results of a") for note in result.notes)


def test_an_arm_that_does_not_vary_holds_no_other_up() -> None:
    sample = jitter({"a": (10.0, 3.0), "b": (9.0, 4.0), "c": (12.0, 6.0)}, 1.0)

    def still(arm: str) -> dict[str, float]:
        return {"ms": 10.0, "mb": 3.0} if arm == "a" else sample(arm)

    result = pg.identify(problem(arms=["a", "b", "c"]), still, budget=2_000)
    statuses = {arm: verdict.status for arm, verdict in result.verdicts.items()}
    assert statuses == {"a": "undecided", "b": "undecided", "c": "infeasible"}
    assert result.pulls["a"] > 500  # what is left goes to it
    early = pg.identify(problem(arms=["a", "b", "c"]), sample, budget=60)
    assert min(early.pulls.values()) >= 10  # the arms with the fewest results first


def test_known_scales_wait_for_the_least_number_of_results_too() -> None:
    trial = pg.Trial(problem(noise={"ms": pg.Gaussian(1.0), "mb": pg.Unknown()}, constraints=["ms >= 0"]))
    for k in range(LEAST_PULLS):
        assert set(trial.statuses().values()) == {"undecided"}
        trial.tell("a", {"ms": 100.0, "mb": float(k)})
        trial.tell("b", {"ms": -100.0, "mb": float(k)})
    assert trial.statuses()["b"] == "infeasible"


@pytest.mark.parametrize("evidence", ["practical", "theorem", "lil"])
def test_other_evidence_asks_for_the_scale(evidence: str) -> None:
    with pytest.raises(
        pg.SettingsError, match=rf"'{evidence}' needs the scale of every noise; declare it.*'certified'"
    ):
        pg.identify(problem(), jitter(MEANS, 1.0), evidence=evidence)


def border(arms: int, bound: str) -> pg.Instance:
    objectives = {"x": "max", "y": "max"}
    stated = pg.Problem(
        objectives, arms=[f"arm{i}" for i in range(arms)], noise=Hidden(3.0), constraints=[bound], name="border"
    )
    return pg.Instance(stated, [[0.0, 0.05 * i] for i in range(arms)])


def test_errors_stay_within_delta_where_noise_is_normal() -> None:
    for arms, bound in ((1, "x <= 0"), (1, "x + 2*y <= 0"), (4, "x <= 0")):
        study = pg.simulate(
            border(arms, bound), algorithms="uniform", evidence="certified", delta=0.05, runs=RUNS, budget=2_000 * arms
        )
        assert study.summary()[0]["guarantee"] == "asymptotic"
        assert stats.binom.sf(int(study.records["wrong_ecpsi"].sum()) - 1, RUNS, 0.05) > 1e-4
