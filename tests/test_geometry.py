"""Projection onto a polyhedron: against independent solvers, by certificates, and with and without the compiler.

How an answer is judged. For any weights >= 0, weights · (A x - rhs) / |A' weights| is a lower bound on the distance,
and a point that violates no row by more than v bounds from above the distance to the set widened by v. So an answer
carries its own proof, which is checked in longer arithmetic (and once in rationals): no second solver need be believed.
Two are compared as well: `quadprog`, and Lawson and Hanson's least-distance method on scipy's NNLS.

How exact an answer can be. Moving every right-hand side by ε moves the distance by ε Σ multipliers / distance. With ε
an ulp of the data this is `blur`: no method in double precision does better. It exceeds 1e-9 of the distance only for
points some 1e-8 outside, or where rows meet at angles of about 1e-6 several times over.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import quadprog
from numpy import float64
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from paretoguard.compiler.jit import entry
from paretoguard.compiler.tiers import COMPILED, INTERPRETED, forced, has_compiler
from paretoguard.geometry import polyhedron as geometry
from paretoguard.geometry.active_set import Workspace, workspace
from paretoguard.geometry.polyhedron import (
    BOX,
    FREE,
    GENERAL,
    HALFSPACE,
    Polyhedron,
    polyhedron,
    project,
    within,
)

Floats = NDArray[float64]

ULP = 2.0**-52
KINDS = (
    "generic",  # rows in general position
    "lattice",  # entries -1, 0, 1: dependent rows without rounding
    "duplicate",  # the same row twice, some with other last digits
    "parallel",
    "slab",  # opposite rows, 1 to 1e-9 apart, or touching
    "nearly",  # rows at angles of about 1e-6, on the same side or opposite
    "redundant",  # rows implied by others, exactly or with room
    "vertex",  # many rows through one point
    "cone",  # all of them
    "mixed",  # everything at once
)


class Case(NamedTuple):
    region: Polyhedron
    x: Floats
    spread: float  # how far x was put from the middle of the region; 1e-8: how far outside


class Answer(NamedTuple):
    distance: float
    point: Floats
    multipliers: Floats


@entry
def slack_within(region: Polyhedron, rhs: Floats, tolerance: Floats, x: Floats) -> float:
    return within(region, rhs, tolerance, x)[1]


def slack_of(region: Polyhedron, rhs: Floats, x: Floats) -> float:
    return slack_within(region, rhs, np.zeros_like(rhs), x)


def solve(region: Polyhedron, rhs: Floats, x: Floats, work: Workspace | None = None) -> Answer:
    work = workspace(*region.A.shape) if work is None else work
    distance = geometry._outside(region, rhs, x, work)
    return Answer(distance, work.point.copy(), work.multipliers.copy())


def unit(rows: Floats) -> Floats:
    return np.ascontiguousarray(rows / np.sqrt((rows * rows).sum(axis=1))[:, None])


def make_region(kind: str, d: int, m: int, rng: np.random.Generator) -> tuple[Polyhedron, Floats]:
    """A region with the features of `kind`, and a point in it."""
    middle = rng.normal(size=d)
    A, room = unit(rng.normal(size=(m, d))), rng.exponential(size=m)
    if kind == "lattice" or (kind == "mixed" and rng.random() < 0.3):
        A = rng.integers(-1, 2, size=(m, d)).astype(float64)
        A[(A == 0).all(axis=1), 0] = 1
        A = unit(A)
    if kind in ("vertex", "mixed"):
        room[rng.random(m) < 0.5] = 0
    if kind == "cone" or (kind == "mixed" and rng.random() < 0.2):
        room[:] = 0
    for row in range(1 + m // 3, m):
        derived = str(rng.choice(["duplicate", "parallel", "slab", "nearly", "redundant"])) if kind == "mixed" else kind
        derive_row(derived, row, A, room, rng)
    A = unit(A)
    return polyhedron(A, A @ middle + room), middle


def derive_row(kind: str, row: int, A: Floats, room: Floats, rng: np.random.Generator) -> None:
    """Make a row from an earlier one, in place."""
    other = int(rng.integers(0, row))
    if kind == "duplicate":
        A[row], room[row] = A[other] * rng.choice([1.0, rng.uniform(0.3, 3)]), room[other]
        A[row] /= np.sqrt((A[row] ** 2).sum())
    elif kind == "parallel":
        A[row] = A[other]
    elif kind == "slab":
        A[row], room[row], room[other] = -A[other], rng.choice([1, 1e-3, 1e-6, 1e-9, 0]), rng.choice([room[other], 0])
    elif kind == "nearly":
        A[row] = rng.choice([-1, 1]) * A[other] + 1e-6 * rng.normal(size=A.shape[1])
        A[row] /= np.sqrt((A[row] ** 2).sum())
        room[row] = rng.choice([room[other], 1e-6 * rng.random(), room[row]])
    elif kind == "redundant":
        weights = rng.random(row) * (rng.random(row) < 3 / row)
        norm = float(np.sqrt(((weights @ A[:row]) ** 2).sum()))
        if norm > 1e-3:
            A[row], room[row] = weights @ A[:row] / norm, weights @ room[:row] / norm * rng.choice([1.0, 1.3])


def make_cases(kind: str, regions: int, rng: np.random.Generator, most_d: int = 8, most_m: int = 40) -> Iterator[Case]:
    """Points at several distances from each of many regions, the last of them some 1e-8 outside."""
    for _ in range(regions):
        d, m = int(rng.integers(1, most_d + 1)), int(rng.integers(2, most_m + 1))
        region, middle = make_region(kind, d, m, rng)
        for spread in (1.0, 5.0, 1e3, 1e6):
            yield Case(region, middle + spread * rng.normal(size=d), spread)
        ray = unit(rng.normal(size=(1, d)))[0]
        rate, slack = region.A @ ray, region.b - region.A @ middle
        if np.any(rate > 1e-9):
            yield Case(region, middle + ray * (np.min(slack[rate > 1e-9] / rate[rate > 1e-9]) + 1e-8), 1e-8)


def data_size(region: Polyhedron, x: Floats, distance: float) -> float:
    """The largest numbers that enter a slack, at x or at the projection: rounding is counted in their ulps."""
    return float(np.abs(x).max() + np.abs(region.b).max() + distance)


def blur_of(region: Polyhedron, x: Floats, answer: Answer) -> float:
    return float(ULP * data_size(region, x, answer.distance) * answer.multipliers.sum() / answer.distance)


def proof_of(region: Polyhedron, x: Floats, answer: Answer) -> tuple[float, float]:
    """(distance minus what the multipliers prove, largest violation at the point), in longer arithmetic."""
    if not np.isfinite(answer.distance) or not answer.multipliers.any():
        return np.inf, np.inf
    A, b, here, point, weights = (
        np.asarray(values, np.longdouble) for values in (region.A, region.b, x, answer.point, answer.multipliers)
    )
    pull = A.T @ weights
    proved = weights @ (A @ here - b) / np.sqrt(pull @ pull)
    return abs(float(answer.distance - proved)), float((A @ point - b).max())


def check(region: Polyhedron, x: Floats, answer: Answer) -> None:
    """Every condition of optimality, at the accuracy that rounding allows."""
    size, weight = data_size(region, x, answer.distance), float(answer.multipliers.sum())
    assert np.all(answer.multipliers >= 0)
    gap, violation = proof_of(region, x, answer)
    assert gap <= 1e-9 * answer.distance + 4 * blur_of(region, x, answer)
    assert violation <= 1e-13 * size
    step = x - answer.point
    assert abs(np.sqrt(step @ step) - answer.distance) <= 1e-12 * answer.distance + 8 * ULP * size
    assert np.abs(step - region.A.T @ answer.multipliers).max() <= 16 * ULP * (size + weight)
    slack = region.b - region.A @ answer.point
    assert np.abs(answer.multipliers * slack).max() <= 1e-13 * size * weight


def least_distance(region: Polyhedron, x: Floats) -> Answer:
    """Lawson and Hanson (1974), chapter 23: min |z| under A z <= -h as nonnegative least squares."""
    h = region.A @ x - region.b
    unit_of_length = h.max()
    E = np.vstack([-region.A.T, h / unit_of_length])
    target = np.zeros(len(x) + 1)
    target[-1] = 1
    weights, _ = nnls(E, target, maxiter=100 * len(h))
    residual = E @ weights - target
    if residual[-1] == 0:
        return Answer(np.inf, x, weights)
    z = -unit_of_length * residual[:-1] / residual[-1]
    return Answer(float(np.sqrt(z @ z)), x + z, -unit_of_length * weights / residual[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_distance_is_proved_by_its_multipliers_and_agrees_with_least_distance_programming(kind: str) -> None:
    judged = compared = 0
    for region, x, spread in make_cases(kind, 600, np.random.default_rng(KINDS.index(kind))):
        answer = solve(region, region.b, x)
        if slack_of(region, region.b, x) >= 0:
            assert answer.distance == 0
            assert np.all(answer.point == x)
            assert not answer.multipliers.any()
            continue
        assert 0 < answer.distance < np.inf
        check(region, x, answer)
        if spread >= 1:  # nearer, the other method divides by a residual that vanishes
            other = least_distance(region, x)
            agreed = abs(other.distance - answer.distance) <= 1e-9 * answer.distance + 4 * blur_of(region, x, answer)
            # Where they differ, the proof decides: the other answer's must be the weaker one.
            (gap, violation), (other_gap, other_violation) = (proof_of(region, x, a) for a in (answer, other))
            assert agreed or other_gap > gap or other_violation > violation, (answer.distance, other.distance)
            judged, compared = judged + 1, compared + agreed
    assert compared > 0.98 * judged > 2000


def test_distance_and_point_agree_with_quadprog() -> None:
    # Generic rows only: on duplicate rows and far points quadprog 0.1.14 does not return (seen, and not interruptible).
    for region, x, spread in make_cases("generic", 400, np.random.default_rng(20)):
        answer = solve(region, region.b, x)
        if answer.distance > 0 and spread >= 1:
            point = quadprog.solve_qp(np.eye(len(x)), x, -region.A.T, -region.b)[0]
            assert answer.distance == pytest.approx(np.linalg.norm(x - point), rel=1e-9)
            assert np.abs(answer.point - point).max() <= 1e-9 * data_size(region, x, answer.distance)


@pytest.mark.parametrize("kind", ["generic", "lattice", "nearly", "mixed"])
def test_two_hundred_rows_in_sixteen_coordinates(kind: str) -> None:
    rng = np.random.default_rng(30)
    for _ in range(10):
        region, middle = make_region(kind, 16, 200, rng)
        for spread in (3.0, 1e6):
            x = middle + spread * rng.normal(size=16)
            check(region, x, solve(region, region.b, x))


def test_proof_holds_in_rational_arithmetic() -> None:
    rng = np.random.default_rng(40)
    for kind in KINDS:
        for region, x, _ in make_cases(kind, 4, rng, most_d=4, most_m=10):
            answer = solve(region, region.b, x)
            if answer.distance == 0:
                continue
            weights, here = [Fraction(w) for w in answer.multipliers], [Fraction(v) for v in x]
            rows = [[Fraction(a) for a in row] for row in region.A]
            excess = [sum(a * v for a, v in zip(row, here, strict=True)) for row in rows]
            value = sum(w * (e - Fraction(b)) for w, e, b in zip(weights, excess, region.b, strict=True))
            pull = [sum(w * row[c] for w, row in zip(weights, rows, strict=True)) for c in range(len(here))]
            # value / |pull| <= the true distance, for certain; squared to stay rational.
            short = Fraction(answer.distance) * (1 - Fraction(1, 10**9)) - 4 * Fraction(blur_of(region, x, answer))
            assert value > 0
            assert short <= 0 or value * value >= short * short * sum(p * p for p in pull)


def margin_of(region: Polyhedron, rhs: Floats) -> float:
    """By how much every row can be tightened before the set is empty (negative: it is empty), by linear programming."""
    m, d = region.A.shape
    found = linprog(
        np.r_[np.zeros(d), -1.0],
        A_ub=np.c_[region.A, np.ones(m)],
        b_ub=rhs,
        bounds=[(None, None)] * d + [(-10, 1)],
    )
    assert found.status == 0
    return float(found.x[-1])


def check_clash(region: Polyhedron, rhs: Floats, answer: Answer) -> None:
    assert answer.distance == np.inf
    assert np.all(np.isnan(answer.point))
    assert np.all(answer.multipliers >= 0)
    weight = answer.multipliers.sum()
    assert np.abs(region.A.T @ answer.multipliers).max() <= 1e-14 * weight
    assert rhs @ answer.multipliers < 0


def test_empty_exactly_where_linear_programming_finds_no_point() -> None:
    rng = np.random.default_rng(50)
    seen = {True: 0, False: 0}
    for trial in range(300):
        d, m = int(rng.integers(1, 9)), int(rng.integers(2, 41))
        region, middle = make_region(KINDS[trial % len(KINDS)], d, m, rng)
        rhs = region.b - rng.choice([1e-5, 0.1, 0.5, 2.0]) * rng.random(m)
        margin = margin_of(region, rhs)
        if abs(margin) < 1e-6:  # not decided by a linear program's tolerance
            continue
        seen[margin < 0] += 1
        for spread in (1.0, 1e3, 1e6):
            x = middle + spread * rng.normal(size=d)
            answer = solve(region, rhs, x)
            if margin < 0:
                check_clash(region, rhs, answer)
            elif answer.distance > 0:
                check(region._replace(b=rhs), x, answer)
    assert min(seen.values()) > 80


@pytest.mark.kernel
@pytest.mark.parametrize("width", [1e-3, 1e-9, 1e-12, 0.0, -1e-12, -1e-9, -1e-3])
@pytest.mark.parametrize("d", [2, 5])
def test_thin_slab_is_empty_only_with_negative_width(width: float, d: int) -> None:
    rng = np.random.default_rng(60)
    normal = unit(rng.normal(size=(1, d)))[0]
    rows = np.vstack([normal, -normal, unit(rng.normal(size=(1, d)))])
    for spread in (1.0, 1e6):  # the width is relative: from 1e6 away 1e-9 is within the rounding of a slack
        region = polyhedron(rows, [0.3, spread * width - 0.3, 2.0])
        x = spread * rng.normal(size=d)
        answer = solve(region, region.b, x)
        if width < 0:
            check_clash(region, region.b, answer)
        else:
            check(region, x, answer)


@pytest.mark.kernel
def test_bounds_that_clash_by_rounding_touch() -> None:
    # 0.1 * 3 > 0.3 in doubles: as bounds of one coordinate, as opposite rows, and as a point held by many rows.
    bounds = [0.3, -0.1 * 3, 1.0]
    assert project(polyhedron([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], bounds), [2.0, 0.0]).distance == 1.7
    slanted = polyhedron([[0.6, 0.8], [-0.6, -0.8], [0.0, 1.0]], bounds)
    assert project(slanted, [0.0, 0.0]).distance == pytest.approx(0.3, rel=1e-15)
    rng = np.random.default_rng(61)
    A = unit(rng.normal(size=(30, 3)))
    centre = rng.normal(size=3)
    found = project(polyhedron(A, A @ centre), centre + 1.0)
    assert found.distance == pytest.approx(3**0.5, rel=1e-12)
    assert found.violation < 1e-14


@pytest.mark.kernel
def test_shapes_are_recognised() -> None:
    assert polyhedron(np.zeros((0, 3)), []).shape == FREE
    assert polyhedron(np.zeros((0, 0)), []).shape == FREE
    assert polyhedron([[0.6, 0.8]], [1.0]).shape == HALFSPACE
    box = polyhedron([[0.0, 1.0], [-1.0, 0.0]], [1.0, 1.0])
    assert (box.shape, box.axis.tolist()) == (BOX, [1, 0])
    general = polyhedron([[0.0, 1.0], [0.6, 0.8]], [1.0, 1.0])
    assert (general.shape, general.axis.tolist()) == (GENERAL, [1, -1])


def test_rows_that_are_not_unit_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="norm 1"):
        polyhedron([[1.0, 1.0]], [1.0])
    with pytest.raises(ValueError, match="norm 1"):
        polyhedron(np.zeros((1, 0)), [1.0])
    with pytest.raises(ValueError, match="expected"):
        polyhedron([[1.0, 0.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="expected"):
        project(polyhedron([[1.0, 0.0]], [1.0]), [1.0])


@pytest.mark.kernel
def test_closed_forms_agree_with_the_active_set() -> None:
    rng = np.random.default_rng(70)
    for trial in range(60):
        d = int(rng.integers(1, 6))
        m = 1 if trial % 3 == 0 else int(rng.integers(2, 12))
        A = np.zeros((m, d))
        A[np.arange(m), rng.integers(0, d, m)] = rng.choice([-1.0, 1.0], m)
        region = polyhedron(unit(rng.normal(size=(m, d))) if m == 1 else A, rng.exponential(size=m))
        assert region.shape == (HALFSPACE if m == 1 else BOX)
        x = 3 * rng.normal(size=d)
        quick, slow = solve(region, region.b, x), solve(region._replace(shape=GENERAL), region.b, x)
        assert quick.distance == pytest.approx(slow.distance, rel=1e-14, abs=0)
        assert quick.point == pytest.approx(slow.point, abs=1e-14)
        assert quick.multipliers.sum() == pytest.approx(slow.multipliers.sum(), rel=1e-14)
        if quick.distance > 0:
            check(region, x, quick)
    box = polyhedron([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]], [1.0, -2.0, 0.0])
    check_clash(box, box.b, solve(box, box.b, np.array([3.0, 0.0])))


@pytest.mark.kernel
def test_no_rows_no_coordinates_and_one_coordinate() -> None:
    nothing = project(polyhedron(np.zeros((0, 0)), []), [])
    assert (nothing.distance, len(nothing.point), len(nothing.multipliers)) == (0.0, 0, 0)
    free = polyhedron(np.zeros((0, 2)), [])
    assert project(free, [3.0, 4.0]).point.tolist() == [3.0, 4.0]
    assert slack_of(free, free.b, np.zeros(2)) == np.inf
    for shape in (BOX, GENERAL):
        interval = polyhedron([[1.0], [-1.0], [1.0]], [2.0, 1.0, 5.0])._replace(shape=shape)
        assert [project(interval, [x]).distance for x in (-4.0, -1.0, 0.0, 2.0, 3.5)] == [3.0, 0.0, 0.0, 0.0, 1.5]
        assert project(interval, [3.5]).multipliers.tolist() == [1.5, 0.0, 0.0]


@pytest.mark.kernel
def test_coordinates_beyond_the_region_are_ignored_and_rhs_replaces_b() -> None:
    for region in (
        polyhedron([[0.6, 0.8]], [0.0]),
        polyhedron([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]),
        polyhedron([[1.0, 0.0], [0.6, 0.8]], [0.0, 0.0]),
    ):
        short, long = np.array([3.0, 4.0]), np.array([3.0, 4.0, np.nan])
        rhs = region.b - 0.5
        expected = project(region._replace(b=rhs), short)
        found = solve(region, rhs, long)
        assert found.distance == expected.distance > project(region, short).distance
        assert found.point.tolist() == expected.point.tolist()
        assert slack_of(region, rhs, long) == slack_of(region, rhs, short) < 0


@pytest.mark.kernel
def test_known_projection_onto_the_simplex() -> None:
    simplex = polyhedron(np.vstack([-np.eye(3), np.ones((1, 3)) / 3**0.5]), [0.0, 0.0, 0.0, 1 / 3**0.5])
    found = project(simplex, [1.2, 0.8, -1.0])  # onto the edge x1 + x2 = 1
    assert found.point == pytest.approx([0.7, 0.3, 0.0], abs=1e-15)
    assert found.distance == pytest.approx(1.5**0.5, rel=1e-15)
    assert found.multipliers == pytest.approx([0.0, 0.0, 1.5, 0.5 * 3**0.5], abs=1e-15)
    assert max(found.violation, found.stationarity, found.complementarity) < 1e-15
    assert project(simplex, [5.0, -1.0, -1.0]).point == pytest.approx([1.0, 0.0, 0.0], abs=1e-14)


def test_projection_is_idempotent_and_shrinks_distances() -> None:
    rng = np.random.default_rng(80)
    for region, x, _ in make_cases("vertex", 60, rng):
        y = x + rng.normal(size=len(x))
        first, second = project(region, x), project(region, y)
        size = data_size(region, x, first.distance)
        assert project(region, first.point).distance <= 1e-12 * size
        assert np.linalg.norm(first.point - second.point) <= np.linalg.norm(x - y) + 1e-12 * size


def test_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(81)
    for kind in ("generic", "duplicate", "vertex"):
        for region, x, spread in make_cases(kind, 40, rng):
            order = rng.permutation(len(region.b))
            if spread >= 1:
                shuffled = project(polyhedron(region.A[order], region.b[order]), x)
                assert shuffled.distance == pytest.approx(project(region, x).distance, rel=1e-12, abs=1e-14)


def battery() -> list[Case]:
    """Some of every kind, small enough to run without the compiler."""
    rng = np.random.default_rng(90)
    cases = [case for kind in KINDS for case in make_cases(kind, 5, rng, most_d=6, most_m=16)]
    for d in (1, 3, 4):
        box = polyhedron(np.vstack([np.eye(d), -np.eye(d)]), np.ones(2 * d))
        cases += [Case(box, 2 * rng.normal(size=d), 2.0), Case(box._replace(b=-box.b), np.zeros(d), 0.0)]
    cases += [Case(case.region._replace(b=case.region.b - 3), case.x, case.spread) for case in cases[::4]]
    return cases


def hexed(case: Case, work: Workspace | None = None) -> str:
    answer = solve(case.region, case.region.b, case.x, work)
    slack = slack_of(case.region, case.region.b, case.x)
    return " ".join(float(v).hex() for v in (slack, answer.distance, *answer.point, *answer.multipliers))


@pytest.mark.kernel
def test_battery_is_right() -> None:
    empty = 0
    for region, x, _ in battery():
        answer = solve(region, region.b, x)
        if answer.distance == np.inf:
            check_clash(region, region.b, answer)
            empty += 1
        elif answer.distance > 0:
            check(region, x, answer)
        else:
            assert slack_of(region, region.b, x) >= 0
    assert empty > 20


@pytest.mark.kernel
def test_used_memory_leaves_no_trace() -> None:
    for case in battery():
        dirty = workspace(*case.region.A.shape)
        for scratch in dirty:
            scratch[...] = 1 if scratch.dtype == np.bool_ else 7
        assert hexed(case, dirty) == hexed(case)


@pytest.mark.skipif(not has_compiler(), reason="compares the compiled code with plain Python")
def test_compiled_and_plain_python_agree_to_the_last_bit() -> None:
    cases = battery()
    with forced(INTERPRETED):
        plain = [hexed(case) for case in cases]
    with forced(COMPILED):
        assert plain == [hexed(case) for case in cases]
