"""The slow twin: every algorithm and the verdicts at any time, written from the definitions, in plain Python.

It imports nothing from the package. Arithmetic is written in the same order as in the engine (for instance a width is
sqrt(2 f) * sqrt(1/N_i + 1/N_j), not sqrt(2 f/N_i + 2 f/N_j)), because two formulas that are equal on paper may differ
in the last bit and so break a tie differently. Everything else is the most literal reading of the definitions.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

INF = math.inf


@dataclass
class TwinProblem:
    """A problem in engine units: unit rows over the noisy coordinates, then the exact coordinates."""

    arms: int
    noisy: int
    compared: int
    compared_exact: int
    order: list[int]
    scale: list[float]
    A: list[list[float]]
    b: list[float]
    exact_part: list[list[float]]
    exact_A: list[list[float]]
    exact_b: list[float]
    tolerance: list[float]
    row_tolerance: list[float]
    exact_row_tolerance: list[float]
    row_sigma: list[float]
    learnt: list[int]
    row_learnt: list[int]
    least: list[float]  # of coordinates with values in a range, 2 wide
    binary: list[bool]  # … of which only the ends
    correlation: list[list[float]]
    needed: list[int]
    row_group: list[int]
    row_groups: int
    independent: bool
    gaussian: bool
    sigma_u: float
    stated: Any  # as the user states it

    @property
    def objectives(self) -> int:
        return len(self.scale)

    @property
    def compared_noisy_places(self) -> range:
        return range(self.compared)

    @property
    def compared_exact_places(self) -> range:
        return range(self.noisy, self.noisy + self.compared_exact)


def distance(A: Sequence[Sequence[float]], b: Sequence[float], x: Sequence[float]) -> float:
    """Distance from x to {y : A y <= b}, by trying every set of tight rows; inf if the set is empty."""
    d = len(x)
    if all(sum(1 for a in row if a != 0.0) == 1 for row in A):  # a box: clip each coordinate
        total = 0.0
        for c in range(d):
            low = max((-bound for row, bound in zip(A, b, strict=True) if row[c] < 0.0), default=-INF)
            high = min((bound for row, bound in zip(A, b, strict=True) if row[c] > 0.0), default=INF)
            if low > high:
                return INF
            gap = max(low - x[c], x[c] - high, 0.0)
            total += gap * gap
        return math.sqrt(total)
    if len(A) == 1:
        return max(0.0, sum(a * v for a, v in zip(A[0], x, strict=True)) - b[0])
    matrix, bound, point = np.array(A), np.array(b), np.array(x)
    best = INF
    for size in range(min(d, len(A)) + 1):
        for rows in itertools.combinations(range(len(A)), size):
            tight = matrix[list(rows)]
            if np.linalg.matrix_rank(tight, tol=1e-9) < size:
                continue
            step = np.linalg.pinv(tight) @ (tight @ point - bound[list(rows)]) if size else np.zeros(d)
            if np.all(matrix @ (point - step) <= bound + 1e-11):
                best = min(best, float(np.linalg.norm(step)))
    return best


@dataclass
class Twin:
    """One run of an algorithm, with evidence "practical", "theorem" or "hanson-wright"."""

    problem: TwinProblem
    evidence: str
    delta: float
    counts: list[int] = field(default_factory=list)
    sums: list[list[float]] = field(default_factory=list)
    means: list[list[float]] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)
    eta: list[float] = field(default_factory=list)
    results: list[list[list[float]]] = field(default_factory=list)  # of each arm, in engine units
    rounds: int = 0  # racing: judged
    decided: dict[int, int] = field(default_factory=dict)  # … arms that left the race
    vouched: set[int] = field(default_factory=set)  # racing with a tolerance: arms once certified feasible
    kept: list[int] | None = None  # two-stage: arms found feasible
    front: list[int] = field(default_factory=list)  # two-stage: the Pareto set of their means

    def __post_init__(self) -> None:
        K, d = self.problem.arms, self.problem.objectives
        self.counts = [0] * K
        self.sums = [[0.0] * d for _ in range(K)]
        self.means = [[0.0] * d for _ in range(K)]
        self.inside = [False] * K
        self.eta = [0.0] * K
        self.results = [[] for _ in range(K)]

    # --- results ---
    @property
    def t(self) -> int:
        return sum(self.counts)

    def observe(self, arm: int, reward: Sequence[float]) -> None:
        problem = self.problem
        self.counts[arm] += 1
        self.results[arm].append([reward[problem.order[c]] * problem.scale[c] for c in range(problem.objectives)])
        for c, value in enumerate(self.results[arm][-1]):
            self.sums[arm][c] += value
            self.means[arm][c] = self.sums[arm][c] / self.counts[arm] if c < problem.noisy else value
        self.locate(arm)

    def locate(self, arm: int) -> None:
        problem, x = self.problem, self.means[arm]
        noisy, exact = x[: problem.noisy], x[problem.noisy :]
        for row, bound, slop in zip(problem.exact_A, problem.exact_b, problem.exact_row_tolerance, strict=True):
            used = 0.0
            for a, v in zip(row, exact, strict=True):
                used += a * v
            if used - bound > slop / 2:
                self.inside[arm], self.eta[arm] = False, INF
                return
        rhs = self.bounds(arm)
        slacks = self.slacks(arm)
        self.inside[arm] = all(s >= -slop / 2 for s, slop in zip(slacks, problem.row_tolerance, strict=True))
        if self.inside[arm]:
            self.eta[arm] = min((s + slop for s, slop in zip(slacks, problem.row_tolerance, strict=True)), default=INF)
        else:
            self.eta[arm] = distance(problem.A, rhs, noisy)

    def bounds(self, arm: int) -> list[float]:
        """The right-hand sides of the noisy rows, given the exact coordinates."""
        rhs = []
        for bound, part in zip(self.problem.b, self.problem.exact_part, strict=True):
            for a, v in zip(part, self.means[arm][self.problem.noisy :], strict=True):
                bound -= a * v
            rhs.append(bound)
        return rhs

    def slacks(self, arm: int) -> list[float]:
        slacks = []
        for row, bound in zip(self.problem.A, self.bounds(arm), strict=True):
            for a, v in zip(row, self.means[arm][: self.problem.noisy], strict=True):
                bound -= a * v
            slacks.append(bound)
        return slacks

    # --- evidence ---
    def prepare(self) -> None:
        """Everything that the definitions name, at the present time."""
        K, t = self.problem.arms, max(self.t, 1)
        d = self.problem.objectives
        if self.evidence == "practical":
            f = g = math.log(max(1.0, math.log(t)) / self.delta)
            sigma_u = 1.0
        elif self.evidence == "hanson-wright":
            k1 = 1.0 + 1.0 / 1.01 + 1e-9
            f = math.log(4.0 * k1 * K * max(self.problem.noisy, 1) / self.delta) + 2.01 * math.log(t)
            sigma_u = self.problem.sigma_u
            x = math.log(2.0 * k1 * K / self.delta) + 2.01 * math.log(t)
            reach = math.sqrt(max(self.problem.noisy, 1)) / sigma_u + math.sqrt(2.0 * x)
            g = 0.5 * reach * reach
        elif self.evidence == "theorem":
            alpha = 2.01
            k1 = 1.0 + 1.0 / (alpha - 1.0) + 1e-9
            f = (math.log(4.0 * k1 * K / self.delta) + math.log(d)) + alpha * math.log(t)
            g = 4.0 * ((math.log(4.0 * k1 * K / self.delta) + d * math.log(5.0)) + alpha * math.log(t))
            sigma_u = self.problem.sigma_u
        else:
            raise ValueError(f"no thresholds are written here for {self.evidence!r}")
        self.scale = math.sqrt(2.0 * f)
        self.gamma = [
            n * eta * eta / (2.0 * sigma_u * sigma_u) - g if n else -INF
            for n, eta in zip(self.counts, self.eta, strict=True)
        ]
        self.sort_arms()

    def sort_arms(self) -> None:
        arms = range(self.problem.arms)
        self.inverse = [1.0 / n if n else INF for n in self.counts]
        self.F = {i for i in arms if self.inside[i]}
        self.O = {i for i in self.F if not any(j != i and self.beats(j, i) for j in self.F)}
        self.G = {i for i in arms if i not in self.F and self.gamma[i] < 0}
        self.C = self.F | self.G

    def beats(self, j: int, i: int) -> bool:
        places = (*self.problem.compared_noisy_places, *self.problem.compared_exact_places)
        x, y, slop = self.means[i], self.means[j], self.problem.tolerance
        return all(x[c] + slop[c] / 2 <= y[c] for c in places)

    def width(self, i: int, j: int) -> float:
        if self.evidence == "practical":
            return self.scale * math.sqrt(self.inverse[i] + self.inverse[j])
        return self.scale * (math.sqrt(self.inverse[i]) + math.sqrt(self.inverse[j]))

    def gain(self, i: int, j: int) -> float:
        """m(i,j): by how much j is ahead of i where it is least ahead."""
        x, y = self.means[i], self.means[j]
        if any(x[c] > y[c] for c in self.problem.compared_exact_places):
            return -INF
        return min((y[c] - x[c] for c in self.problem.compared_noisy_places), default=INF)

    def leads(self, i: int, j: int) -> list[float]:
        """By how much i is ahead of j, up to the tolerance, in each noisy coordinate; [inf] if an exact one says so."""
        x, y, slop = self.means[i], self.means[j], self.problem.tolerance
        if any(x[c] + slop[c] > y[c] for c in self.problem.compared_exact_places):
            return [INF]
        return [x[c] - y[c] + slop[c] for c in self.problem.compared_noisy_places]

    def m_minus(self, i: int, j: int) -> float:
        return self.gain(i, j) - self.width(i, j)

    def M_minus(self, i: int, j: int) -> float:
        return max(self.leads(i, j), default=-INF) - self.width(i, j)

    # --- the stopping rule ---
    def xi(self, i: int) -> float:
        return max((self.m_minus(i, j) for j in sorted(self.C) if j != i), default=-INF)

    def z1f(self) -> tuple[float, int]:
        return min(((self.gamma[i], i) for i in self.O), default=(INF, -1))

    def z1p(self) -> tuple[float, int]:
        pairs = ((self.M_minus(i, j), i, j) for i in self.O for j in self.O if i != j)
        value, i, _ = min(pairs, default=(INF, -1, -1))
        return value, i

    def z2(self) -> tuple[float, int]:
        others = [i for i in range(self.problem.arms) if i not in self.O]
        terms = ((self.xi(i) if i in self.F else max(self.gamma[i], self.xi(i)), i) for i in others)
        return min(terms, default=(INF, -1))

    def stops(self) -> bool:
        return self.z1f()[0] >= 0 and self.z1p()[0] >= 0 and self.z2()[0] >= 0

    # --- algorithms ---
    def decide(self, algorithm: str) -> list[int]:
        """The arms to pull next; [] when the answer is found."""
        unseen = [i for i, n in enumerate(self.counts) if n == 0]
        if unseen:
            return unseen
        self.prepare()
        if algorithm == "racing":
            return self.racing()
        if algorithm.startswith("two-stage"):
            return self.two_stage(algorithm)
        if self.stops():
            return []
        return [self.t % self.problem.arms] if algorithm == "uniform" else self.ecape()

    def batch(self, algorithm: str, size: int) -> list[int]:
        """`size` arms to pull before the next decision; [] when the answer is found.

        Pending pulls count in the sampling rule, as if they had been made and had left the means where they are, and
        never in the evidence on which to stop.
        """
        chosen = self.decide(algorithm)[:size]
        if not chosen:
            return []
        if 0 in self.counts:
            chosen = []
            while len(chosen) < size:
                chosen.append(min((n + chosen.count(i), i) for i, n in enumerate(self.counts))[1])
            return chosen
        real = list(self.counts)
        while len(chosen) < size:
            self.counts = [n + chosen.count(i) for i, n in enumerate(real)]
            self.prepare()
            chosen += self.select(algorithm) or [chosen[0]]
        self.counts = real
        return chosen[:size]

    def select(self, algorithm: str) -> list[int]:
        """The sampling rule alone; [] when it has no wish."""
        if algorithm == "uniform":
            return [self.t % self.problem.arms]
        if algorithm == "racing":
            active = [i for i in range(self.problem.arms) if i not in self.decided]
            most = max(self.counts[i] for i in active)
            return [i for i in active if self.counts[i] < most] or active
        if algorithm.startswith("two-stage"):
            if self.kept is None:
                unsure = [(math.sqrt(n) * eta, i) for i, (n, eta) in enumerate(zip(self.counts, self.eta, strict=True))]
                return [min(pair)[1]] if (pair := [u for u in unsure if self.gamma[u[1]] < 0]) else []
            return self.two_stage(algorithm)
        return [] if self.stops() else self.ecape()

    def ecape(self) -> list[int]:
        z2, leader = self.z2()
        if z2 >= 0:
            z1f, feasible = self.z1f()
            z1p, first = self.z1p()
            leader = feasible if z1p >= z1f else first
        rivals = [(self.M_minus(leader, j), j) for j in self.C if j != leader]
        return [leader, min(rivals)[1]] if rivals else [leader]

    def racing(self) -> list[int]:
        """Judge the round that has just ended; the arms still active, or [] when all are decided.

        A round has ended when every active arm has one more result. With batches a decision may come in the middle of
        a round: then the round goes on.
        """
        active = [i for i in range(self.problem.arms) if i not in self.decided]
        done = min((self.counts[i] for i in active), default=0)
        if done > self.rounds:
            self.rounds = done
            self.judge(active)
            active = [i for i in active if i not in self.decided]
        most = max((self.counts[i] for i in active), default=0)
        return [i for i in active if self.counts[i] < most] or active

    def judge(self, active: list[int]) -> None:
        """Who is out, and then who is optimal among the rest."""
        sure = {i for i in active if self.inside[i] and self.gamma[i] > 0}
        if any(self.problem.row_tolerance) or any(self.problem.exact_row_tolerance):
            self.vouched |= sure  # once feasible up to a tolerance, always so
            sure |= self.vouched
        out = {i: 3 for i in active if i not in self.vouched and not self.inside[i] and self.gamma[i] > 0}
        for i in active:
            judges = [j for j in active if j != i and j in sure]
            if i not in out and any(self.m_minus(i, j) > 0 for j in judges):
                out[i] = 2
        rest = [i for i in active if i not in out]
        best = {
            i: 1
            for i in rest
            if i in sure and all(self.M_minus(i, j) > 0 and self.M_minus(j, i) > 0 for j in rest if j != i)
        }
        self.decided |= out | best

    def two_stage(self, algorithm: str) -> list[int]:
        """MD-APT until every arm is on a certain side, then APE on those inside; "two-stage" or "two-stage:e-cape"."""
        K = self.problem.arms
        if self.kept is None:
            unsure = [(math.sqrt(self.counts[i]) * self.eta[i], i) for i in range(K) if self.gamma[i] < 0]
            if unsure:
                return [min(unsure)[1]]
            self.kept = sorted(self.F)
        A = self.kept
        self.front = [i for i in A if not any(j != i and self.beats(j, i) for j in A)]
        xi = {i: max((self.m_minus(i, j) for j in A if j != i), default=-INF) for i in A}
        z = min(((xi[i], i) for i in A if i not in self.front), default=(INF, -1))
        pair = min(
            ((self.M_minus(i, j), i, j) for i in self.front for j in self.front if i != j), default=(INF, -1, -1)
        )
        if z[0] >= 0 and pair[0] >= 0:
            return []
        if algorithm == "two-stage:e-cape":
            b = z[1] if z[0] < 0 else pair[1]
            return [b, min((self.M_minus(b, j), j) for j in A if j != b)[1]]
        least = {i: min(self.M_minus(i, j) for j in A if j != i) for i in A}
        plus = {i: min(-self.m_minus(i, j) for j in A if j != i) for i in A}  # M^+(i,j) = -m^-(i,j)
        open_arms = [(-plus[i], i) for i in A if not least[i] > 0]
        b = min(open_arms)[1] if open_arms else min((least[i], i) for i in A)[1]
        c = min((self.M_minus(b, j), j) for j in A if j != b)[1]
        return [min((self.counts[i], i) for i in (b, c))[1]]

    def answer(self, algorithm: str = "e-cape") -> list[int]:
        """Codes 1 optimal, 2 dominated, 3 infeasible."""
        if algorithm == "racing":
            return [self.decided[i] for i in range(self.problem.arms)]
        if algorithm.startswith("two-stage"):
            assert self.kept is not None
            return [1 if i in self.front else 2 if i in self.kept else 3 for i in range(self.problem.arms)]
        return [1 if i in self.O else 2 if i in self.C else 3 for i in range(self.problem.arms)]

    # --- verdicts at any time ---
    def verdicts(self) -> list[int]:
        """Codes 0 undecided, 1 optimal, 2 dominated, 3 infeasible, from chains of certified claims."""
        self.prepare()
        K = self.problem.arms
        seen = [n > 0 for n in self.counts]  # nothing is certain of the others
        below = [[i != j and seen[i] and seen[j] and self.m_minus(i, j) >= 0 for j in range(K)] for i in range(K)]
        for k, i, j in itertools.product(range(K), repeat=3):  # transitive closure
            below[i][j] = below[i][j] or (below[i][k] and below[k][j])
        feasible = [self.inside[i] and self.gamma[i] >= 0 for i in range(K)]
        infeasible = [not self.inside[i] and self.gamma[i] >= 0 for i in range(K)]
        codes = []
        for i in range(K):
            clear = [k == i or (seen[k] and self.M_minus(i, k) >= 0) for k in range(K)]
            beaten = any(below[i][j] and feasible[j] for j in range(K) if j != i)
            unbeaten = feasible[i] and all(
                infeasible[j]
                or clear[j]
                # below an arm that i is not below; below i itself does not count where the two are certified equal
                or any(below[j][k] and clear[k] and not (k == i and below[i][j]) for k in range(K))
                for j in range(K)
            )
            codes.append(3 if infeasible[i] else 1 if unbeaten else 2 if beaten else 0)
        return codes


def play(
    twin: Twin, algorithm: str, reward: Callable[[int, int], Sequence[float]], budget: int
) -> tuple[list[int], list[int]]:
    """A whole run: (arms pulled in order, codes)."""
    pulled: list[int] = []
    while True:
        queue = twin.decide(algorithm)
        if not queue:
            return pulled, twin.answer(algorithm)
        if twin.t >= budget:
            return pulled, twin.verdicts()
        for arm in queue[: budget - twin.t]:
            twin.observe(arm, reward(arm, twin.counts[arm]))
            pulled.append(arm)
