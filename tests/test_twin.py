"""The engine decides as the slow twin does, on random instances with ties and boundaries, decision by decision."""

import itertools
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.algorithms import Algorithm
from paretoguard.algorithms.stopping import RuleMemory
from paretoguard.engine.draws import key
from paretoguard.engine.engine import new_engine
from paretoguard.engine.explain import shortcuts
from paretoguard.engine.loop import answer_now, decide_next, draw_reward, observe_result, observe_results, settle_now
from paretoguard.engine.state import new_state
from paretoguard.engine.view import View
from paretoguard.evidence import Evidence
from paretoguard.simulation import runner
from paretoguard.simulation.rewards import source
from random_problems import correlated_instance, random_instance, wide_front, with_unknown_scales
from twin import Twin, TwinProblem
from twin_evidence import TWINS

ALGORITHMS: dict[str, Algorithm] = {
    "e-cape": pg.algorithms.ECape(),
    "uniform": pg.algorithms.Uniform(),
    "racing": pg.algorithms.Racing(),
    "two-stage": pg.algorithms.TwoStage(),
    "two-stage:e-cape": pg.algorithms.TwoStage(form="e-cape"),
}
EVIDENCE: dict[str, Evidence] = {
    "practical": pg.evidence.Practical(),
    "theorem": pg.evidence.Theorem(),
    "certified": pg.evidence.Certified(),
    "certified:order=asked": pg.evidence.Certified(order="asked"),
    "certified:several=0.3": pg.evidence.Certified(several=0.3),
    "lil": pg.evidence.Lil(),
    "hanson-wright": pg.evidence.HansonWright(),
}


def twin_problem(problem: pg.Problem) -> TwinProblem:
    space = problem.space()
    fields = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in space._asdict().items()
    }
    region, ranges = fields.pop("region"), fields.pop("ranges")
    for name in ("objectives", "bets"):
        fields.pop(name)
    ends = {name: values.tolist() for name, values in ranges._asdict().items()}
    return TwinProblem(A=region.A.tolist(), b=region.b.tolist(), stated=problem, **ends, **fields)


def compare(
    instance: pg.Instance, algorithm: str, evidence: str, seed: int, decisions: int, problem: pg.Problem | None = None
) -> None:
    """Step engine and twin together; runs follow one another until enough decisions have been compared.

    `problem` is what both are told, if it is not that of the instance.
    """
    stated = problem or instance.problem
    space, drawn_from = stated.space(), source(instance)
    delta = 0.1
    made = 0
    for run in range(10**6):
        memory, levels = ALGORITHMS[algorithm].fit(space), EVIDENCE[evidence].fit(delta, space)
        engine = new_engine(memory, levels, space, key(seed, run))
        state, twin = engine.seen.state, TWINS.get(evidence, Twin)(twin_problem(stated), evidence, delta)
        budget = 5 + 40 * (run % 7)  # short runs too: verdicts before the end
        row = np.zeros(space.objectives)
        statuses, via = np.zeros(space.arms, dtype=np.uint8), np.zeros(space.arms, dtype=np.int64)
        while True:
            queued = decide_next(engine)
            got, wanted = state.queue[:queued].tolist(), twin.decide(algorithm)
            assert decide_next(engine) == queued  # asking twice changes nothing
            assert state.queue[:queued].tolist() == got
            made += 1
            assert got == wanted, (algorithm, evidence, seed, run, twin.counts)
            if made >= decisions:
                return
            if not got:
                answer_now(engine, statuses)
                assert statuses.tolist() == twin.answer(algorithm)
                if algorithm == "e-cape" or isinstance(engine.memory, RuleMemory):  # present claims settle the same
                    settle_now(engine.seen, statuses, via)
                    assert statuses.tolist() == twin.answer() == twin.verdicts()
                break
            if twin.t >= budget and run % 2:
                settle_now(engine.seen, statuses, via)
                assert statuses.tolist() == twin.verdicts(), (algorithm, evidence, seed, run, twin.counts)
                break
            for arm in got:
                draw_reward(drawn_from, state.key, arm, int(state.counts[arm]), row)
                observe_result(space, state, arm, row)
                twin.observe(arm, row.tolist())


def evidence_for(algorithm: str, number: int) -> str:
    """Both kinds of widths in turn; where compiling them costs more than comparing, `practical` alone."""
    return ["practical", "theorem"][number % 2] if algorithm in ("e-cape", "uniform") else "practical"


BLOCKS = [  # of instances; of baselines the second half is for `make slow`
    pytest.param(how, block, marks=[pytest.mark.slow] if how != "e-cape" and block > 1 else [])
    for how in sorted(ALGORITHMS)
    for block in range(4)
]


@pytest.mark.parametrize(("algorithm", "block"), BLOCKS)
def test_the_engine_decides_as_the_twin_does(algorithm: str, block: int) -> None:
    for number in range(50 * block, 50 * block + 50):
        rng = np.random.default_rng([7, number])
        compare(random_instance(rng), algorithm, evidence_for(algorithm, number), number, decisions=300)


@pytest.mark.parametrize(
    ("algorithm", "evidence"),
    [
        ("e-cape", "certified"),
        ("e-cape", "hanson-wright"),
        ("two-stage", "certified"),
        *(pytest.param(how, "certified", marks=pytest.mark.slow) for how in ("racing", "two-stage:e-cape")),
        pytest.param("e-cape", "lil", marks=pytest.mark.slow),
    ],
)
def test_the_engine_decides_as_the_twin_does_with_every_evidence(algorithm: str, evidence: str) -> None:
    compared = 0
    for number in range(60 if evidence == "certified" else 20):
        instance = random_instance(np.random.default_rng([8, number]))
        if evidence != "hanson-wright" or instance.problem.space().gaussian:
            compare(instance, algorithm, evidence, number, decisions=350)
            compared += 1
    assert compared > 2


@pytest.mark.parametrize("how", ["unknown", "correlated", "asked"])
def test_the_engine_decides_as_the_twin_does_where_scales_are_learnt_correlated_or_results_late(how: str) -> None:
    for number in range(40):
        rng = np.random.default_rng([3, number])
        instance, problem = wide_front(rng) if number % 4 == 0 else random_instance(rng), None
        if how == "correlated":
            instance = correlated_instance(rng)
        if how == "unknown":
            problem = with_unknown_scales(rng, instance.problem)
        evidence = "certified:order=asked" if how == "asked" else "certified"
        compare(instance, "e-cape", evidence, number, decisions=300, problem=problem)


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_the_engine_decides_as_the_twin_does_with_many_arms(algorithm: str) -> None:
    for number in range(4):
        rng = np.random.default_rng([6, number])
        compare(random_instance(rng, arms=40), algorithm, evidence_for(algorithm, number), number, decisions=150)


@pytest.mark.parametrize("algorithm", ["e-cape", "uniform", "two-stage", "two-stage:e-cape"])
def test_the_engine_decides_as_the_twin_does_on_wide_fronts(algorithm: str) -> None:
    for number in range(20):
        rng = np.random.default_rng([5, number])
        compare(wide_front(rng), algorithm, evidence_for(algorithm, number), number, decisions=300)


def compare_batches(instance: pg.Instance, algorithm: str, seed: int, size: int) -> None:
    """Whole runs in batches: `advance` takes the pulls that the twin takes, and ends with its statuses.

    The runs are one block: one algorithm makes them all, and must forget in between.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "BLOCKS_PER_THREAD", 1)
        study = pg.simulate(
            instance, algorithms=ALGORITHMS[algorithm], runs=3, seed=seed, budget=200, batch=size, threads=1
        )
    drawn_from, row = source(instance), np.zeros(len(instance.problem.objectives))
    for run in range(3):
        twin = Twin(twin_problem(instance.problem), "practical", 0.1)
        while True:
            left = 200 - twin.t
            plain = size == 1 or left == 0
            arms = twin.decide(algorithm)[: left or None] if plain else twin.batch(algorithm, min(size, left))
            if not arms or not left:
                break
            for arm in arms:
                draw_reward(drawn_from, key(seed, run), arm, twin.counts[arm], row)
                twin.observe(arm, row.tolist())
        assert study.pulls[run].tolist() == twin.counts, (algorithm, seed, run, size)
        statuses = twin.answer(algorithm) if not arms else twin.verdicts()
        assert study.statuses[run].tolist() == statuses


@pytest.mark.parametrize(
    "algorithm",
    [how if how == "e-cape" else pytest.param(how, marks=pytest.mark.slow) for how in sorted(ALGORITHMS)],
)
def test_batches_are_filled_as_the_twin_does(algorithm: str) -> None:
    for number in range(40):
        rng = np.random.default_rng([9, number])
        compare_batches(random_instance(rng), algorithm, number, size=[2, 3, 7, 16][number % 4])
        compare_batches(random_instance(rng), algorithm, number, size=1)


@pytest.mark.parametrize("algorithm", ["e-cape", "uniform", "two-stage"])
def test_batches_on_wide_fronts_are_filled_as_the_twin_does(algorithm: str) -> None:
    for number in range(20):
        rng = np.random.default_rng([4, number])
        compare_batches(wide_front(rng), algorithm, number, size=[2, 3, 7, 16][number % 4])


MIXED: list[tuple[dict[str, Any], dict[str, float]]] = [  # noise whose evidence has different forms, and tolerances
    ({"x": pg.Bernoulli(), "y": pg.Gaussian(0.5)}, {}),
    ({"x": pg.Bernoulli(), "y": pg.Bernoulli()}, {}),
    ({"x": pg.Bernoulli(), "y": pg.Bernoulli()}, {"y": 0.001}),
    ({"x": pg.Gaussian(0.5), "y": pg.Bernoulli(), "z": pg.Bernoulli()}, {"x": 0.001, "z": 0.001}),
]


@pytest.mark.parametrize("kind", range(len(MIXED)))
def test_certified_says_of_close_arms_with_many_results_what_the_twin_says(kind: int) -> None:
    """Shortcuts past forms that say less must not pass one that says more."""
    noise, tolerance = MIXED[kind]
    rng = np.random.default_rng([6, kind])
    for counts in ([40, 150, 2000], [300, 9000, 9000], [5000, 5000, 5001]):
        problem = pg.Problem(dict.fromkeys(noise, "max"), arms=["a", "b", "c"], noise=noise, tolerance=tolerance)
        space, found = problem.space(), np.zeros(8)
        state = new_state(space, key(0, 0))
        view = View(EVIDENCE["certified"].fit(0.1, space), None, space, state)
        twin = TWINS["certified"](twin_problem(problem), "certified", 0.1)
        for arm, count in enumerate(counts):
            values = np.repeat([[0.0], [1.0]], [count // 2, count - count // 2], axis=0) * np.ones(len(noise))
            values[: rng.integers(0, 3), :1] = 1.0  # nearly the same means, in every order
            values[-rng.integers(1, 3) :, 1:] = 0.0
            observe_results(space, state, np.full(count, arm), values)
            for row in values.tolist():
                twin.observe(arm, row)
        settle_now(view, np.zeros(3, dtype=np.uint8), np.zeros(3, dtype=np.int64))
        twin.prepare()
        for i, j in itertools.permutations(range(3), 2):
            shortcuts(view, i, j, np.inf, found)
            assert found[[0, 2]] == pytest.approx([twin.m_minus(i, j), twin.M_minus(i, j)], rel=1e-9, abs=1e-15)


@pytest.mark.kernel
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_the_engine_decides_as_the_twin_does_without_the_compiler(algorithm: str) -> None:
    for number in range(10):
        rng = np.random.default_rng([8, number])
        compare(random_instance(rng), algorithm, ["practical", "theorem"][number % 2], number, decisions=60)


@pytest.mark.kernel
def test_certified_decides_as_the_twin_does_without_the_compiler() -> None:
    for number in range(12):
        rng = np.random.default_rng([2, number])
        instance = correlated_instance(rng) if number % 3 == 0 else random_instance(rng)
        problem = with_unknown_scales(rng, instance.problem) if number % 3 == 1 else None
        compare(instance, "e-cape", "certified", number, decisions=100, problem=problem)
