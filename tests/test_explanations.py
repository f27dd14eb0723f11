"""Every number that an explanation states is recomputed here from the raw results, by the definitions."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.problem import Problem
from paretoguard.simulation.rewards import sampler
from paretoguard.verdict import Verdict, show, show_least
from random_problems import random_instance
from test_twin import twin_problem
from twin import distance

DELTA = 0.1
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")


class Recomputed:
    """Means, limits, slacks and margins from recorded results, in the user's units."""

    def __init__(self, problem: Problem, told: dict[str, list[dict[str, float]]], evidence: str) -> None:
        self.problem = problem
        t, K, d = sum(map(len, told.values())), len(problem.arms), len(problem.objectives)
        if evidence == "practical":
            self.f = self.g = math.log(max(1.0, math.log(t)) / DELTA)
            self.sigma_u = 1.0
        else:
            k1 = 1 + 1 / 1.01 + 1e-9
            self.f = math.log(4 * k1 * K * d * t**2.01 / DELTA)
            self.g = 4 * math.log(4 * k1 * K * 5**d * t**2.01 / DELTA)
            self.sigma_u = problem.space().sigma_u
        self.practical = evidence == "practical"
        self.pulls = {arm: len(rows) for arm, rows in told.items()}
        self.sigma = {name: noise.sigma for name, noise in problem.noise.items()}
        self.mean = {
            arm: {
                name: sum(row[name] for row in rows) / len(rows) if self.sigma[name] else rows[0][name]
                for name in problem.objectives
            }
            for arm, rows in told.items()
        }

    def half(self, arm: str, name: str) -> float:
        return self.sigma[name] * math.sqrt(2 * self.f / self.pulls[arm])

    def slack(self, arm: str, row: Any) -> tuple[float, float]:
        names = list(self.problem.objectives)
        used = sum(a * self.mean[arm][name] for a, name in zip(row.coefficients, names, strict=True))
        norm = math.sqrt(sum((a * self.sigma[name]) ** 2 for a, name in zip(row.coefficients, names, strict=True)))
        return row.bound - used, norm * self.sigma_u * math.sqrt(2 * self.g / self.pulls[arm])

    def possible(self, row: Any) -> tuple[float, float]:
        """The least and the greatest slack of all results that the noise allows."""
        ends = [
            sorted(a * end for end in self.problem.noise[name].support)
            for a, name in zip(row.coefficients, self.problem.objectives, strict=True)
            if a
        ]
        return row.bound - sum(high for _, high in ends), row.bound - sum(low for low, _ in ends)

    def distance(self, arm: str) -> float:
        """Distance to the constraints in standard deviations, given the exact coordinates."""
        problem = twin_problem(self.problem)
        names = list(self.problem.objectives)
        x = [self.mean[arm][names[c]] * s for c, s in zip(problem.order, problem.scale, strict=True)]
        exact = x[problem.noisy :]
        rhs = [
            bound - sum(a * v for a, v in zip(part, exact, strict=True))
            for bound, part in zip(problem.b, problem.exact_part, strict=True)
        ]
        return distance(problem.A, rhs, x[: problem.noisy])

    def gain(self, arm: str, by: str, name: str) -> tuple[float, float]:
        """How much better `by` is, and the half-width."""
        sign = 1 if self.problem.objectives[name] == "max" else -1
        beta = [math.sqrt(2 * self.f / self.pulls[one]) for one in (arm, by)]
        width = math.hypot(*beta) if self.practical else sum(beta)
        return sign * (self.mean[by][name] - self.mean[arm][name]), self.sigma[name] * width


def run(
    instance: pg.Instance, evidence: str, budget: int | None, algorithm: str = "e-cape"
) -> tuple[pg.Result, Recomputed]:
    sample = sampler(instance)
    told: dict[str, list[dict[str, float]]] = {}

    def recorded(arm: str) -> dict[str, float]:
        values = sample(arm)
        told.setdefault(arm, []).append(values)
        return values

    result = pg.identify(instance.problem, recorded, delta=DELTA, evidence=evidence, budget=budget, algorithm=algorithm)
    return result, Recomputed(instance.problem, told, evidence)


def numbers_in(reason: str, problem: Problem) -> list[str]:
    """The numbers of a sentence, without those in names and quoted constraints."""
    for text in sorted([*problem.arms, *problem.objectives, *map(str, problem.constraints)], key=len)[::-1]:
        reason = reason.replace(text, "")
    return NUMBER.findall(reason)


def check(verdict: Verdict, again: Recomputed, result: pg.Result) -> None:
    problem, arm = again.problem, verdict.arm
    for name in problem.objectives:
        half = again.half(arm, name)
        expected = again.mean[arm][name]
        assert verdict.mean[name] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        least, greatest = problem.noise[name].support
        assert verdict.low[name] == pytest.approx(max(expected - half, least), rel=1e-9, abs=1e-9)
        assert verdict.high[name] == pytest.approx(min(expected + half, greatest), rel=1e-9, abs=1e-9)
    assert verdict.pulls == again.pulls[arm]
    if "; certain since sample" in verdict.reason:  # what it states was so then
        return
    {"infeasible": infeasible, "dominated": dominated, "optimal": optimal, "undecided": undecided}[verdict.status](
        verdict, again, result
    )


def limit(value: float, half: float) -> list[str]:
    """What is stated of a confidence limit: nothing if the number is exact, a word if it only just holds."""
    return [show_least(value)] if half > 0 and value >= 0.01 * half else []


def tightest(again: Recomputed, verdict: Verdict) -> tuple[float, float] | None:
    """The slack of the constraint that the verdict names, checked against its fields."""
    if verdict.constraint is None:
        assert not again.problem.constraints
        return None
    rows = [row for row in again.problem.constraints if row.label == verdict.constraint]
    slacks = [(*again.slack(verdict.arm, row), row) for row in rows]
    slack, half, row = min(slacks, key=lambda found: abs(found[0] - verdict.slack))  # type: ignore[operator]
    least, most = again.possible(row)
    assert (verdict.slack, verdict.slack_low, verdict.slack_high) == pytest.approx(
        (slack, max(slack - half, least), min(slack + half, most)), rel=1e-9, abs=1e-9
    )
    return slack, half


def infeasible(verdict: Verdict, again: Recomputed, result: pg.Result) -> None:
    found = tightest(again, verdict)
    assert found is not None
    slack, half = found
    assert slack < 0
    stated = numbers_in(verdict.reason, again.problem)
    assert stated[0] == show(-slack)
    if half == 0:
        assert "exactly" in verdict.reason
    elif slack + half <= 0:
        assert stated == [show(-slack), *limit(-slack - half, half)]
    else:
        failing = [s for s, _ in (again.slack(verdict.arm, row) for row in again.problem.constraints) if s < 0]
        away = again.distance(verdict.arm)
        assert away >= again.sigma_u * math.sqrt(2 * again.g / verdict.pulls)
        assert stated[-1] == show(away)
        assert sorted(stated[:-1]) == sorted(show(-s) for s in failing)


def dominated(verdict: Verdict, again: Recomputed, result: pg.Result) -> None:
    assert verdict.by is not None
    assert f"{verdict.by} is at least as good in every objective" in verdict.reason
    expected = []
    for name in again.problem.compared:
        gain, half = again.gain(verdict.arm, verdict.by, name)
        assert verdict.margins[name] == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert gain >= 0
        if "by way of" not in verdict.reason:
            assert verdict.margins_low[name] == pytest.approx(gain - half, rel=1e-9, abs=1e-9)
            assert verdict.margins_high[name] == pytest.approx(gain + half, rel=1e-9, abs=1e-9)
        assert verdict.margins_low[name] >= -1e-12
        if verdict.margins[name] != 0:
            expected += [show(verdict.margins[name])]
            expected += limit(verdict.margins_low[name], half)
    assert numbers_in(verdict.reason, again.problem) == expected


def optimal(verdict: Verdict, again: Recomputed, result: pg.Result) -> None:
    expected = []
    found = tightest(again, verdict)
    if found is not None:
        slack, half = found
        expected += [show(slack), *limit(slack - half, half)]
    if verdict.rival is not None:
        ((name, lead),) = verdict.lead.items()
        gain, half = again.gain(verdict.rival, verdict.arm, name)
        assert lead == pytest.approx(gain, rel=1e-9, abs=1e-9)
        assert verdict.lead_low[name] == pytest.approx(gain - half, rel=1e-9, abs=1e-9)
        expected += [show(lead), *limit(verdict.lead_low[name], half)]
    else:
        others = [v for other, v in result.verdicts.items() if other != verdict.arm]
        assert all(other.status == "infeasible" for other in others)
    assert numbers_in(verdict.reason, again.problem) == expected


def undecided(verdict: Verdict, again: Recomputed, result: pg.Result) -> None:
    assert verdict.missing is not None
    assert verdict.missing.claim in verdict.reason
    stated = numbers_in(verdict.reason, again.problem)
    assert stated == [f"{number:,}" for number in verdict.missing.pulls.values()]


@pytest.mark.parametrize("evidence", ["practical", "theorem"])
def test_every_stated_number_is_right(evidence: str) -> None:
    seen = set()
    for number in range(60):
        instance = random_instance(np.random.default_rng([11, number]))
        if any(instance.problem.tolerance.values()):
            continue
        result, again = run(instance, evidence, budget=[60, 600, 4000][number % 3])
        for verdict in result.verdicts.values():
            if verdict.pulls:
                check(verdict, again, result)
                seen.add(verdict.status)
        json.dumps(result.to_dict(), allow_nan=False)
        assert set(result.rows()[0]) == {"arm", "status", "pulls", *instance.problem.objectives, "why"}
    assert seen == {"optimal", "dominated", "infeasible", "undecided"}


def test_missing_pulls_are_enough_and_not_too_many() -> None:
    """At the stated number of further pulls with the present means the claim holds; with a tenth fewer it does not."""
    instance = random_instance(np.random.default_rng([11, 4]))
    checked = 0
    for number in range(40):
        instance = random_instance(np.random.default_rng([12, number]))
        if any(instance.problem.tolerance.values()) or len(instance.problem.arms) < 2:
            continue
        result, again = run(instance, "practical", budget=200)
        for verdict in result.verdicts.values():
            if verdict.missing is None or list(verdict.missing.pulls) != [verdict.arm] or "fails" not in verdict.reason:
                continue
            more = verdict.missing.pulls[verdict.arm]
            row = next(r for r in again.problem.constraints if r.label == verdict.constraint)
            slack, half = again.slack(verdict.arm, row)
            t, n = result.samples, verdict.pulls
            for extra, enough in ((more, True), (int(0.9 * more) - 1, False)):
                if extra < 0:
                    continue
                g = math.log(max(1.0, math.log(t + extra)) / DELTA)
                width = half * math.sqrt(g / again.g * n / (n + extra))
                single = sum(again.slack(verdict.arm, other)[0] < 0 for other in again.problem.constraints) == 1
                if single:
                    assert (width <= -slack) is enough
                    checked += 1
    assert checked > 5


def test_a_result_prints_as_a_table_and_as_html() -> None:
    instance = random_instance(np.random.default_rng([11, 8]))
    result, _ = run(instance, "practical", budget=500)
    text = " ".join(str(result).split())
    for arm in instance.problem.arms:
        assert arm in text
    assert "Guarantee: heuristic" in text
    assert "<table>" in result._repr_html_()


def test_arms_that_are_equal_tie_and_neither_looks_dominated() -> None:
    trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0)))
    for arm in ("a", "b") * 5:
        trial.tell(arm, {"x": 1.0})
    reasons = {arm: verdict.reason for arm, verdict in trial.verdicts().items()}
    assert reasons["a"].startswith("ties with b; not certain yet that b dominates it: at the present estimates no ")
    assert reasons["b"].startswith("ties with a; ")


def test_limits_of_slacks_are_possible_and_means_of_no_result_are_null() -> None:
    asked = pg.Problem(
        {"hit": "max", "late": "guard"}, arms=["a", "b"], noise=pg.Bernoulli(), constraints=["late <= 0.25"]
    )
    trial = pg.Trial(asked)
    for value in (0.0, 1.0):
        trial.tell("a", {"hit": value, "late": value})
    told = json.loads(json.dumps(trial.result().to_dict()))["verdicts"]
    assert (told["a"]["slack_low"], told["a"]["slack_high"]) == (-0.75, 0.25)
    assert told["a"]["mean"] == {"hit": 0.5, "late": 0.5}
    assert told["b"]["mean"] == {"hit": None, "late": None}
