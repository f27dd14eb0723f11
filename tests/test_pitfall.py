"""`pitfall`: costs against all answers and all maps, decisions against the slow twin, and what it does early on."""

import math
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.engine.draws import DECISIONS, key, uniforms
from paretoguard.engine.evidence.parts import moment
from paretoguard.engine.jit import entry
from paretoguard.engine.loop import answer_now, decide_next, draw_reward, observe_result
from paretoguard.engine.pitfalls import find_pitfall
from paretoguard.engine.state import new_state, refresh
from paretoguard.simulation.rewards import source
from random_problems import random_instance, with_unknown_scales
from test_twin import EVIDENCE, twin_problem
from twin import Twin
from twin_evidence import TWINS, CertifiedTwin
from twin_pitfall import Pitfall

INF = math.inf


@entry
def drawn(stream: Any, n: int) -> float:
    return uniforms(stream, 0, n, 0, DECISIONS)[0]


@entry
def pitfall_of(evidence: Any, space: Any, state: Any, pitfalls: Any) -> float:
    """The cost of the pitfall, by its shares: sum_a N_a (d cost/d N_a)."""
    refresh(evidence, space, state)
    find_pitfall(evidence, moment(evidence, 1), space, state, pitfalls)
    return 0.0


def compare(instance: pg.Instance, evidence: str, seed: int, decisions: int, problem: pg.Problem | None = None) -> None:
    """Step engine and twin together, as tests/test_twin.py does."""
    stated = problem or instance.problem
    space, drawn_from, delta, made = stated.space(), source(instance), 0.1, 0
    for run in range(10**6):
        policy, levels = pg.policies.Pitfall().fit(space), EVIDENCE[evidence].fit(delta, space)
        state = new_state(space, key(seed, run))
        twin = TWINS.get(evidence, Twin)(twin_problem(stated), evidence, delta)
        row, statuses = np.zeros(space.objectives), np.zeros(space.arms, dtype=np.uint8)
        while True:
            queued = decide_next(policy, levels, space, state)
            got = state.queue[:queued].tolist()
            assert decide_next(policy, levels, space, state) == queued  # asking twice changes nothing
            unseen = [i for i, n in enumerate(twin.counts) if n == 0]
            if unseen:
                assert got == unseen
            else:
                twin.prepare()
                practical = math.log(max(1.0, math.log(twin.t)) / delta)
                slow = Pitfall(twin, twin.row_bar if isinstance(twin, CertifiedTwin) else practical)
                allowed = slow.decisions(drawn(state.key, twin.t))
                assert got in allowed, (
                    evidence,
                    seed,
                    run,
                    got,
                    policy.pitfalls.found,
                    sorted(slow.ways(), key=lambda w: w.cost)[:4],
                    allowed,
                )
                if not got:
                    answer_now(policy, levels, space, state, statuses)
                    assert statuses.tolist() == slow.answer()
            made += 1
            if made >= decisions:
                return
            if not got:
                break
            for arm in got:
                draw_reward(drawn_from, state.key, arm, int(state.counts[arm]), row)
                observe_result(space, state, arm, row)
                twin.observe(arm, row.tolist())


@pytest.mark.parametrize("block", range(2))
def test_the_engine_decides_as_the_twin_does(block: int) -> None:
    for number in range(40 * block, 40 * block + 40):
        compare(random_instance(np.random.default_rng([31, number])), "practical", number, decisions=150)


def test_the_engine_decides_as_the_twin_does_with_certified_evidence() -> None:
    for number in range(40):
        rng = np.random.default_rng([32, number])
        instance = random_instance(rng)
        problem = with_unknown_scales(rng, instance.problem) if number % 3 == 0 else None
        compare(instance, "certified", number, decisions=100, problem=problem)
