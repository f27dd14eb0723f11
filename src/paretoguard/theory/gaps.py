"""Gaps and complexities of an instance, as in the analysis of e-cAPE, in standard deviations.

For an answer (S, I) of the arms outside O*, S dominated and I infeasible:

    C(S, I) = sum over O* of max(2/Delta_i(S)^2, 2 sigma_u^2/eta_i^2) + sum over S of 2/Delta_i^2
              + sum over I of 2 sigma_u^2/eta_i^2.

The easiest answer minimises it. Only Delta_i of the arms of O* depends on S, through a maximum over S: the function is
submodular, and one linear program (a minimum cut) minimises it exactly.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy import float64
from scipy.optimize import linprog
from scipy.sparse import coo_array

from paretoguard.errors import SettingsError
from paretoguard.evidence.theorem import ALPHA, K1
from paretoguard.numeric import Floats
from paretoguard.simulation.study import Simulated
from paretoguard.theory.exact import Solved, truth


@dataclass(frozen=True)
class Complexity:
    """How hard an instance is for e-cAPE by its analysis; gaps in standard deviations, complexities in samples."""

    delta_gaps: dict[str, float]  # Delta_i, of arms of O* with S the feasible arms; nan where neither is defined
    eta: dict[str, float]  # distance to the border of the constraints
    easiest: float  # C*_M
    answer: dict[str, str]  # … and its answer
    plain: float  # C(F minus O*, F^c): every infeasible arm is called so
    H_PSI: float
    H_F: float
    sigma_u: float
    _H: float = field(repr=False)
    _arms: int = field(repr=False)
    _objectives: int = field(repr=False)

    def upper_bound(self, delta: float) -> float:
        """Return the paper's bound (corrected) on the mean samples of e-cAPE with `theorem` evidence.

        Parameters
        ----------
        delta
            The accepted error probability, between 0 and 1.
        """
        if not 0 < delta < 1:
            raise SettingsError(f"delta is {delta!r}; it is a number between 0 and 1 such as 0.05")
        size = 128 * ALPHA * self.easiest
        level = 4 * K1 * self._arms * self._objectives / delta
        log = math.log(size) + math.log(level) / ALPHA if size > 0 else 0.0  # 0: nothing is in doubt
        return 2 * size * log + 8 * self._H + _overhead(self._arms, self._objectives)


def complexity(given: Simulated) -> Complexity:
    """Return the gaps, the easiest answer and the paper's complexities of an instance.

    Raise ProblemError if theory does not cover the problem, or if its answer is not unique.

    Parameters
    ----------
    given
        An `Instance`, the name of one, or `pg.load(path)` of a file with means.

    Returns
    -------
    Complexity
        Gaps in standard deviations, and complexities in samples.
    """
    found = truth(given)
    instance = found.instance
    arms, sigma_u = instance.problem.arms, instance.problem.space().sigma_u
    gaps = _Gaps(found, sigma_u)
    chosen = gaps.easiest()
    feasible = np.flatnonzero(found.inside & ~found.optimal)
    names = {True: "dominated", False: "infeasible"}
    answer = {arm: "optimal" if found.optimal[i] else names[i in chosen] for i, arm in enumerate(arms)}
    delta_gaps = np.where(found.optimal, gaps.of_optimal(feasible), np.where(found.dominated, gaps.below, np.nan))
    with np.errstate(divide="ignore"):
        psi = float(np.sum(2 / delta_gaps[found.inside] ** 2))
    d = found.means.shape[1]
    counted = found.optimal | ~found.inside
    return Complexity(
        delta_gaps=dict(zip(arms, delta_gaps.tolist(), strict=True)),
        eta=dict(zip(arms, found.eta.tolist(), strict=True)),
        easiest=gaps.cost(chosen),
        answer=answer,
        plain=gaps.cost(feasible.tolist()),
        H_PSI=psi,
        H_F=float(np.sum(gaps.feasibility)),
        sigma_u=sigma_u,
        _H=float(np.sum(16 * math.log(5**d / d) * gaps.feasibility[counted])),
        _arms=len(arms),
        _objectives=d,
    )


class _Gaps:
    """The terms of C(S, I)."""

    def __init__(self, found: Solved, sigma_u: float) -> None:
        self.found = found
        members = found.optimal
        ahead = (found.means[:, None] - found.means[None]).max(axis=2)  # M(i, j)
        self.below = -ahead[:, members].min(axis=1, initial=math.inf)  # Delta_i of arms dominated by O*
        with np.errstate(divide="ignore"):
            self.feasibility = 2 * sigma_u**2 / found.eta**2
            self.dominance = 2 / self.below**2
        both = np.minimum(ahead, ahead.T)
        np.fill_diagonal(both, math.inf)
        self.apart = both[:, members].min(axis=1, initial=math.inf)  # delta_i^+ of arms of O*
        self.margin = np.maximum(ahead.T, 0.0) + self.below  # [i, j]: (M(j, i))_+ + Delta_j

    def of_optimal(self, S: Iterable[int]) -> Floats:
        """Return Delta_i of the arms of O*, for S [K] (of other arms it means nothing)."""
        least: Floats = np.minimum(self.apart, self.margin[:, list(S)].min(axis=1, initial=math.inf))
        return least

    def cost(self, S: Iterable[int]) -> float:
        """Return C(S, I), with I the other arms outside O*."""
        found, S = self.found, list(S)
        others = np.setdiff1d(np.flatnonzero(~found.optimal), S)
        with np.errstate(divide="ignore"):
            optimal = np.maximum(2 / self.of_optimal(S) ** 2, self.feasibility)[found.optimal]
        return float(optimal.sum() + self.dominance[S].sum() + self.feasibility[others].sum())

    def easiest(self) -> list[int]:
        """Return S of the easiest answer: a step of the cost of an arm of O* is paid if an arm of S asks for it."""
        found = self.found
        endless = found.either & np.isinf(self.feasibility)  # on the border: only "dominated" can be proven
        fixed = np.flatnonzero((found.inside & ~found.optimal) | endless).tolist()
        either = np.flatnonzero(found.either & ~endless & np.isfinite(self.dominance)).tolist()
        if not either:
            return fixed
        n = len(either)
        costs = [self.dominance[i] - self.feasibility[i] for i in either]  # of x_i = 1: in S
        rows: list[tuple[int, int]] = []  # (step, place in `either`): the step must be paid if that arm is in S
        with np.errstate(divide="ignore"):
            ground = np.maximum(2 / self.of_optimal(fixed) ** 2, self.feasibility)
            asked = 2 / self.margin**2
        for i in np.flatnonzero(found.optimal):
            paid = ground[i]
            for place in np.argsort(asked[i, either], kind="stable"):
                level = asked[i, either[place]]
                if level > paid:
                    step = len(costs)
                    costs.append(level - paid)
                    rows += [(step, int(k)) for k in range(n) if asked[i, either[k]] >= level]
                    paid = level
        scale = max(abs(cost) for cost in costs) or 1.0
        places = np.repeat(np.arange(len(rows)), 2)
        columns = np.array([[place, step] for step, place in rows], dtype=int).reshape(-1)
        A = coo_array((np.tile([1.0, -1.0], len(rows)), (places, columns)), shape=(len(rows), len(costs)))
        solved = linprog(
            np.array(costs) / scale, A_ub=A.tocsr() if rows else None, b_ub=np.zeros(len(rows)) if rows else None,
            bounds=(0, 1), method="highs-ds",
        )  # fmt: skip
        return fixed + [i for i, share in zip(either, solved.x[:n], strict=True) if share > 0.5]


def _overhead(arms: int, d: int) -> float:
    """Return Lambda_alpha: 2^(alpha-1)/(4 k1) sum over T of (log T + 1)(f(T, d/5^d) + f(T, 1) + 2/e)/T^(alpha-1)."""
    s, level = ALPHA - 1, math.log(4 * K1 * arms * d)
    constant = 2 * level + math.log(5**d / d) + 2 / math.e
    sums = [_log_zeta(s, power) for power in range(3)]  # of log(T)^power / T^s
    total = constant * (sums[1] + sums[0]) + 2 * ALPHA * (sums[2] + sums[1])
    return 2 ** (ALPHA - 1) / (4 * K1) * total


def _log_zeta(s: float, power: int, start: int = 1000) -> float:
    """Return the sum over T >= 1 of log(T)^power / T^s: terms up to `start`, then Euler and Maclaurin."""
    T = np.arange(1, start, dtype=float64)
    head = float(np.sum(np.log(T) ** power / T**s))
    log, tail = math.log(start), 0.0
    for k in range(power + 1):  # the integral from `start` on
        tail += math.factorial(power) / math.factorial(power - k) * log ** (power - k) / (s - 1) ** (k + 1)
    value = log**power / start**s
    slope = (power * log ** max(power - 1, 0) - s * log**power) / start ** (s + 1)
    return float(head + start ** (1 - s) * tail + value / 2 - slope / 12)
