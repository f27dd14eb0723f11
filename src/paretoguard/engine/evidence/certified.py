"""`certified`: each claim rests on an e-value of its own, valid at all times at once (finite-sample guarantee).

Claims and levels, with delta split over the one false feasibility claim of each arm and the one false claim of each
ordered pair: alpha_F = delta/(2K), alpha_P = delta/(2K(K-1)); without noisy rows all of delta goes to pairs, with one
arm all goes to it. docs/guarantees.md states and proves it.

- feasible: every row at alpha_F; infeasible: the average over rows at alpha_F, where the objectives are independent
  averaged with the product over groups of rows that share no objective; a row over one objective with values in a
  range takes the e-value of `tilts` where its limit is near an end of that range;
- i dominated by j: every coordinate at alpha_P; i not dominated by j: the average over coordinates at alpha_P, where
  the objectives are independent averaged with the product over coordinates.

For sampling, claims about pairs are given in the form of widths: mean difference minus the least one that is certain.
"""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.engine.dominance import best_lead, least_gain
from paretoguard.engine.evidence.mixtures import (
    LOG_2,
    is_apart,
    least_lead,
    log_sum,
    row_evidence,
)
from paretoguard.engine.evidence.parts import (
    Moment,
    dominated,
    gap_radius,
    lead_radius,
    moment,
    pair_radius,
    prepare,
    radius,
    row_radius,
    undominated,
    weigh,
    widening,
)
from paretoguard.engine.evidence.tilts import FAILS, HOLDS, Tilts, tilt_evidence, tilts
from paretoguard.engine.jit import inner
from paretoguard.engine.space import Space

if TYPE_CHECKING:
    from paretoguard.engine.state import State

RHO = 100.0
NOMINAL = 1.1  # how much less than the two-sided form asks for is usually enough: 3/4 of a form nearly 4 times as large
LEAST_JOINT = math.log(22.0)  # below that, products could make ties cost more than they are counted for
LEAST = 0.05  # of what is required, where it would be less than nothing (delta near 1)
ROUNDING = 1e-12


class CertifiedLevels(NamedTuple):
    """`certified` for one problem and one delta; with what it keeps of each arm."""

    rho: float
    row_bar: float  # log(1/alpha_F)
    pair_bar: float  # log(1/alpha_P)
    lead_bar: float  # the same for one of the coordinates that are averaged
    joint_bar: float  # … and for several of them together; +inf where they cannot be multiplied
    limit_bar: float  # for the limits of all means together
    slack_bar: float  # … of all slacks
    gap_bar: float  # … of all differences
    inverse: NDArray[float64]  # [K] 1/q = (n + rho)/n^2
    penalty: NDArray[float64]  # [K] log((n + rho)/rho)/2
    leads: NDArray[float64]  # [d] scratch
    tilts: Tilts


@dataclass(frozen=True)
class Certified:
    """Anytime-valid e-values for every claim (finite-sample guarantee for sub-Gaussian noise).

    `expected_samples`, if given, fits the evidence to runs of about that length; the guarantee holds for any length.
    """

    expected_samples: int | None = None
    name: ClassVar[str] = "certified"
    guarantee: ClassVar[str] = "finite-sample"
    basis: ClassVar[str] = "an e-value for every claim, valid at all times at once"

    def __post_init__(self) -> None:
        given = self.expected_samples
        if given is not None and (isinstance(given, bool) or not isinstance(given, Integral) or not given >= 1):
            raise ValueError(f"expected_samples is {given!r}, expected a whole number of at least 1")

    def fit(self, delta: float, space: Space) -> CertifiedLevels:
        """The thresholds for one problem and one delta."""
        K, d = space.arms, space.noisy
        has_rows, pairs = space.region.A.shape[0] > 0, K * (K - 1)
        share = 0.5 if has_rows and pairs > 0 else 1.0
        pair_bar = math.log(max(pairs, 1) / (share * delta))
        is_joint = space.independent and d > 1 and pair_bar >= LEAST_JOINT
        single = 0.5 / max(d, 1) + 0.5 ** (d + 1) if is_joint else 1.0 / max(d, 1)
        return CertifiedLevels(
            rho=self._rho(K, pair_bar),
            row_bar=math.log(K / (share * delta)),
            pair_bar=pair_bar,
            lead_bar=pair_bar - math.log(single),
            joint_bar=pair_bar + (d + 1) * LOG_2 if is_joint else math.inf,
            limit_bar=math.log(K * max(d, 1) / delta),
            slack_bar=math.log(K * max(space.region.A.shape[0], 1) / delta),
            gap_bar=math.log(max(pairs, 1) * max(d, 1) / (2.0 * delta)),
            inverse=np.full(K, math.inf),
            penalty=np.zeros(K),
            leads=np.zeros(max(d, 1)),
            tilts=tilts(space),
        )

    def _rho(self, arms: int, pair_bar: float) -> float:
        """Evidence is sharpest for arms with about (pair_bar + 2) rho pulls."""
        if self.expected_samples is None:
            return RHO
        return max(1.0, self.expected_samples / arms / (pair_bar + 2.0))


@moment.register(CertifiedLevels)
def _moment(evidence: CertifiedLevels, t: int) -> Moment:
    return Moment(1.0, evidence.row_bar)


@prepare.register(CertifiedLevels)
def _prepare(evidence: CertifiedLevels, state: "State", i: int) -> None:
    n = float(state.counts[i])
    evidence.inverse[i] = (n + evidence.rho) / (n * n) if n > 0.0 else math.inf
    evidence.penalty[i] = 0.5 * math.log((n + evidence.rho) / evidence.rho)


# --- one arm ---------------------------------------------------------------------------------------------------------


@weigh.register(CertifiedLevels)
def _weigh(evidence: CertifiedLevels, space: Space, state: "State", i: int) -> float:
    if state.inside[i] == 1:
        return _weigh_feasible(evidence, space, state, i)
    if state.eta[i] == math.inf:  # outside by its exact coordinates
        return math.inf
    return _weigh_infeasible(evidence, space, state, i)


@inner
def _slack(space: Space, state: "State", i: int, row: int) -> float:
    """Of a noisy row, in standard deviations along it."""
    slack: float = space.region.b[row]
    for c in range(space.objectives - space.noisy):
        slack -= space.exact_part[row, c] * state.means[i, space.noisy + c]
    for c in range(space.noisy):
        slack -= space.region.A[row, c] * state.means[i, c]
    return slack


@inner
def _weigh_feasible(evidence: CertifiedLevels, space: Space, state: "State", i: int) -> float:
    """Every row must have its evidence: a false claim is false for one row."""
    root, least = math.sqrt(evidence.inverse[i]), math.inf
    for row in range(space.region.A.shape[0]):
        if evidence.tilts.used[row] == 1:
            value = _tilted(evidence, space, state, i, row, HOLDS)
        else:
            z = (_slack(space, state, i, row) + space.row_tolerance[row]) / (space.row_sigma[row] * root)
            value = row_evidence(z, evidence.penalty[i])
        least = value if not value >= least else least  # what is no number is no evidence either
    return least if least == least else -math.inf


@inner
def _tilted(evidence: CertifiedLevels, space: Space, state: "State", i: int, row: int, side: int) -> float:
    mean = state.means[i, evidence.tilts.place[row]]
    return tilt_evidence(evidence.tilts, space, mean, float(state.counts[i]), row, side)


@inner
def _weigh_infeasible(evidence: CertifiedLevels, space: Space, state: "State", i: int) -> float:
    """The average over rows; of independent rows, averaged with the product of 1/2 + (average of a group)/2."""
    groups, rows = space.row_groups, 0
    average, product = -math.inf, 0.0
    for group in range(max(groups, 1)):
        together, size = -math.inf, 0
        for row in range(space.region.A.shape[0]):
            if space.needed[row] == 1 and (groups == 0 or space.row_group[row] == group):
                if evidence.tilts.used[row] == 1:
                    value = _tilted(evidence, space, state, i, row, FAILS)
                else:
                    z = -_slack(space, state, i, row) / (space.row_sigma[row] * math.sqrt(evidence.inverse[i]))
                    value = row_evidence(z, evidence.penalty[i])
                together = log_sum(together, value)
                size += 1
        rows += size
        average = log_sum(average, together)
        product += log_sum(0.0, together - math.log(size)) - LOG_2
    average -= math.log(rows)
    return average if groups < 2 else log_sum(average, product) - LOG_2


@radius.register(CertifiedLevels)
def _radius(evidence: CertifiedLevels, now: Moment, state: "State", i: int) -> float:
    return math.sqrt(2.0 * evidence.inverse[i] * (evidence.limit_bar + evidence.penalty[i]))


@row_radius.register(CertifiedLevels)
def _row_radius(evidence: CertifiedLevels, now: Moment, space: Space, state: "State", i: int, row: int) -> float:
    required = evidence.slack_bar + evidence.penalty[i]
    return space.row_sigma[row] * math.sqrt(2.0 * evidence.inverse[i] * required)


# --- two arms --------------------------------------------------------------------------------------------------------


@inner
def _against(lead: float, first: float, second: float, required: float) -> float:
    """A lead minus the least that is certain, about; its sign is exact: >= 0 means certified."""
    if lead == math.inf or lead == -math.inf:
        return lead
    width = math.sqrt(2.0 * (first + second) * max(LEAST, required - NOMINAL))
    if is_apart(lead, first, second, required):
        return max(0.0, lead - width)
    return min(-ROUNDING * width, lead - width)


@dominated.register(CertifiedLevels)
def _dominated(evidence: CertifiedLevels, now: Moment, space: Space, state: "State", i: int, j: int) -> float:
    required = evidence.pair_bar + evidence.penalty[i] + evidence.penalty[j]
    return _against(least_gain(space, state, i, j), evidence.inverse[i], evidence.inverse[j], required)


@undominated.register(CertifiedLevels)
def _undominated(evidence: CertifiedLevels, now: Moment, space: Space, state: "State", i: int, j: int) -> float:
    both = evidence.penalty[i] + evidence.penalty[j]
    first, second = evidence.inverse[i], evidence.inverse[j]
    value = _against(best_lead(space, state, i, j), first, second, evidence.lead_bar + both)
    if value < 0.0 and evidence.joint_bar < math.inf:
        value = max(value, _jointly(evidence, space, state, i, j, both))
    return value


@inner
def _jointly(evidence: CertifiedLevels, space: Space, state: "State", i: int, j: int, both: float) -> float:
    """The same for the best set of two or more coordinates: the length of its leads minus the least that is certain.

    Of each size the best set is that of the largest leads. Leads are taken one by one, the largest first.
    """
    best, square, total = -math.inf, 0.0, evidence.inverse[i] + evidence.inverse[j]
    for c in range(space.noisy):
        evidence.leads[c] = state.means[i, c] - state.means[j, c] + space.tolerance[c]
    for size in range(1, space.noisy + 1):
        largest = 0
        for c in range(1, space.noisy):
            if evidence.leads[c] > evidence.leads[largest]:
                largest = c
        lead = evidence.leads[largest]
        if lead <= 0.0:
            break
        evidence.leads[largest] = -math.inf
        square += lead * lead
        if size > 1:
            best = max(best, math.sqrt(square) - math.sqrt(2.0 * total * (evidence.joint_bar + size * both)))
    return best


@pair_radius.register(CertifiedLevels)
def _pair_radius(evidence: CertifiedLevels, now: Moment, state: "State", i: int, j: int) -> float:
    required = evidence.pair_bar + evidence.penalty[i] + evidence.penalty[j]
    return least_lead(evidence.inverse[i], evidence.inverse[j], required)


@gap_radius.register(CertifiedLevels)
def _gap_radius(evidence: CertifiedLevels, now: Moment, state: "State", i: int, j: int) -> float:
    required = evidence.gap_bar + evidence.penalty[i] + evidence.penalty[j]
    return math.sqrt(2.0 * (evidence.inverse[i] + evidence.inverse[j]) * required)


@lead_radius.register(CertifiedLevels)
def _lead_radius(evidence: CertifiedLevels, now: Moment, state: "State", i: int, j: int) -> float:
    required = evidence.lead_bar + evidence.penalty[i] + evidence.penalty[j]
    return least_lead(evidence.inverse[i], evidence.inverse[j], required)


@widening.register(CertifiedLevels)
def _widening(evidence: CertifiedLevels, now: Any, then: Any, state: "State", i: int) -> float:
    return 0.0
