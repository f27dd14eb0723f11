"""Twins of the kinds of evidence that are more than two thresholds: `certified` and `lil`, from their definitions."""

import itertools
import math

import numpy as np
from scipy import optimize

from paretoguard.evidence.kaufmann_koolen import (
    threshold,  # compared with the values of the literature in test_evidence
)
from twin import INF, Twin


def log_twice_phi(z: float) -> float:
    """log(2 Phi(z))."""
    return math.log1p(math.erf(z * math.sqrt(0.5)))


def log_sum(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high if low == -INF or high == INF else high + math.log1p(math.exp(low - high))


def xlog(share: float, rate: float) -> float:
    """share * log(rate); 0 where the share is."""
    return share * math.log(rate) if share > 0.0 else 0.0


def log_gamma(z: float) -> float:
    """Stirling's series, the argument raised to 12 first; test_mixtures compares it with the literature."""
    product = 1.0
    while z < 12.0:
        product, z = product * z, z + 1.0
    inverse = 1.0 / z
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    value = (z - 0.5) * math.log(z) - z + 0.5 * math.log(2.0 * math.pi) + series
    return value if product == 1.0 else value - math.log(product)


class CertifiedTwin(Twin):
    """E-values for every claim; pairs in the form of widths whose sign is that of the claim."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.so_far: dict[tuple[int, int, int], tuple[int, tuple[float, float], float]] = {}
        self.gains: dict[tuple[int, int, bool, float, float], list[float]] = {}

    def prepare(self) -> None:
        problem = self.problem
        K, d, rows = problem.arms, problem.compared, len(problem.A)
        share = 0.5 if rows and K > 1 else 1.0
        self.row_bar = math.log(K / (share * self.delta))
        self.pair_bar = math.log(max(K * (K - 1), 1) / (share * self.delta))
        several = float(self.evidence.partition("several=")[2] or 0.0) if K > 2 else 0.0
        self.together_bars = {
            size: self.pair_bar + math.log(math.comb(K - 1, size) * (min(4, K - 1) - 1) / (several * (K - 1)))
            for size in range(2, min(4, K - 1) + 1)
            if several
        }
        self.pair_bar -= math.log(1.0 - several)
        self.q = [(n + 100.0) / (float(n) * n) if n else INF for n in self.counts]  # 1/q
        self.p = [0.5 * math.log((n + 100.0) / 100.0) for n in self.counts]
        known = (problem.independent or problem.correlation) and d > 1 and not any(problem.learnt)
        self.joint = bool(known and (problem.independent or d <= 6))
        one_of = 0.75 / d + 0.25 * 0.5**d if self.joint else 1.0 / max(d, 1)
        self.below_bar, self.lead_bar = self.pair_bar - math.log(one_of * max(d, 1)), self.pair_bar - math.log(one_of)
        self.joint_bar = self.pair_bar - math.log(0.25) + d * math.log(2.0)
        if self.evidence == "certified:order=asked":
            self.joint, bar = False, self.pair_bar + math.log(3.0 * max(d, 1))
            self.below_bar = self.lead_bar = optimize.brentq(lambda u: u - math.log(1.0 + u) - bar, bar, 10 * bar + 10)
        self.gamma = [self.weigh(i) - self.row_bar if self.counts[i] else -INF for i in range(K)]
        self.sort_arms()

    def weigh(self, i: int) -> float:
        problem = self.problem
        if not self.inside[i] and self.eta[i] == INF:
            return INF
        if any(problem.learnt) and self.counts[i] < 30:
            return -1e30 / (1.0 + self.counts[i])
        found = self.weigh_rows(i)
        return self.row_bar - 1e-9 if found == -INF and any(problem.learnt) else found

    def weigh_rows(self, i: int) -> float:
        problem = self.problem
        if self.inside[i]:
            slops = enumerate(problem.row_tolerance)
            return min((self.row_value(i, row, slop, holds=True) for row, slop in slops), default=INF)
        values = {r: self.row_value(i, r, 0.0, holds=False) for r, needed in enumerate(problem.needed) if needed}
        members = [[v for r, v in values.items() if problem.row_group[r] == k] for k in range(problem.row_groups)]
        average, product = -INF, 0.0
        for group in members or [list(values.values())]:
            total = -INF
            for value in group:
                total = log_sum(total, value)
            average = log_sum(average, total)
            product += log_sum(0.0, total - math.log(len(group))) - math.log(2.0)
        average -= math.log(len(values))
        return average if len(members) < 2 else log_sum(average, product) - math.log(2.0)

    def row_value(self, i: int, row: int, slop: float, *, holds: bool) -> float:
        """The e-value that a row holds, up to its tolerance, or fails."""
        slack, scale = self.slacks(i)[row], self.row_scale(i, row)
        if scale == INF:
            return -INF
        by_sums = self.row((slack + slop if holds else -slack) / (scale * math.sqrt(self.q[i])), i)
        wealth = self.wealth(i, row, slop, holds)
        return by_sums if wealth is None else log_sum(by_sums, wealth) - math.log(2.0)

    def row_scale(self, i: int, row: int) -> float:
        """Declared or, along a row over an objective of unknown scale, that of the results."""
        if not self.problem.row_learnt[row]:
            return self.problem.row_sigma[row]
        if self.counts[i] < 30:
            return INF
        A, found, size = self.problem.A[row], 0.0, 0.0
        for c, a in enumerate(A):
            found += a * a * self.covariance(i, c, c)
            size += a * a * (1e-14 * self.covariance(i, c, c) + 1e-24 * self.means[i][c] * self.means[i][c])
            for k in range(c):
                found += 2.0 * a * A[k] * self.covariance(i, c, k)
        return math.sqrt(found) if found > size else INF

    def variance(self, i: int, c: int) -> float:
        """Declared, or that of 30 or more results that vary."""
        if not self.problem.learnt[c]:
            return 1.0
        found = self.covariance(i, c, c) if self.counts[i] >= 30 else 0.0
        return found if found > 1e-24 * self.means[i][c] * self.means[i][c] else INF

    def covariance(self, i: int, c: int, k: int) -> float:
        """Of the results of i, one after the other (Welford), as summing otherwise may break ties otherwise."""
        key = (i, c, k)
        n, sums, found = self.so_far.get(key, (0, (0.0, 0.0), 0.0))
        for result in self.results[i][n:]:
            n += 1
            if n > 1:
                away = [x - total / (n - 1) for x, total in zip((result[c], result[k]), sums, strict=True)]
                found = (n - 2.0) / (n - 1.0) * found + away[0] * away[1] / n
            sums = (sums[0] + result[c], sums[1] + result[k])
        self.so_far[key] = n, sums, found
        return found

    def wealth(self, i: int, row: int, slop: float, holds: bool) -> float | None:
        """The same by bets on the results in the range [0, 1]; None for rows that are not bet on."""
        A, bound = self.problem.A[row], self.problem.b[row]
        touched = [c for c, a in enumerate(A) if a]
        if len(touched) != 1 or any(self.problem.exact_part[row]) or self.problem.least[touched[0]] == -INF:
            return None
        (c,) = touched
        low = self.problem.least[c]
        limits = [(A[c] * (bound + s) - low) / 2.0 for s in (self.problem.row_tolerance[row], 0.0)]
        if not all(1e-9 < r < 1.0 - 1e-9 and (not self.problem.binary[c] or r * (1.0 - r) < 0.2) for r in limits):
            return None
        limit = (A[c] * (bound + slop) - low) / 2.0
        flip = (A[c] > 0) == holds  # small values speak for the claim: turn the range round
        r = 1.0 - limit if flip else limit
        logs = []
        for g in range(18):
            bold = 0.98 * (0.05 * min(r, 1.0 - r) / (1.0 - r) / 0.98) ** (g / 17) / r
            gains = self.gains.setdefault((i, c, flip, r, bold), [])  # of each result: they stay what they are
            shares = [(result[c] - low) / 2.0 for result in self.results[i][len(gains) :]]
            gains += [math.log(1.0 + bold * ((1.0 - x if flip else x) - r)) for x in shares]
            logs.append(math.fsum(gains))  # exactly: the order is no matter
        best = max(logs)
        return best + math.log(sum(math.exp(value - best) for value in logs) / 18)

    def row(self, z: float, i: int) -> float:
        if z <= -5.0:  # far on the wrong side: an expansion of log 2 Phi(z) + z²/2
            inverse = 1.0 / (z * z)
            series = inverse * (-1.0 + inverse * (3.0 - 15.0 * inverse))
            return math.log(2.0) - 0.5 * math.log(2.0 * math.pi) - math.log(-z) + math.log1p(series) - self.p[i]
        return 0.5 * z * z - self.p[i] + log_twice_phi(z)

    def certain(self, lead: float, first: float, second: float, required: float) -> bool:
        """Is 1/4 of the two-sided e-value plus 3/4 of (a lower bound of) the one-sided one at least exp(required)?"""
        if lead <= 0.0:
            return False
        total = first + second
        two_sided = 0.5 * lead * lead / total - required
        if two_sided >= -math.log(0.25):
            return True
        if two_sided < -math.log(0.25 + 4.0 * 0.75):  # even a one-sided form of 4 times as much would not do
            return False
        gain, hazard = -INF, math.sqrt(2.0 / math.pi)
        if hazard * second <= lead * math.sqrt(first) and hazard * first <= lead * math.sqrt(second):
            z, y = lead * math.sqrt(first) / total, lead * math.sqrt(second) / total
            slope = self.hazard(z) / math.sqrt(first) - self.hazard(y) / math.sqrt(second)
            curved = 2.0 * (1.0 - 2.0 / math.pi) * total
            gain = log_twice_phi(z) + log_twice_phi(y) - slope * slope * first * second / curved
        return two_sided + math.log(0.25 + 0.75 * math.exp(gain)) >= 0.0

    def hazard(self, z: float) -> float:
        return math.exp(math.log(2.0) - 0.5 * math.log(2.0 * math.pi) - 0.5 * z * z - log_twice_phi(z))

    def against(self, lead: float, first: float, second: float, required: float) -> float:
        """A lead minus the least that is certain, about; >= 0 if it is certain."""
        if abs(lead) == INF:
            return lead
        width = math.sqrt(2.0 * (first + second) * max(0.05, required - 1.1))
        return (
            max(0.0, lead - width) if self.certain(lead, first, second, required) else min(-1e-12 * width, lead - width)
        )

    def apart(self, i: int, j: int, c: int, slop: float, bar: float) -> float:
        """That i leads j in coordinate c."""
        lead, required = self.means[i][c] - self.means[j][c] + slop, bar + self.p[i] + self.p[j]
        if self.problem.learnt[c]:
            of_i, of_j = self.variance(i, c), self.variance(j, c)
            unit = 0.5 * (of_i + of_j)
            if unit == INF:
                return -1e-9
            return self.against(lead / math.sqrt(unit), of_i / unit * self.q[i], of_j / unit * self.q[j], required)
        if not self.problem.binary[c] or slop > 0.0:
            return self.against(lead, self.q[i], self.q[j], required)
        by_sums = self.against(lead, self.q[i], self.q[j], required - math.log(0.75))
        n, m = self.counts[i], self.counts[j]
        if by_sums >= 0.0 or lead <= 0.0 or not n or not m:
            return by_sums
        x, y = ((self.means[k][c] - self.problem.least[c]) / 2.0 for k in (i, j))
        pooled = (n * x + m * y) / (n + m)
        required = bar - math.log(0.25) + self.regret(x, n) + self.regret(y, m)
        width = math.sqrt(8.0 * pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m) * max(0.05, required))
        of_x = xlog(x, x) - xlog(x, pooled) + xlog(1.0 - x, 1.0 - x) - xlog(1.0 - x, 1.0 - pooled)
        of_y = xlog(y, y) - xlog(y, pooled) + xlog(1.0 - y, 1.0 - y) - xlog(1.0 - y, 1.0 - pooled)
        value = max(0.0, lead - width) if n * of_x + m * of_y >= required else min(-1e-12 * width, lead - width)
        return max(by_sums, value)

    def regret(self, share: float, n: int) -> float:
        """log of the likelihood at the share itself over its Beta(1/2, 1/2) mixture."""
        mixture = log_gamma(n * share + 0.5) + log_gamma(n * (1.0 - share) + 0.5) - log_gamma(n + 1.0)
        return n * (xlog(share, share) + xlog(1.0 - share, 1.0 - share)) - (mixture - math.log(math.pi))

    def is_early(self, i: int, j: int) -> bool:
        return any(self.problem.learnt) and min(self.counts[i], self.counts[j]) < 30

    def m_minus(self, i: int, j: int) -> float:
        if self.gain(i, j) == -INF:
            return -INF
        if self.is_early(i, j):
            return -1e30 / (1.0 + min(self.counts[i], self.counts[j]))
        return min((self.apart(j, i, c, 0.0, self.below_bar) for c in range(self.problem.compared)), default=INF)

    def M_minus(self, i: int, j: int) -> float:
        leads, d = self.leads(i, j), self.problem.compared
        if max(leads, default=-INF) == INF:
            return INF
        if self.is_early(i, j):
            few, many = sorted((self.counts[i], self.counts[j]))
            return -1e30 / (1.0 + few) - 1e20 / (1.0 + many)
        slops = self.problem.tolerance[:d]
        value = max((self.apart(i, j, c, slop, self.lead_bar) for c, slop in enumerate(slops)), default=-INF)
        if value >= 0.0 or not self.joint:
            return value
        if self.problem.independent:  # of each size, the largest leads
            square = 0.0
            for size, lead in enumerate(sorted(leads, reverse=True), start=1):
                if lead <= 0.0:
                    break
                square += lead * lead
                required = self.joint_bar + size * (self.p[i] + self.p[j])
                if size > 1:
                    value = max(value, math.sqrt(square) - math.sqrt(2.0 * (self.q[i] + self.q[j]) * required))
            return value
        R = np.array(self.problem.correlation)
        for size in range(2, d + 1):
            for members in itertools.combinations(range(d), size):
                chosen = np.array([leads[c] for c in members])
                dual = np.linalg.solve(R[np.ix_(members, members)], chosen)
                if np.all(dual >= 0.0) and np.any(dual > 0.0):
                    required = self.joint_bar + size * (self.p[i] + self.p[j])
                    width = math.sqrt(2.0 * (self.q[i] + self.q[j]) * required)
                    value = max(value, math.sqrt(dual @ chosen) - width)
        return value


class LilTwin(Twin):
    """Thresholds with an iterated logarithm of each arm's count."""

    def prepare(self) -> None:
        problem = self.problem
        K, d = problem.arms, max(problem.noisy, 1)
        self.growth = [2.0 * math.log(4.0 + math.log(max(n, 1))) for n in self.counts]
        self.pair = 2.0 * threshold(0.5 * math.log(max(K * (K - 1), 1) * d / self.delta))
        if problem.independent:
            constant, factor, sigma = d * threshold(math.log(2 * K / self.delta) / d), float(d), 1.0
        else:
            constant, factor, sigma = threshold(math.log(2 * K * d / self.delta)), 1.0, math.sqrt(d)
        self.gamma = [
            0.5 * n * (eta / sigma) * (eta / sigma) - factor * self.growth[i] - constant if n else -INF
            for i, (n, eta) in enumerate(zip(self.counts, self.eta, strict=True))
        ]
        self.sort_arms()

    def width(self, i: int, j: int) -> float:
        required = self.pair + self.growth[i] + self.growth[j]
        return math.sqrt(2.0) * math.sqrt(required * (self.inverse[i] + self.inverse[j]))


TWINS: dict[str, type[Twin]] = {
    "certified": CertifiedTwin,
    "certified:order=asked": CertifiedTwin,
    "certified:several=0.3": CertifiedTwin,
    "lil": LilTwin,
}
