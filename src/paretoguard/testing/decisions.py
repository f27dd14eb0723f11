"""The laws of all parts: what may change nothing, changes nothing.

Decisions are compared on recorded rewards, by the names of the arms. Where two arms are exactly equal in something, the
place in the list breaks the tie: runs are compared until two arms have as many pulls, or the same mean in an objective.
"""

import math
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from paretoguard.compiler.jit import COMPILED
from paretoguard.engine.explain import DOMINATION, FEASIBILITY, NON_DOMINATION, claim, difference_limit, shortcuts
from paretoguard.engine.loop import observe_result
from paretoguard.engine.state import CLOCK
from paretoguard.engine.view import View
from paretoguard.problem import Instance, Problem
from paretoguard.simulation.rewards import sampler
from paretoguard.simulation.study import Study, simulate
from paretoguard.testing.cases import (
    DELTA,
    SEED,
    BrokenLawError,
    Case,
    Law,
    Setting,
    Step,
    decisions,
    demand,
    recorded,
    settings_of,
    work_in,
)
from paretoguard.trial.trial import identify

_ORDERS = ((5, 4, 3, 2, 1, 0), (2, 4, 1, 5, 0, 3))
STARTS = (1, 6, 25, 60)  # pulls of the least pulled arm before the first decision that is compared
DELTAS = (0.001, 0.01, DELTA, 0.3, 0.8)
CLAIMS = {
    FEASIBILITY: "{0} is on its side of the constraints",
    DOMINATION: "{0} is dominated by {1}",
    NON_DOMINATION: "{0} is not dominated by {1}",
}


def permuting_arms_permutes_decisions(case: Case) -> None:
    """Permuting the arms permutes the decisions.

    Only stops and answers are compared where choices go by place: in round robin or a random choice (an algorithm says
    so with `by_position = True`), and with an exact objective, which makes whole rows of claims certain alike. Equal
    counts end the comparison, as they may be what breaks a tie, unless the algorithm works in rounds (`in_rounds`).
    """
    by_place = case.algorithm.by_position or case.noise.sigma == 0
    in_rounds = case.algorithm.in_rounds
    for setting in settings_of(case):
        for number, start in enumerate(STARTS):
            instance = setting.instance()
            rewards = recorded(instance, run=number)
            given = {arm: start if in_rounds else start * (i + 1) + i for i, arm in enumerate(instance.problem.arms)}
            for order in _ORDERS:
                permuted = setting._replace(order=order).instance().problem
                first = decisions(case, instance.problem, rewards, given, 1 if by_place else 30)
                second = decisions(case, permuted, rewards, given, 1 if by_place else 30)
                for a, b in zip(first, second, strict=False):
                    if _ties(a, in_rounds):
                        break
                    here, there = _what(a, by_place), _what(b, by_place)
                    found = f"after {a.counts} it decides {here}, with the arms in order {permuted.arms} {there}"
                    demand(here == there, permuting_arms_permutes_decisions, case, found)


def _ties(step: Step, in_rounds: bool) -> bool:
    columns = [*step.view.state.means.T] if in_rounds else [step.view.state.counts, *step.view.state.means.T]
    return any(len(np.unique(column)) < len(column) for column in columns)


def _what(step: Step, by_place: bool) -> Any:
    if step.statuses is not None:
        return sorted(step.statuses.items())
    return "to go on" if by_place else sorted(step.queued)


def rescaling_an_objective_changes_nothing(case: Case) -> None:
    """Measuring an objective in another unit, or minimising its negative, changes no decision.

    Units are powers of two, so that nothing is rounded. The noise, the constraints and the rewards change with them.
    """
    for setting in settings_of(case):
        for factors in ((1.0, 8.0, 0.25), (1.0, -0.5, 1.0), (1.0, -4.0, -16.0)):
            restated = setting._replace(factors=factors)
            _compare(rescaling_an_objective_changes_nothing, case, setting, restated, f"with factors {factors}")


def a_far_redundant_constraint_changes_nothing(case: Case) -> None:
    """Adding a constraint that is implied by the others, and far away, changes no decision."""
    for setting in settings_of(case):
        law = a_far_redundant_constraint_changes_nothing
        _compare(law, case, setting, setting._replace(redundant=True), "with one more constraint")


def _compare(law: Law, case: Case, setting: Setting, other: Setting, change: str) -> None:
    """The same run from its first pull, and from where much is known, on a problem stated in two ways."""
    instance, restated = setting.instance(), other.instance()
    for number, start in enumerate((0, *STARTS)):
        given = {arm: start * (i + 1) for i, arm in enumerate(instance.problem.arms)}
        first = decisions(case, instance.problem, recorded(instance, number), given)
        second = decisions(case, restated.problem, recorded(instance, number, other.factors), given)
        for a, b in zip(first, second, strict=True):
            here, there = (step.queued or step.statuses for step in (a, b))
            demand(here == there, law, case, f"after {a.counts} it decides {here}, {change} {there}")


def the_budget_is_never_exceeded(case: Case) -> None:
    """A budget of n samples is never exceeded, and only an answer ends a run before it, live as in simulation."""
    for setting in settings_of(case):
        instance = setting.instance()
        for budget in (1, 2, 5, 6, 7, 40, 300):
            study = _study(case, setting, runs=3, budget=budget)
            samples = study.records["samples"]
            early = study.records["stopped"] == "answered"
            right = np.all((samples == budget) | (early & (samples < budget)))
            right &= np.array_equal(study.pulls.sum(axis=1), samples)
            found = f"with budget {budget} it took {samples.tolist()} samples, pulls {study.pulls.tolist()}"
            demand(bool(right), the_budget_is_never_exceeded, case, found)
            live = identify(
                instance.problem,
                sampler(instance, seed=SEED),
                delta=DELTA,
                algorithm=case.algorithm,
                evidence=case.evidence,
                budget=budget,
                seed=SEED,
            )
            same = list(live.pulls.values()) == study.pulls[0].tolist()
            found = f"with budget {budget}, identify pulls {live.pulls}, simulate {study.pulls[0].tolist()}"
            demand(same, the_budget_is_never_exceeded, case, found)


def the_number_of_threads_changes_nothing(case: Case) -> None:
    """Simulating on any number of threads gives the same runs."""
    for setting in settings_of(case):
        one = _study(case, setting, runs=24, budget=150, threads=1)
        several = _study(case, setting, runs=24, budget=150, threads=3)
        for name, a, b in (("pulls", one.pulls, several.pulls), ("statuses", one.statuses, several.statuses)):
            for run in np.flatnonzero(np.any(a != b, axis=1))[:1]:
                found = f"{name} of run {run}: {a[run].tolist()} on one thread, {b[run].tolist()} on three"
                demand(False, the_number_of_threads_changes_nothing, case, found)


def _study(case: Case, setting: Setting, *, runs: int, budget: int, threads: int = 1) -> Study:
    return simulate(
        setting.instance(),
        algorithms=[case.algorithm],
        evidence=[case.evidence],
        delta=DELTA,
        runs=runs,
        seed=SEED,
        budget=budget,
        threads=threads,
    )


def the_compiler_changes_nothing(case: Case) -> None:
    """Without the compiler (NUMBA_DISABLE_JIT=1) the same is decided."""
    try:
        given = pickle.dumps(case)
    except (pickle.PicklingError, AttributeError) as error:
        raise BrokenLawError(
            f"another process cannot import {case}; put the class in a module of its own ({error})"
        ) from None
    program = "import sys; from paretoguard.testing import decisions; decisions.write_runs(*sys.argv[1:])"
    environment = dict(os.environ, NUMBA_DISABLE_JIT=str(int(COMPILED)), PYTHONPATH=os.pathsep.join(sys.path))
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "case", Path(folder) / "runs"
        asked.write_bytes(given)
        other = subprocess.run(
            [sys.executable, "-c", program, str(asked), str(told)], capture_output=True, env=environment, check=False
        )
        last = other.stderr.decode().strip().rpartition("\n")[2]
        fails = f"in a process of its own it fails with {last}"
        demand(other.returncode == 0, the_compiler_changes_nothing, case, fails)
        there = told.read_text(encoding="utf-8").splitlines()
    for a, b in zip(_runs(case), there, strict=True):
        demand(a == b, the_compiler_changes_nothing, case, f"pulls and statuses {a} here, {b} in the other process")


def write_runs(asked: str, told: str) -> None:
    """What `the_compiler_changes_nothing` compares, of the case pickled in one file, one run a line in the other."""
    Path(told).write_text("\n".join(_runs(pickle.loads(Path(asked).read_bytes()))), encoding="utf-8")


def _runs(case: Case) -> list[str]:
    studies = [_study(case, setting, runs=3, budget=120) for setting in settings_of(case)]
    return [
        f"{run.tolist()} {codes.tolist()}"
        for study in studies
        for run, codes in zip(study.pulls, study.statuses, strict=True)
    ]


def claims_stay_as_delta_grows(case: Case) -> None:
    """A claim that is certified at one delta is certified at every larger one."""
    for setting in settings_of(case):
        instance = setting.instance()
        for number, start in enumerate(STARTS):
            given = {arm: start * (i + 1) for i, arm in enumerate(instance.problem.arms)}
            *_, last = decisions(case, instance.problem, recorded(instance, number), given, most=20)
            _check_claims(case, instance.problem, last)


def _check_claims(case: Case, problem: Problem, step: Step) -> None:
    view, counts, arms = step.view, step.view.state.counts.tolist(), range(len(problem.arms))
    views = [view._replace(evidence=case.evidence.fit(delta, view.problem)) for delta in DELTAS]
    work_in(problem, step)
    for kind, i, j in product(CLAIMS, arms, arms):
        if (i == j) != (kind == FEASIBILITY):
            continue
        values = [claim(view, kind, (i, j), (counts[i], counts[j])) for view in views]
        certified = [delta for delta, value in zip(DELTAS, values, strict=True) if value >= 0]
        words = CLAIMS[kind].format(problem.arms[i], problem.arms[j])
        found = f"after {step.counts}, {words!r} is certified at delta {certified} but not at every larger one"
        demand(certified == list(DELTAS[-len(certified) or len(DELTAS) :]), claims_stay_as_delta_grows, case, found)


def time_alone_adds_no_evidence(case: Case) -> None:
    """While nothing is measured no claim gains evidence, and that of a pair loses no more than its wider arm's.

    The stopping rule rests on the second half: it keeps the evidence of pairs, and lowers it as time goes on.
    """
    for instance, step in _looks(case):
        _check_fading(case, instance.problem, step)


def _looks(case: Case) -> Iterator[tuple[Instance, Step]]:
    """Evidence at work on each problem, from little to much known."""
    for setting in settings_of(case):
        instance = setting.instance()
        for number, start in enumerate(STARTS):
            given = {arm: start * (i + 1) for i, arm in enumerate(instance.problem.arms)}
            *_, last = decisions(case, instance.problem, recorded(instance, number), given, most=3)
            work_in(instance.problem, last)
            yield instance, last


def _check_fading(case: Case, problem: Problem, step: Step) -> None:
    view, state, counts = step.view, step.view.state, step.view.state.counts.tolist()
    arms, now = range(len(problem.arms)), int(state.tally[CLOCK])
    kinds = [(kind, i, j) for kind, i, j in product(CLAIMS, arms, arms) if (i == j) == (kind == FEASIBILITY)]

    def values(clock: int) -> tuple[dict[tuple[int, int, int], float], list[float]]:
        state.tally[CLOCK] = clock
        evidence = {(k, i, j): claim(view, k, (i, j), (counts[i], counts[j])) for k, i, j in kinds}
        return evidence, [difference_limit(view, i, i, 0) for i in arms]

    evidence, widths = values(now)
    for later in (now + 1, 2 * now, 1000 * now):
        faded, wider = values(later)
        for (kind, i, j), value in evidence.items():
            words = f"after {step.counts}, {CLAIMS[kind].format(problem.arms[i], problem.arms[j])!r}"
            fall = value - faded[kind, i, j] if abs(value) < math.inf else 0.0
            room = 1e-9 * (1.0 + abs(value)) if abs(value) < math.inf else 0.0
            gains = f"{words} gains {-fall:g} by {later - now} results of other arms"
            demand(fall >= -room, time_alone_adds_no_evidence, case, gains)
            allowed = max(wider[k] - widths[k] for k in (i, j))
            loses = f"{words} loses {fall:g} by {later - now} results of other arms, expected at most {allowed:g}"
            demand(kind != NON_DOMINATION or fall <= allowed + room, time_alone_adds_no_evidence, case, loses)
    state.tally[CLOCK] = now


def feasibility_is_about_one_arm(case: Case) -> None:
    """What speaks for or against the feasibility of an arm does not depend on results of others.

    The engine works it out when it is first asked for, and keeps it until the arm has a new result.
    """
    for number, (instance, step) in enumerate(_looks(case)):
        problem, state = instance.problem, step.view.state
        counts, now = state.counts.tolist(), int(state.tally[CLOCK])

        def values(view: View, counts: list[int]) -> list[float]:
            return [claim(view, FEASIBILITY, (i, i), (count, count)) for i, count in enumerate(counts)]

        before, other, rewards = values(step.view, counts), number % len(counts), recorded(instance, 1 + number)
        for k in range(3):
            observe_result(step.view.problem, state, other, rewards(problem.arms[other], counts[other] + k))
        work_in(problem, step)
        state.tally[CLOCK] = now
        for i, (was, value) in enumerate(zip(before, values(step.view, state.counts.tolist()), strict=True)):
            words = f"after {step.counts}, {CLAIMS[FEASIBILITY].format(problem.arms[i])!r}"
            found = f"{words} has {value:g}, not {was:g}, after three results of {problem.arms[other]}"
            demand(i == other or was == value, feasibility_is_about_one_arm, case, found)


def shortcuts_lead_to_the_same(case: Case) -> None:
    """What evidence says at a glance is true: `most_weight`, `most_dominated` and the other shortcuts."""
    for instance, step in _looks(case):
        _check_shortcuts(case, instance.problem, step)


def _check_shortcuts(case: Case, problem: Problem, step: Step) -> None:
    view, state, found = step.view, step.view.state, np.zeros(8)
    now, arms = int(state.tally[CLOCK]), range(len(problem.arms))
    for i, j in product(arms, arms):
        if i == j:
            continue
        words = f"after {step.counts}, {problem.arms[i]} and {problem.arms[j]}:"
        for offset in (-1.0, 0.0, 1.0):
            state.tally[CLOCK] = now
            shortcuts(view, i, j, math.inf, found)
            ceiling = found[2] + offset
            is_steady = shortcuts(view, i, j, ceiling, found)
            below, most, lead, cut, _, weight, heaviest, bar = (float(value) for value in found)
            wrong = f"{words} the first weighs {weight:g}, at most {heaviest:g} by `most_weight`"
            demand(weight <= heaviest, shortcuts_lead_to_the_same, case, wrong)
            wrong = f"{words} m^- is {below:g}, at most {most:g} by `most_dominated`"
            demand(below <= most, shortcuts_lead_to_the_same, case, wrong)
            wrong = f"{words} M^- is {lead:g}, but {cut:g} by `undominated_below` a ceiling of {ceiling:g}"
            demand(cut == lead if lead <= ceiling else cut > ceiling, shortcuts_lead_to_the_same, case, wrong)
            for floor in (below - abs(offset) * 1e-6, below + offset):
                shortcuts(view, i, j, floor, found)
                wrong = f"{words} m^- is {below:g}, but above {floor:g} by `is_dominated_above`"
                demand(found[4] == 0.0 or below > floor, shortcuts_lead_to_the_same, case, wrong)
            state.tally[CLOCK] = 1000 * now
            shortcuts(view, i, j, math.inf, found)
            wrong = f"{words} evidence is said to be steady, but changes with time"
            same = (found[0], found[2], found[7]) == (below, lead, bar)
            demand(not is_steady or same, shortcuts_lead_to_the_same, case, wrong)
    state.tally[CLOCK] = now


LAWS: tuple[Law, ...] = (
    permuting_arms_permutes_decisions,
    rescaling_an_objective_changes_nothing,
    a_far_redundant_constraint_changes_nothing,
    the_budget_is_never_exceeded,
    the_number_of_threads_changes_nothing,
    the_compiler_changes_nothing,
    claims_stay_as_delta_grows,
    time_alone_adds_no_evidence,
    feasibility_is_about_one_arm,
    shortcuts_lead_to_the_same,
)
