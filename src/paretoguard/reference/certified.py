"""`certified`: an e-value for every claim. The sections named are those of docs/guarantees.md."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from paretoguard.numeric import Floats
from paretoguard.reference.e_values import half_normal, lead, log_mean, rates
from paretoguard.reference.evidence import Evidence, Moments
from paretoguard.reference.units import Row, Units

RHO = 100.0
JOINTLY = 0.25  # the share of sets of coordinates in evidence that an arm is not dominated
MOST_CORRELATED = 6
MOST_TOGETHER = 4  # arms of which at least one dominates
FORMS = 3  # of evidence about one coordinate
SUMS, RATES = 0.75, 0.25  # their shares in the evidence about 0-and-1 outcomes
LEAST_RESULTS = 30  # of an arm, where scales are learnt
NO_SPREAD = 1e-24  # a variance below this share of the squared mean is rounding …
CANCELLED = 1e-14  # … and along a row, below this share of the variances it sums


class Certified(Evidence):
    """Levels (section 6) and claims; `expected` is the option expected_samples, `order` "arrival" or "asked"."""

    def __init__(self, units: Units, delta: float, expected: int | None, order: str, several: float) -> None:
        super().__init__(units, delta)
        K, d = units.arms, max(len(units.compared), 1)
        share = 0.5 if units.rows and K > 1 else 1.0
        self.row_bar = math.log(K / (share * delta))
        whole_bar = math.log(max(K * (K - 1), 1) / (share * delta))
        pair_bar = whole_bar - math.log(1.0 - several)
        if several > 0.0:
            self.most_together = min(MOST_TOGETHER, K - 1)
        self.together_bars = {
            size: whole_bar + math.log(math.comb(K - 1, size) * (self.most_together - 1) / (several * (K - 1)))
            for size in range(2, self.most_together + 1)
        }
        self.rho = RHO if expected is None else max(1.0, expected / K / (pair_bar + 2.0))
        self.sets = _sets(units) if order == "arrival" else []
        self.below_bar, self.lead_bar, self.set_bar = pair_bar, pair_bar + math.log(d), math.inf
        if order == "asked":
            self.below_bar = self.lead_bar = either_way(pair_bar + math.log(FORMS * d))
        elif self.sets:
            one = (1.0 - JOINTLY) / d + JOINTLY * 0.5**d
            self.below_bar, self.lead_bar = pair_bar - math.log(one * d), pair_bar - math.log(one)
            self.set_bar = pair_bar - math.log(JOINTLY) + d * math.log(2.0)

    def penalty(self, arm: Moments) -> float:
        """p = log((n + rho)/rho)/2."""
        return 0.5 * math.log((arm.count + self.rho) / self.rho)

    def inverse(self, arm: Moments) -> float:
        """1/q = (n + rho)/n²."""
        return (arm.count + self.rho) / (float(arm.count) * arm.count)

    def is_early(self, *arms: Moments) -> bool:
        """Return whether there are too few results to learn scales from (section 12)."""
        return self.units.is_learning and any(arm.count < LEAST_RESULTS for arm in arms)

    # --- one arm (sections 2 and 3) ---
    def is_feasible(self, arm: Moments) -> bool:
        rows = range(len(self.units.rows))
        return not self.is_early(arm) and all(self.row(arm, k, True) >= self.row_bar for k in rows)

    def is_infeasible(self, arm: Moments) -> bool:
        """By the average over rows; of independent groups, averaged with the product of 1/2 + (a group's average)/2."""
        if self.is_early(arm):
            return False
        groups = [[self.row(arm, k, False) for k in group] for group in self.units.groups]
        value = log_mean(itertools.chain.from_iterable(groups))
        if len(groups) > 1:
            value = log_mean([value, math.fsum(log_mean([0.0, log_mean(group)]) for group in groups)])
        return value >= self.row_bar

    def row(self, arm: Moments, k: int, holds: bool) -> float:
        """Return the e-value that row k holds, up to its tolerance, or fails; averaged with bets if there are any."""
        row = self.units.rows[k]
        scale = row.scale if not math.isnan(row.scale) else learnt_along(arm, row)
        if scale == math.inf:
            return -math.inf
        past = arm.slack(row) + row.tolerance if holds else -arm.slack(row)
        by_sums = half_normal(past / (scale * math.sqrt(self.inverse(arm)))) - self.penalty(arm)
        if row.bets is None:
            return by_sums
        return log_mean([by_sums, log_mean(arm.stakes[k][0 if holds else 1].tolist())])

    # --- two arms (sections 4 and 5) ---
    def is_below(self, one: Moments, other: Moments) -> bool:
        """By every coordinate at its level."""
        if self.is_early(one, other):
            return False
        return all(self.leads(other, one, c, 0.0, self.below_bar) for c in self.units.compared)

    def is_ahead(self, one: Moments, other: Moments) -> bool:
        """By one coordinate with its share of the average, or by a set of them."""
        if self.is_early(one, other):
            return False
        noisy, compared = self.units.noisy, self.units.compared
        if any(self.leads(one, other, c, noisy[c].tolerance, self.lead_bar) for c in compared):
            return True
        return bool(self.sets) and self.some_set_leads(one, other)

    def is_dominated_by_some(self, i: int, others: Sequence[int]) -> bool:
        """By the least of what it takes that none is above, over all ways to give each other arm a coordinate."""
        if not self.units.compared:
            return False
        one, rivals = self.arms[i], [self.arms[j] for j in others]
        used = min(len(self.units.compared), len(others))
        needed = self.together_bars[len(others)] + used * self.penalty(one) + sum(map(self.penalty, rivals))
        ways = itertools.product(self.units.compared, repeat=len(others))
        return all(self.meeting(one, rivals, way) >= needed for way in ways)

    def meeting(self, one: Moments, others: Sequence[Moments], way: Sequence[int]) -> float:
        """Return half the least squared distance, in units of 1/q, at which `one` is no worse than each other there."""
        total = 0.0
        for c in set(way):
            own = (one.means[c], 1.0 / self.inverse(one))
            rivals = [(arm.means[c], 1.0 / self.inverse(arm)) for arm, k in zip(others, way, strict=True) if k == c]
            rivals.sort(reverse=True)
            tried = []
            for k in range(len(rivals) + 1):
                met = [own, *rivals[:k]]
                x = sum(weight * mean for mean, weight in met) / sum(weight for _, weight in met)
                below = sum(weight * max(0.0, mean - x) ** 2 for mean, weight in rivals)
                tried.append(0.5 * (own[1] * (own[0] - x) ** 2 + below))
            total += min(tried)
        return total

    def leads(self, one: Moments, other: Moments, c: int, slop: float, bar: float) -> bool:
        """Return whether the e-value that `one`, plus `slop`, is above `other` in a coordinate reaches exp(bar)."""
        coordinate = self.units.noisy[c]
        ahead = one.means[c] - other.means[c] + slop
        if ahead <= 0.0:
            return False
        spread, spread_other = (learnt(arm, c) if coordinate.is_learnt else 1.0 for arm in (one, other))
        if math.inf in (spread, spread_other):
            return False
        by_sums = lead(ahead, spread * self.inverse(one), spread_other * self.inverse(other))
        by_sums -= self.penalty(one) + self.penalty(other)
        if not coordinate.is_binary or slop > 0.0:
            return by_sums >= bar
        if by_sums + math.log(SUMS) >= bar:
            return True
        ones, others = (round(arm.sums[c] / coordinate.factor) for arm in (one, other))
        return rates(ones, one.count, others, other.count) + math.log(RATES) >= bar

    def some_set_leads(self, one: Moments, other: Moments) -> bool:
        """Return whether the e-value of a set of two or more coordinates reaches its level."""
        slops = [coordinate.tolerance for coordinate in self.units.noisy]
        leads = (np.array(one.means) - np.array(other.means) + np.array(slops))[self.units.compared]
        both, total = self.penalty(one) + self.penalty(other), self.inverse(one) + self.inverse(other)
        if self.units.dependence.is_independent:  # of each size, the largest leads
            squares = np.cumsum(np.sort(np.maximum(leads, 0.0))[::-1] ** 2)
            return any(
                0.5 * square / total >= self.set_bar + size * both
                for size, square in enumerate(squares.tolist(), start=1)
                if size > 1
            )
        for members, precision in self.sets:
            dual = precision @ leads[members]
            square = float(dual @ leads[members])
            if 0.5 * square / total >= self.set_bar + len(members) * both and bool(np.all(dual >= 0.0)):
                return True
        return False


def _sets(units: Units) -> list[tuple[list[int], Floats]]:
    """Return the sets of two or more coordinates of known correlation, each with its inverse; [] if not used."""
    correlation, d = units.dependence.correlation, len(units.compared)
    if correlation is None or d < 2 or units.is_learning:
        return []
    correlation = correlation[np.ix_(units.compared, units.compared)]
    if units.dependence.is_independent:
        return [(list(range(d)), np.eye(d))]
    if d > MOST_CORRELATED:
        return []
    chosen = [list(members) for size in range(2, d + 1) for members in itertools.combinations(range(d), size)]
    return [(members, np.asarray(np.linalg.inv(correlation[np.ix_(members, members)]))) for members in chosen]


def either_way(bar: float) -> float:
    """Return log(1/x) with x (1 + log(1/x)) = exp(-bar) (section 11)."""
    return float(brentq(lambda u: u - math.log1p(u) - bar, bar, 2.0 * bar + 10.0, xtol=1e-12))


# --- scales learnt from the results (section 12) ---
def learnt(arm: Moments, c: int) -> float:
    """Return the variance of a coordinate; +inf if results do not vary."""
    found = float(arm.covariance[c, c])
    return found if found > NO_SPREAD * arm.means[c] ** 2 else math.inf


def learnt_along(arm: Moments, row: Row) -> float:
    """Return the standard deviation along a row; +inf if results do not vary."""
    weights, own = np.array(row.weights), np.diag(arm.covariance)
    found = float(weights @ arm.covariance @ weights)
    rounding = float(weights**2 @ (CANCELLED * own + NO_SPREAD * np.array(arm.means) ** 2))
    return math.sqrt(found) if found > rounding else math.inf
