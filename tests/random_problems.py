"""Random instances that try to break things: ties, boundaries, exact objectives, tolerances, minimised objectives."""

from typing import Any

import numpy as np

import paretoguard as pg


def random_instance(rng: np.random.Generator, arms: int | None = None) -> pg.Instance:
    K, d = arms or int(rng.integers(1, 8)), int(rng.integers(1, 4))
    names = [f"x{c}" for c in range(d)]
    kind = rng.choice(["bernoulli", "gaussian", "mixed"])
    noise = {name: _noise(rng, str(kind)) for name in names}
    means = np.round(rng.uniform(0.05, 0.95, (K, d)), 1 if rng.random() < 0.4 else 3)  # one decimal: ties abound
    if K > 1 and rng.random() < 0.3:
        means[-1] = means[0]  # two identical arms
    constraints = _constraints(rng, names, means)
    tolerance: Any = float(rng.choice([0.0, 0.0, 0.0, 0.05]))
    directions = _directions(rng, names)
    if all(isinstance(noise[name], pg.Exact) for name in names if directions[name] != "guard"):
        directions = dict.fromkeys(names, "max")  # equal arms would be refused
    problem = pg.Problem(
        directions,
        arms=[f"arm{i}" for i in range(K)],
        noise=noise,
        constraints=constraints,
        dependence=str(rng.choice(["unknown", "independent"])),
        tolerance=tolerance,
        name="random",
    )
    return pg.Instance(problem, means)


def wide_front(rng: np.random.Generator) -> pg.Instance:
    """10 to 14 arms, most of them Pareto-optimal: enough for the stopping rule to remember pairs (stopping.SMALL)."""
    K, d = int(rng.integers(10, 15)), int(rng.integers(2, 5))
    names = [f"x{c}" for c in range(d)]
    means = np.abs(rng.normal(size=(K, d)))
    means = np.round(means / np.linalg.norm(means, axis=1, keepdims=True), 1 if rng.random() < 0.4 else 3)
    noise: dict[str, pg.Noise] = {name: pg.Gaussian(float(rng.choice([0.05, 0.3]))) for name in names}
    if rng.random() < 0.3:
        noise[names[-1]] = pg.Exact()
    problem = pg.Problem(
        dict.fromkeys(names, "max"),
        arms=[f"arm{i}" for i in range(K)],
        noise=noise,
        constraints=[f"{names[0]} >= -0.3"] if rng.random() < 0.5 else [f"{name} >= 0.05" for name in names],
        tolerance=float(rng.choice([0.0, 0.0, 0.05])),
        name="wide front",
    )
    return pg.Instance(problem, means)


def correlated_instance(rng: np.random.Generator) -> pg.Instance:
    """Up to 7 arms with Gaussian objectives of a known covariance."""
    K, d = int(rng.integers(2, 8)), int(rng.integers(2, 5))
    names = [f"x{c}" for c in range(d)]
    factor = rng.normal(size=(d, d + 1)) + rng.choice([0.0, 1.5])
    std = rng.choice([0.3, 1.0], size=d)
    covariance = factor @ factor.T
    covariance *= np.outer(std, std) / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    problem = pg.Problem(
        _directions(rng, names),
        arms=[f"arm{i}" for i in range(K)],
        noise=pg.Gaussian(np.sqrt(np.diag(covariance)).tolist()),
        constraints=[f"{names[0]} + {names[1]} <= 1.5"] if rng.random() < 0.5 else (),
        dependence=covariance,
        tolerance=float(rng.choice([0.0, 0.0, 0.05])),
        name="correlated",
    )
    return pg.Instance(problem, np.round(rng.uniform(0, 1, (K, d)), 1 if rng.random() < 0.4 else 3))


def with_unknown_scales(rng: np.random.Generator, problem: pg.Problem) -> pg.Problem:
    """The same problem, but not saying how noisy one of its noisy objectives is, or all."""
    noisy = [name for name, model in problem.noise.items() if not isinstance(model, pg.Exact)]
    hidden = noisy if rng.random() < 0.5 else noisy[:1]
    noise: dict[str, pg.Noise] = {
        name: pg.Unknown() if name in hidden else model for name, model in problem.noise.items()
    }
    A = [row.coefficients for row in problem.constraints]
    return pg.Problem(
        dict(problem.objectives),
        arms=list(problem.arms),
        noise=noise,
        constraints=(A, [row.bound for row in problem.constraints]) if A else (),
        dependence=problem.dependence,
        tolerance=max(problem.tolerance.values()),
        name=problem.name,
    )


def _directions(rng: np.random.Generator, names: list[str]) -> dict[str, str]:
    chosen = [str(rng.choice(["max", "max", "min", "min", "guard"])) for _ in names]
    return dict(zip(names, chosen if set(chosen) != {"guard"} else ["max"] * len(names), strict=True))


def _noise(rng: np.random.Generator, kind: str) -> pg.Noise:
    if kind == "mixed":
        kind = str(rng.choice(["bernoulli", "gaussian", "bounded", "subgaussian", "exact"]))
    if kind == "bernoulli":
        return pg.Bernoulli()
    if kind == "bounded":
        return pg.Bounded(-1.0, 2.0)
    if kind == "exact":
        return pg.Exact()
    scale = float(rng.choice([0.05, 0.3, 1.0]))
    return pg.Gaussian(scale) if kind == "gaussian" else pg.SubGaussian(scale)


def _constraints(rng: np.random.Generator, names: list[str], means: np.ndarray[Any, Any]) -> Any:
    shape = rng.choice(["none", "box", "half-space", "general"])
    if shape == "none":
        return ()
    d = len(names)
    if shape == "box":
        return [f"{name} >= {np.round(rng.uniform(0, 0.4), 1)}" for name in names] + [f"{names[0]} <= 0.9"]
    rows = 1 if shape == "half-space" else int(rng.integers(2, 5))
    A = np.round(rng.normal(size=(rows, d)), 1)
    A[np.all(A == 0, axis=1)] = 1.0
    centre = means[rng.integers(len(means))] if rng.random() < 0.5 else means.mean(axis=0)
    b = A @ centre + rng.choice([0.05, 0.2], size=rows)
    through = A[0] @ means[rng.integers(len(means))]
    if through >= A[0] @ centre + 0.02:
        b[0] = through  # an arm exactly on the boundary, where that leaves room around the centre
    return A, b
