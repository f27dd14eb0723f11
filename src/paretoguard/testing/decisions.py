"""The laws of all parts: what may change nothing, changes nothing.

Decisions are compared on recorded rewards, by the names of the arms. Where two arms are exactly equal in something, the
place in the list breaks the tie: runs are compared until two arms have as many pulls, or the same mean in an objective.
"""

import math
import random
from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import numpy as np

from paretoguard.compiler.tiers import COMPILED, INTERPRETED, forced, has_compiler
from paretoguard.engine.explain import DOMINATION, FEASIBILITY, NON_DOMINATION, claim, difference_limit, shortcuts
from paretoguard.engine.loop import advance, observe_result
from paretoguard.engine.state import CLOCK
from paretoguard.engine.view import View
from paretoguard.problem import Instance, Problem
from paretoguard.simulation.rewards import sampler
from paretoguard.simulation.runner import Cell, Design, begin_runs
from paretoguard.simulation.study import Study, simulate
from paretoguard.testing.cases import (
    DELTA,
    SEED,
    Case,
    Laws,
    Setting,
    Step,
    decisions,
    demand,
    recorded,
    settings_of,
    work_in,
)
from paretoguard.trial.trial import identify
from paretoguard.vocabulary import ANSWER_FOUND

LAWS = Laws[Case]()
_ORDERS = ((5, 4, 3, 2, 1, 0), (2, 4, 1, 5, 0, 3))
STARTS = (1, 6, 25, 60)  # pulls of the least pulled arm before the first decision that is compared
DELTAS = (0.001, 0.01, DELTA, 0.3, 0.8)
CLAIMS = {
    FEASIBILITY: "{0} is on its side of the constraints",
    DOMINATION: "{0} is dominated by {1}",
    NON_DOMINATION: "{0} is not dominated by {1}",
}


@LAWS.state
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
                    demand(here == there, found)


def _ties(step: Step, in_rounds: bool) -> bool:
    columns = [*step.view.state.means.T] if in_rounds else [step.view.state.counts, *step.view.state.means.T]
    return any(len(np.unique(column)) < len(column) for column in columns)


def _what(step: Step, by_place: bool) -> Any:
    if step.statuses is not None:
        return sorted(step.statuses.items())
    return "to go on" if by_place else sorted(step.queued)


@LAWS.state
def rescaling_an_objective_changes_nothing(case: Case) -> None:
    """Measuring an objective in another unit, or minimising its negative, changes no decision.

    Units are powers of two, so that nothing is rounded. The noise, the constraints and the rewards change with them.
    """
    for setting in settings_of(case):
        for factors in ((1.0, 8.0, 0.25), (1.0, -0.5, 1.0), (1.0, -4.0, -16.0)):
            _compare(case, setting, setting._replace(factors=factors), f"with factors {factors}")


@LAWS.state
def a_far_redundant_constraint_changes_nothing(case: Case) -> None:
    """Adding a constraint that is implied by the others, and far away, changes no decision."""
    for setting in settings_of(case):
        _compare(case, setting, setting._replace(redundant=True), "with one more constraint")


def _compare(case: Case, setting: Setting, other: Setting, change: str) -> None:
    """Compare a run from its first pull, and from where much is known, on a problem stated in two ways."""
    instance, restated = setting.instance(), other.instance()
    for number, start in enumerate((0, *STARTS)):
        given = _more_for_later_arms(instance.problem, start)
        first = decisions(case, instance.problem, recorded(instance, number), given)
        second = decisions(case, restated.problem, recorded(instance, number, other.factors), given)
        for a, b in zip(first, second, strict=True):
            here, there = (step.queued or step.statuses for step in (a, b))
            demand(here == there, f"after {a.counts} it decides {here}, {change} {there}")


def _more_for_later_arms(problem: Problem, start: int) -> dict[str, int]:
    return {arm: start * (i + 1) for i, arm in enumerate(problem.arms)}


@LAWS.state
def the_budget_is_never_exceeded(case: Case) -> None:
    """A budget of n samples is never exceeded, and only an answer ends a run before it, live as in simulation."""
    for setting in settings_of(case):
        instance = setting.instance()
        for budget in (1, 2, 5, 6, 7, 40, 300):
            study = _study(case, setting, runs=3, budget=budget)
            samples, pulls = study.records["samples"], study.pulls.tolist()
            early = study.records["stopped"] == ANSWER_FOUND
            right = np.all((samples == budget) | (early & (samples < budget)))
            right &= np.array_equal(study.pulls.sum(axis=1), samples)
            demand(bool(right), f"with budget {budget} it took {samples.tolist()} samples, pulls {pulls}")
            live = identify(
                instance.problem,
                sampler(instance, seed=SEED),
                delta=DELTA,
                algorithm=case.algorithm,
                evidence=case.evidence,
                budget=budget,
                seed=SEED,
            )
            found = f"with budget {budget}, identify pulls {live.pulls}, simulate {pulls[0]}"
            demand(list(live.pulls.values()) == pulls[0], found)


@LAWS.state
def the_number_of_threads_changes_nothing(case: Case) -> None:
    """Simulating on any number of threads gives the same runs."""
    for setting in settings_of(case):
        one = _study(case, setting, runs=24, budget=150, threads=1)
        several = _study(case, setting, runs=24, budget=150, threads=3)
        for name, a, b in (("pulls", one.pulls, several.pulls), ("statuses", one.statuses, several.statuses)):
            for run, (here, there) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
                demand(here == there, f"{name} of run {run}: {here} on one thread, {there} on three")


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


@LAWS.state
def the_tier_changes_nothing(case: Case) -> None:
    """Interpreted, compiled, or now this and now that, the same is decided."""
    chance = random.Random(SEED)
    ways: dict[str, str | Callable[[], str]] = {
        INTERPRETED: INTERPRETED,
        "now this and now that": lambda: chance.choice((INTERPRETED, COMPILED)),
    }
    if not has_compiler():
        return
    for setting in settings_of(case):
        compiled = _stepwise(case, setting, COMPILED)
        for way, wanted in ways.items():
            for a, b in zip(_stepwise(case, setting, wanted), compiled, strict=True):
                demand(a == b, f"pulls and statuses {a} {way}, {b} compiled")


def _stepwise(case: Case, setting: Setting, wanted: str | Callable[[], str]) -> list[str]:
    """Simulate a few runs, a few samples a call."""
    cell = Cell(setting.instance(), case.algorithm, case.evidence, DELTA)
    with forced(wanted):
        work = begin_runs(cell, np.arange(3), Design(SEED, budget=120))
        while advance(*work.arguments(7)) > 0:
            pass
    runs = zip(work.outcomes.pulls, work.outcomes.statuses, strict=True)
    return [f"{pulls.tolist()} {statuses.tolist()}" for pulls, statuses in runs]


@LAWS.state
def claims_stay_as_delta_grows(case: Case) -> None:
    """A claim that is certified at one delta is certified at every larger one."""
    for instance, step in _looks(case, most=20):
        view, counts = step.view, step.view.state.counts.tolist()
        views = [view._replace(evidence=case.evidence.fit(delta, view.problem)) for delta in DELTAS]
        for words, kind, i, j in _claims(instance.problem):
            values = [claim(view, kind, (i, j), (counts[i], counts[j])) for view in views]
            certified = [delta for delta, value in zip(DELTAS, values, strict=True) if value >= 0]
            found = f"after {step.counts}, {words!r} is certified at delta {certified} but not at every larger one"
            demand(certified == list(DELTAS[-len(certified) or len(DELTAS) :]), found)


def _looks(case: Case, most: int = 3) -> Iterator[tuple[Instance, Step]]:
    """Yield evidence at work on each problem, from little to much known, after at most so many decisions."""
    for setting in settings_of(case):
        instance = setting.instance()
        for number, start in enumerate(STARTS):
            given = _more_for_later_arms(instance.problem, start)
            *_, last = decisions(case, instance.problem, recorded(instance, number), given, most)
            work_in(last.view)
            yield instance, last


def _claims(problem: Problem) -> list[tuple[str, int, int, int]]:
    """Return every claim about an arm or a pair: in words, its kind, and the two arms."""
    names = problem.arms
    return [
        (words.format(names[i], names[j]), kind, i, j)
        for (kind, words), i, j in product(CLAIMS.items(), range(len(names)), range(len(names)))
        if (i == j) == (kind == FEASIBILITY)
    ]


@LAWS.state
def time_alone_adds_no_evidence(case: Case) -> None:
    """While nothing is measured no claim gains evidence, and that of a pair loses no more than its wider arm's.

    The stopping rule rests on the second half: it keeps the evidence of pairs, and lowers it as time goes on.
    """
    for instance, step in _looks(case):
        claims, state = _claims(instance.problem), step.view.state
        now = int(state.tally[CLOCK])
        values, widths = _at_clock(step.view, claims, now)
        for later in (now + 1, 2 * now, 1000 * now):
            faded, wider = _at_clock(step.view, claims, later)
            for (words, kind, i, j), value, after in zip(claims, values, faded, strict=True):
                is_finite = abs(value) < math.inf
                fall, room = (value - after, 1e-9 * (1.0 + abs(value))) if is_finite else (0.0, 0.0)
                said, others = f"after {step.counts}, {words!r}", f"by {later - now} results of other arms"
                demand(fall >= -room, f"{said} gains {-fall:g} {others}")
                allowed = max(wider[k] - widths[k] for k in (i, j))
                loses = f"{said} loses {fall:g} {others}, expected at most {allowed:g}"
                demand(kind != NON_DOMINATION or fall <= allowed + room, loses)
        state.tally[CLOCK] = now


def _at_clock(view: View, claims: list[tuple[str, int, int, int]], clock: int) -> tuple[list[float], list[float]]:
    """Return the evidence of each claim and the width of each arm at this time."""
    counts = view.state.counts.tolist()
    view.state.tally[CLOCK] = clock
    values = [claim(view, kind, (i, j), (counts[i], counts[j])) for _, kind, i, j in claims]
    return values, [difference_limit(view, i, i, 0) for i in range(len(counts))]


@LAWS.state
def feasibility_is_about_one_arm(case: Case) -> None:
    """What speaks for or against the feasibility of an arm does not depend on results of others.

    The engine works it out when it is first asked for, and keeps it until the arm has a new result.
    """
    for number, (instance, step) in enumerate(_looks(case)):
        arms, state = instance.problem.arms, step.view.state
        counts, now = state.counts.tolist(), int(state.tally[CLOCK])
        before = _feasibility(step.view)
        other, rewards = number % len(arms), recorded(instance, 1 + number)
        for k in range(3):
            observe_result(step.view.problem, state, other, rewards(arms[other], counts[other] + k))
        work_in(step.view)
        state.tally[CLOCK] = now
        for i, (was, value) in enumerate(zip(before, _feasibility(step.view), strict=True)):
            words = f"after {step.counts}, {CLAIMS[FEASIBILITY].format(arms[i])!r}"
            found = f"{words} has {value:g}, not {was:g}, after three results of {arms[other]}"
            demand(i == other or was == value, found)


def _feasibility(view: View) -> list[float]:
    counts = enumerate(view.state.counts.tolist())
    return [claim(view, FEASIBILITY, (i, i), (count, count)) for i, count in counts]


@LAWS.state
def shortcuts_lead_to_the_same(case: Case) -> None:
    """What evidence says at a glance is true: `most_weight`, `most_dominated` and the other shortcuts."""
    for instance, step in _looks(case):
        for i, j in permutations(range(len(instance.problem.arms)), 2):
            words = f"after {step.counts}, {instance.problem.arms[i]} and {instance.problem.arms[j]}:"
            for offset in (-1.0, 0.0, 1.0):
                _check_shortcuts(step.view, i, j, offset, words)


def _check_shortcuts(view: View, i: int, j: int, offset: float, words: str) -> None:
    """Check the shortcuts with a ceiling that is off M^-(i,j), and a floor that is off m^-(i,j)."""
    state, found = view.state, np.zeros(8)
    now = int(state.tally[CLOCK])
    shortcuts(view, i, j, math.inf, found)
    ceiling = found[2] + offset
    is_steady = shortcuts(view, i, j, ceiling, found)
    below, most, lead, cut, _, weight, heaviest, bar = (float(value) for value in found)
    demand(weight <= heaviest, f"{words} the first weighs {weight:g}, at most {heaviest:g} by `most_weight`")
    demand(below <= most, f"{words} m^- is {below:g}, at most {most:g} by `most_dominated`")
    wrong = f"{words} M^- is {lead:g}, but {cut:g} by `undominated_below` a ceiling of {ceiling:g}"
    demand(cut == lead if lead <= ceiling else cut > ceiling, wrong)
    for floor in (below - abs(offset) * 1e-6, below + offset):
        shortcuts(view, i, j, floor, found)
        wrong = f"{words} m^- is {below:g}, but above {floor:g} by `is_dominated_above`"
        demand(found[4] == 0.0 or below > floor, wrong)
    state.tally[CLOCK] = 1000 * now
    shortcuts(view, i, j, math.inf, found)
    state.tally[CLOCK] = now
    same = (found[0], found[2], found[7]) == (below, lead, bar)
    demand(not is_steady or same, f"{words} evidence is said to be steady, but changes with time")
