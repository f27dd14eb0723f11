"""Lower bounds: an algorithm that errs with probability <= delta needs about T log(1/delta) samples or more.

For Gaussian, independent objectives: for cPSI at every delta, for e-cPSI (which has several right answers) as delta
goes to 0.

1/T is the maximum, over weights of the arms, of the weighted distance to the nearest way to be wrong. For cPSI the ways
are those of `geometry/nearest_alternative.py`. For e-cPSI an arm that is both infeasible and dominated has two right
reasons, of which an answer gives one; given the weights each such arm takes the better one:

    1/T = max over w of min(ways common to all answers, min over such arms of max(undominated_i(w), feasible_i(w))).

The maximum is found by branch and bound over those arms; all branches share their cuts.
"""

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoguard.errors import SettingsError
from paretoguard.geometry.cheapest_entry import Entrant
from paretoguard.geometry.nearest_alternative import alternative, entering_alternative
from paretoguard.geometry.polyhedron import Polyhedron, polyhedron
from paretoguard.numeric import Floats
from paretoguard.problem.noise import Gaussian
from paretoguard.simulation.study import Simulated
from paretoguard.theory.cuts import Best, Way, maximise
from paretoguard.theory.exact import Solved, truth
from paretoguard.trial.checks import check_delta
from paretoguard.vocabulary import ASYMPTOTIC, CPSI, E_CPSI, FINITE_SAMPLE, STATUSES, TASKS

_GAP = 1e-3
_LEAVES, _FALLS, _JOINS, _RISES, _ENTERS, _EITHER = range(6)  # kinds of ways to be wrong
_, _OPTIMAL, _DOMINATED, _INFEASIBLE = STATUSES
_OTHER = "not returned"


@dataclass(frozen=True)
class LowerBound:
    """T with its bracket: any algorithm needs about `value` * log(1/delta) samples for a small delta.

    `guarantee` is "finite-sample" (cPSI) or "asymptotic" (e-cPSI), under the `assumption`. `weights` are the shares of
    samples that reach `upper`; `answer` is the status of each arm in the easiest answer.
    """

    task: str
    value: float
    lower: float
    upper: float
    weights: dict[str, float]
    answer: dict[str, str]
    hard: dict[str, float]  # what holds the bound up, in words, and its share of the difficulty
    guarantee: str
    assumption: str

    @property
    def gap(self) -> float:
        """The width of the bracket relative to the value."""
        return (self.upper - self.lower) / self.value if self.value > 0 else 0.0

    def samples(self, delta: float) -> float:
        """Return the bound on the mean number of samples: T times kl(delta, 1 - delta), the divergence of two coins.

        For cPSI it holds at this delta; for e-cPSI it is the value of the asymptotic bound. Above 1/2 a guess will do.

        Parameters
        ----------
        delta
            The accepted error probability, between 0 and 1.
        """
        delta = check_delta(delta)
        return self.lower * (1 - 2 * delta) * math.log((1 - delta) / delta) if delta < 0.5 else 0.0


def lower_bound(instance: Simulated, task: str = E_CPSI, *, time_limit: float = 60.0) -> LowerBound:
    """Return T* of cPSI or T*_M of e-cPSI: any algorithm needs about T* log(1/delta) samples.

    Raise ProblemError if theory does not cover the problem, or if its answer is not unique.

    Parameters
    ----------
    instance
        An `Instance`, the name of one, or `pg.load(path)` of a file with means.
    task
        "cpsi": the best arms alone; "e-cpsi": with a reason for every other arm.
    time_limit
        Seconds to narrow the bracket to 0.1%; after that the bracket is as wide as it is.

    Returns
    -------
    LowerBound
        The bound with its bracket, and what holds it up.
    """
    if task not in TASKS:
        raise SettingsError(f"task is {task!r}; expected one of {', '.join(TASKS)}")
    found, end = truth(instance), time.monotonic() + time_limit

    def out_of_time() -> bool:
        return time.monotonic() > end

    if task == CPSI:
        ways = [*_common(found), *(_rising(found, found.region, int(i)) for i in np.flatnonzero(~found.optimal))]
        best = maximise(ways, len(found.means), _GAP, out_of_time=out_of_time)
        return _bound(found, task, best, dict.fromkeys(np.flatnonzero(~found.optimal).tolist(), _OTHER))
    best, chosen = _branch(found, out_of_time)
    return _bound(found, task, best, chosen)


def _bound(found: Solved, task: str, best: Best, chosen: dict[int, str]) -> LowerBound:
    problem = found.instance.problem
    names = {arm: _OPTIMAL if found.optimal[i] else chosen[i] for i, arm in enumerate(problem.arms)}
    upper, lower = (1.0 / value if value > 0 else math.inf for value in (best.lower, best.upper))
    weights = {arm: float(share) for arm, share in zip(problem.arms, best.weights, strict=True)}
    hard = {_words(found, what): share for what, share in sorted(best.shares.items(), key=lambda item: -item[1])}
    guarantee = FINITE_SAMPLE if task == CPSI else ASYMPTOTIC
    assumption = "Gaussian, independent objectives of the declared scales"
    is_gaussian = all(isinstance(noise, Gaussian) for noise in problem.noise.values())
    if not is_gaussian or (problem.dependence != "independent" and len(problem.objectives) > 1):
        assumption += "; declared otherwise, it may take fewer"
    return LowerBound(task, upper, lower, upper, weights, names, hard, guarantee, assumption)


def _words(found: Solved, what: tuple[int, int, int]) -> str:
    kind, i, other = what
    problem = found.instance.problem
    arms = problem.arms
    if kind == _LEAVES:
        row = problem.constraints[problem.engine_rows()[other].constraint]
        return f"{arms[i]} is close to violating {row}"
    if kind == _FALLS:
        return f"{arms[i]} is close to being dominated by {arms[other]}"
    being = {_JOINS: "one of the best", _RISES: "undominated", _ENTERS: "feasible", _EITHER: "feasible or undominated"}
    return f"{arms[i]} is close to being {being[kind]}"


# --- ways to be wrong ------------------------------------------------------------------------------------------------


def _common(found: Solved) -> list[Way]:
    """Return the ways in which an arm of O* leaves the constraints, or becomes dominated by another of O*."""
    K = len(found.means)
    members = np.flatnonzero(found.optimal)
    ways = []
    for i in members:
        if math.isfinite(found.eta[i]):
            row = int(np.argmin(found.region.b - found.region.A @ found.means[i]))
            ways.append(_linear(int(i), 0.5 * found.eta[i] ** 2, K, (_LEAVES, int(i), row)))
    for i, j in itertools.permutations(members, 2):
        square = float(np.sum(np.maximum(found.means[i] - found.means[j], 0.0) ** 2))
        ways.append(Way(_meeting(int(i), int(j), square, K), (_FALLS, int(i), int(j))))
    return ways


def _linear(i: int, slope: float, arms: int, what: tuple[int, int, int]) -> Way:
    cut = np.zeros(arms)
    cut[i] = slope
    return Way(lambda w: cut, what, is_linear=True)


def _meeting(i: int, j: int, square: float, arms: int) -> Callable[[Floats], Floats]:
    def gradient(w: Floats) -> Floats:
        cut, total = np.zeros(arms), w[i] + w[j]
        share = w[i] / total if total > 0 else 0.5
        cut[i], cut[j] = 0.5 * square * (1 - share) ** 2, 0.5 * square * share**2
        return cut

    return gradient


def _rising(found: Solved, region: Polyhedron, i: int) -> Way:
    """Return the way in which arm i enters the region (or rises, in the whole space), undominated by O*."""
    K, d = found.means.shape
    memory = alternative(K, d, len(region.b))

    def gradient(w: Floats) -> Floats:
        entering_alternative(Entrant(region, found.means, w, i), found.answer, memory)
        return memory.half.copy()

    return Way(gradient, (_JOINS if len(region.b) else _RISES, i, -1))


# --- e-cPSI ----------------------------------------------------------------------------------------------------------


def _branch(found: Solved, out_of_time: Callable[[], bool]) -> tuple[Best, dict[int, str]]:
    """Branch and bound, best first: the branch with the largest upper bound is solved next."""
    K, d = found.means.shape
    free = polyhedron(np.zeros((0, d)), np.zeros(0))
    outside = np.flatnonzero(~found.inside)
    feasible = {int(i): _linear(int(i), 0.5 * found.eta[i] ** 2, K, (_ENTERS, int(i), -1)) for i in outside}
    undominated = {int(i): _rising(found, free, int(i)) for i in np.flatnonzero(found.dominated)}
    either = np.flatnonzero(found.either).tolist()
    fixed = {int(i): _DOMINATED for i in np.flatnonzero(found.inside & ~found.optimal)}
    fixed |= {int(i): _INFEASIBLE for i in np.flatnonzero(~found.inside & ~found.dominated)}
    common = [*_common(found), *(undominated[i] if why == _DOMINATED else feasible[i] for i, why in fixed.items())]

    def sum_of(i: int) -> Way:
        """Return a concave upper bound of the better of the two reasons: their sum."""
        return Way(lambda w: undominated[i].gradient(w) + feasible[i].gradient(w), (_EITHER, i, -1))

    either_way = {i: sum_of(i) for i in either}

    def ways(chosen: dict[int, str]) -> list[Way]:
        picked = [undominated[i] if why == _DOMINATED else feasible[i] for i, why in chosen.items()]
        return [*common, *picked, *(either_way[i] for i in either if i not in chosen)]

    def better(w: Floats) -> dict[int, str]:
        return {i: _DOMINATED if undominated[i].value(w) >= feasible[i].value(w) else _INFEASIBLE for i in either}

    def solve(chosen: dict[int, str], **more: Any) -> Best:
        return maximise(ways(chosen), K, _GAP / 2, out_of_time=out_of_time, **more)

    root = solve({})
    if not either:
        return root, fixed
    answer = better(root.weights)
    best = solve(answer, start=root.weights)
    for _ in range(10):  # let each arm choose again at the weights found
        other = better(best.weights)
        if other == answer:
            break
        found_now = solve(other, start=best.weights, enough=best.lower)
        if found_now.lower <= best.lower:
            break
        answer, best = other, found_now
    order = itertools.count()
    heap: list[tuple[float, int, dict[int, str], Floats]] = [(-root.upper, next(order), {}, root.weights)]
    closed = 0.0  # no branch that was left is worth more
    while heap and -heap[0][0] > best.lower * (1 + _GAP) and not out_of_time():
        _, _, chosen, w = heapq.heappop(heap)
        free_arms = (i for i in either if i not in chosen)
        i = min(free_arms, key=lambda i: max(undominated[i].value(w), feasible[i].value(w)))
        for why in (_DOMINATED, _INFEASIBLE):
            child = {**chosen, i: why}
            here = solve(child, enough=best.lower * (1 + _GAP / 2))
            leaf = better(here.weights) | child
            if min(way.value(here.weights) for way in ways(leaf)) > best.lower:
                answer, best = leaf, solve(leaf, start=here.weights)
            if here.upper > best.lower * (1 + _GAP / 2) and len(child) < len(either):
                heapq.heappush(heap, (-here.upper, next(order), child, here.weights))
            else:
                closed = max(closed, here.upper)
    top = max(best.lower, closed, -heap[0][0] if heap else 0.0)
    return Best(best.weights, best.lower, top, best.shares), {**fixed, **answer}
