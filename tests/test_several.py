"""Claims that an arm is dominated by at least one of several: against the definition, their level, and what is said."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import paretoguard as pg
import twin_pitfall
from paretoguard.compiler.jit import entry
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.certify import SEVERAL
from paretoguard.engine.draws import key
from paretoguard.engine.explain import progress
from paretoguard.engine.loop import observe_result, settle_now
from paretoguard.engine.questions import below_some
from paretoguard.engine.state import new_state
from paretoguard.engine.view import View, at_now
from paretoguard.evidence.certified.certified import CertifiedLevels
from paretoguard.reference import audit
from paretoguard.reference.audit import evidence_of
from paretoguard.reference.units import in_deviations
from paretoguard.vocabulary import DOMINATED
from test_certified import errors, too_many
from test_pitfall import compare

SHARE, DELTA = 0.3, 1e-15
EVIDENCE = f"certified:several={SHARE}"


def corner(K: int = 3, d: int = 2, near: float = 0.2) -> pg.Instance:
    """The first arm is below all others, of which each is only a little above it in another objective."""
    means = np.ones((K, d))
    means[0] = 0.0
    for i in range(1, K):
        means[i, (i - 1) % d] = near
    names = [f"arm{i}" for i in range(K)]
    objectives = {f"x{c}": "max" for c in range(d)}
    problem = pg.Problem(objectives, arms=names, noise=pg.Gaussian(1.0), dependence="independent", name="corner")
    return pg.Instance(problem, means)


# --- against the definition ------------------------------------------------------------------------------------------


@entry
def ask(view: Any, i: int, members: Any) -> bool:
    return bool(below_some(at_now(view), i, members))


def random_corner(rng: np.random.Generator) -> pg.Instance:
    K, d = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    instance = corner(K, d)
    means = rng.uniform(0.0, 1.0, (K, d))
    means[0] = rng.uniform(-0.5, 0.1)
    return pg.Instance(instance.problem, means)


def test_the_engine_claims_what_the_definition_does() -> None:
    seen = {True: 0, False: 0}
    for number in range(150):
        rng = np.random.default_rng([51, number])
        instance = random_corner(rng)
        problem, space, K = instance.problem, instance.problem.space(), len(instance.problem.arms)
        view = View(pg.evidence.Certified(several=SHARE).fit(0.1, space), None, space, new_state(space, key(0, 0)))
        slow: Any = evidence_of(in_deviations(problem), 0.1, EVIDENCE, "arrival")
        counts = rng.integers(10, 300, K)
        for i in range(K):
            row = instance.means[i] + rng.normal(size=space.objectives) / math.sqrt(counts[i])
            for _ in range(counts[i]):
                observe_result(space, view.state, i, row)
                slow.take(i, row.tolist())
        settle_now(view, np.zeros(K, np.uint8), np.zeros(K, np.int64))
        members = np.ones(K, dtype=np.uint8)
        claimed = ask(view, 0, members)
        above = sorted(
            (j for j in range(1, K) if slow.is_above(0, j)),
            key=lambda j: -min(slow.meeting(slow.arms[0], [slow.arms[j]], (c,)) for c in range(space.compared)),
        )
        sets = [sorted(above[:size]) for size in range(2, min(4, len(above)) + 1)]
        holds = [few for few in sets if slow.is_dominated_by_some(0, few)]
        assert claimed == bool(holds)
        if claimed:
            assert np.flatnonzero(members).tolist() == holds[0]
        seen[claimed] += 1
    assert min(seen.values()) > 20, seen


def test_pitfall_decides_as_its_twin_does(monkeypatch: pytest.MonkeyPatch) -> None:
    claims: set[int] = set()
    looked = twin_pitfall.Pitfall.is_below_some

    def look(twin: twin_pitfall.Pitfall, i: int) -> bool:
        found = looked(twin, i)
        if found:
            claims.add(number)
        return found

    monkeypatch.setattr(twin_pitfall.Pitfall, "is_below_some", look)
    for number in range(6):
        instance = corner(3 + number % 3, 2 + number % 2, near=0.6)
        compare(pg.Instance(instance.problem, 8.0 * instance.means), EVIDENCE, number, decisions=300, delta=1e-20)
    assert len(claims) >= 3


# --- their level -----------------------------------------------------------------------------------------------------


def boundary() -> pg.Instance:
    """The first arm leads each other arm in one objective, by a hair: that one of them dominates it is just false."""
    return corner(near=-1e-6)


@dataclass(frozen=True)
class Alone(pg.evidence.Certified):
    """Nothing but the claim about two arms, at a level of 0.2: what it asks for is `less` than it should be."""

    several: float = 0.5
    less: float = 0.0
    name: ClassVar[str] = "alone"

    def fit(self, delta: float, problem: ProblemArrays) -> CertifiedLevels:
        levels = super().fit(delta, problem)
        levels.several.bars[2] = math.log(1.0 / 0.2) - self.less
        return levels._replace(below_bar=math.inf)


def test_claims_about_several_arms_keep_their_level() -> None:
    assert not too_many(errors(boundary(), Alone(), 0.2, budget=3_000, algorithm="pitfall"), 2_000, 0.2)


def test_claims_that_ask_for_too_little_are_caught() -> None:
    assert too_many(errors(boundary(), Alone(less=6.0), 0.2, budget=3_000, algorithm="pitfall"), 2_000, 0.2)


@pytest.mark.parametrize(("size", "d"), [(2, 2), (3, 2), (3, 3), (4, 3)])
def test_the_e_value_is_at_most_1_on_average_and_needs_its_penalties(size: int, d: int) -> None:
    """On the border, where each arm ties in one objective; by simulation, at counts fixed beforehand."""
    instance = corner(size + 1, d, near=0.0)
    slow: Any = evidence_of(in_deviations(instance.problem), 0.1, EVIDENCE, "arrival")
    rng = np.random.default_rng([53, size, d])
    counts = rng.integers(200, 900, size + 1)
    ways = list(itertools.product(range(d), repeat=size))
    logs = []
    for _ in range(4_000):
        for arm, count, mean in zip(slow.arms, counts, instance.means, strict=True):
            arm.count, arm.means = int(count), (mean + rng.normal(size=d) / math.sqrt(count)).tolist()
        logs.append(min(slow.meeting(slow.arms[0], slow.arms[1:], way) for way in ways))
    penalties = min(size, d) * slow.penalty(slow.arms[0]) + sum(map(slow.penalty, slow.arms[1:]))
    values = np.exp(np.array(logs) - penalties)
    assert values.mean() + 4.0 * values.std() / math.sqrt(len(values)) <= 1.0
    assert np.exp(logs).mean() > 1.0


def test_two_arms_have_no_sets() -> None:
    space = corner(2).problem.space()
    assert (
        pg.evidence.Certified(several=SHARE).fit(0.1, space).lead_bar
        == pg.evidence.Certified().fit(0.1, space).lead_bar
    )


@pytest.mark.parametrize("K", [3, 4, 5, 7])
def test_levels_add_up_to_the_share(K: int) -> None:
    delta = 0.1
    space = corner(K, 3).problem.space()
    levels, plain = pg.evidence.Certified(several=SHARE).fit(delta, space), pg.evidence.Certified().fit(delta, space)
    sets = sum(math.comb(K - 1, size) * math.exp(-levels.several.bars[size]) for size in (2, 3, 4))
    assert K * sets == pytest.approx(SHARE * delta)  # without constraints all of delta goes to pairs
    assert levels.lead_bar - plain.lead_bar == pytest.approx(-math.log(1.0 - SHARE))


# --- what is said ----------------------------------------------------------------------------------------------------


def told(trial: pg.Trial, instance: pg.Instance, rounds: int) -> Iterator[list[tuple[str, dict[str, float]]]]:
    """Tell a trial so many rounds, each arm in turn; the results so far."""
    results: list[tuple[str, dict[str, float]]] = []
    sample = pg.sampler(instance, seed=2)
    for _ in range(rounds):
        for arm in instance.problem.arms:
            results.append((arm, dict(sample(arm))))
            trial.tell(*results[-1])
        yield results


def test_a_verdict_names_the_arms_and_is_borne_out() -> None:
    instance = corner()
    trial = pg.Trial(instance.problem, evidence=EVIDENCE, delta=1e-6)
    for results in told(trial, instance, 4_000):
        if len(results) % 75 == 0 and trial.statuses()["arm0"] == "dominated":
            break
    verdict = trial.result().verdicts["arm0"]
    assert (verdict.by, verdict.by_one_of) == (None, ("arm1", "arm2"))
    assert verdict.reason.startswith(
        "at least one of arm1 and arm2 is at least as good in every objective, though which is not certain; as"
    )
    assert verdict.to_dict()["by_one_of"] == ["arm1", "arm2"]
    claims = {arm: status for arm, status in trial.statuses().items() if status != "undecided"}
    assert claims["arm0"] == "dominated"
    assert audit(instance.problem, results, claims, delta=1e-6, evidence=EVIDENCE) == dict.fromkeys(claims, True)
    plain = audit(instance.problem, results, {"arm0": "dominated"}, delta=1e-6)
    assert plain == {"arm0": False}  # of no arm alone is it certain


WIDER: dict[str, Any] = {  # each with arms below which the first one is, that rule nothing out
    "outside": {"means": [[0.0, 0.0], [1.0, 0.2], [0.2, 1.0], [5.0, 5.0]], "constraints": ["x <= 3"]},
    "dearer": {
        "means": [[0.0, 0.0, 3.0], [1.0, 0.2, 3.0], [0.2, 1.0, 2.0], [2.0, 2.0, 5.0]],
        "objectives": {"x": "max", "y": "max", "price": "min"},
        "noise": {"x": pg.Gaussian(1.0), "y": pg.Gaussian(1.0), "price": pg.Exact()},
    },
    "guarded": {
        "means": [[0.0, 0.0, 1.0], [1.0, 0.2, 1.0], [0.2, 1.0, 1.0], [5.0, 5.0, -3.0]],
        "objectives": {"x": "max", "y": "max", "safe": "guard"},
        "constraints": ["safe >= 0"],
    },
    "tolerant": {"means": [[0.0, 0.0], [1.0, 0.2], [0.2, 1.0]], "tolerance": {"x": 0.05, "y": 0.05}},
    "rates": {"means": [[0.3, 0.3], [0.8, 0.4], [0.4, 0.8]], "noise": pg.Bernoulli()},
}


@pytest.mark.parametrize("name", WIDER)
def test_what_stops_is_what_settles_and_is_borne_out(name: str) -> None:
    """Trials of equal counts: at every look what is claimed is audited, and claims about sets are among it."""
    stated = {"objectives": {"x": "max", "y": "max"}, "noise": pg.Gaussian(1.0), **WIDER[name]}
    means = stated.pop("means")
    problem = pg.Problem(**stated, arms=["l", "a", "b", "c"][: len(means)], dependence="independent", name=name)
    instance = pg.Instance(problem, means)
    trial = pg.Trial(problem, algorithm="pitfall", evidence=EVIDENCE, delta=DELTA)
    for results in told(trial, instance, 5_000):
        if len(results) % 300 == 0 and trial.verdicts()["l"].status == "dominated":
            break
    verdict = trial.verdicts()["l"]
    assert verdict.by_one_of == ("a", "b"), verdict
    claims = {arm: status for arm, status in trial.statuses().items() if status != "undecided"}
    assert audit(problem, results, claims, delta=DELTA, evidence=EVIDENCE) == dict.fromkeys(claims, True)
    assert {arm for arm, status in claims.items() if status == "optimal"} <= set(instance.truth().pareto)


def test_progress_is_complete_where_several_arms_are_enough() -> None:
    instance = corner()
    space, K = instance.problem.space(), 3
    view = View(pg.evidence.Certified(several=SHARE).fit(1e-6, space), None, space, new_state(space, key(0, 0)))
    for i in range(K):
        for _ in range(1_500):
            observe_result(space, view.state, i, instance.means[i])
    statuses, via, found = np.zeros(K, np.uint8), np.zeros(K, np.int64), np.zeros(K)
    settle_now(view, statuses, via)
    progress(view, statuses, found)
    assert (statuses[0], via[0]) == (DOMINATED, SEVERAL)
    assert found.min() >= 1.0


def test_by_likelihood_ratio_several_arms_may_do_it_together() -> None:
    instance = corner()
    found = set()
    for seed in range(60):
        result = pg.identify(
            instance.problem, pg.sampler(instance, seed=seed), algorithm="pitfall", evidence="practical", delta=0.1
        )
        found.add(result.verdicts["arm0"].by_one_of)
    assert found == {(), ("arm1", "arm2")}


def test_by_likelihood_ratio_an_arm_that_costs_more_is_not_named() -> None:
    problem = pg.Problem(
        {"x": "max", "y": "max", "price": "min"}, arms=["l", "a", "b", "dear"],
        noise={"x": pg.Gaussian(1.0), "y": pg.Gaussian(1.0), "price": pg.Exact()}, dependence="independent",
    )  # fmt: skip
    instance = pg.Instance(problem, [[0.0, 0.0, 3.0], [1.0, 0.2, 2.0], [0.2, 1.0, 2.0], [2.0, 2.0, 7.0]])
    found = set()
    for seed in range(40):
        result = pg.identify(
            problem, pg.sampler(instance, seed=seed), algorithm="pitfall", evidence="practical", delta=0.1
        )
        found |= {*result.verdicts["l"].by_one_of, str(result.verdicts["l"].by)}
    assert found == {"a", "b", "None"}


# --- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"several": -0.1}, "several is -0.1, expected a number from 0 to 0.5"),
        ({"several": 0.9}, "from 0 to 0.5"),
        ({"several": True}, "from 0 to 0.5"),
        ({"several": 0.1, "order": "asked"}, "expected 'arrival' with it"),
    ],
)
def test_bad_shares_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        pg.evidence.Certified(**options)


def test_the_order_asked_is_refused() -> None:
    with pytest.raises(pg.SettingsError, match="do not go together"):
        pg.Trial(corner().problem, evidence=EVIDENCE, order="asked")


def test_dependence_must_be_declared() -> None:
    problem = pg.Problem({"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Gaussian(1.0))
    with pytest.raises(pg.SettingsError, match="declared independent"):
        pg.Trial(problem, evidence=EVIDENCE)
    with pytest.raises(pg.SettingsError, match="several > 0 needs"):
        audit(problem, [("a", {"x": 0.0, "y": 0.0})], {}, delta=0.1, evidence=EVIDENCE)
    for text in ("certified:several=0.9", "certified:several=much"):
        with pytest.raises(pg.SettingsError, match=r"from 0 to 0\.5"):
            audit(problem, [("a", {"x": 0.0, "y": 0.0})], {}, delta=0.1, evidence=text)
