"""`certified`: each claim rests on an e-value of its own, valid at all times at once (finite-sample guarantee).

Claims and levels, with delta split over the one false feasibility claim of each arm and the one false claim of each
ordered pair: alpha_F = delta/(2K), alpha_P = delta/(2K(K-1)); without noisy rows all of delta goes to pairs, with one
arm all goes to it. docs/guarantees.md states and proves it.

- feasible: every row at alpha_F; infeasible: the average over rows at alpha_F, where the objectives are independent
  averaged with the product over groups of rows that share no objective; a row over one objective with values in a
  range takes the e-value of `bets`;
- i dominated by j: every coordinate at alpha_P; i not dominated by j: the average over coordinates at alpha_P, where
  the objectives are independent, or Gaussian of known covariance, averaged with sets of coordinates taken together;
- i dominated by at least one of several (`several`), if asked for: a share of alpha_P goes to sets of arms.

Scales that are not declared are learnt (`estimated_scale`); the guarantee is then asymptotic.

For sampling, claims about pairs are given in the form of widths: mean difference minus the least one that is certain.
"""

import itertools
import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import best_lead, least_gain
from paretoguard.engine.questions import (
    Moment,
    below_some,
    dominated,
    gap_radius,
    is_dominated_above,
    is_steady,
    lead_radius,
    moment,
    most_dominated,
    most_weight,
    pair_radius,
    prepare,
    radius,
    row_radius,
    undominated,
    undominated_below,
    weigh,
    widening,
)
from paretoguard.engine.state import State
from paretoguard.engine.view import View
from paretoguard.errors import SettingsError
from paretoguard.evidence.certified.comparisons import (
    SUM_EXTRA,
    Several,
    against,
    in_coordinate,
    in_some,
    in_some_correlated,
    is_above,
    is_below_some,
    new_several,
)
from paretoguard.evidence.certified.constraint_rows import feasible, infeasible, most_infeasible
from paretoguard.evidence.certified.mixtures import LOG_2, UNKNOWN, lead_required
from paretoguard.evidence.estimated_scale import LEAST_PULLS, NEVER, pair_too_early, row_scale, too_early, variance
from paretoguard.evidence.kind import Evidence
from paretoguard.numeric import Floats, floats, integers
from paretoguard.vocabulary import AS_ASKED, BY_ARRIVAL, ORDERS

RHO = 100.0
MOST_SHARE = 0.5
JOINTLY = 0.25  # the share of sets of coordinates in evidence that an arm is not dominated
MOST_CORRELATED = 6  # objectives whose sets are all looked at
_FORMS = 3  # of evidence about one coordinate of a pair, each a product over the two arms


class CertifiedLevels(NamedTuple):
    """`certified` for one problem and one delta; with what it keeps of each arm."""

    learns: bool  # are there scales to learn?
    plain: bool  # no scales to learn, no 0-and-1 outcomes?
    rates: bool  # nothing but 0-and-1 outcomes, and no tolerances?
    rho: float
    log_rho: float  # see `least_regrets`
    row_bar: float  # log(1/alpha_F)
    below_bar: float  # for "dominated", in each coordinate
    lead_bar: float  # for "not dominated", in one of the coordinates
    joint_bar: float  # … and for several of them together; +inf where they cannot be multiplied
    limit_bar: float  # for the limits of all means together
    slack_bar: float  # … of all slacks
    gap_bar: float  # … of all differences
    row_inverse: Floats  # [m] 1/(standard deviation along a row), where it is declared
    inverse: Floats  # [K] 1/q = (n + rho)/n^2
    penalty: Floats  # [K] log((n + rho)/rho)/2
    rate: Floats  # [K, d] of 0-and-1 outcomes, in the direction that is better; [K, 0] without them
    regret: Floats  # [K, d] see `regret_of`; UNKNOWN until asked for
    least: Floats  # [d] see `Ranges`
    binary: NDArray[np.bool_]  # [d]
    sets: NDArray[np.int64]  # [s, d] of two or more correlated coordinates
    sizes: NDArray[np.int64]  # [s]
    precisions: Floats  # [s, d, d] the inverse of the correlation of each set
    leads: Floats  # [d] scratch
    several: Several


@dataclass(frozen=True)
class Certified(Evidence):
    """Anytime-valid e-values for every claim (finite-sample guarantee for sub-Gaussian noise).

    Parameters
    ----------
    expected_samples
        Fits the evidence to runs of about that length; the guarantee holds for any length.
    order
        "arrival", or "asked" for results that are counted in the order they were asked for (see `Trial`).
    several
        The share of the pairs' error probability that goes to claims that an arm is dominated by at least one of
        several; objectives must be independent.
    """

    expected_samples: int | None = None
    order: str = BY_ARRIVAL
    several: float = 0.0
    name: ClassVar[str] = "certified"
    learns: ClassVar[bool] = True  # scales of the noise that are not declared
    takes_order: ClassVar[bool] = True
    guarantee: ClassVar[str] = "finite-sample"
    basis: ClassVar[str] = "an e-value for every claim, valid at all times at once"

    def __post_init__(self) -> None:
        given = self.expected_samples
        if given is not None and (isinstance(given, bool) or not isinstance(given, Integral) or not given >= 1):
            raise ValueError(f"expected_samples is {given!r}, expected a whole number of at least 1")
        if self.order not in ORDERS:
            raise ValueError(f"order is {self.order!r}, expected one of {', '.join(ORDERS)}")
        share = self.several
        if isinstance(share, bool) or not isinstance(share, Real) or not 0.0 <= share <= MOST_SHARE:
            raise ValueError(f"several is {share!r}, expected a number from 0 to {MOST_SHARE}")
        if share > 0.0 and self.order != BY_ARRIVAL:
            raise ValueError(f"several is {share!r} and order {self.order!r}, expected 'arrival' with it")

    def fit(self, delta: float, problem: ProblemArrays) -> CertifiedLevels:
        K, d, compared = problem.arms, problem.noisy, problem.compared
        has_rows, pairs = problem.region.A.shape[0] > 0, K * (K - 1)
        share = 0.5 if has_rows and pairs > 0 else 1.0
        whole_bar = math.log(max(pairs, 1) / (share * delta))
        pair_bar = whole_bar - math.log1p(-self._several(problem))
        below_bar, lead_bar, joint_bar = self._pair_bars(pair_bar, problem)
        gap_bar = math.log(max(pairs, 1) * max(d, 1) / (2.0 * delta))
        has_rates = bool(problem.ranges.binary.any())
        within = floats(0, 0) if problem.independent else problem.correlation[:compared, :compared]
        sets, sizes, precisions = _sets(within)
        return CertifiedLevels(
            learns=bool(problem.learnt.any()),
            plain=not has_rates and not problem.learnt.any(),
            rates=compared > 0 and bool(problem.ranges.binary[:compared].all()) and not problem.tolerance.any(),
            rho=self._rho(K, pair_bar),
            log_rho=math.log(0.5 * math.pi * self._rho(K, pair_bar)),
            row_bar=math.log(K / (share * delta)),
            below_bar=below_bar,
            lead_bar=lead_bar,
            joint_bar=joint_bar,
            limit_bar=math.log(K * max(d, 1) / delta),
            slack_bar=math.log(K * max(problem.region.A.shape[0], 1) / delta),
            gap_bar=gap_bar if self.order == BY_ARRIVAL else either_way(gap_bar),
            row_inverse=_inverse(problem.row_sigma),
            inverse=np.full(K, math.inf),
            penalty=floats(K),
            rate=floats(K, d if has_rates else 0),
            regret=floats(K, d if has_rates else 0),
            least=problem.ranges.least,
            binary=problem.ranges.binary,
            sets=sets,
            sizes=sizes,
            precisions=precisions,
            leads=floats(max(d, 1)),
            several=new_several(problem, whole_bar, self._several(problem)),
        )

    def _several(self, problem: ProblemArrays) -> float:
        """Return the share of sets of arms."""
        if self.several > 0.0 and (problem.learnt.any() or not (problem.independent or problem.compared == 1)):
            raise SettingsError(
                "evidence 'certified' with several > 0 needs objectives of known scale that are declared independent "
                '(dependence = "independent"); declare that, or leave the option out'
            )
        return float(self.several) if problem.arms > 2 else 0.0

    def _pair_bars(self, pair_bar: float, problem: ProblemArrays) -> tuple[float, float, float]:
        """Return what "dominated" asks of each coordinate, "not dominated" of one, and of several together.

        For equal arms, "dominated" must need at least as much evidence as "not dominated": so that the union bound
        already covers it.
        """
        d = max(problem.compared, 1)
        if self.order == AS_ASKED:
            bar = either_way(pair_bar + math.log(_FORMS * d))
            return bar, bar, math.inf
        is_known = min(len(problem.correlation), problem.compared) > 1 and not problem.learnt.any()
        if not is_known or (not problem.independent and d > MOST_CORRELATED):
            return pair_bar, pair_bar + math.log(d), math.inf
        one = (1.0 - JOINTLY) / d + JOINTLY * 0.5**d
        return pair_bar - math.log(one * d), pair_bar - math.log(one), pair_bar - math.log(JOINTLY) + d * LOG_2

    def _rho(self, arms: int, pair_bar: float) -> float:
        """Return the rho for which evidence is sharpest about arms with (pair_bar + 2) rho pulls."""
        if self.expected_samples is None:
            return RHO
        return max(1.0, self.expected_samples / arms / (pair_bar + 2.0))


def _sets(correlation: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return every set of two or more coordinates, its size, and the inverse of its correlation."""
    d = len(correlation)
    chosen = [
        np.array(members)
        for size in range(2, d + 1 if d <= MOST_CORRELATED else 0)
        for members in itertools.combinations(range(d), size)
    ]
    sets, precisions = integers(len(chosen), d), floats(len(chosen), d, d)
    for k, members in enumerate(chosen):
        sets[k, : len(members)] = members
        precisions[k, : len(members), : len(members)] = np.linalg.inv(correlation[np.ix_(members, members)])
    return sets, np.array([len(members) for members in chosen], dtype=np.int64), precisions


def _inverse(scales: Floats) -> Floats:  # +inf for 0
    with np.errstate(divide="ignore"):
        return 1.0 / scales


def either_way(bar: float) -> float:
    """Return log(1/x) with x (1 + log(1/x)) = exp(-bar): what a product must reach whose factors are watched apart."""
    found = bar = max(bar, 0.0)  # -inf of a single arm, of which there are no pairs
    for _ in range(60):
        found = bar + math.log1p(found)
    return found


@prepare.register(CertifiedLevels)
def _prepare(evidence: CertifiedLevels, state: State, i: int) -> None:
    n = float(state.counts[i])
    evidence.inverse[i] = (n + evidence.rho) / (n * n) if n > 0.0 else math.inf
    evidence.penalty[i] = 0.5 * math.log((n + evidence.rho) / evidence.rho)
    for c in range(evidence.rate.shape[1]):
        if evidence.binary[c]:
            evidence.rate[i, c] = min(1.0, max(0.0, 0.5 * (state.means[i, c] - evidence.least[c])))
            evidence.regret[i, c] = UNKNOWN


# --- one arm ---------------------------------------------------------------------------------------------------------


@weigh.register(CertifiedLevels)
def _weigh(view: View, i: int) -> float:
    evidence, state = view.evidence, view.state
    if state.inside[i] == 0 and state.lazy_eta[i] == math.inf:  # outside by its exact coordinates
        return math.inf
    if evidence.learns and state.counts[i] < LEAST_PULLS:
        return too_early(state.counts[i])
    value = feasible(view, i) if state.inside[i] == 1 else infeasible(view, i)
    if value == -math.inf and evidence.learns:
        return evidence.row_bar - NEVER
    return value if value == value else -math.inf  # what is no number is no evidence


@most_weight.register(CertifiedLevels)
def _most_weight(view: View, i: int) -> float:
    if view.evidence.learns or view.state.lazy_eta[i] == math.inf:
        return math.inf
    return most_infeasible(view, i)


@radius.register(CertifiedLevels)
def _radius(view: View, i: int, c: int) -> float:
    evidence = view.evidence
    square = variance(view.problem, view.state, i, c) * evidence.inverse[i]
    return math.sqrt(2.0 * square * (evidence.limit_bar + evidence.penalty[i]))


@row_radius.register(CertifiedLevels)
def _row_radius(view: View, i: int, row: int) -> float:
    evidence = view.evidence
    required = evidence.slack_bar + evidence.penalty[i]
    return row_scale(view.problem, view.state, i, row) * math.sqrt(2.0 * evidence.inverse[i] * required)


# --- two arms --------------------------------------------------------------------------------------------------------


@dominated.register(CertifiedLevels)
def _dominated(view: View, i: int, j: int) -> float:
    """Every coordinate must have its evidence."""
    evidence, problem, state = view.evidence, view.problem, view.state
    gain = least_gain(problem, state, i, j)
    if evidence.learns and gain > -math.inf and min(state.counts[i], state.counts[j]) < LEAST_PULLS:
        return too_early(min(state.counts[i], state.counts[j]))
    required = evidence.below_bar + evidence.penalty[i] + evidence.penalty[j]
    if evidence.plain or gain == -math.inf:
        return against(gain, evidence.inverse[i], evidence.inverse[j], required)
    if evidence.rates and gain <= 0.0:  # rates say nothing where there is no lead, and sums the same of each coordinate
        return against(gain, evidence.inverse[i], evidence.inverse[j], required + SUM_EXTRA)
    least = math.inf
    for c in range(problem.compared):
        least = min(least, in_coordinate(view, j, i, c, 0.0, evidence.below_bar))
    return least


@most_dominated.register(CertifiedLevels)
def _most_dominated(view: View, i: int, j: int) -> float:
    """Return a lead less a width, or 0 where that is negative and the lead is not; learnt scales have other units."""
    return math.inf if view.evidence.learns else least_gain(view.problem, view.state, i, j)


@is_dominated_above.register(CertifiedLevels)
def _is_dominated_above(view: View, i: int, j: int, floor: float) -> bool:
    """By sums, of the least lead: of rates, they are one form of two."""
    evidence = view.evidence
    if evidence.learns:
        return False
    extra = 0.0 if evidence.plain else SUM_EXTRA
    required = evidence.below_bar + evidence.penalty[i] + evidence.penalty[j] + extra
    return is_above(
        floor, least_gain(view.problem, view.state, i, j), evidence.inverse[i], evidence.inverse[j], required
    )


@undominated_below.register(CertifiedLevels)
def _undominated_below(view: View, i: int, j: int, ceiling: float) -> float:
    """One coordinate must, with its share of the average; or several together, where they can be multiplied."""
    evidence, problem, state = view.evidence, view.problem, view.state
    lead = best_lead(problem, state, i, j)
    if evidence.learns and lead < math.inf and min(state.counts[i], state.counts[j]) < LEAST_PULLS:
        return pair_too_early(state.counts[i], state.counts[j])
    first, second = evidence.inverse[i], evidence.inverse[j]
    required = evidence.lead_bar + evidence.penalty[i] + evidence.penalty[j]
    if evidence.rates:  # by sums; what rates say comes on top, where there is a lead at all
        required += SUM_EXTRA
    if (evidence.plain or evidence.rates) and is_above(ceiling, lead, first, second, required):
        return math.inf
    if evidence.plain or lead == math.inf or (evidence.rates and lead <= 0.0):
        most = against(lead, first, second, required)
    else:
        most = -math.inf
        for c in range(problem.compared):
            slop = problem.tolerance[c]
            if evidence.rates and state.means[i, c] - state.means[j, c] + slop <= 0.0 < lead:
                continue  # another has a lead and, in the same form, more evidence
            most = max(most, in_coordinate(view, i, j, c, slop, evidence.lead_bar))
            if most > ceiling:
                return most
    if most < 0.0 and most <= ceiling and evidence.joint_bar < math.inf:
        if evidence.sets.shape[0] > 0:
            return max(most, in_some_correlated(view, i, j))
        both = evidence.penalty[i] + evidence.penalty[j]
        return max(most, in_some(view, i, j, first + second, both))
    return most


undominated.register(CertifiedLevels, lambda view, i, j: undominated_below(view, i, j, math.inf))
below_some.register(CertifiedLevels, lambda view, i, members: is_below_some(view, i, members))
pair_radius.register(CertifiedLevels, lambda view, i, j: _least_lead(view, i, j, view.evidence.below_bar))
lead_radius.register(CertifiedLevels, lambda view, i, j: _least_lead(view, i, j, view.evidence.lead_bar))


@inner
def _least_lead(view: View, i: int, j: int, bar: float) -> float:
    evidence = view.evidence
    return lead_required(evidence.inverse[i], evidence.inverse[j], bar + evidence.penalty[i] + evidence.penalty[j])


@gap_radius.register(CertifiedLevels)
def _gap_radius(view: View, i: int, j: int, c: int) -> float:
    evidence, problem, state = view.evidence, view.problem, view.state
    required = evidence.gap_bar + evidence.penalty[i] + evidence.penalty[j]
    first = variance(problem, state, i, c) * evidence.inverse[i]
    second = variance(problem, state, j, c) * evidence.inverse[j]
    return math.sqrt(2.0 * (first + second) * required)


# --- time -------------------------------------------------------------------------------------------------------------

moment.register(CertifiedLevels, lambda evidence, t: Moment(1.0, evidence.row_bar))
is_steady.register(CertifiedLevels, lambda view: True)
widening.register(CertifiedLevels, lambda view, then, i: 0.0)
