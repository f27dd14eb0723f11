"""The e-values of `certified` are e-values: their mean under the null is at most 1, by quadrature and brute force.

Claims about pairs are too careful for frequencies to catch a mistake (docs/guarantees.md), so each inequality of the
proof is checked by itself.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import quadprog
from scipy import integrate, optimize, special, stats

import paretoguard as pg
from paretoguard.compiler.jit import entry
from paretoguard.engine import arrays
from paretoguard.evidence.certified import comparisons, mixtures
from paretoguard.evidence.kaufmann_koolen import threshold

RHO = 100.0
COUNTS = [(1, 1), (3, 400), (50, 50), (100, 2_000), (10_000, 30), (7_000, 9_000), (1, 100_000)]


@entry
def log_twice_phi(z: float) -> float:
    return mixtures.log_twice_phi(z)


@entry
def log_gamma(z: float) -> float:
    return mixtures.log_gamma(z)


@entry
def regret(rate: float, n: float) -> float:
    return mixtures.regret(rate, n, mixtures.usual_regret(n))


@entry
def least_regrets(rho: float, log_rho: float, total: float) -> float:
    return mixtures.least_regrets(rho, log_rho, total)


@entry
def rate_evidence(first: float, n: float, second: float, m: float) -> float:
    return mixtures.rate_evidence(first, n, second, m)


@entry
def is_rate_apart(first: float, n: float, second: float, m: float, required: float) -> bool:
    return mixtures.is_rate_apart(first, n, second, m, required)


@entry
def against(lead: float, first: float, second: float, required: float) -> float:
    return comparisons.against(lead, first, second, required)


@entry
def is_above(ceiling: float, lead: float, first: float, second: float, required: float) -> bool:
    return comparisons.is_above(ceiling, lead, first, second, required)


@entry
def bet_evidence(growth: Any, first: int, n: float) -> float:
    return arrays.bet_evidence(growth, first, n)


@entry
def row_e_value(z: float, fall: float) -> float:
    return mixtures.row_e_value(z, fall)


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
    return mixtures.lead_required(first, second, required)


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


def test_the_e_value_of_a_row_is_exp_of_its_evidence() -> None:
    for z in [*np.linspace(-60.0, 35.9, 500), -5.0, np.nextafter(-5.0, 0.0), -math.inf]:
        for p in (0.0, 0.7, 4.0):
            found = row_e_value(float(z), math.exp(-p))
            assert found == pytest.approx(math.exp(row_evidence(float(z), p)), rel=1e-11)
    assert row_e_value(36.0, 1.0) == math.inf


def test_the_usual_gain_is_no_more_than_the_gain() -> None:
    """Where both arms are three standard deviations from the common mean, `is_apart` decides at a glance."""
    seen = 0
    for n, m in COUNTS:
        first, second = inverse(n), inverse(m)
        for lead in np.geomspace(1e-3, 1e3, 400):
            if lead * math.sqrt(min(first, second)) >= mixtures._CLEAR * (first + second):
                gain = math.log(0.25 + 0.75 * math.exp(one_sided_gain(float(lead), first, second)))
                assert gain >= mixtures.USUAL_GAIN
                seen += 1
    assert seen > 500


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


def wealth(space: Any, side: int, values: list[float]) -> float:
    """What the bets on the only row of a problem make of these results, in the user's units."""
    made, first = space.bets, int(space.bets.first[0, side])
    stakes = 1.0 + made.slope * ((np.array(values) * space.scale[0])[:, None] - made.limit)
    growth = np.log(stakes).mean(axis=0)
    if space.ranges.binary[0]:  # known from the mean alone
        share = 0.5 * (np.mean(values) * space.scale[0] - space.ranges.least[0])
        assert growth == pytest.approx(made.low + share * made.step, rel=1e-12, abs=1e-14)
    return math.exp(bet_evidence(growth, first, float(len(values))))


@pytest.mark.parametrize("bound", ["x <= 0.05", "x >= 0.05", "x >= 0.9"])
@pytest.mark.parametrize("direction", ["max", "min"])
def test_bets_have_mean_1_at_the_boundary_and_less_beyond(bound: str, direction: str) -> None:
    """By enumeration of all counts of successes."""
    r = float(bound.split()[-1])
    problem = pg.Problem({"x": direction}, arms=["a"], noise=pg.Bernoulli(), constraints=[bound])
    space = problem.space()
    for n in (1, 7, 60):
        for side in (arrays.HOLDS, arrays.FAILS):
            # Null of "holds": the limit is violated or tight; of "fails": it holds.
            counts = np.arange(n + 1)
            values = np.array([wealth(space, side, [1.0] * int(k) + [0.0] * int(n - k)) for k in counts])
            assert stats.binom.pmf(counts, n, r) @ values == pytest.approx(1.0, rel=1e-9)
            beyond = 0.5 * r if (side == arrays.FAILS) == ("<=" in bound) else r + 0.5 * (1 - r)
            assert stats.binom.pmf(counts, n, beyond) @ values < 1.0
            other = 0.5 * r if beyond > r else r + 0.5 * (1 - r)
            assert stats.binom.pmf(counts, n, other) @ values > 1.0


def test_bets_on_values_between_have_mean_1_at_the_boundary_too() -> None:
    """Three results, each low, in the middle or high: any law with that mean."""
    problem = pg.Problem({"x": "min"}, arms=["a"], noise=pg.Bounded(-1.0, 3.0), constraints=["x <= 0.5"])
    space = problem.space()
    for middle in (0.0, 0.3, 0.6):
        weights = {-1.0: 1.0 - middle - (1.5 - middle) / 4, 0.0: middle, 3.0: (1.5 - middle) / 4}
        assert sum(value * weight for value, weight in weights.items()) == pytest.approx(0.5)
        for side in (arrays.HOLDS, arrays.FAILS):
            total = sum(
                math.prod(weights[x] for x in result) * wealth(space, side, list(result))
                for result in itertools.product(weights, repeat=3)
            )
            assert total == pytest.approx(1.0)


def test_which_rows_are_bet_on() -> None:
    """Of 0-and-1 outcomes those near the ends of the range, where a sum is not as good; of others all."""
    for bound in ("x <= 0.4", "x + y <= 0.1", "x <= 0"):
        problem = pg.Problem({"x": "max", "y": "max"}, arms=["a"], noise=pg.Bernoulli(), constraints=[bound])
        assert problem.space().bets.first.tolist() == [[-1, -1]]
    problem = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Bounded(0, 1), constraints=["x <= 0.4"])
    assert problem.space().bets.first.tolist() == [[0, arrays.GRID]]


@pytest.mark.parametrize(
    ("noise", "limit", "mean"),
    [
        (pg.Bernoulli(), 0.001, 0.002),
        (pg.Bernoulli(), 0.05, 0.051),
        (pg.Bounded(0, 1), 0.5, 0.5005),
        (pg.Bounded(0, 1), 0.01, 0.0095),
    ],
)
def test_rows_with_bets_are_certain_in_the_end_however_near_the_limit(
    noise: pg.Noise, limit: float, mean: float
) -> None:
    """Told the mean itself as a two-point law, ever more often: bets alone would stop growing near the limit."""
    problem = pg.Problem({"x": "max"}, arms=["a"], noise=noise, constraints=[f"x <= {limit}"])
    trial = pg.Trial(problem)
    for k in range(20_000):
        trial.tell("a", {"x": float(math.floor((k + 1) * mean + 1e-9) - math.floor(k * mean + 1e-9))})
    verdict = trial.verdicts()["a"]
    if verdict.missing is not None:
        assert 0 < verdict.missing.pulls["a"] < 400 / (limit - mean) ** 2
    else:
        assert verdict.status == "infeasible"


# --- two rates -------------------------------------------------------------------------------------------------------


def test_the_regret_of_many_outcomes_is_that_of_its_definition() -> None:
    for n in (1, 20, 32, 33, 100, 5_000, 2_000_000):
        for k in sorted({0, 1, min(15, n), min(16, n), min(17, n), n // 3, n // 2, n - min(16, n), n}):
            mixed = special.betaln(k + 0.5, n - k + 0.5) - math.log(math.pi)
            expected = special.xlogy(k, k / n) + special.xlogy(n - k, (n - k) / n) - mixed
            assert regret(k / n, float(n)) == pytest.approx(expected, rel=1e-9, abs=1e-9 * math.sqrt(n))


def test_a_regret_is_at_least_half_the_logarithm() -> None:
    """Of pi n/2: so that a glance tells where sums are sharper than rates."""
    for n in (*range(1, 60), 1_000, 100_000):
        for k in {*range(min(n, 60) + 1), n // 2, n}:
            assert regret(k / n, float(n)) >= 0.5 * math.log(0.5 * math.pi * n) - 1e-9
    for n, m in ((1.0, 1.0), (7.0, 300.0), (1e6, 50.0)):
        penalties = 0.5 * (math.log1p(n / RHO) + math.log1p(m / RHO))
        least = 0.5 * math.log(0.5 * math.pi * n) + 0.5 * math.log(0.5 * math.pi * m)
        assert penalties + least_regrets(RHO, math.log(0.5 * math.pi * RHO), 1.0 / n + 1.0 / m) <= least


def test_log_gamma_is_that_of_the_literature() -> None:
    for z in (0.5, 1.0, 1.5, 3.7, 11.9, 12.0, 250.5, 1e6, 1e9):
        assert log_gamma(z) == pytest.approx(special.gammaln(z), rel=1e-14, abs=1e-14)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 9), (30, 30), (2, 60)])
def test_evidence_about_two_rates_has_a_mean_of_at_most_1(n: int, m: int) -> None:
    """By enumeration, over equal rates and some where the first is below: the null of "the first is above"."""
    first, second = np.arange(n + 1), np.arange(m + 1)
    values = np.zeros((n + 1, m + 1))
    for s in first:
        for t in second:
            x, y = s / n, t / m
            regrets = regret(x, float(n)) + regret(y, float(m))
            values[s, t] = math.exp(rate_evidence(x, float(n), y, float(m)) - regrets) if x > y else 0.0
    for low, high in ((0.01, 0.01), (0.1, 0.1), (0.5, 0.5), (0.97, 0.97), (0.2, 0.3), (0.0, 0.9)):
        mean = stats.binom.pmf(first, n, low) @ values @ stats.binom.pmf(second, m, high)
        assert mean <= 1.0
    # … and it is the least, over common rates, of the product of the two mixtures.
    a, b = n, m // 2
    mixed = [special.betaln(k + 0.5, size - k + 0.5) - special.betaln(0.5, 0.5) for k, size in ((a, n), (b, m))]
    common = np.linspace(1e-6, 1 - 1e-6, 20_001)
    likelihood = special.xlogy(a + b, common) + special.xlog1py(n + m - a - b, -common)
    assert math.log(values[a, b]) == pytest.approx(sum(mixed) - likelihood.max(), abs=1e-6)


def variance(rate: float) -> float:
    return rate * (1.0 - rate)


def test_bounds_tell_of_likelihoods_only_what_is_true() -> None:
    """They save working them out: at most what a normal law gives twice over, and whether they reach what is required.

    Asked of them is what they give, more or less, and what the bounds of `is_rate_apart` give.
    """
    rng = np.random.default_rng(2)
    for _ in range(4_000):
        n, m = (float(round(10 ** rng.uniform(0, 6))) for _ in range(2))
        x, y = (round(float(rng.beta(0.2, 0.2)) * size) / size for size in (n, m))
        if x == y:
            continue
        found, total = rate_evidence(x, n, y, m), 1 / n + 1 / m
        pooled = (n * x + m * y) / (n + m)
        assert found <= 0.7**-2 * (x - y) ** 2 / (2.0 * pooled * (1.0 - pooled) * total) + 1e-9
        parts = [(size * (rate - pooled) ** 2 / 2, rate) for size, rate in ((n, x), (m, y))]
        least = sum(part / variance((2 * pooled + rate) / 3) for part, rate in parts)
        chords = [(part, 2 / variance(pooled) + 1 / variance(rate)) for part, rate in parts if 0.0 < rate < 1.0]
        bounds = [least, sum(part * chord / 3 for part, chord in chords)]
        assert least <= found * (1.0 + 1e-9)
        assert found <= bounds[1] * (1.0 + 1e-9) or len(chords) < 2
        for required in (*(found * (1.0 + away) for away in (-0.5, -1e-3, 1e-3, 0.5)), *bounds, 10.0):
            if abs(found - required) > 1e-9 * (1.0 + found):  # else rounding decides
                assert is_rate_apart(x, n, y, m, required) == (found >= required), (x, n, y, m, required)


def test_what_is_above_a_ceiling_at_a_glance_is_above_it() -> None:
    """And where nothing is in doubt, the glance tells."""
    rng, told = np.random.default_rng(5), 0
    for _ in range(20_000):
        lead, first, second = float(rng.normal()), *(float(10 ** rng.uniform(-5, 1)) for _ in range(2))
        required = float(rng.uniform(-1, 20))
        value = against(lead, first, second, required)
        for ceiling in (value, value - 1e-6, value + 1e-6, 0.0, -1e-13, float(rng.normal()), math.inf):
            if is_above(ceiling, lead, first, second, required):
                told += 1
                assert value > ceiling, (ceiling, lead, first, second, required)
    assert told > 10_000


# --- several coordinates together ------------------------------------------------------------------------------------


def test_a_set_of_correlated_coordinates_has_the_least_of_its_quadratic_form() -> None:
    """Where R^-1 l >= 0, l' R^-1 l is the least y' R^-1 y over y >= l; and a set without it has a subset with."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        d = int(rng.integers(2, 5))
        factor = rng.normal(size=(d, d + 1)) + rng.choice([0.0, 1.5])
        R = factor @ factor.T
        R /= np.sqrt(np.outer(np.diag(R), np.diag(R)))
        lead, precision = rng.normal(size=d), np.linalg.inv(R)
        least = 2.0 * quadprog.solve_qp(precision, np.zeros(d), np.eye(d), lead)[1]
        values = []
        for size in range(1, d + 1):
            for members in itertools.combinations(range(d), size):
                dual = np.linalg.solve(R[np.ix_(members, members)], lead[list(members)])
                if np.all(dual >= 0):
                    values.append(float(dual @ lead[list(members)]))
        assert max(values, default=0.0) == pytest.approx(least, rel=1e-7, abs=1e-9)


def test_the_thresholds_of_kaufmann_and_koolen() -> None:
    known = {0.1: 1.526728, 0.46051702: 1.921077, 1.0: 2.507095, 2.302585: 3.906276, 10.0: 11.954646}
    assert {x: round(threshold(x), 6) for x in known} == known
    assert threshold(200.0) > 200.0
