"""Claims that an arm is dominated by at least one of several: against the definition, their level, and what is said."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import paretoguard as pg
import twin_pitfall
from paretoguard.engine.draws import key
from paretoguard.engine.evidence.certified import CertifiedLevels
from paretoguard.engine.evidence.parts import below_some
from paretoguard.engine.jit import entry
from paretoguard.engine.loop import observe_result, settle_now
from paretoguard.engine.space import Space
from paretoguard.engine.state import new_state, present
from paretoguard.reference import audit
from paretoguard.reference.kinds import evidence_of
from paretoguard.reference.units import in_deviations
from test_certified import errors, too_many
from test_pitfall import compare

SHARE = 0.3
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
def ask(evidence: Any, space: Any, state: Any, i: int, members: Any) -> bool:
    return bool(below_some(evidence, present(evidence, state), space, state, i, members))


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
        levels, state = pg.evidence.Certified(several=SHARE).fit(0.1, space), new_state(space, key(0, 0))
        slow: Any = evidence_of(in_deviations(problem), 0.1, EVIDENCE, "arrival")
        counts = rng.integers(10, 300, K)
        for i in range(K):
            row = instance.means[i] + rng.normal(size=space.objectives) / math.sqrt(counts[i])
            for _ in range(counts[i]):
                observe_result(space, state, i, row)
                slow.take(i, row.tolist())
        settle_now(levels, space, state, np.zeros(K, np.uint8), np.zeros(K, np.int64))
        members = np.ones(K, dtype=np.uint8)
        claimed = ask(levels, space, state, 0, members)
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

    def fit(self, delta: float, space: Space) -> CertifiedLevels:
        levels = super().fit(delta, space)
        levels.several.bars[2] = math.log(1.0 / 0.2) - self.less
        return levels._replace(below_bar=math.inf)


def test_claims_about_several_arms_keep_their_level() -> None:
    assert not too_many(errors(boundary(), Alone(), 0.2, budget=3_000, algorithm="pitfall"), 2_000, 0.2)


def test_claims_that_ask_for_too_little_are_caught() -> None:
    assert too_many(errors(boundary(), Alone(less=6.0), 0.2, budget=3_000, algorithm="pitfall"), 2_000, 0.2)


def test_levels_add_up_to_the_share() -> None:
    K, delta = 7, 0.1
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
        "at least one of arm1 and arm2 is at least as good in every objective; as estimate"
    )
    assert verdict.to_dict()["by_one_of"] == ["arm1", "arm2"]
    claims = {arm: status for arm, status in trial.statuses().items() if status != "undecided"}
    assert claims["arm0"] == "dominated"
    assert audit(instance.problem, results, claims, delta=1e-6, evidence=EVIDENCE) == dict.fromkeys(claims, True)
    plain = audit(instance.problem, results, {"arm0": "dominated"}, delta=1e-6)
    assert plain == {"arm0": False}  # of no arm alone is it certain


def test_arms_are_optimal_though_another_is_only_below_one_of_them() -> None:
    instance = corner()
    trial = pg.Trial(instance.problem, evidence=EVIDENCE, delta=1e-6)
    for _ in told(trial, instance, 4_000):
        if trial.samples % 75 == 0 and "undecided" not in trial.statuses().values():
            break
    assert trial.statuses() == {"arm0": "dominated", "arm1": "optimal", "arm2": "optimal"}
    assert trial.result().verdicts["arm0"].by_one_of


def test_by_likelihood_ratio_several_arms_may_do_it_together() -> None:
    instance = corner()
    found = set()
    for seed in range(60):
        result = pg.identify(
            instance.problem, pg.sampler(instance, seed=seed), algorithm="pitfall", evidence="practical", delta=0.1
        )
        found.add(result.verdicts["arm0"].by_one_of)
    assert found == {(), ("arm1", "arm2")}


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


def test_dependence_must_be_declared() -> None:
    problem = pg.Problem({"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Gaussian(1.0))
    with pytest.raises(pg.SettingsError, match="declared independent"):
        pg.Trial(problem, evidence=EVIDENCE)
    with pytest.raises(pg.SettingsError, match="several > 0 needs"):
        audit(problem, [("a", {"x": 0.0, "y": 0.0})], {}, delta=0.1, evidence=EVIDENCE)
    for text in ("certified:several=0.9", "certified:several=much"):
        with pytest.raises(pg.SettingsError, match=r"from 0 to 0\.5"):
            audit(problem, [("a", {"x": 0.0, "y": 0.0})], {}, delta=0.1, evidence=text)
