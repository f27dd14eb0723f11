"""The nearest alternative: its value by brute force with another solver, its gradient, and that it is one."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import quadprog

from paretoguard.geometry.nearest_alternative import alternative, nearest_alternative
from paretoguard.geometry.polyhedron import Polyhedron, polyhedron


def pareto(means: Any, inside: Any) -> Any:
    K = len(means)
    return np.array(
        [
            inside[i] and not any(inside[j] and j != i and np.all(means[j] >= means[i]) for j in range(K))
            for i in range(K)
        ],
        dtype=np.uint8,
    )


def is_inside(region: Polyhedron, means: Any, slop: float = 0.0) -> Any:
    return np.all(means @ region.A.T <= region.b + slop, axis=1)


def random_case(rng: np.random.Generator, shape: str) -> tuple[Polyhedron, Any, Any, Any]:
    """A polyhedron, means with no ties at all, the answer, and weights, some of them 0."""
    K, d = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    means = rng.normal(size=(K, d))
    if shape == "free":
        region = polyhedron(np.zeros((0, d)), np.zeros(0))
    elif shape == "box":
        sides = [c for c in range(2 * d) if rng.random() < 0.7] or [0]
        A = np.vstack([np.eye(d), -np.eye(d)])[sides]
        region = polyhedron(A, rng.uniform(0.1, 1.2, size=len(sides)))
    else:
        rows = 1 if shape == "half-space" else int(rng.integers(2, 6))
        A = rng.normal(size=(rows, d))
        A /= np.linalg.norm(A, axis=1, keepdims=True)
        region = polyhedron(A, rng.uniform(-0.1, 1.0, size=rows) + A @ rng.normal(size=d) * 0.3)
        if not np.all(A @ centre(region) <= region.b - 1e-3):
            return random_case(rng, shape)
    w = rng.dirichlet(np.ones(K)) * rng.choice([1.0, 50.0])
    if rng.random() < 0.3:
        w[rng.integers(K)] = 0.0
    return region, means, pareto(means, is_inside(region, means)), w


def centre(region: Polyhedron) -> Any:
    """A point inside, if there is one: the projection of 0 onto the rows, tightened."""
    d = region.A.shape[1]
    try:
        return quadprog.solve_qp(np.eye(d), np.zeros(d), -region.A.T, -(region.b - 2e-3))[0]
    except ValueError:
        return np.full(d, np.inf)


def entering(region: Polyhedron, means: Any, members: list[int], w: Any, i: int) -> float:
    """By every map, with a slack for each arm of O: minimise over (x, s) with s_j >= mean_j - x in objective c(j)."""
    d, p = means.shape[1], len(members)
    best = math.inf
    own = max(w[i], 1e-9)
    for choice in itertools.product(range(d), repeat=p):
        weights = np.array([own] * d + [max(w[j], 1e-9) for j in members])
        linear = np.concatenate([own * means[i], np.zeros(p)])
        rows, bounds = [], []
        for k, (j, c) in enumerate(zip(members, choice, strict=True)):
            row = np.zeros(d + p)
            row[c], row[d + k] = 1.0, 1.0
            rows.append(row)
            bounds.append(means[j, c])
            row = np.zeros(d + p)
            row[d + k] = 1.0
            rows.append(row)
            bounds.append(0.0)
        for a, b in zip(region.A, region.b, strict=True):
            rows.append(np.concatenate([-a, np.zeros(p)]))
            bounds.append(-b)
        # In units in which the quadratic form is the identity: weights differ by many orders.
        root = np.sqrt(weights)
        C = np.array(rows).reshape(len(rows), d + p) / root
        norms = np.linalg.norm(C, axis=1)
        x = (
            quadprog.solve_qp(np.eye(d + p), linear / root, (C / norms[:, None]).T, np.array(bounds) / norms)[0] / root
            if rows
            else linear / weights
        )
        cost = 0.5 * w[i] * np.sum((means[i] - x[:d]) ** 2)
        cost += sum(0.5 * w[j] * max(0.0, means[j, c] - x[c]) ** 2 for j, c in zip(members, choice, strict=True))
        best = min(best, cost)
    return best


def brute_force(region: Polyhedron, means: Any, optimal: Any, w: Any) -> float:
    members = np.flatnonzero(optimal).tolist()
    costs = [math.inf]
    for i in members:
        costs += [0.5 * w[i] * (b - a @ means[i]) ** 2 for a, b in zip(region.A, region.b, strict=True)]
        for j in members:
            if j != i:
                share = w[i] * w[j] / (w[i] + w[j]) if w[i] + w[j] else 0.0
                costs.append(0.5 * share * float(np.sum(np.maximum(means[i] - means[j], 0.0) ** 2)))
    costs += [entering(region, means, members, w, i) for i in range(len(means)) if not optimal[i]]
    return float(min(costs))


def changes(region: Polyhedron, means: Any, optimal: Any, moved: Any) -> bool:
    """Is the answer of `moved` another one, up to a push of 1e-6 across the border that it lies on?"""
    inside = is_inside(region, moved, slop=1e-7)
    for i in np.flatnonzero(optimal):
        if len(region.b) and np.min(region.b - region.A @ moved[i]) < 1e-7:
            return True
        if any(optimal[j] and j != i and np.all(moved[j] >= moved[i] - 1e-7) for j in range(len(means))):
            return True
    return any(
        not optimal[i]
        and inside[i]
        and not any(optimal[j] and np.all(moved[j] > moved[i] + 1e-7) for j in range(len(means)))
        for i in range(len(means))
    )


@pytest.mark.parametrize("shape", ["free", "box", "half-space", "general"])
def test_the_value_is_that_of_brute_force_over_all_maps(shape: str) -> None:
    sizes = {0: 0, 1: 0, 2: 0}
    for number in range(700):
        rng = np.random.default_rng([1, number])
        region, means, optimal, w = random_case(rng, shape)
        found = alternative(len(means), means.shape[1], len(region.b))
        value = nearest_alternative(region, means, optimal, w, found)
        expected = brute_force(region, means, optimal, w)
        assert value == pytest.approx(expected, rel=1e-8, abs=1e-8), (shape, number)
        sizes[min(2, int(optimal.sum()))] += 1
        if math.isinf(value):
            continue
        # 1-homogeneous: the value is its gradient times the weights.
        assert w @ found.half == pytest.approx(value, rel=1e-9, abs=1e-10), (shape, number)
        assert found.half == pytest.approx(0.5 * np.sum((means - found.moved) ** 2, axis=1), abs=1e-12)
        assert changes(region, means, optimal, found.moved), (shape, number)
    assert min(sizes[0] if shape != "free" else 21, sizes[1], sizes[2]) > 20


def test_the_gradient_is_that_of_differences() -> None:
    for number in range(200):
        rng = np.random.default_rng([2, number])
        region, means, optimal, w = random_case(rng, ["box", "general"][number % 2])
        w = rng.dirichlet(np.ones(len(means))) + 0.05
        found = alternative(len(means), means.shape[1], len(region.b))
        value = nearest_alternative(region, means, optimal, w, found)
        if math.isinf(value):
            continue
        gradient = found.half.copy()
        for i in range(len(w)):
            h = 1e-5
            step = np.zeros(len(w))
            step[i] = h
            up = nearest_alternative(region, means, optimal, w + step, found)
            down = nearest_alternative(region, means, optimal, w - step, found)
            # Concave in w: the slope lies between the two one-sided ones.
            assert (up - value) / h <= gradient[i] + 1e-4
            assert gradient[i] <= (value - down) / h + 1e-4
