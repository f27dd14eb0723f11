"""The reference says of raw results what the engine says of them, and finds out claims that they do not bear out."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.engine.draws import key
from paretoguard.engine.loop import observe_result, settle_now
from paretoguard.engine.state import new_state
from paretoguard.engine.view import View
from paretoguard.reference import audit, statuses
from paretoguard.reference.audit import evidence_of
from paretoguard.reference.claims import Claims
from paretoguard.reference.units import in_deviations
from paretoguard.trial import promises, registry
from paretoguard.vocabulary import STATUSES
from random_problems import correlated_instance, random_instance, wide_front, with_unknown_scales
from test_twin import twin_problem
from twin import Twin, play
from twin_evidence import TWINS

Results = list[tuple[str, Mapping[str, float]]]
LOOKS = (50, 200, 800)
DELTA = 0.1


def drawn(instance: pg.Instance, rng: np.random.Generator, size: int) -> Results:
    """Results of arms in no order, some arms far more often than others."""
    sample, arms = pg.sampler(instance, seed=int(rng.integers(1000))), instance.problem.arms
    shares = rng.dirichlet(np.full(len(arms), 2.0))
    return [(arm, sample(arm)) for arm in rng.choice(arms, size=size, p=shares).tolist()]


def by_the_engine(
    problem: pg.Problem, results: Results, evidence: str, order: str, looks: Sequence[int] = LOOKS
) -> list[dict[str, str]]:
    """The present status of each arm at every look."""
    space = problem.space()
    levels = promises.in_order(registry.evidence(evidence), order).fit(DELTA, space)
    view, found = View(levels, None, space, new_state(space, key(0, 0))), []
    codes, via = np.zeros(space.arms, dtype=np.uint8), np.zeros(space.arms, dtype=np.int64)
    for count, (arm, values) in enumerate(results, start=1):
        observe_result(space, view.state, problem.index(arm), problem.values(arm, values))
        if count in looks:
            settle_now(view, codes, via)
            found.append({name: STATUSES[code] for name, code in zip(problem.arms, codes, strict=True)})
    return found


def by_the_twin(problem: pg.Problem, results: Results, evidence: str) -> list[dict[str, str]]:
    """The same by the slow twin, which needs no compiling; test_twin compares it with the engine."""
    twin, found = TWINS.get(evidence, Twin)(twin_problem(problem), evidence, DELTA), []
    for count, (arm, values) in enumerate(results, start=1):
        twin.observe(problem.index(arm), problem.values(arm, values).tolist())
        if count in LOOKS:
            found.append({name: STATUSES[code] for name, code in zip(problem.arms, twin.verdicts(), strict=True)})
    return found


def compare(problem: pg.Problem, results: Results, evidence: str = "certified", order: str = "arrival") -> Counter[str]:
    """Compare at every look; how often each status was seen."""
    seen: Counter[str] = Counter()
    is_compiled = evidence.startswith("certified")
    told = by_the_engine(problem, results, evidence, order) if is_compiled else by_the_twin(problem, results, evidence)
    for look, wanted in zip(LOOKS, told, strict=True):
        assert statuses(problem, results[:look], delta=DELTA, evidence=evidence, order=order) == wanted, (problem, look)
        seen.update(wanted.values())
    return seen


def assert_all_seen(seen: Counter[str], least: int) -> None:
    assert all(seen[status] >= least for status in STATUSES), seen


@pytest.mark.parametrize("evidence", ["certified", "certified:expected_samples=300", "practical", "theorem", "lil"])
def test_statuses_are_those_of_the_engine(evidence: str) -> None:
    seen: Counter[str] = Counter()
    for number in range(60 if evidence == "certified" else 25):
        rng = np.random.default_rng([21, number])
        instance = wide_front(rng) if number % 5 == 4 else random_instance(rng)
        seen += compare(instance.problem, drawn(instance, rng, LOOKS[-1]), evidence)
    assert_all_seen(seen, least=5)


def test_statuses_are_those_of_the_engine_with_a_known_covariance() -> None:
    seen: Counter[str] = Counter()
    for number in range(25):
        rng = np.random.default_rng([22, number])
        instance = correlated_instance(rng)
        seen += compare(instance.problem, drawn(instance, rng, LOOKS[-1]))
    assert min(seen["optimal"], seen["dominated"]) >= 5


def test_statuses_are_those_of_the_engine_with_a_covariance_beside_other_noise() -> None:
    for number in range(6):
        rng = np.random.default_rng([23, number])
        problem = pg.Problem(
            {"x": "max", "y": "min", "z": "max", "price": "min"},
            arms=["a", "b", "c"],
            noise={"x": pg.Gaussian(0.3), "y": pg.Gaussian(0.5), "z": pg.Bernoulli(), "price": pg.Exact()},
            constraints=["x - y + z <= 1", "x + price <= 2", "x - price >= -3", "price <= 1.5"],
            dependence=[[0.09, -0.1], [-0.1, 0.25]],
        )
        instance = pg.Instance(problem, np.round(rng.uniform(0, 1, (3, 4)) * [1, 1, 1, 2], 2))
        compare(problem, drawn(instance, rng, LOOKS[-1]))
        for evidence in ("theorem", "practical"):
            compare(problem, drawn(instance, rng, LOOKS[-1]), evidence)


def test_statuses_are_those_of_the_engine_where_scales_are_learnt() -> None:
    seen: Counter[str] = Counter()
    for number in range(30):
        rng = np.random.default_rng([24, number])
        instance = wide_front(rng) if number % 5 == 4 else random_instance(rng)
        seen += compare(with_unknown_scales(rng, instance.problem), drawn(instance, rng, LOOKS[-1]))
    assert_all_seen(seen, least=5)


def test_statuses_are_those_of_the_engine_in_the_order_asked() -> None:
    seen: Counter[str] = Counter()
    for number in range(25):
        rng = np.random.default_rng([25, number])
        instance = correlated_instance(rng) if number % 4 == 0 else random_instance(rng)
        seen += compare(instance.problem, drawn(instance, rng, LOOKS[-1]), order="asked")
    assert min(seen["optimal"], seen["dominated"]) >= 5


def test_statuses_are_those_of_the_engine_where_values_in_a_range_are_bet_on() -> None:
    """Narrow grades and rare harms: bets are what decides."""
    seen: Counter[str] = Counter()
    for number in range(30):
        rng, K = np.random.default_rng([26, number]), [1, 2, 4][number % 3]
        problem = pg.Problem(
            {"grade": "max", "harm": "min"},
            arms=["a", "b", "c", "d"][:K],
            noise={"grade": pg.Bounded(-1.0, 2.0), "harm": pg.Bernoulli()},
            constraints={"good": "grade >= 0.5", "safe": "harm <= 0.15", "sane": "2 * grade <= 3.5"},
            dependence=str(rng.choice(["unknown", "independent"])),
            tolerance=float(rng.choice([0.0, 0.05])),
        )
        grade, harm = rng.uniform(0.3, 0.9, K), rng.choice([0.01, 0.03, 0.3, 0.9], K)
        results: Results = []
        for i in rng.integers(K, size=LOOKS[-1]).tolist():
            values = {
                "grade": float(rng.uniform(grade[i] - 0.1, grade[i] + 0.1)),
                "harm": float(rng.random() < harm[i]),
            }
            results.append((problem.arms[i], values))
        seen += compare(problem, results)
    assert min(seen["optimal"], seen["infeasible"], seen["undecided"]) >= 10


SHARP: dict[str, dict[str, Any]] = {
    "rates": {"noise": pg.Bernoulli(), "constraints": ["x <= 0.3"]},
    "grades": {"noise": pg.Bounded(0.0, 1.0), "constraints": ["x <= 0.1", "y >= 0.02"]},
    "independent": {"noise": pg.Gaussian(0.3), "dependence": "independent"},
    "correlated": {"noise": pg.Gaussian(0.3), "dependence": [[0.09, -0.05], [-0.05, 0.09]]},
}


@pytest.mark.parametrize("kind", SHARP)
def test_statuses_change_when_those_of_the_engine_do(kind: str) -> None:
    """Looks close together: thresholds that are a little off would be crossed at another time."""
    problem, looks, changes = pg.Problem({"x": "min", "y": "max"}, arms=["a", "b"], **SHARP[kind]), range(2, 501, 2), 0
    for number in range(20):
        means = np.random.default_rng([28, number]).uniform(0.02, 0.45, (2, 2))
        sample = pg.sampler(pg.Instance(problem, means), seed=number)
        shrink = 0.5 if kind == "grades" else 1.0  # else they would be 0 and 1
        drawn = [(arm, {name: shrink * value for name, value in sample(arm).items()}) for arm in problem.arms * 250]
        evidence, found = evidence_of(in_deviations(problem), DELTA, "certified", "arrival"), []
        for count, (arm, values) in enumerate(drawn, start=1):
            evidence.take(problem.index(arm), list(values.values()))
            if count in looks:
                claims = Claims(2)
                for i in range(2):
                    claims.look(evidence, i, range(i))
                found.append({name: claims.status(i) for i, name in enumerate(problem.arms)})
        assert found == by_the_engine(problem, [*drawn], "certified", "arrival", looks), (kind, number)
        changes += sum(one != other for one, other in itertools.pairwise(found))
    assert changes >= 10


# --- audits ----------------------------------------------------------------------------------------------------------


def claimed(trial: pg.Trial) -> dict[str, str]:
    return {arm: one.status for arm, one in trial.result().verdicts.items() if one.status != "undecided"}


def test_what_a_trial_claims_is_borne_out() -> None:
    checked = 0
    for number in range(25):
        rng = np.random.default_rng([27, number])
        instance = wide_front(rng) if number % 5 == 4 else random_instance(rng)
        trial, results = pg.Trial(instance.problem, delta=DELTA), drawn(instance, rng, 800)
        for arm, values in results:
            trial.tell(arm, values)
        claims = claimed(trial)
        assert audit(instance.problem, results, claims, delta=DELTA) == dict.fromkeys(claims, True)
        checked += len(claims)
    assert checked > 20


def test_an_answer_that_rests_on_claims_of_several_times_is_borne_out() -> None:
    """Racing drops arms as it goes, and what was certain of them then need not be certain at the end."""
    instance = pg.instances.load("random:K=8,d=2,m=2,seed=1")
    problem, sample = instance.problem, pg.sampler(instance, seed=0)
    results: Results = []

    def measure(arm: int, _: int) -> list[float]:
        results.append((problem.arms[arm], sample(problem.arms[arm])))
        return list(results[-1][1].values())

    _, codes = play(Twin(twin_problem(problem), "practical", DELTA), "racing", measure, budget=10_000)
    claims = {arm: STATUSES[code] for arm, code in zip(problem.arms, codes, strict=True)}
    assert "undecided" not in claims.values()
    assert statuses(problem, results, delta=DELTA, evidence="practical") != claims
    assert audit(problem, results, claims, delta=DELTA, evidence="practical") == dict.fromkeys(claims, True)


COINS = pg.Problem({"hits": "max"}, arms=["poor", "rich"], noise=pg.Bernoulli(), constraints=["hits <= 0.95"])


def tosses(size: int) -> Results:
    rng, rates = np.random.default_rng(5), {"poor": 0.3, "rich": 0.7}
    return [(arm, {"hits": float(rng.random() < rate)}) for _ in range(size) for arm, rate in rates.items()]


def test_a_claim_is_found_out_once_the_results_are_edited() -> None:
    results = tosses(300)
    claims = {"poor": "dominated", "rich": "optimal"}
    first = next(n for n in range(1, len(results)) if statuses(COINS, results[:n], delta=DELTA) == claims)
    results = results[:first]
    assert audit(COINS, results, claims, delta=DELTA) == {"poor": True, "rich": True}
    place = next(n for n, (arm, values) in enumerate(results) if arm == "rich" and values["hits"] == 1.0)
    results[place] = ("rich", {"hits": 0.0})
    assert audit(COINS, results, claims, delta=DELTA) == {"poor": False, "rich": False}


def test_a_false_claim_is_found_out() -> None:
    results = tosses(500)
    assert audit(COINS, results, {"poor": "optimal", "rich": "dominated"}, delta=DELTA) == {
        "poor": False,
        "rich": False,
    }
    assert audit(COINS, results, {"poor": "infeasible"}, delta=DELTA) == {"poor": False}
    assert audit(COINS, results[:20], {"poor": "dominated"}, delta=DELTA) == {"poor": False}
    assert audit(COINS, [], {"poor": "dominated"}, delta=DELTA) == {"poor": False}


def test_a_claim_once_certain_stays() -> None:
    problem = pg.Problem({"speed": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    one_way: Results = [("a", {"speed": 0.0}), ("b", {"speed": 1.0})] * 60
    back: Results = [("a", {"speed": 1.0}), ("b", {"speed": 0.0})] * 60
    assert statuses(problem, one_way, delta=DELTA) == {"a": "dominated", "b": "optimal"}
    assert statuses(problem, one_way + back, delta=DELTA) == {"a": "undecided", "b": "undecided"}
    assert audit(problem, one_way + back, {"a": "dominated", "b": "optimal"}, delta=DELTA) == {"a": True, "b": True}
    assert audit(problem, one_way + back, {"a": "optimal"}, delta=DELTA) == {"a": False}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"evidence": "hanson-wright"}, "evidence is 'hanson-wright', expected one that can be audited: certified"),
        ({"evidence": "mine:Own"}, "expected one that can be audited"),
        ({"evidence": "certified:rho=2"}, "has the option 'rho=2', expected option=value, with expected_samples"),
        ({"evidence": "lil:x=2"}, "has the option 'x=2', expected none"),
        ({"evidence": "certified:expected_samples=0"}, "expected_samples is '0', expected a whole number"),
        ({"evidence": "lil", "order": "asked"}, "'lil' promises nothing of results counted in the order asked"),
        ({"order": "late"}, "order is 'late', expected one of arrival, asked"),
        ({"delta": 1.0}, "delta is 1.0, expected a number between 0 and 1"),
        ({"claims": {"poor": "undecided"}}, "arm 'poor' is claimed to be 'undecided'; expected one of optimal"),
    ],
)
def test_what_cannot_be_audited_is_refused(given: dict[str, Any], told: str) -> None:
    claims = given.pop("claims", {"poor": "dominated"})
    with pytest.raises(pg.SettingsError, match=told):
        audit(COINS, tosses(2), claims, **{"delta": DELTA, **given})


def test_scales_are_learnt_by_certified_alone_and_exact_values_may_not_change() -> None:
    problem = pg.Problem(
        {"x": "max", "price": "min"}, arms=["a"], noise={"x": pg.Unknown(), "price": pg.Exact()}, name="one"
    )
    with pytest.raises(pg.SettingsError, match="needs the scale of every noise"):
        statuses(problem, [], delta=DELTA, evidence="theorem")
    twice: Results = [("a", {"x": 0.0, "price": 1.0}), ("a", {"x": 0.0, "price": 2.0})]
    with pytest.raises(pg.ProblemError, match=r"has the exact values \[2.0\] after \[1.0\]; expected the same again"):
        statuses(problem, twice, delta=DELTA)
