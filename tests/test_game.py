"""Game-cPSI: the engine pulls as a slow twin of the definitions does, stops in time, and says what it promises."""

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

import paretoguard as pg
from paretoguard.compiler.jit import entry
from paretoguard.engine.draws import DECISIONS, key, uniforms
from paretoguard.engine.loop import draw_reward
from paretoguard.engine.questions import moment
from paretoguard.evidence.kaufmann_koolen import Glr, GlrLevels, threshold
from paretoguard.geometry.nearest_alternative import alternative, nearest_alternative
from paretoguard.simulation.rewards import source


@entry
def first_uniform(stream: Any, n: int) -> float:
    return uniforms(stream, 0, n, 0, DECISIONS)[0]


def small(seed: int) -> pg.Instance:
    rng = np.random.default_rng([6, seed])
    K, d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    A = rng.normal(size=(int(rng.integers(1, 4)), d))
    problem = pg.Problem(
        {f"x{c}": "max" for c in range(d)}, arms=[f"arm{i}" for i in range(K)], noise=pg.Gaussian(0.5),
        constraints=(A, A @ rng.normal(size=d) * 0.1 + 0.6) if seed % 4 else (), dependence="independent",
        name=f"small {seed}",
    )  # fmt: skip
    return pg.Instance(problem, rng.normal(size=(K, d)))


def twin(
    instance: pg.Instance, delta: float, seed: int, run: int, budget: int, together: bool
) -> tuple[list[int], list[int] | None]:
    """Pulls of each arm, and the set returned if it stopped: written from the definitions."""
    space = instance.problem.space()
    K, d, region = space.arms, space.noisy, space.region
    drawn_from, stream, row = source(instance), key(seed, run), np.zeros(d)
    counts, sums, total, gap = np.zeros(K), np.zeros((K, d)), np.zeros(K), 0.0
    found = alternative(K, d, len(region.b))

    knots = np.log(np.geomspace(1.0, 1e15, 400))
    size, ways, power = (K * d, 1, 3.0) if together else (d, K, 1.2)
    tail = [size * threshold(max(power * log + math.log(ways), 1e-3) / size) for log in knots]

    def pull(i: int) -> None:
        draw_reward(drawn_from, stream, i, int(counts[i]), row)
        counts[i] += 1
        sums[i] += row[space.order] * space.scale

    for i in range(K):
        if counts.sum() < budget:
            pull(i)
    while True:
        t, means = counts.sum(), sums / counts[:, None]
        inside = np.all(means @ region.A.T <= region.b, axis=1)
        optimal = np.array(
            [
                inside[i] and not any(inside[j] and j != i and np.all(means[j] >= means[i]) for j in range(K))
                for i in range(K)
            ]
        )
        flags = optimal.astype(np.uint8)
        needed = K * d * threshold(math.log(1 / delta) / (K * d)) + 2 * d * np.sum(np.log(4 + np.log(counts)))
        if nearest_alternative(region, means, flags, counts, found) > needed:
            return counts.astype(int).tolist(), np.flatnonzero(flags).tolist()
        if t >= budget:
            return counts.astype(int).tolist(), None
        eta = math.log(K) / gap if gap > 0 else math.inf
        w = np.exp(eta * (total - total.max())) if gap > 0 else (total == total.max()).astype(float)
        w /= w.sum()
        nearest_alternative(region, means, flags, w, found)
        level = np.full(K, K * math.log(4 + math.log(max(1, t * t / K)))) if together else np.log(4 + np.log(counts))
        level = 2 * d * level + np.interp(
            math.log(t), knots, tail
        )  # C_G is worked out at knots, and a straight line between
        gains = (np.sqrt(2 * found.half) + np.sqrt(2 * level / counts)) ** 2
        if gap > 0 and K > 1:
            gap += max(0.0, math.log(np.sum(w * np.exp(eta * (gains - gains.max())))) / eta + gains.max() - w @ gains)
        else:
            gap += gains[w > 0].max() - w @ gains
        total += gains
        u = first_uniform(stream, int(t))
        pull(int(np.searchsorted(np.cumsum(w), u, side="right").clip(0, K - 1)))


@pytest.mark.parametrize("seed", range(12))
def test_the_engine_pulls_as_the_twin_does(seed: int) -> None:
    instance, bonus = small(seed), ("arm", "all")[seed % 3 == 0]
    study = pg.simulate(
        instance, algorithms=f"game-cpsi:bonus={bonus}", delta=0.1, runs=3, seed=5, budget=300, threads=1
    )
    for run in range(3):
        pulls, answer = twin(instance, 0.1, 5, run, 300, bonus == "all")
        assert study.pulls[run].tolist() == pulls
        if answer is not None:
            assert np.flatnonzero(study.statuses[run] == 1).tolist() == answer


def test_thresholds_are_those_of_the_specification() -> None:
    """h(t, 0.01) for five arms and two objectives."""
    levels = pg.evidence.Glr().fit(0.01, pg.instances.load("racing-5").problem.space())
    found = [round(moment.dispatch(GlrLevels)(levels, t).bar, 2) for t in (100, 1000, 10_000)]
    assert (levels.arms, levels.noisy) == (5, 2)
    assert found == [58.12, 63.81, 68.23]


@pytest.mark.parametrize("options", ["", ":respond=5,test=7"])
def test_answers_are_right_and_how_often_is_looked_changes_only_the_samples(options: str) -> None:
    instance, runs = pg.instances.load("explainability"), 200
    study = pg.simulate(instance, algorithms=f"game-cpsi{options}", delta=0.1, runs=runs, seed=1, budget=200_000)
    assert study.records["stopped"].tolist() == ["answered"] * runs
    assert stats.binom.sf(int(study.records["wrong_cpsi"].sum()) - 1, runs, 0.1) > 1e-4
    (row,) = study.summary()
    assert (row["evidence"], row["guarantee"]) == ("glr", "finite-sample")


class Loose(Glr):
    """Without what the deviation inequality adds to log(1/delta)."""

    name: ClassVar[str] = "loose"

    def fit(self, delta: float, space: Any) -> GlrLevels:
        levels = super().fit(delta, space)
        return levels._replace(
            constant=math.log(1 / delta) - 2 * levels.arms * levels.noisy * math.log(4 + math.log(50))
        )


class LooseGame(pg.algorithms.Game):
    name: ClassVar[str] = "loose-game"
    evidence: ClassVar[type] = Loose


def test_a_threshold_that_is_too_low_is_noticed() -> None:
    runs = 200
    study = pg.simulate("explainability", algorithms=LooseGame(), delta=0.1, runs=runs, seed=1, budget=200_000)
    assert stats.binom.sf(int(study.records["wrong_cpsi"].sum()) - 1, runs, 0.1) < 1e-4


def test_it_brings_its_own_evidence_and_says_what_is_heuristic() -> None:
    instance = pg.instances.load("explainability")
    result = pg.identify(instance.problem, pg.sampler(instance), algorithm="game-cpsi", evidence="certified", delta=0.1)
    assert (result.evidence, result.guarantee, result.stopped) == ("glr", "finite-sample", "answered")
    assert {result.verdicts[arm].guarantee for arm in result.pareto} == {"finite-sample"}
    others = {verdict.guarantee for verdict in result.verdicts.values() if verdict.status != "optimal"}
    assert "heuristic" in others
    assert any("why each other arm is out is read off the means" in note for note in result.notes)


def test_without_independence_it_is_heuristic_and_what_it_does_not_know_is_refused() -> None:
    problem = pg.Problem({"x": "max", "y": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    study = pg.simulate(
        pg.Instance(problem, [[0.0, 0.0], [1.0, 1.0]], name="two"), algorithms="game-cpsi", runs=1, budget=50
    )
    assert study.summary()[0]["guarantee"] == "heuristic"
    loose = pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0), tolerance=0.1)
    with pytest.raises(pg.SettingsError, match="knows neither exact objectives"):
        pg.Trial(loose, algorithm="game-cpsi")
    with pytest.raises(pg.SettingsError, match="respond is 0, expected a whole number of at least 1"):
        pg.Trial(problem, algorithm="game-cpsi:respond=0")


def test_one_arm_without_constraints_is_answered_at_once() -> None:
    problem = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Gaussian(1.0))
    assert pg.identify(problem, lambda arm: {"x": 1.0}, algorithm="game-cpsi").samples == 1
