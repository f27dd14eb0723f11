"""Twins of the kinds of evidence that are more than two thresholds: `certified` and `lil`.

`certified` takes its levels, its bets and what is certain of a pair from the reference, which shares nothing with the
engine. What decides between arms is written here in the order of the engine, where the last bit may break a tie.
"""

import math
from collections.abc import Sequence

import numpy as np

from paretoguard.evidence.kaufmann_koolen import threshold  # compared with the literature in test_evidence
from paretoguard.reference.audit import evidence_of
from paretoguard.reference.certified import RATES, SUMS, Certified, learnt, learnt_along
from paretoguard.reference.e_values import lead, log_mean, rates
from paretoguard.reference.units import in_deviations
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
        evidence = evidence_of(in_deviations(self.problem.stated), self.delta, self.evidence, "arrival")
        assert isinstance(evidence, Certified)
        self.claims, self.row_bar, self.together_bars = evidence, evidence.row_bar, evidence.together_bars
        places = [one.place for one in evidence.units.noisy]
        self.places = [places.index(self.problem.order[c]) for c in self.problem.compared_noisy_places]

    def observe(self, arm: int, reward: Sequence[float]) -> None:
        self.claims.take(arm, reward)
        super().observe(arm, reward)

    def prepare(self) -> None:
        self.q = [self.claims.inverse(arm) if arm.count else INF for arm in self.claims.arms]  # 1/q
        self.p = [self.claims.penalty(arm) for arm in self.claims.arms]
        self.gamma = [self.weigh(i) - self.row_bar if n else -INF for i, n in enumerate(self.counts)]
        self.sort_arms()

    def weigh(self, i: int) -> float:
        problem = self.problem
        if not self.inside[i] and self.eta[i] == INF:
            return INF
        if self.claims.is_early(self.claims.arms[i]):
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
        """The e-value that a row holds, up to its tolerance, or fails; averaged with bets if there are any."""
        arm, stated = self.claims.arms[i], self.claims.units.rows[row]
        slack, scale = self.slacks(i)[row], self.problem.row_sigma[row]
        if self.problem.row_learnt[row]:
            scale = INF if self.claims.is_early(arm) else learnt_along(arm, stated)
        if scale == INF:
            return -INF
        by_sums = self.row((slack + slop if holds else -slack) / (scale * math.sqrt(self.q[i])), i)
        if stated.bets is None:
            return by_sums
        return log_sum(by_sums, log_mean(arm.stakes[row][0 if holds else 1].tolist())) - math.log(2.0)

    def row(self, z: float, i: int) -> float:
        if z <= -5.0:  # far on the wrong side: an expansion of log 2 Phi(z) + z²/2
            inverse = 1.0 / (z * z)
            series = inverse * (-1.0 + inverse * (3.0 - 15.0 * inverse))
            return math.log(2.0) - 0.5 * math.log(2.0 * math.pi) - math.log(-z) + math.log1p(series) - self.p[i]
        return 0.5 * z * z - self.p[i] + log_twice_phi(z)

    def against(self, ahead: float, first: float, second: float, required: float) -> float:
        """A lead minus the least that is certain, about; >= 0 if it is certain."""
        if abs(ahead) == INF:
            return ahead
        width = math.sqrt(2.0 * (first + second) * max(0.05, required - 1.1))
        return signed(ahead, width, lead(ahead, first, second) >= required)

    def apart(self, i: int, j: int, c: int, slop: float, bar: float) -> float:
        """That i leads j in coordinate c."""
        ahead, required = self.means[i][c] - self.means[j][c] + slop, bar + self.p[i] + self.p[j]
        one, other = self.claims.arms[i], self.claims.arms[j]
        if self.problem.learnt[c]:
            of_i, of_j = learnt(one, self.places[c]), learnt(other, self.places[c])
            unit = 0.5 * (of_i + of_j)
            if unit == INF:
                return -1e-9
            return self.against(ahead / math.sqrt(unit), of_i / unit * self.q[i], of_j / unit * self.q[j], required)
        if not self.problem.binary[c] or slop > 0.0:
            return self.against(ahead, self.q[i], self.q[j], required)
        by_sums = self.against(ahead, self.q[i], self.q[j], required - math.log(SUMS))
        n, m = one.count, other.count
        if by_sums >= 0.0 or ahead <= 0.0 or not n or not m:
            return by_sums
        x, y = ((self.means[k][c] - self.problem.least[c]) / 2.0 for k in (i, j))
        pooled = (n * x + m * y) / (n + m)
        required = bar - math.log(RATES)
        over = max(0.05, required + self.regret(x, n) + self.regret(y, m))
        width = math.sqrt(8.0 * pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m) * over)
        return max(by_sums, signed(ahead, width, rates(round(n * x), n, round(m * y), m) >= required))

    def regret(self, share: float, n: int) -> float:
        """log of the likelihood at the share itself over its Beta(1/2, 1/2) mixture."""
        mixture = log_gamma(n * share + 0.5) + log_gamma(n * (1.0 - share) + 0.5) - log_gamma(n + 1.0)
        return n * (xlog(share, share) + xlog(1.0 - share, 1.0 - share)) - (mixture - math.log(math.pi))

    def is_early(self, i: int, j: int) -> bool:
        return self.claims.is_early(self.claims.arms[i], self.claims.arms[j])

    def m_minus(self, i: int, j: int) -> float:
        if self.gain(i, j) == -INF:
            return -INF
        if self.is_early(i, j):
            return -1e30 / (1.0 + min(self.counts[i], self.counts[j]))
        bar = self.claims.below_bar
        return min((self.apart(j, i, c, 0.0, bar) for c in range(self.problem.compared)), default=INF)

    def M_minus(self, i: int, j: int) -> float:
        leads = self.leads(i, j)
        if max(leads, default=-INF) == INF:
            return INF
        if self.is_early(i, j):
            few, many = sorted((self.counts[i], self.counts[j]))
            return -1e30 / (1.0 + few) - 1e20 / (1.0 + many)
        slops, bar = self.problem.tolerance[: self.problem.compared], self.claims.lead_bar
        value = max((self.apart(i, j, c, slop, bar) for c, slop in enumerate(slops)), default=-INF)
        if value >= 0.0 or not self.claims.sets:
            return value
        if self.problem.independent:  # of each size, the largest leads
            square = 0.0
            for size, lead in enumerate(sorted(leads, reverse=True), start=1):
                if lead <= 0.0:
                    break
                square += lead * lead
                required = self.claims.set_bar + size * (self.p[i] + self.p[j])
                if size > 1:
                    value = max(value, math.sqrt(square) - math.sqrt(2.0 * (self.q[i] + self.q[j]) * required))
            return value
        for members, precision in self.claims.sets:
            chosen = np.array(leads)[members]
            dual = precision @ chosen
            if np.all(dual >= 0.0) and np.any(dual > 0.0):
                required = self.claims.set_bar + len(members) * (self.p[i] + self.p[j])
                width = math.sqrt(2.0 * (self.q[i] + self.q[j]) * required)
                value = max(value, math.sqrt(dual @ chosen) - width)
        return value


def signed(ahead: float, width: float, is_certain: bool) -> float:
    """Return a lead minus its width, with the sign of the claim."""
    return max(0.0, ahead - width) if is_certain else min(-1e-12 * width, ahead - width)


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
