"""`pitfall`: costs against all answers and all maps, decisions against the slow twin, and what it does early on."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.algorithms.pitfall.costs import DOUBT, ENTERS, FALLS, LEAVES, RISES
from paretoguard.algorithms.pitfall.search import find_pitfall
from paretoguard.compiler.jit import entry
from paretoguard.engine.draws import DECISIONS, key, uniforms
from paretoguard.engine.engine import new_engine
from paretoguard.engine.loop import answer_now, decide_next, draw_reward, observe_result
from paretoguard.engine.state import new_state
from paretoguard.engine.view import View, at_now, refresh
from paretoguard.geometry.nearest_alternative import alternative, nearest_alternative
from paretoguard.simulation.rewards import source
from paretoguard.theory.bounds import lower_bound
from random_problems import random_instance, with_unknown_scales
from test_twin import EVIDENCE, twin_problem
from twin import Twin
from twin_evidence import TWINS, CertifiedTwin
from twin_pitfall import Pitfall, PlainPitfall, rise

INF = math.inf


@entry
def drawn(stream: Any, n: int) -> float:
    return uniforms(stream, 0, n, 0, DECISIONS)[0]


@entry
def find(view: Any, pitfalls: Any) -> int:
    return find_pitfall(at_now(view), pitfalls)


def compare(
    instance: pg.Instance,
    evidence: str,
    seed: int,
    decisions: int,
    problem: pg.Problem | None = None,
    delta: float = 0.1,
    task: str = "e-cpsi",
) -> None:
    """Step engine and twin together, as tests/test_twin.py does."""
    stated = problem or instance.problem
    space, drawn_from, made = stated.space(), source(instance), 0
    for run in range(10**6):
        memory, levels = pg.algorithms.Pitfall(task=task).fit(space), EVIDENCE[evidence].fit(delta, space)
        engine = new_engine(memory, levels, space, key(seed, run))
        state = engine.seen.state
        twin = TWINS.get(evidence, Twin)(twin_problem(stated), evidence, delta)
        row, statuses = np.zeros(space.objectives), np.zeros(space.arms, dtype=np.uint8)
        while True:
            queued = decide_next(engine)
            got = state.queue[:queued].tolist()
            assert decide_next(engine) == queued  # asking twice changes nothing
            unseen = [i for i, n in enumerate(twin.counts) if n == 0]
            if unseen:
                assert got == unseen
            else:
                twin.prepare()
                practical = math.log(max(1.0, math.log(twin.t)) / delta)
                kind = Pitfall if task == "e-cpsi" else PlainPitfall
                slow = kind(twin, twin.row_bar if isinstance(twin, CertifiedTwin) else practical)
                allowed = slow.decisions(drawn(state.key, twin.t))
                assert got in allowed, (
                    evidence,
                    seed,
                    run,
                    got,
                    engine.memory.pitfalls.found,
                    sorted(slow.ways(), key=lambda w: w.cost)[:4],
                    allowed,
                )
                if not got:
                    answer_now(engine, statuses)
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
        compare(random_instance(np.random.default_rng([31, number])), "practical", number, decisions=80)


def test_the_engine_decides_as_the_twin_does_with_certified_evidence() -> None:
    for number in range(40):
        rng = np.random.default_rng([32, number])
        instance = random_instance(rng)
        problem = with_unknown_scales(rng, instance.problem) if number % 3 == 0 else None
        compare(instance, "certified", number, decisions=60, problem=problem)


@pytest.mark.parametrize(("evidence", "wanted"), [("practical", 12), ("certified", 6)])
def test_the_engine_decides_as_the_twin_does_on_the_plain_task(evidence: str, wanted: int) -> None:
    compared = 0
    for number in itertools.count():
        instance = random_instance(np.random.default_rng([34, number]), arms=2 + number % 3)
        space = instance.problem.space()
        is_loose = np.any(space.tolerance > 0) or np.any(space.row_tolerance > 0)
        if space.compared == space.objectives and not is_loose and len(space.region.b) <= 4:
            compare(instance, evidence, number, decisions=60, task="cpsi")
            compared += 1
        if compared == wanted:
            return


@pytest.mark.slow
def test_the_engine_decides_as_the_twin_does_with_other_evidence() -> None:
    for number in range(20):
        compare(random_instance(np.random.default_rng([33, number])), "lil", number, decisions=60)


# --- costs -----------------------------------------------------------------------------------------------------------


def some(rng: np.random.Generator) -> pg.Problem:
    """Up to five arms, up to three objectives, none or one to three constraints."""
    K, d, m = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(0, 4))
    A = rng.normal(size=(m, d))
    return pg.Problem(
        {f"x{c}": "max" for c in range(d)}, arms=[f"arm{i}" for i in range(K)], noise=pg.Gaussian(1.0),
        constraints=(A, A @ rng.normal(size=d) * 0.2 + 0.5) if m else (), dependence="independent",
    )  # fmt: skip


def with_means(problem: pg.Problem, means: Any, counts: Any) -> Any:
    """A view in which these are the means and counts, so that nothing is certain: delta is tiny."""
    space = problem.space()
    state, levels = new_state(space, key(0, 0)), pg.evidence.Practical().fit(1e-300, space)
    for i, row in enumerate(means):
        for _ in range(2):
            observe_result(space, state, i, row)
    view = View(levels, None, space, state)
    work_in(view)
    state.counts[:] = counts
    state.tally[0] = counts.sum()
    return view


@entry
def work_in(view: Any) -> None:
    refresh(at_now(view))


def cost_of_answers(problem: pg.Problem, twin: Twin) -> float:
    """The largest, over all right answers, of the least cost of a way in which that answer is wrong."""
    slow = Pitfall(twin, 0.0)
    outside = [i for i in range(problem.space().arms) if i not in twin.O]
    common = [slow.crossing(i) for i in twin.O] + [slow.falling(i, j) for i, j in itertools.permutations(twin.O, 2)]
    rising = {i: min(cost for cost, _ in rise(slow.points, twin.counts, i, sorted(twin.O))) for i in outside}
    best = 0.0
    for reasons in itertools.product("DI", repeat=len(outside)):
        costs = list(common)
        for i, reason in zip(outside, reasons, strict=True):
            costs.append(rising[i] if reason == "D" else 0.0 if i in twin.F else slow.crossing(i))
        best = max(best, min(costs, default=INF))
    return best


def cost(pitfalls: Any, state: Any) -> float:
    """Of the pitfall found, from its kind and its shares alone."""
    kind, i, j = (int(x) for x in pitfalls.found[:3])
    n = state.counts.astype(float)
    if kind in (LEAVES, ENTERS):
        return float(0.5 * n[i] * state.lazy_eta[i] ** 2)
    if kind == FALLS:
        lead = np.maximum(state.means[i] - state.means[j], 0.0)
        return float(0.5 * n[i] * n[j] / (n[i] + n[j]) * lead @ lead)
    assert kind == RISES
    return float(0.5 * np.sum((pitfalls.walk.entered - state.means[i]) ** 2) * n[i] / pitfalls.share[i])


@pytest.mark.parametrize("instances", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_the_cost_is_the_largest_over_all_answers_and_the_least_over_all_maps(instances: int) -> None:
    seen = set()
    for number in range(instances):
        rng = np.random.default_rng([41, number])
        problem = some(rng)
        K, d = len(problem.arms), len(problem.objectives)
        means, counts = rng.normal(size=(K, d)), rng.integers(1, 60, size=K)
        view = with_means(problem, means, counts)
        pitfalls = pg.algorithms.Pitfall().fit(view.problem).pitfalls
        twin = Twin(twin_problem(problem), "practical", 1e-300)
        for i, row in enumerate(means.tolist()):
            twin.observe(i, row)
        twin.counts = counts.tolist()
        twin.prepare()
        expected = cost_of_answers(problem, twin)
        kind = find(view, pitfalls)
        seen.add(kind)
        if kind == DOUBT or expected > 600.0:  # near the bar nothing is open
            continue
        share = pitfalls.share.copy()
        found = cost(pitfalls, view.state)
        if kind == ENTERS and found < expected * (1.0 - 1e-9):  # the larger cost is that of the dearer reason
            assert Pitfall(twin, 0.0).rising(int(pitfalls.found[1]))[0] == pytest.approx(expected, rel=1e-9)
            continue
        assert found == pytest.approx(expected, rel=1e-9)
        assert share.sum() == pytest.approx(1.0)
        grown = []
        for a in range(K):  # shares are N_a (d cost / d N_a) / cost
            both = []
            for step in (-1e-6, 1e-6):
                twin.counts = [n * (1.0 + step * (i == a)) for i, n in enumerate(counts.tolist())]
                both.append(cost_of_answers(problem, twin))
            grown.append((both[1] - both[0]) / 2e-6 / expected)
        assert np.allclose(grown, share, atol=1e-4), (number, kind, grown, share)
    assert seen >= {LEAVES, FALLS, RISES, ENTERS, DOUBT}


def test_the_plain_task_has_the_nearest_other_set() -> None:
    for number in range(200):
        rng = np.random.default_rng([42, number])
        problem = some(rng)
        K, d = len(problem.arms), len(problem.objectives)
        means, counts = rng.normal(size=(K, d)), rng.integers(1, 60, size=K)
        view = with_means(problem, means, counts)
        space, state = view.problem, view.state
        found = alternative(K, d, len(space.region.b))
        value = nearest_alternative(space.region, state.means, state.optimal, counts.astype(float), found)
        pitfalls = pg.algorithms.Pitfall(task="cpsi").fit(space).pitfalls
        kind = find(view, pitfalls)
        if kind not in (DOUBT, 0) and value > 1e-9:
            assert np.allclose(pitfalls.share, counts * found.half / value, atol=1e-6), number


# --- early rounds, and the end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_outcomes_all_alike_starve_nobody(rate: float) -> None:
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Bernoulli(), constraints=["x >= 0.5"],
        dependence="independent",
    )  # fmt: skip
    result = pg.identify(
        problem, lambda arm: {"x": rate, "y": rate}, algorithm="pitfall", evidence="practical", budget=300
    )
    assert min(result.pulls.values()) >= math.isqrt(300 // 3) - 1
    assert {verdict.status for verdict in result.verdicts.values()} == {"infeasible" if rate == 0.0 else "undecided"}


def test_arms_that_are_equal_at_first_starve_nobody() -> None:
    """Equal arms leave O together; what is below them then costs nothing, and is pulled on unless others are, too."""
    means = [[0.3, 0.35], [0.6, 0.5], [0.5, 0.6]]
    problem = pg.Problem({"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Bernoulli())
    stuck = {}
    for how in ("pitfall", "pitfall:explore=0", "pitfall:catch_up=0", "pitfall:explore=0,catch_up=0"):
        budget = 200_000 if how == "pitfall:catch_up=0" else 50_000  # exploration alone takes longer: one run 66,113
        study = pg.simulate(pg.Instance(problem, means), algorithms=how, runs=200, budget=budget)
        stuck[how] = study.summary()[0]["undecided"]
    assert list(stuck.values())[:3] == [0.0, 0.0, 0.0]
    assert 0.03 < stuck["pitfall:explore=0,catch_up=0"] < 0.2  # both others begin with (1, 1): 0.09


def test_every_arm_is_pulled_as_often_as_the_root_of_the_time() -> None:
    study = pg.simulate("explainability", algorithms="pitfall", evidence="practical", delta=1e-9, runs=50)
    least = study.pulls.min(axis=1)
    assert np.all(least >= np.sqrt(study.records["samples"] / 5) - 1)


def test_pulls_settle_at_the_shares_of_the_easiest_answer() -> None:
    bound = lower_bound(pg.instances.load("explainability"))
    study = pg.simulate("explainability", algorithms="pitfall", evidence="practical", delta=1e-100, runs=40)
    shares = (study.pulls / study.records["samples"][:, None]).mean(axis=0)
    assert np.allclose(shares, list(bound.weights.values()), atol=0.03)
    assert study.records["samples"].mean() < 1.06 * bound.value * 100 * math.log(10)


@pytest.mark.parametrize(
    ("away", "lead", "reason"),
    [
        (0.1, 0.3, "dominated"),
        (0.1, 0.22, "dominated"),
        (0.1, 0.15, "infeasible"),
        (0.5, 0.95, "dominated"),
        (0.5, 0.8, "infeasible"),
    ],
)
def test_runs_settle_on_the_easier_reason(away: float, lead: float, reason: str) -> None:
    """The value of counts has local maxima; without a look at what both reasons would take, many runs stay there."""
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["i", "j"], noise=pg.Gaussian(1.0), constraints=["y >= 0"],
        dependence="independent",
    )  # fmt: skip
    instance = pg.Instance(problem, np.array([[0.0, -away], [lead, 1.0]]))
    bound = lower_bound(instance)
    assert bound.answer["i"] == reason
    study = pg.simulate(instance, algorithms="pitfall", evidence="practical", delta=1e-280, runs=60)
    shares = study.pulls / study.records["samples"][:, None]
    settled = np.abs(shares - list(bound.weights.values())).max(axis=1) < 0.2
    assert settled.sum() >= 55
    assert not study.records["wrong_ecpsi"].any()


@pytest.mark.parametrize("name", ["explainability", "two-stage-gap"])
def test_the_plain_task_comes_near_its_own_bound(name: str) -> None:
    bound = lower_bound(pg.instances.load(name), "cpsi").value
    study = pg.simulate(name, algorithms="pitfall:task=cpsi", evidence="practical", delta=1e-30, runs=50)
    assert study.records["samples"].mean() < 1.12 * bound * 30 * math.log(10)


def test_bad_tasks_are_refused() -> None:
    with pytest.raises(pg.SettingsError, match="task is 'psi', expected one of e-cpsi, cpsi"):
        pg.simulate("explainability", algorithms="pitfall:task=psi", runs=1)
    for option in ("catch_up=2", "explore=-1"):
        with pytest.raises(pg.SettingsError, match="expected a number from 0 to 1"):
            pg.simulate("explainability", algorithms=f"pitfall:{option}", runs=1)
    problem = pg.Problem({"x": "max", "y": "guard"}, arms=["a", "b"], noise=pg.Gaussian(1.0), constraints=["y <= 1"])
    with pytest.raises(pg.SettingsError, match="'pitfall:task=cpsi' knows neither"):
        pg.Trial(problem, algorithm="pitfall:task=cpsi", evidence="practical")


def test_what_is_remembered_changes_no_decision() -> None:
    for number in range(12):
        instance = random_instance(np.random.default_rng([33, number]))
        space, drawn_from = instance.problem.space(), source(instance)
        levels, row = EVIDENCE["practical"].fit(0.1, space), np.zeros(space.objectives)
        kept = new_engine(pg.algorithms.Pitfall().fit(space), levels, space, key(number, 0))
        state = kept.seen.state
        for _ in range(200):
            queued = decide_next(kept)
            got = state.queue[:queued].tolist()
            assert decide_next(kept._replace(memory=pg.algorithms.Pitfall().fit(space))) == queued
            assert state.queue[:queued].tolist() == got, (number, state.counts)
            if not got:
                break
            for arm in got:
                draw_reward(drawn_from, state.key, arm, int(state.counts[arm]), row)
                observe_result(space, state, arm, row)


def test_a_metric_that_never_varies_starves_nobody() -> None:
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b", "c"], noise=pg.Unknown(), constraints=["y <= 2"],
        dependence="independent",
    )  # fmt: skip
    rng, means = np.random.default_rng(0), {"a": 1.0, "b": 1.3, "c": 0.5}

    def sample(arm: str) -> dict[str, float]:
        return {"x": means[arm] + float(rng.normal()), "y": 1.0 if arm == "a" else 1.0 + 0.1 * float(rng.normal())}

    pulls = pg.identify(problem, sample, algorithm="pitfall", budget=1500).pulls
    assert pulls["a"] < 900
