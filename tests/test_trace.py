"""Traces: the run of the study itself, looked at on its way, and evidence as the definitions give it."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.engine.draws import key
from paretoguard.engine.engine import new_engine
from paretoguard.engine.explain import progress
from paretoguard.engine.loop import decide_next, draw_reward, observe_result, settle_now
from paretoguard.simulation.rewards import source
from paretoguard.simulation.trace import Growth, Trace
from random_problems import random_instance
from test_twin import ALGORITHMS, EVIDENCE, twin_problem
from twin import INF, Twin

TRACED = ["pitfall", "e-cape", "two-stage", "two-stage:form=e-cape", "racing", "uniform"]


def is_run_of(study: pg.Study, one: Trace) -> bool:
    """Does the trace end where the run of the study did?"""
    labels = zip(("instance", "algorithm", "evidence", "delta"), one.cell.labels, strict=True)
    rows = np.all([study.records[name] == label for name, label in labels], axis=0)
    (row,) = np.flatnonzero(rows & (study.records["run"] == one.run))
    K = one.pulls.shape[1]
    same = np.array_equal(study.pulls[row, :K], one.pulls[-1]) and np.array_equal(study.statuses[row, :K], one.answer)
    return bool(same and study.records[row]["samples"] == one.samples[-1])


# --- the run -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "budget"), [(1, None), (7, None), (1, 300), (7, 301)])
def test_a_trace_ends_where_the_run_of_the_study_did(batch: int, budget: int | None) -> None:
    delta = 0.1 if budget is None else [0.1, 0.01]
    how = TRACED if batch == 1 else TRACED[:2]
    study = pg.simulate(["simplex", "racing-5"], algorithms=how, delta=delta, runs=3, batch=batch, budget=budget)
    for run in range(3):
        traces = study.trace(run)
        assert [one.cell for one in traces] == list(study.cells)
        for one in traces:
            assert is_run_of(study, one)
            assert np.all(np.diff(one.samples) > 0)
            assert np.array_equal(one.pulls.sum(axis=1), one.samples)
            assert np.all(np.diff(one.pulls, axis=0) >= 0)
            assert len(one.samples) <= 200
            assert one.statuses.shape == one.progress.shape == one.pulls.shape


def test_a_run_that_stops_on_present_claims_ends_with_all_of_them_certified() -> None:
    study = pg.simulate(["simplex", "explainability"], algorithms=["e-cape", "uniform"], runs=2)
    for one in study.trace(1):
        assert np.array_equal(one.statuses[-1], one.answer)
        assert np.all(one.progress[-1] >= 1.0)
        looks = one.certified()
        for arm, look in enumerate(looks):
            assert np.all(one.statuses[look:, arm] == one.answer[arm])
            assert look == 0 or one.statuses[look - 1, arm] != one.answer[arm]


def test_an_arm_whose_certificate_has_lapsed_counts_from_when_it_had_it() -> None:
    statuses = np.array(
        [[3, 3, 2, 0, 0, 0], [3, 3, 0, 0, 1, 0], [0, 3, 2, 0, 0, 0], [0, 3, 2, 1, 1, 0]], dtype=np.uint8
    )
    pulls = np.array([[1, 1, 1, 1, 1, 1], [2, 1, 2, 1, 2, 2], [2, 1, 2, 2, 2, 2], [2, 1, 2, 2, 3, 3]])
    answer = np.array([3, 3, 2, 1, 1, 2], dtype=np.uint8)
    made = Growth(
        arms=tuple("abcdef"),
        stopped="answered",
        answer=answer,
        samples=pulls.sum(axis=1),
        pulls=pulls,
        statuses=statuses,
        progress=np.zeros((4, 6)),
    )
    assert made.certified().tolist() == [0, 0, 2, 3, 3, 3]
    early = dataclasses.replace(made, answer=np.array([0, 3, 2, 0, 1, 0], dtype=np.uint8), stopped="budget")
    assert early.certified().tolist() == [-1, 0, 2, -1, 3, -1]


def test_arms_that_leave_a_race_are_certified_when_they_leave() -> None:
    for one in pg.simulate("simplex", algorithms="racing", runs=5).trace(3):
        left = np.argmax(one.pulls == one.pulls[-1], axis=0)
        assert np.all(one.certified() <= left + 1)


def test_a_run_that_is_not_there_is_refused() -> None:
    study = pg.simulate("simplex", algorithms="uniform", runs=2, budget=60)
    for run in (2, -1, 10**9):
        with pytest.raises(pg.SettingsError, match=f"run {run} is not in the study; it has runs 0 to 1"):
            study.trace(run)
    empty = pg.Study(study.cells, study.design, study.records[:0], study.pulls[:0], study.statuses[:0])
    with pytest.raises(pg.SettingsError, match="no finished run"):
        empty.trace()


def test_of_an_interrupted_study_the_finished_kinds_are_traced() -> None:
    study = pg.simulate("simplex", algorithms=["e-cape", "uniform"], runs=1, budget=60)
    half = pg.Study(study.cells, study.design, study.records[1:], study.pulls[1:], study.statuses[1:])
    assert [one.cell.algorithm.name for one in half.trace()] == ["uniform"]


def test_a_run_that_goes_another_way_is_refused() -> None:
    study = pg.simulate("simplex", algorithms="e-cape", runs=1, budget=300)
    other = pg.Study(study.cells, study.design._replace(seed=5), study.records, study.pulls, study.statuses)
    with pytest.raises(pg.SettingsError, match="does not go as it did in the study"):
        other.trace()


def test_a_stored_study_is_traced(tmp_path: Path) -> None:
    study = pg.simulate("simplex", algorithms="two-stage", runs=2, batch=3, budget=500)
    study.save(tmp_path / "study.npz")
    again = pg.Study.load(tmp_path / "study.npz")
    assert np.array_equal(again.trace(1)[0].progress, study.trace(1)[0].progress)


# --- evidence ------------------------------------------------------------------------------------------------------


def expected(twin: Twin, answer: list[int]) -> list[float]:
    """Evidence over required, from the definitions."""
    twin.prepare()
    bar = twin.scale**2 / 2 if twin.evidence == "practical" else None
    arms = range(twin.problem.arms)
    if bar is None:
        pulled = next(i for i in arms if twin.counts[i] and 0 < twin.eta[i] < INF)
        bar = twin.counts[pulled] * twin.eta[pulled] ** 2 / (2 * twin.problem.sigma_u**2) - twin.gamma[pulled]

    def share(value: float, width: float) -> float:
        return max(0.0, 1.0 + value / width) ** 2

    weights = [max(0.0, (gamma + bar) / bar) if n else 0.0 for gamma, n in zip(twin.gamma, twin.counts, strict=True)]
    inside = [weight if twin.inside[i] else 0.0 for i, weight in enumerate(weights)]
    found = []
    for i in arms:
        above = [j for j in arms if j != i and twin.counts[j]]
        others = [j for j in arms if j != i and answer[j] in (0, 1)]
        claims = {
            3: 0.0 if twin.inside[i] else weights[i],
            2: max((min(share(twin.m_minus(i, j), twin.width(i, j)), inside[j]) for j in above), default=0.0),
            1: min(
                [inside[i]] + [share(twin.M_minus(i, j), twin.width(i, j)) if twin.counts[j] else 0.0 for j in others]
            ),
        }
        most = max(claims.values()) if answer[i] == 0 else claims[answer[i]]
        found.append(most if twin.counts[i] else 0.0)
    return found


@pytest.mark.kernel
@pytest.mark.parametrize("number", range(60))
def test_progress_is_evidence_over_what_is_required(number: int) -> None:
    rng = np.random.default_rng([3, number])
    instance = random_instance(rng)
    space, drawn_from = instance.problem.space(), source(instance)
    evidence = "theorem" if number % 3 == 0 else "practical"
    memory, levels = ALGORITHMS["e-cape"].fit(space), EVIDENCE[evidence].fit(0.1, space)
    engine = new_engine(memory, levels, space, key(number, 0))
    state, twin = engine.seen.state, Twin(twin_problem(instance.problem), evidence, 0.1)
    row, via = np.zeros(space.objectives), np.zeros(space.arms, dtype=np.int64)
    statuses, found = np.zeros(space.arms, dtype=np.uint8), np.zeros(space.arms)
    for _ in range(60):
        queued = decide_next(engine)
        if queued == 0:
            break
        for arm in state.queue[: min(queued, 1 + number % 4)].tolist():
            draw_reward(drawn_from, state.key, arm, int(state.counts[arm]), row)
            observe_result(space, state, arm, row)
            twin.observe(arm, row.tolist())
        settle_now(engine.seen, statuses, via)
        answer = rng.integers(0, 4, space.arms).astype(np.uint8)
        progress(engine.seen, answer, found)
        if evidence == "theorem" and not any(0 < eta < INF for eta in twin.eta):
            continue  # nothing to tell the bar from
        np.testing.assert_allclose(found, expected(twin, answer.tolist()), rtol=1e-9, atol=1e-9)


def test_certified_claims_are_at_1_or_above() -> None:
    for one in pg.simulate(["covboost", "simplex"], algorithms=["e-cape", "uniform"], runs=1).trace():
        above = one.progress >= 1.0
        for status in (2, 3):  # of optimal arms, some were certified by chains of claims
            asked = one.answer == status
            other = (one.statuses != status) & (one.statuses != 0)
            assert np.array_equal((above | other)[:, asked], (one.statuses != 0)[:, asked])
        optimal = (one.statuses == 1) & (one.answer == 1)
        assert np.mean(above[optimal]) > 0.9
