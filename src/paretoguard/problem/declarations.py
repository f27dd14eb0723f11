"""What a problem declares, checked once: objectives, arms, noise, dependence and tolerances."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import float64

from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats
from paretoguard.problem.names import check_names, listed, suggestion
from paretoguard.problem.noise import Gaussian, Noise, finite_number
from paretoguard.problem.units import Dependence, correlation

GUARD = "guard"  # for constraints only: it does not count in dominance
SIGNS = {"max": 1.0, "min": -1.0, GUARD: 0.0}
DEPENDENCES = ("unknown", "independent")
SAME = 1e-9  # relative difference up to which two numbers given for one thing agree
SINGULAR = 1e-10  # smallest eigenvalue of a correlation matrix that can be inverted safely


def read_objectives(given: Any) -> dict[str, str]:
    """Objectives as name -> "max", "min" or "guard"."""
    if not isinstance(given, Mapping):
        raise ProblemError(
            f"objectives are {given!r}, expected a mapping from names to directions such as {{'cost': 'min'}}"
        )
    if not given:
        raise ProblemError("there are no objectives; expected at least one, such as {'cost': 'min'}")
    for name in check_names("objective", given):
        if "`" in name:
            raise ProblemError(f"objective '{name}' holds a backtick, which constraints use for quoting; rename it")
        if not isinstance(given[name], str) or given[name] not in SIGNS:
            raise ProblemError(f"objective '{name}' has direction {given[name]!r}, expected 'max', 'min' or 'guard'")
    if all(direction == GUARD for direction in given.values()):
        raise ProblemError(
            f"{listed(given)} only guard, so that no arm is better than another; give one 'max' or 'min'"
        )
    return dict(given)


def read_arms(given: Any) -> tuple[str, ...]:
    """The names of the arms, in order."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ProblemError(f"arms are {given!r}, expected a list of names")
    arms = check_names("arm", given)
    if not arms:
        raise ProblemError("there are no arms; expected at least one name")
    return arms


def read_noise(given: Any, objectives: Sequence[str]) -> dict[str, Noise]:
    """One noise model per objective, from one for all or a mapping."""
    if not isinstance(given, Mapping):
        models = _noise_model(given, "noise").split(len(objectives))
        return dict(zip(objectives, models, strict=True))
    for name in given:
        if name not in objectives:
            raise ProblemError(
                f"noise is given for '{name}', which is no objective; {suggestion(str(name), objectives)}"
            )
    missing = [name for name in objectives if name not in given]
    if missing:
        raise ProblemError(f"noise is missing for {listed(missing)}; give one model for each objective, or one for all")
    return {name: _single(_noise_model(given[name], f"noise of '{name}'"), name) for name in objectives}


def _noise_model(given: Any, what: str) -> Noise:
    if isinstance(given, type) and issubclass(given, Noise):
        raise ProblemError(f"{what} is the class {given.__name__}, expected a model: write {given.__name__}(…)")
    if not isinstance(given, Noise) or not given.kind:
        raise ProblemError(f"{what} is {given!r}, expected a noise model such as Bernoulli() or Gaussian(std)")
    if not hasattr(given, "sigma"):
        raise ProblemError(f"{what} is {given!r}, which states no sigma; give it its sub-Gaussian scale")
    return given


def _single(model: Noise, name: str) -> Noise:
    if np.ndim(model.sigma) > 0:
        raise ProblemError(f"noise of '{name}' is {model!r}, expected single numbers: it is for one objective")
    return model


def read_dependence(given: Any, noise: Mapping[str, Noise]) -> Dependence:
    """ "unknown", "independent", or the covariance of the Gaussian objectives in their order."""
    if isinstance(given, str):
        if given not in DEPENDENCES:
            raise ProblemError(f"dependence is '{given}', expected 'unknown', 'independent' or a covariance matrix")
        return given
    try:
        matrix = np.asarray(given, dtype=float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"dependence is {given!r}, expected 'unknown', 'independent' or a covariance matrix"
        ) from error
    gaussian = {name: float(model.sigma) for name, model in noise.items() if isinstance(model, Gaussian)}
    n = len(gaussian)
    if n == 0:
        raise ProblemError("dependence is a covariance, but no objective has Gaussian noise; use 'unknown'")
    if matrix.shape != (n, n):
        raise ProblemError(
            f"the covariance has shape {matrix.shape}, expected ({n}, {n}): "
            f"one row for each Gaussian objective, {listed(gaussian)}"
        )
    if not np.all(np.isfinite(matrix)):
        raise ProblemError("the covariance holds a number that is not finite")
    _check_covariance(matrix, gaussian)
    return tuple(tuple(row) for row in matrix.tolist())


def _check_covariance(matrix: Floats, std: Mapping[str, float]) -> None:
    names = list(std)
    for i, (name, value) in enumerate(std.items()):
        if abs(matrix[i, i] - value**2) > SAME * value**2:
            raise ProblemError(
                f"the covariance gives '{name}' the variance {matrix[i, i]:.12g}, but its std {value:.12g} means "
                f"{value**2:.12g}; make them agree"
            )
    scale = np.sqrt(np.diag(matrix))
    for i, j in np.argwhere(np.abs(matrix - matrix.T) > SAME * np.outer(scale, scale))[:1]:
        raise ProblemError(
            f"the covariance is not symmetric: '{names[i]}' with '{names[j]}' is {matrix[i, j]:.12g}, "
            f"the other way round {matrix[j, i]:.12g}"
        )
    least = float(np.linalg.eigvalsh(correlation(matrix))[0])
    if least < SINGULAR:
        raise ProblemError(
            f"the covariance is not positive definite: the smallest eigenvalue of its correlation is {least:.3g}, "
            f"expected at least {SINGULAR:g}; an objective that the others determine should be left out"
        )


def read_tolerance(given: Any, objectives: Sequence[str], labels: Iterable[str]) -> dict[str, float]:
    """Tolerance of every objective and every constraint (by label): one number for all, or some by name, the rest 0."""
    names = dict.fromkeys(objectives)
    for label in labels:
        if label in names:
            raise ProblemError(f"'{label}' names both an objective and a constraint; rename the constraint")
    names |= dict.fromkeys(labels)
    if not isinstance(given, Mapping):
        given = dict.fromkeys(names, given)
    tolerance = dict.fromkeys(names, 0.0)
    for name, value in given.items():
        if name not in names:
            raise ProblemError(
                f"tolerance is given for '{name}', which is no objective or constraint; {suggestion(str(name), names)}"
            )
        number = finite_number(value)
        if number is None or number < 0:
            raise ProblemError(f"tolerance of '{name}' is {value!r}, expected a finite number, 0 or above")
        tolerance[name] = number
    return tolerance
