"""The e-values of `certified` are e-values: their mean under the null is at most 1, by quadrature and brute force.

Claims about pairs are too careful for frequencies to catch a mistake (docs/guarantees.md), so each inequality of the
proof is checked by itself.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import paretoguard as pg
from paretoguard.engine.evidence import mixtures, tilts
from paretoguard.engine.evidence.lil import threshold
from paretoguard.engine.jit import entry

RHO = 100.0
COUNTS = [(1, 1), (3, 400), (50, 50), (100, 2_000), (10_000, 30), (7_000, 9_000), (1, 100_000)]


@entry
def log_twice_phi(z: float) -> float:
    return mixtures.log_twice_phi(z)


@entry
def tilt_evidence(made: tilts.Tilts, space: Any, mean: float, n: float, row: int, side: int) -> float:
    return tilts.tilt_evidence(made, space, mean, n, row, side)


@entry
def row_evidence(z: float, penalty: float) -> float:
    return mixtures.row_evidence(z, penalty)


@entry
def one_sided_gain(lead: float, first: float, second: float) -> float:
    return mixtures.one_sided_gain(lead, first, second)


@entry
def is_apart(lead: float, first: float, second: float, required: float) -> bool:
    return mixtures.is_apart(lead, first, second, required)


@entry
def least_lead(first: float, second: float, required: float) -> float:
    return mixtures.least_lead(first, second, required)


def inverse(n: int) -> float:
    return (n + RHO) / n**2


def penalty(n: int) -> float:
    return 0.5 * math.log((n + RHO) / RHO)


def mean_over_normal(value: Callable[[float], float], sigma: float, reach: float = 38.0) -> float:
    """E exp(value(X)) for X ~ N(0, sigma²), up to `reach` standard deviations."""
    found, _ = integrate.quad(
        lambda x: math.exp(value(sigma * x) - 0.5 * x * x) / math.sqrt(2 * math.pi),
        -reach,
        reach,
        limit=2000,
        points=[0.0],
    )
    return float(found)


def test_log_phi_is_right_everywhere() -> None:
    z = np.concatenate([np.linspace(-40, 12, 2001), [-5.0, np.nextafter(-5.0, 0)]])
    expected = special.log_ndtr(z) + math.log(2)
    found = np.array([log_twice_phi(float(x)) for x in z])
    assert np.allclose(found[z > -5], expected[z > -5], rtol=1e-8, atol=1e-12)
    assert np.allclose(found, expected, rtol=2e-4)
    assert np.all(found[z <= -5] <= expected[z <= -5])
    assert row_evidence(-1e9, 2.0) == pytest.approx(math.log(2 / math.sqrt(2 * math.pi)) - math.log(1e9) - 2.0)


def test_the_mixture_of_a_row_has_mean_1_at_the_boundary_and_less_beyond() -> None:
    for n in (1, 10, 300, 20_000):

        def value(total: float, shift: float = 0.0, n: int = n) -> float:
            return row_evidence((total + n * shift) / math.sqrt(n + RHO), penalty(n))

        reach = 12.0 * math.sqrt((n + RHO) / RHO)  # at the boundary it falls as exp(-x² rho / (n + rho) / 2)
        assert mean_over_normal(value, math.sqrt(n), reach) == pytest.approx(1.0, abs=1e-6)
        assert mean_over_normal(lambda x, value=value: value(x, -0.1), math.sqrt(n), reach) < 1.0  # type: ignore[misc]
        too_much = mean_over_normal(lambda x, value=value: value(x) + math.log(2), math.sqrt(n), reach)  # type: ignore[misc]
        assert too_much == pytest.approx(2.0, abs=1e-5)


def half_normal(z: float) -> float:
    return 0.5 * z * z + float(special.log_ndtr(z)) + math.log(2)


def one_sided(lead: float, n: int, m: int) -> float:
    """The least value over common means x of the product of two half-normal mixtures, by brute force."""
    a, b = math.sqrt(1 / inverse(n)), math.sqrt(1 / inverse(m))

    def value(x: float) -> float:
        return half_normal(a * x) + half_normal(b * (lead - x))

    reach = abs(lead) + 60 * max(1 / a, 1 / b)
    grid = np.linspace(-reach, lead + reach, 4001)
    best = grid[int(np.argmin([value(float(x)) for x in grid]))]
    step = grid[1] - grid[0]
    found = optimize.minimize_scalar(
        value, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-12 * reach}
    )
    return float(found.fun) - penalty(n) - penalty(m)


def two_sided(lead: float, n: int, m: int) -> float:
    return 0.5 * lead * lead / (inverse(n) + inverse(m)) - penalty(n) - penalty(m)


@pytest.mark.parametrize(("n", "m"), COUNTS)
def test_the_two_sided_form_is_the_least_product_of_two_mixtures(n: int, m: int) -> None:
    for lead in (0.01, 0.5, 3.0):
        least = optimize.minimize_scalar(
            lambda x, lead=lead: 0.5 * x * x / inverse(n) + 0.5 * (lead - x) ** 2 / inverse(m)
        )
        assert two_sided(lead, n, m) == pytest.approx(float(least.fun) - penalty(n) - penalty(m), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("n", "m"), COUNTS)
def test_the_one_sided_bound_is_below_the_true_infimum_and_near_it_where_counts_are_alike(n: int, m: int) -> None:
    for strength in (0.5, 2.0, 4.0, 6.0):
        lead = strength * math.sqrt(inverse(n) + inverse(m))
        true = one_sided(lead, n, m) - two_sided(lead, n, m)
        bound = one_sided_gain(lead, inverse(n), inverse(m))
        assert bound <= true + 1e-7
        assert true <= math.log(4.0)
        if strength >= 4 and 0.2 < n / m < 5:
            assert bound > true - 0.02
            assert bound > 1.0


def test_the_one_sided_form_at_the_pooled_mean_is_no_bound() -> None:
    """What one_sided_gain corrects for: the slope there. Without it, the value is above the infimum."""
    n, m, lead = 100, 2_000, 0.42
    a, b = inverse(n), inverse(m)
    pooled = half_normal(lead * math.sqrt(a) / (a + b)) + half_normal(lead * math.sqrt(b) / (a + b))
    assert pooled - penalty(n) - penalty(m) > one_sided(lead, n, m) + 1e-3
    assert one_sided_gain(lead, a, b) + two_sided(lead, n, m) <= one_sided(lead, n, m)


@pytest.mark.parametrize(("n", "m"), COUNTS)
def test_the_e_value_of_a_pair_has_mean_at_most_1_for_equal_means(n: int, m: int) -> None:
    a, b = inverse(n), inverse(m)

    def value(lead: float) -> float:
        closed = two_sided(lead, n, m)
        gain = one_sided_gain(lead, a, b) if lead > 0 else -math.inf
        return closed + math.log(mixtures.TWO_SIDED + mixtures.ONE_SIDED * math.exp(gain)) if lead > 0 else -math.inf

    def positive(lead: float) -> float:
        return value(lead) if lead > 0 else -math.inf

    assert mean_over_normal(positive, math.sqrt(1 / n + 1 / m)) <= 1.0


@pytest.mark.parametrize(("n", "m"), COUNTS)
def test_a_lead_is_certain_where_its_e_value_says_so(n: int, m: int) -> None:
    a, b, both = inverse(n), inverse(m), penalty(n) + penalty(m)
    for bar in (1.0, 5.0, 12.0):
        least = least_lead(a, b, bar + both)
        assert is_apart(least, a, b, bar + both)
        assert not is_apart(least * (1 - 1e-9), a, b, bar + both)
        gain = one_sided_gain(least, a, b)
        evidence = two_sided(least, n, m) + math.log(0.25 + 0.75 * math.exp(gain))
        assert evidence == pytest.approx(bar, abs=1e-5) or (gain == -math.inf and evidence >= bar - 1e-9)


def test_several_independent_leads_together_have_mean_at_most_1() -> None:
    """Half the average over coordinates, half the product of 1/2 + E/2: all sets of coordinates, with their weights."""
    n, m, d = 40, 90, 2
    spread, scale = math.sqrt(1 / n + 1 / m), 1 / (2 * (inverse(n) + inverse(m)))
    both = penalty(n) + penalty(m)

    def one(x: float) -> float:
        return math.exp(scale * max(x, 0.0) ** 2 - both)

    def joint(x: float, y: float) -> float:
        return 0.5 * (one(x) + one(y)) / d + 0.5 * (0.5 + 0.5 * one(x)) * (0.5 + 0.5 * one(y))

    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    total = sum(
        w * v * joint(spread * float(x), spread * float(y))
        for x, w in zip(nodes, weights, strict=True)
        for y, v in zip(nodes, weights, strict=True)
    )
    assert total <= 1.0
    for lead in (0.3, 0.6):  # what the engine takes: the best set alone, with its weight
        single = one(lead) * (0.5 / d + 0.5 ** (d + 1))
        pair = one(lead) ** 2 * 0.5 ** (d + 1)
        assert max(single, pair) <= joint(lead, lead)


@pytest.mark.parametrize("bound", ["x <= 0.05", "x >= 0.05", "x >= 0.9"])
def test_rows_near_the_end_of_a_range_have_mean_1_at_the_boundary_and_less_beyond(bound: str) -> None:
    """By enumeration of all counts of successes; and for the law on three points, whose mean is at most that."""
    r = float(bound.split()[-1])
    problem = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Bernoulli(), constraints=[bound])
    space = problem.space()
    made = tilts.tilts(space)
    assert made.used.tolist() == [1]
    for n in (1, 7, 60):
        for side in (tilts.HOLDS, tilts.FAILS):
            # Null of "holds": the limit is violated or tight; of "fails": it holds.
            counts = np.arange(n + 1)
            values = np.array([math.exp(tilt_evidence(made, space, 2.0 * k / n, float(n), 0, side)) for k in counts])
            assert stats.binom.pmf(counts, n, r) @ values == pytest.approx(1.0, rel=1e-9)
            beyond = 0.5 * r if (side == tilts.FAILS) == ("<=" in bound) else r + 0.5 * (1 - r)
            assert stats.binom.pmf(counts, n, beyond) @ values < 1.0
            other = 0.5 * r if beyond > r else r + 0.5 * (1 - r)
            assert stats.binom.pmf(counts, n, other) @ values > 1.0
    halves = [(p, q) for p in (0.0, 0.5, 1.0) for q in (0.0, 0.5, 1.0)]  # two results, each 0, 1/2 or 1
    weights = {0.0: 0.6 * (1 - r), 0.5: 0.0, 1.0: r - 0.0}
    weights[0.5] = 2 * min(r, 1 - r) * 0.4
    weights[1.0] = r - 0.5 * weights[0.5]
    weights[0.0] = 1.0 - weights[0.5] - weights[1.0]
    total = sum(
        weights[p] * weights[q] * math.exp(tilt_evidence(made, space, p + q, 2.0, 0, tilts.FAILS)) for p, q in halves
    )
    assert total <= 1.0


def test_rows_in_the_middle_of_a_range_stay_sub_gaussian() -> None:
    for bound in ("x <= 0.4", "x + y <= 0.1", "x <= 0"):
        problem = pg.Problem({"x": "max", "y": "max"}, arms=["a"], noise=pg.Bernoulli(), constraints=[bound])
        assert tilts.tilts(problem.space()).used.tolist() == [0]


def test_the_thresholds_of_kaufmann_and_koolen() -> None:
    known = {0.1: 1.526728, 0.46051702: 1.921077, 1.0: 2.507095, 2.302585: 3.906276, 10.0: 11.954646}
    assert {x: round(threshold(x), 6) for x in known} == known
    assert threshold(200.0) > 200.0
