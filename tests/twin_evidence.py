"""Twins of the kinds of evidence that are more than two thresholds: `certified` and `lil`, from their definitions."""

import math

from paretoguard.engine.evidence.lil import threshold  # compared with the values of the literature in test_evidence
from twin import INF, Twin


def log_twice_phi(z: float) -> float:
    """log(2 Phi(z))."""
    return math.log1p(math.erf(z * math.sqrt(0.5)))


def log_sum(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high if low == -INF or high == INF else high + math.log1p(math.exp(low - high))


class CertifiedTwin(Twin):
    """E-values for every claim; pairs in the form of widths whose sign is that of the claim."""

    def prepare(self) -> None:
        problem = self.problem
        K, d, rows = problem.arms, problem.noisy, len(problem.A)
        share = 0.5 if rows and K > 1 else 1.0
        self.row_bar = math.log(K / (share * self.delta))
        self.pair_bar = math.log(max(K * (K - 1), 1) / (share * self.delta))
        self.q = [(n + 100.0) / (float(n) * n) if n else INF for n in self.counts]  # 1/q
        self.p = [0.5 * math.log((n + 100.0) / 100.0) for n in self.counts]
        self.joint = problem.independent and d > 1 and self.pair_bar >= math.log(22.0)
        self.one_of = 0.5 / d + 0.5 ** (d + 1) if self.joint else 1.0 / max(d, 1)
        self.gamma = [self.weigh(i) - self.row_bar if self.counts[i] else -INF for i in range(K)]
        self.sort_arms()

    def weigh(self, i: int) -> float:
        problem = self.problem
        if self.inside[i]:
            slops = enumerate(problem.row_tolerance)
            return min((self.row_value(i, row, slop, holds=True) for row, slop in slops), default=INF)
        if self.eta[i] == INF:
            return INF
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
        tilted = self.tilted(i, row, slop, holds)
        if tilted is not None:
            return tilted
        slack = self.slacks(i)[row]
        return self.row((slack + slop if holds else -slack) / (self.problem.row_sigma[row] * math.sqrt(self.q[i])), i)

    def tilted(self, i: int, row: int, slop: float, holds: bool) -> float | None:
        """The same by likelihood ratios in the range [0, 1], for a limit near an end of it; None for all other rows."""
        A, bound = self.problem.A[row], self.problem.b[row]
        touched = [c for c, a in enumerate(A) if a]
        if len(touched) != 1 or any(self.problem.exact_part[row]) or self.problem.least[touched[0]] == -INF:
            return None
        (c,) = touched
        low = self.problem.least[c]
        limits = [(A[c] * (bound + s) - low) / 2.0 for s in (self.problem.row_tolerance[row], 0.0)]
        if not all(1e-9 < limit < 1.0 - 1e-9 and limit * (1.0 - limit) < 0.2 for limit in limits):
            return None
        limit = (A[c] * (bound + slop) - low) / 2.0
        share = 0.5 * (self.means[i][c] - low)
        n = float(self.counts[i])
        if (A[c] > 0) == holds:  # small values speak for the claim: turn the range round
            limit, share = 1.0 - limit, 1.0 - share
        logs = []
        for g in range(18):
            p = limit + (1.0 - limit) * 0.98 * 2.0 ** (-0.5 * g)
            theta = math.log(p * (1.0 - limit) / (limit * (1.0 - p)))
            logs.append(theta * (n * share) + math.log((1.0 - p) / (1.0 - limit)) * n)
        best, total = max(logs), 0.0
        for value in logs:
            total += math.exp(value - best)
        return best + math.log(total / 18)

    def row(self, z: float, i: int) -> float:
        if z <= -5.0:  # far on the wrong side: an expansion of log 2 Phi(z) + z²/2
            inverse = 1.0 / (z * z)
            series = inverse * (-1.0 + inverse * (3.0 - 15.0 * inverse))
            return math.log(2.0) - 0.5 * math.log(2.0 * math.pi) - math.log(-z) + math.log1p(series) - self.p[i]
        return 0.5 * z * z - self.p[i] + log_twice_phi(z)

    def certain(self, lead: float, i: int, j: int, required: float) -> bool:
        """Is 1/4 of the two-sided e-value plus 3/4 of (a lower bound of) the one-sided one at least exp(required)?"""
        if lead <= 0.0:
            return False
        first, second = self.q[i], self.q[j]
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

    def against(self, lead: float, i: int, j: int, bar: float) -> float:
        if abs(lead) == INF:
            return lead
        required = bar + self.p[i] + self.p[j]
        width = math.sqrt(2.0 * (self.q[i] + self.q[j]) * max(0.05, required - 1.1))
        return max(0.0, lead - width) if self.certain(lead, i, j, required) else min(-1e-12 * width, lead - width)

    def m_minus(self, i: int, j: int) -> float:
        return self.against(self.gain(i, j), i, j, self.pair_bar)

    def M_minus(self, i: int, j: int) -> float:
        leads = self.leads(i, j)
        value = self.against(max(leads, default=-INF), i, j, self.pair_bar - math.log(self.one_of))
        if value >= 0.0 or not self.joint:
            return value
        square = 0.0
        for size, lead in enumerate(sorted(leads, reverse=True), start=1):
            if lead <= 0.0:
                break
            square += lead * lead
            required = self.pair_bar + (self.problem.noisy + 1) * math.log(2.0) + size * (self.p[i] + self.p[j])
            if size > 1:
                value = max(value, math.sqrt(square) - math.sqrt(2.0 * (self.q[i] + self.q[j]) * required))
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


TWINS: dict[str, type[Twin]] = {"certified": CertifiedTwin, "lil": LilTwin}
