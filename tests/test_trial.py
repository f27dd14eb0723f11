"""identify and Trial: budgets, bad measurements, edge cases of the problem."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.verdict import ACROSS, show


def problem(**changes: Any) -> pg.Problem:
    stated: dict[str, Any] = {
        "objectives": {"efficacy": "max", "safety": "max"},
        "arms": ["75mg", "150mg"],
        "noise": pg.Bernoulli(),
        "constraints": ["safety >= 0.4"],
    }
    stated |= changes
    return pg.Problem(stated.pop("objectives"), **stated)


def coin(rates: Mapping[str, tuple[float, ...]], names: tuple[str, ...] = ("efficacy", "safety"), seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return lambda arm: {name: float(rng.random() < p) for name, p in zip(names, rates[arm], strict=True)}


RATES = {"75mg": (0.9, 0.8), "150mg": (0.2, 0.1)}


def test_identify_answers_with_certified_evidence_by_default() -> None:
    result = pg.identify(problem(name="doses"), coin(RATES))
    assert result.pareto == ("75mg",)
    assert (result.stopped, result.evidence, result.guarantee) == ("answered", "certified", "finite-sample")
    assert result.samples == sum(result.pulls.values())
    assert result.verdicts["150mg"].status in ("dominated", "infeasible")
    assert any("independent draw" in line for line in result.assumptions)
    assert result.to_dict()["verdicts"]["75mg"]["status"] == "optimal"


@pytest.mark.parametrize("algorithm", ["pitfall", "e-cape", "uniform", "racing", "two-stage"])
@pytest.mark.parametrize("budget", [1, 2, 3, 4, 17, 18])
def test_the_budget_is_never_exceeded_and_the_rest_is_undecided(algorithm: str, budget: int) -> None:
    asked = []

    def sample(arm: str) -> dict[str, float]:
        asked.append(arm)
        return {"efficacy": 1.0, "safety": float(len(asked) % 2)}

    result = pg.identify(problem(), sample, algorithm=algorithm, evidence="practical", delta=1e-9, budget=budget)
    assert result.samples == len(asked) == budget
    assert result.stopped == "budget"
    undecided = [verdict for verdict in result.verdicts.values() if verdict.status == "undecided"]
    assert undecided
    assert all(verdict.missing is not None for verdict in undecided)


def failing(arm: str) -> dict[str, float]:
    if arm == "150mg":
        raise RuntimeError("the pump is off")
    return {"efficacy": 1.0, "safety": 1.0}


BAD = [
    (failing, "measuring arm '150mg' failed with RuntimeError: the pump is off", None),
    (lambda arm: {"efficacy": float("nan"), "safety": 1.0}, "efficacy", {"efficacy": float("nan"), "safety": 1.0}),
    (lambda arm: [1.0, 0.0], "measuring arm '75mg' gave [1.0, 0.0], expected a mapping", [1.0, 0.0]),
    (lambda arm: 3, "expected a mapping {'efficacy': …, 'safety': …}", 3),
    (lambda arm: {"efficacy": 1.0}, "safety", {"efficacy": 1.0}),
    (lambda arm: {"efficacy": 1.0, "safty": 1.0}, "safety", {"efficacy": 1.0, "safty": 1.0}),
    (lambda arm: {"efficacy": 1.0, "safety": 0.5}, "0.5", {"efficacy": 1.0, "safety": 0.5}),
    (lambda arm: {"efficacy": 1.0, "safety": "yes"}, "yes", {"efficacy": 1.0, "safety": "yes"}),
]


@pytest.mark.parametrize(("sample", "message", "values"), BAD)
def test_a_bad_measurement_stops_with_the_result_so_far(sample: Any, message: str, values: Any) -> None:
    with pytest.raises(pg.SampleError) as caught:
        pg.identify(problem(), sample)
    error = caught.value
    assert message in str(error)
    assert error.arm in ("75mg", "150mg")
    assert f"'{error.arm}'" in str(error)
    assert str(error.values) == str(values)
    assert isinstance(error.result, pg.Result)
    assert error.result.samples == (1 if error.arm == "150mg" else 0)
    assert error.result.stopped == "open"


def test_an_exact_objective_may_not_change() -> None:
    prices = iter([5.0, 5.0, 6.0])
    stated = pg.Problem(
        {"price": "min", "rate": "max"}, arms=["a"], noise={"price": pg.Exact(), "rate": pg.Bernoulli()}
    )
    trial = pg.Trial(stated)
    for _ in range(2):
        trial.tell("a", {"price": next(prices), "rate": 1})
    with pytest.raises(pg.SampleError, match=r"arm 'a' gave price = 6\.0 after 5\.0, but price is exact"):
        trial.tell("a", {"price": next(prices), "rate": 1})
    assert trial.samples == 2


def test_an_exact_objective_is_certain_after_one_pull() -> None:
    stated = pg.Problem(
        {"price": "min", "size": "min"}, arms=["a", "b", "c"], noise=pg.Exact(), constraints=["price <= 10"]
    )
    sizes = {"a": (10.0, 5.0), "b": (9.0, 5.0), "c": (10.5, 1.0)}
    result = pg.identify(stated, lambda arm: dict(zip(("price", "size"), sizes[arm], strict=True)))
    assert result.samples == 3
    assert {arm: verdict.status for arm, verdict in result.verdicts.items()} == {
        "a": "dominated",
        "b": "optimal",
        "c": "infeasible",
    }
    assert result.verdicts["c"].reason == "'price <= 10' fails by 0.5 exactly"
    assert result.verdicts["a"].reason == "b is at least as good in every objective: price lower by 1, size equal"


def test_what_was_certain_once_stays_and_its_contrary_is_an_alarm() -> None:
    trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a"], noise=pg.Gaussian(1.0), constraints=["x >= 0"]))

    def tell(value: float, times: int) -> pg.Verdict:
        for _ in range(times):
            trial.tell("a", {"x": value})
        return trial.verdicts()["a"]

    first = tell(1.0, 40)
    assert first.status == "optimal"
    assert "certain since" not in first.reason
    later = tell(-1.0, 40)
    assert later.status == trial.statuses()["a"] == "optimal"
    assert later.reason.startswith("every constraint holds")
    assert re.search(r"; certain since sample [12]\d$", later.reason)
    assert later.pulls == 80
    assert later.mean["x"] == pytest.approx(0.0)
    assert trial.result().notes == ()
    assert tell(-1.0, 200).status == "optimal"
    (note,) = trial.result().notes
    assert note.startswith("assumptions violated? Of a one thing was certified and later its contrary")


def test_with_a_tolerance_on_constraints_only_optimal_stays() -> None:
    stated = pg.Problem(
        {"x": "max"}, arms=["a"], noise=pg.Gaussian(1.0), constraints=["x >= 0"], tolerance={"x >= 0": 0.5}
    )
    trial = pg.Trial(stated)
    for value in [1.0] * 40 + [-1.0] * 400:
        trial.tell("a", {"x": value})
    assert trial.statuses() == {"a": "optimal"}  # feasible up to the tolerance, and infeasible as well
    assert trial.result().notes == ()


def test_with_a_tolerance_on_objectives_every_verdict_stays() -> None:
    stated = pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0), tolerance=0.5)
    trial = pg.Trial(stated)
    for k in range(500):
        trial.tell("a", {"x": 0.0})
        trial.tell("b", {"x": -1.0 if k < 60 else 1.0})
    assert trial.statuses() == {"a": "optimal", "b": "dominated"}
    assert "certain since sample" in trial.verdicts()["b"].reason
    assert trial.result().notes == ()


@pytest.mark.parametrize("settings", [{"evidence": "practical"}, {"tolerance": 0.1}], ids=str)
def test_without_a_guarantee_for_all_times_verdicts_follow_the_present_evidence(settings: dict[str, Any]) -> None:
    stated = pg.Problem(
        {"x": "max"},
        arms=["a"],
        noise=pg.Gaussian(1.0),
        constraints=["x >= 0"],
        tolerance=settings.pop("tolerance", 0.0),
    )
    trial = pg.Trial(stated, delta=0.1, **settings)
    for value in [-2.5] * 20 + [1.0] * 400:
        trial.tell("a", {"x": value})
    assert trial.statuses() == {"a": "optimal"}
    assert trial.result().notes == ()


def test_values_whose_sums_would_overflow_are_refused() -> None:
    trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0)))
    with pytest.raises(pg.SampleError, match=r"arm 'a', objective 'x': 1.7e\+308 is too large"):
        trial.tell("a", {"x": 1.7e308})
    assert trial.samples == 0


def test_nothing_is_certain_of_arms_never_pulled() -> None:
    for noise in (pg.Exact(), pg.Gaussian(1.0)):
        trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a", "b"], noise=noise))
        for _ in range(50):
            trial.tell("a", {"x": 7.0})
            assert trial.statuses() == {"a": "undecided", "b": "undecided"}


@pytest.mark.parametrize("algorithm", ["pitfall", "e-cape"])
@pytest.mark.parametrize("evidence", ["certified", "practical"])
def test_what_is_below_equal_exact_arms_is_dominated(algorithm: str, evidence: str) -> None:
    problem = pg.Problem({"x": "max"}, arms=["a", "b", "c"], noise=pg.Exact())
    values = {"a": 1.0, "b": 1.0, "c": 0.0}
    result = pg.identify(problem, lambda arm: {"x": values[arm]}, algorithm=algorithm, evidence=evidence, budget=20)
    assert result.stopped == "answered"
    assert {verdict.status for verdict in result.verdicts.values()} == {"dominated"}


def test_equal_exact_arms_dominate_each_other_at_any_look() -> None:
    trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Exact()))
    for arm in ("a", "b"):
        trial.tell(arm, {"x": 1.0})
    assert set(trial.statuses().values()) == {"dominated"}
    assert trial.next_arm() is None
    assert set(trial.statuses().values()) == {"dominated"}


def test_constraints_that_clash_given_an_exact_value_are_explained() -> None:
    stated = pg.Problem(
        {"x": "max", "p": "min"},
        arms=["a"],
        noise={"x": pg.Gaussian(1.0), "p": pg.Exact()},
        constraints=["x + p <= 1", "x - p >= 1"],
    )
    verdict = pg.identify(stated, lambda arm: {"x": 0.0, "p": 5.0}).verdicts["a"]
    assert verdict.status == "infeasible"
    assert verdict.reason.startswith("given its exact values no point satisfies every constraint: ")


def test_a_problem_is_asked_for() -> None:
    with pytest.raises(pg.SettingsError, match=r"expected a pg\.Problem"):
        pg.identify("dose-finding.toml", coin(RATES))  # type: ignore[arg-type]


def test_ctrl_c_during_a_measurement_carries_the_result_so_far() -> None:
    calls = []

    def sample(arm: str) -> dict[str, float]:
        calls.append(arm)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return {"efficacy": 1.0, "safety": 1.0}

    with pytest.raises(pg.Interrupted) as caught:
        pg.identify(problem(), sample)
    assert caught.value.result.samples == 5


@pytest.mark.parametrize("dimension", [1, 2])
def test_special_cases_need_no_special_code(dimension: int) -> None:
    names = tuple(f"x{c}" for c in range(dimension))
    goals = dict.fromkeys(names, "max")
    best = {"a": (0.9,) * dimension, "b": (0.3,) * dimension}
    plain = pg.Problem(goals, arms=["a", "b"], noise=pg.Bernoulli())
    result = pg.identify(plain, coin(best, names), evidence="practical", delta=0.01)
    assert result.pareto == ("a",)
    assert result.verdicts["b"].by == "a"
    nothing = pg.Problem(goals, arms=["a", "b"], noise=pg.Bernoulli(), constraints=["x0 >= 0.97"])
    assert pg.identify(nothing, coin(best, names), evidence="practical", delta=0.01, budget=50_000).pareto == ()
    single = pg.Problem(goals, arms=["a"], noise=pg.Bernoulli(), constraints=["x0 >= 0.5"])
    result = pg.identify(single, coin(best, names), evidence="practical", delta=0.01)
    assert result.pareto == ("a",)
    assert "it is the only arm" in result.verdicts["a"].reason
    free = pg.Problem(goals, arms=["a"], noise=pg.Bernoulli())
    assert pg.identify(free, coin(best, names)).samples == 1


def test_ties_end_at_the_budget_and_with_a_tolerance_are_returned() -> None:
    same = {"a": (0.5,), "b": (0.5,)}
    exact = pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Bernoulli())
    result = pg.identify(exact, coin(same, ("x",)), budget=20_000)
    assert result.stopped == "budget"
    assert {verdict.status for verdict in result.verdicts.values()} == {"undecided"}
    assert any("arms that tie, or lie on the border of a constraint" in note for note in result.notes)
    loose = pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Bernoulli(), tolerance=0.1)
    result = pg.identify(loose, coin(same, ("x",)), delta=0.1)
    assert result.stopped == "answered"
    assert result.pareto == ("a", "b")


def test_explanations_speak_of_the_tolerance() -> None:
    stated = pg.Problem(
        {"x": "max", "y": "max"},
        arms=["a", "b"],
        noise=pg.Bernoulli(),
        constraints=["x >= 0.5"],
        tolerance={"x": 0.1, "y": 0.1, "x >= 0.5": 0.2},
    )
    same = {"a": (0.52, 0.5), "b": (0.52, 0.5)}
    result = pg.identify(stated, coin(same, ("x", "y")), delta=0.1)
    for arm, other in (("a", "b"), ("b", "a")):
        verdict = result.verdicts[arm]
        slack, reason = verdict.slack, verdict.reason
        assert slack is not None
        stands = f"with {show(slack)} to spare" if slack >= 0 else f"failing by {show(-slack)}"
        tightest = f"every constraint holds within its tolerance, the tightest, 'x >= 0.5', {stands} as estimated"
        assert f"{tightest} (certain: it fails by no more than the tolerance 0.2); " in reason
        assert f"closest rival {other}, which is not better by more than the tolerance in " in reason
        assert reason.endswith(("in x (0.1)", "in y (0.1)", "in x (0.1), nor in y (0.1)"))


def test_a_constraint_that_fails_within_its_tolerance_is_said_to() -> None:
    stated = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Bernoulli(), constraints=["x >= 0.5"], tolerance=0.2)
    trial = pg.Trial(stated, delta=0.1)
    for k in range(1000):
        trial.tell("a", {"x": k % 2 if k >= 40 else 0})
    verdict = trial.result().verdicts["a"]
    assert verdict.status == "optimal"
    assert (
        "the tightest, 'x >= 0.5', failing by 0.02 as estimated (certain: it fails by no more than the tolerance 0.2)"
        in verdict.reason
    )


def test_the_objective_that_saves_an_arm_from_its_rival_is_named() -> None:
    """Arm b is better in x by far; in y by less than the tolerance."""
    stated = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b"], noise=pg.Gaussian(0.1), tolerance={"x": 0.1, "y": 0.3}
    )
    trial = pg.Trial(stated, delta=0.1)
    for _ in range(40):
        trial.tell("a", {"x": 0.0, "y": 0.0})
        trial.tell("b", {"x": 1.0, "y": 0.1})
    verdict = trial.result().verdicts["a"]
    assert verdict.status == "optimal"
    assert verdict.reason == "closest rival b, which is not better by more than the tolerance in y (0.3)"


def test_where_only_several_objectives_together_save_an_arm_that_is_said() -> None:
    names = [f"y{c}" for c in range(6)]
    stated = pg.Problem(
        dict.fromkeys(names, "max"), arms=["a", "b"], noise=pg.Gaussian(1), tolerance=0.2, dependence="independent"
    )
    trial = pg.Trial(stated, delta=0.1)
    while trial.statuses()["a"] != "optimal":
        for arm in ("a", "b"):
            trial.tell(arm, dict.fromkeys(names, 0.0))
    reason = trial.result().verdicts["a"].reason
    assert reason.startswith("closest rival b, which is not better by more than the tolerance in every objective: as ")
    assert reason.endswith(f"as estimated, not in {', nor in '.join(f'{name} (0.2)' for name in names)}")


def guarded(tolerance: float) -> pg.Trial:
    """Arm a is always good and never slow, b never good and never slow, c always slow."""
    stated = pg.Problem(
        {"good": "max", "slow": "guard"},
        arms=["a", "b", "c"],
        noise=pg.Bernoulli(),
        constraints=["slow <= 0.3"],
        tolerance={"slow <= 0.3": tolerance},
    )
    return pg.Trial(stated, delta=0.05)


def tell_all(trial: pg.Trial, times: int) -> pg.Result:
    for _ in range(times):
        for arm, (good, slow) in {"a": (1, 0), "b": (0, 0), "c": (1, 1)}.items():
            trial.tell(arm, {"good": good, "slow": slow})
    return trial.result()


def test_limits_that_seem_to_contradict_a_verdict_are_explained_beside_the_table() -> None:
    trial = guarded(tolerance=0.05)
    result = tell_all(trial, 1)
    assert result.across() == ""  # nothing is claimed yet
    while result.verdicts["a"].status != "optimal":
        result = tell_all(trial, 1)
    assert result.verdicts["a"].high["slow"] > 0.35
    assert result.across() == ACROSS
    assert ACROSS in " ".join(repr(result).split())
    assert ACROSS in result._repr_html_()
    result = tell_all(trial, 150)
    assert result.verdicts["a"].high["slow"] < 0.3
    assert result.across() == ""
    assert ACROSS not in " ".join(repr(result).split())


def test_limits_within_the_tolerance_contradict_nothing() -> None:
    trial = guarded(tolerance=0.3)
    result = tell_all(trial, 60)
    assert result.verdicts["a"].status == "optimal"
    assert 0.3 < result.verdicts["a"].high["slow"] < 0.6
    assert result.across() == ""


def test_an_infeasible_arm_whose_limits_reach_a_constraint_is_explained() -> None:
    trial = guarded(tolerance=0.0)
    result = trial.result()
    while result.verdicts["c"].status != "infeasible":
        result = tell_all(trial, 1)
    crossing = result.verdicts["c"].low["slow"] < 0.3
    assert bool(result.across()) == crossing
    assert crossing


def test_an_objective_may_be_called_as_a_column_is() -> None:
    stated = pg.Problem({"status": "max", "why": "max"}, arms=["a"], noise=pg.Bernoulli())
    row = pg.identify(stated, lambda arm: {"status": 1, "why": 0}).rows()[0]
    assert list(row) == ["arm", "status", "pulls", "mean status", "mean why", "why"]


def test_a_trial_accepts_results_that_were_not_asked_for() -> None:
    trial = pg.Trial(problem(), evidence="practical", delta=0.1)
    for _ in range(200):
        trial.tell("150mg", {"efficacy": 0, "safety": 0})
    assert trial.next_arm() == "75mg"
    assert trial.statuses() == {"75mg": "undecided", "150mg": "infeasible"}
    with pytest.raises(pg.SampleError, match="150"):
        trial.tell("151mg", {"efficacy": 0, "safety": 0})


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, float("nan"), "0.1", True, None])
def test_delta_must_be_a_probability(delta: Any) -> None:
    with pytest.raises(pg.SettingsError, match="it is the error probability you accept"):
        pg.identify(problem(), coin(RATES), delta=delta)
