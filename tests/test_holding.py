"""Decisions that are held: the same runs as if each were worked out, and bounds that hold everywhere in a box."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.engine import repeating
from paretoguard.engine.border import eta_of, locate
from paretoguard.engine.draws import drawn_ahead, key
from paretoguard.engine.evidence.box import (
    Box,
    can_hold,
    dominated_at_least,
    dominated_at_most,
    is_further,
    undominated_at_least,
    undominated_at_most,
    weight_at_least,
    weight_at_most,
)
from paretoguard.engine.evidence.certified import Certified
from paretoguard.engine.evidence.hanson_wright import HansonWright
from paretoguard.engine.evidence.lil import Lil
from paretoguard.engine.evidence.parts import dominated, moment, prepare, undominated, weigh
from paretoguard.engine.evidence.practical import Practical, PracticalLevels
from paretoguard.engine.evidence.theorem import Theorem
from paretoguard.engine.holding import HELD, Patient, pace_of
from paretoguard.engine.jit import COMPILED
from paretoguard.engine.loop import LONG, NO_BUDGET, advance, ending, new_outcomes
from paretoguard.engine.policies.ecape import ECape, ECapeMemory
from paretoguard.engine.policies.parts import decide, repeats
from paretoguard.engine.policies.uniform import Uniform
from paretoguard.engine.space import Space
from paretoguard.engine.state import BUILT, CLOCK, FRESH, UNSEEN, State, new_state
from paretoguard.errors import SettingsError
from paretoguard.simulation.rewards import source
from random_problems import random_instance, wide_front

NAMED = ["secukinumab", "covboost", "cube", "ordered", "simplex", "explainability", "racing-10", "random:K=20,d=3,m=2"]
WITHOUT = pytest.mark.skipif(COMPILED, reason="looked at without the compiler (NUMBA_DISABLE_JIT=1)")


@pytest.mark.parametrize("evidence", ["practical", "certified"])
def test_runs_are_the_same_as_if_every_decision_were_worked_out(evidence: str) -> None:
    """A budget below LONG has every decision worked out; the next one holds them."""
    random = [random_instance(np.random.default_rng([5, number])) for number in range(60)]
    wide = [wide_front(np.random.default_rng([6, number])) for number in range(10)]
    for instance in [*map(pg.instances.load, NAMED), *random, *wide]:
        settings: dict[str, Any] = {"algorithms": "e-cape", "evidence": evidence, "delta": [0.1, 0.001], "runs": 3}
        each, held = (pg.simulate(instance, budget=budget, **settings) for budget in (LONG - 1, LONG))
        spent = each.pulls.sum(axis=1) == LONG - 1
        assert np.array_equal(each.pulls[~spent], held.pulls[~spent]), instance
        assert np.array_equal(each.statuses[~spent], held.statuses[~spent]), instance
        assert (np.abs(each.pulls[spent] - held.pulls[spent]).sum(axis=1) <= 1).all(), instance


@pytest.mark.parametrize("evidence", [Practical(), Certified()])
def test_most_decisions_are_held(evidence: Any) -> None:
    instance = pg.instances.load("cube")
    space = instance.problem.space()
    policy, levels = ECape().fit(space), evidence.fit(0.1, space)
    pace, state = pace_of(1, NO_BUDGET, policy, levels, space), new_state(space, key(0, 0))
    assert isinstance(pace, Patient)
    rewards, outcomes = (
        drawn_ahead(source(instance), space.arms, space.objectives),
        new_outcomes(np.arange(1, dtype=np.uint64), space.arms),
    )
    held = 0
    for _ in range(5000):
        advance(policy, levels, space, rewards, state, outcomes, 1, NO_BUDGET, pace, ending(NO_BUDGET, space.arms))
        held += int(pace.numbers[HELD])
    assert held > 2500


def test_only_long_runs_of_one_arm_after_the_other_are_patient() -> None:
    space = pg.instances.load("cube").problem.space()
    policy, levels = ECape().fit(space), Certified().fit(0.1, space)
    assert isinstance(pace_of(1, LONG, policy, levels, space), Patient)
    assert not isinstance(pace_of(1, LONG - 1, policy, levels, space), Patient)
    assert not isinstance(pace_of(2, LONG, policy, levels, space), Patient)
    assert not isinstance(pace_of(1, LONG, policy, Lil().fit(0.1, space), space), Patient)
    assert not isinstance(pace_of(1, LONG, Uniform().fit(space), levels, space), Patient)


def test_what_inherits_is_worked_out() -> None:
    """Its decisions or bounds may be others."""

    class Policy(ECapeMemory):
        pass

    class Levels(PracticalLevels):
        pass

    space = pg.instances.load("cube").problem.space()
    policy, levels = ECape().fit(space), Practical().fit(0.1, space)
    assert isinstance(pace_of(1, LONG, policy, levels, space), Patient)
    assert not isinstance(pace_of(1, LONG, Policy(*policy), levels, space), Patient)
    assert not isinstance(pace_of(1, LONG, policy, Levels(*levels), space), Patient)


def _put(evidence: NamedTuple, space: Space, state: State, i: int, count: int, means: np.ndarray) -> None:
    """Let an arm have so many results with these means."""
    state.counts[i] = count
    state.means[i] = means
    state.sums[i] = count * means
    state.inverse[i], state.root[i] = 1.0 / count, (1.0 / count) ** 0.5
    state.stamp[i] += 1
    if state.is_fresh[i] == 0:
        state.is_fresh[i] = 1
        state.fresh[state.tally[FRESH]] = i
        state.tally[FRESH] += 1
    state.tally[CLOCK] = state.counts.sum()
    locate(space, state, i)
    prepare(evidence, state, i)


def _states(evidence: Any, numbers: range) -> Iterator[tuple[np.random.Generator, Any, Space, State]]:
    """Evidence, and arms with many results, near each other and the border so that much is in the balance."""
    for number in numbers:
        rng = np.random.default_rng([7, number])
        problem = random_instance(rng, arms=int(rng.integers(2, 6))).problem
        space = problem.space()
        try:
            levels = evidence.fit(float(rng.choice([0.1, 1e-3, 1e-10])), space)
        except SettingsError:  # not every kind is for every problem
            continue
        if space.noisy < space.objectives or not can_hold(levels, space):
            continue
        state = new_state(space, key(0, 0))
        middle = rng.uniform(0.05, 0.95, space.noisy) * space.scale
        apart = float(rng.choice([0.01, 0.1, 0.5]))
        for i in range(space.arms):
            count = int(rng.choice([40, 300, 3000, 30000]))
            _put(levels, space, state, i, count, middle + apart * rng.normal(size=space.noisy))
        state.tally[UNSEEN] = state.tally[BUILT] = 0
        _bring_near(rng, levels, space, state)
        yield rng, levels, space, state


def _bring_near(rng: np.random.Generator, levels: Any, space: Space, state: State) -> None:
    """Let an arm outside P be about to be certified infeasible, or just so."""
    outside = [i for i in range(space.arms) if state.inside[i] == 0]
    if not outside or rng.random() < 0.3:
        return
    i = int(rng.choice(outside))
    eta, bar = eta_of(space, state, i), moment(levels, int(state.tally[CLOCK])).bar
    count = int(2.0 * bar / (eta * eta) * rng.choice([0.97, 0.995, 1.0, 1.005]))
    if 40 <= count < 10**6:
        _put(levels, space, state, i, count, state.means[i].copy())


def _boxes(rng: np.random.Generator, space: Space, state: State) -> Iterator[Box]:
    for _ in range(3):
        first, second = rng.permutation(space.arms)[:2]
        least = int(min(state.counts[first], state.counts[second]))
        more = int(rng.integers(1, least // 4 + 1))
        yield Box(int(first), int(second), float(rng.choice([0.1, 1.0, 3.0])) * more**0.5 / least, more)


def _points(rng: np.random.Generator, box: Box, levels: Any, space: Space, state: State) -> Iterator[None]:
    """Put the two arms at places in the box, at its corners first, and back."""
    arms = [box.first, box.second] if box.second >= 0 else [box.first]
    kept = [(int(state.counts[i]), state.means[i].copy()) for i in arms]
    for number in range(24):
        for i, (count, means) in zip(arms, kept, strict=True):
            at = rng.uniform(-1.0, 1.0, space.noisy)
            more = int(rng.integers(0, box.more + 1))
            if number < 12:
                at, more = np.full(space.noisy, rng.choice([-1.0, 1.0])), int(rng.choice([0, box.more]))
            _put(levels, space, state, i, count + more, means + box.reach * at)
        yield
    for i, (count, means) in zip(arms, kept, strict=True):
        _put(levels, space, state, i, count, means)


@WITHOUT
@pytest.mark.kernel
@pytest.mark.parametrize("evidence", [Practical(), Theorem(), Certified()])
def test_bounds_hold_everywhere_in_a_box(evidence: Any) -> None:
    looked = 0
    for rng, levels, space, state in _states(evidence, range(60)):
        pairs = [(i, j) for i in range(space.arms) for j in range(space.arms) if i != j]
        for box in _boxes(rng, space, state):
            t = int(state.tally[CLOCK])
            now, later = moment(levels, t), moment(levels, t + 2 * box.more)
            given = (space, state, box)
            low = {p: dominated_at_least(levels, later, *given, *p) for p in pairs}
            high = {p: dominated_at_most(levels, now, *given, *p) for p in pairs}
            lead_low = {p: undominated_at_least(levels, later, *given, *p) for p in pairs}
            lead_high = {p: undominated_at_most(levels, now, *given, *p) for p in pairs}
            arms = (box.first, box.second)
            inside = {i: int(state.inside[i]) for i in arms}
            heavy = {i: weight_at_most(levels, *given, i) for i in arms}
            light = {i: weight_at_least(levels, *given, i) if inside[i] else -np.inf for i in arms}
            further = [
                j for j in range(space.arms) if j not in arms and is_further(levels, now, later, *given, j, 1e-9)
            ]
            for _ in _points(rng, box, levels, space, state):
                looked += 1
                then = moment(levels, int(state.tally[CLOCK]))
                for p in pairs:
                    value, lead = (of(levels, then, space, state, *p) for of in (dominated, undominated))
                    assert low[p] - 1e-9 <= value <= high[p] + 1e-9
                    assert lead_low[p] - 1e-9 <= lead <= lead_high[p] + 1e-9
                for i in arms:
                    if state.inside[i] == inside[i]:
                        assert light[i] - 1e-9 <= weigh(levels, space, state, i) <= heavy[i] + 1e-6
                closest = undominated(levels, then, space, state, *arms)
                assert all(undominated(levels, then, space, state, box.first, j) > closest for j in further)
    assert looked > 1000


def _decision(levels: Any, space: Space, state: State) -> list[int]:
    """Of an algorithm that remembers nothing."""
    queued = decide(ECape().fit(space), levels, space, state)
    return [int(arm) for arm in state.queue[:queued]]


def _changed(evidence: Any, numbers: range) -> tuple[int, int]:
    """In how many boxes decisions were said to be repeated, and in how many of them one was not."""
    said, wrong = 0, 0
    for rng, levels, space, state in _states(evidence, numbers):
        policy = ECape().fit(space)
        queued = decide(policy, levels, space, state)
        if queued == 0:
            continue
        arms = [int(arm) for arm in state.queue[:queued]]
        least = int(min(state.counts[i] for i in arms))
        for share in (64, 16, 4):
            decide(policy, levels, space, state)
            more = least // share
            box = Box(
                arms[0],
                arms[1] if queued > 1 else -1,
                float(rng.choice([0.3, 1.0])) * max(more, 1) ** 0.5 / least,
                more,
            )
            if repeats(policy, levels, space, state, box, 1e-3 * box.reach):
                said += 1
                points = _points(rng, box, levels, space, state)
                found = [_decision(levels, space, state) for _ in points]
                wrong += any(decision != arms for decision in found)
    return said, wrong


@WITHOUT
@pytest.mark.kernel
@pytest.mark.parametrize(
    "evidence",
    [
        Practical(),
        Theorem(),
        HansonWright(),
        Certified(),
        Certified(order="asked"),
        Certified(several=0.3),
        Certified(expected_samples=10**6),
    ],
)
def test_decisions_said_to_be_repeated_are_repeated(evidence: Any) -> None:
    is_for_fewer = isinstance(evidence, HansonWright)  # problems
    said, wrong = _changed(evidence, range(600 if is_for_fewer else 200))
    assert said > 100
    assert wrong == 0


@WITHOUT
@pytest.mark.kernel
@pytest.mark.parametrize(
    "question",
    ["_stays_closest", "_stays_weakest", "_stays_in_doubt", "_stay_in_front", "_stay_inside", "_stay_candidates"],
)
def test_a_question_left_out_is_noticed(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, question, lambda *given: True)
    is_rare = question == "_stay_candidates"
    assert _changed(Practical(), range(2500, 3000) if is_rare else range(200))[1] > 0
