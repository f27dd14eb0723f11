"""What users give, checked once: declarations of a problem, measurements, means and answers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import ArrayLike, NDArray

from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats
from paretoguard.problem.names import check_names, listed, suggestion
from paretoguard.problem.noise import Gaussian, Noise, finite_number
from paretoguard.problem.units import Dependence, correlation
from paretoguard.vocabulary import STATUSES

Means = ArrayLike | Mapping[str, Mapping[str, float]]

GUARD = "guard"  # for constraints only: it does not count in dominance
SIGNS = {"max": 1.0, "min": -1.0, GUARD: 0.0}
DEPENDENCES = ("unknown", "independent")
SAME = 1e-9  # relative difference up to which two numbers given for one thing agree
SINGULAR = 1e-10  # smallest eigenvalue of a correlation matrix that can be inverted safely
LARGEST = 1e140  # of a measurement, in standard deviations: sums and squares must not overflow


# --- declarations -----------------------------------------------------------------------------------------------------


def read_objectives(given: Any) -> dict[str, str]:
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
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ProblemError(f"arms are {given!r}, expected a list of names")
    arms = check_names("arm", given)
    if not arms:
        raise ProblemError("there are no arms; expected at least one name")
    return arms


def read_noise(given: Any, objectives: Sequence[str]) -> dict[str, Noise]:
    """Return one noise model per objective, from one for all or a mapping."""
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
    found = {}
    for name in objectives:
        model = found[name] = _noise_model(given[name], f"noise of '{name}'")
        if np.ndim(model.sigma) > 0:
            raise ProblemError(f"noise of '{name}' is {model!r}, expected single numbers: it is for one objective")
    return found


def _noise_model(given: Any, what: str) -> Noise:
    if isinstance(given, type) and issubclass(given, Noise):
        raise ProblemError(f"{what} is the class {given.__name__}, expected a model: write {given.__name__}(…)")
    if not isinstance(given, Noise) or not given.kind:
        raise ProblemError(f"{what} is {given!r}, expected a noise model such as Bernoulli() or Gaussian(std)")
    if not hasattr(given, "sigma"):
        raise ProblemError(f"{what} is {given!r}, which states no sigma; give it its sub-Gaussian scale")
    return given


def read_dependence(given: Any, noise: Mapping[str, Noise]) -> Dependence:
    """Return "unknown", "independent", or the covariance of the Gaussian objectives in their order."""
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


def read_tolerance(given: Any, objectives: Mapping[str, str], labels: Iterable[str]) -> dict[str, float]:
    """Return the tolerance of every objective and constraint, from one number for all or some by name (the rest 0)."""
    names = {name: None for name, direction in objectives.items() if direction != GUARD}
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


# --- measurements, means and answers ----------------------------------------------------------------------------------


def read_values(arm: str, values: Any, noise: Mapping[str, Noise]) -> Floats:
    """Return one measurement of an arm as an array [d] in the order of the objectives."""
    return np.array([_value(arm, objective, given, noise[objective]) for objective, given in _each(arm, values, noise)])


def read_part(arm: str, values: Any, noise: Mapping[str, Noise]) -> dict[str, float]:
    if not isinstance(values, Mapping) or not values:
        raise ProblemError(f"arm '{arm}' has {values!r}, expected {{objective: value}} for some of {listed(noise)}")
    _check_objectives(arm, values, noise)
    return {name: _value(arm, name, values[name], model) for name, model in noise.items() if name in values}


def check_rows(rows: Floats, noise: Mapping[str, Noise]) -> None:
    """Raise ProblemError if the noise of an objective cannot give one of these measurements [n, d]."""
    for (objective, model), column in zip(noise.items(), rows.T, strict=True):
        low, high = model.support
        largest = LARGEST * min(1.0, model.sigma or 1.0)
        is_wrong = ~((column >= max(low, -largest)) & (column <= min(high, largest)))
        if type(model).allows is not Noise.allows:  # a kind with an opinion of its own
            values, places = np.unique(column, return_inverse=True)
            is_wrong |= np.array([not model.allows(value) for value in values.tolist()], dtype=bool)[places]
        for row in np.flatnonzero(is_wrong)[:1]:
            raise ProblemError(f"objective '{objective}': got {column[row]}, expected {model.expected}")


def read_means(means: Any, arms: Sequence[str], noise: Mapping[str, Noise]) -> Floats:
    """Return the means as an array [K, d], from such an array or from arm -> {objective: mean}; of any range."""
    if isinstance(means, Mapping):
        _check_arms(means, arms, "means are missing for")
        means = [[_finite(given) for _, given in _each(arm, means[arm], noise)] for arm in arms]
    try:
        array = np.array(means, dtype=float64, order="C")
    except (TypeError, ValueError) as error:
        raise ProblemError(f"means are not an array of numbers: {error}") from error
    expected = (len(arms), len(noise))
    if array.shape != expected:
        raise ProblemError(
            f"means have shape {array.shape}, expected {expected}: one row per arm, one column per objective"
        )
    for i, c in np.argwhere(~np.isfinite(array))[:1]:
        raise ProblemError(f"the mean of arm '{arms[i]}', objective '{list(noise)[c]}' is not a finite number")
    return array


def check_range(means: Floats, arms: Sequence[str], noise: Mapping[str, Noise]) -> None:
    """Raise ProblemError if the noise cannot have one of these means [K, d], such as a Bernoulli mean above 1."""
    for c, (objective, model) in enumerate(noise.items()):
        low, high = model.support
        for i in np.flatnonzero((means[:, c] < low) | (means[:, c] > high))[:1]:
            raise ProblemError(
                f"the mean of arm '{arms[i]}', objective '{objective}' is {means[i, c]:.12g}, "
                f"expected a number between {low:.12g} and {high:.12g} ({type(model).__name__} noise)"
            )


def read_statuses(result: Any, arms: Sequence[str]) -> NDArray[Any]:
    """Return the statuses [K] (positions in STATUSES) of a Result, a mapping arm -> status, or such an array."""
    verdicts = getattr(result, "verdicts", result)
    if not isinstance(verdicts, Mapping):
        return np.asarray(verdicts)
    _check_arms(verdicts, arms, "the answer says nothing of")
    codes = []
    for arm in arms:
        status = getattr(verdicts[arm], "status", verdicts[arm])
        if status not in STATUSES:
            raise ProblemError(f"arm '{arm}' has the status {status!r}; {suggestion(str(status), STATUSES)}")
        codes.append(STATUSES.index(status))
    return np.array(codes, dtype=np.int64)


def check_statuses(statuses: ArrayLike, arms: int) -> NDArray[Any]:
    """Return the statuses of several answers, [runs, K]. Raise ProblemError unless all are positions in STATUSES."""
    codes = np.asarray(statuses)
    meaning = ", ".join(f"{code} {status}" for code, status in enumerate(STATUSES))
    if codes.ndim != 2 or codes.shape[1] != arms or codes.dtype.kind not in "iu":
        raise ProblemError(
            f"statuses have shape {codes.shape} and type {codes.dtype}, expected (runs, {arms}) integers: {meaning}"
        )
    if codes.size and (codes.min() < 0 or codes.max() >= len(STATUSES)):
        raise ProblemError(f"statuses range from {codes.min()} to {codes.max()}, expected {meaning}")
    return codes


def check_arm(arm: Any, arms: Mapping[str, int] | Sequence[str]) -> None:
    if not isinstance(arm, str) or arm not in arms:
        raise ProblemError(f"there is no arm {arm!r}; {suggestion(str(arm), arms)}")


def _check_arms(given: Mapping[str, Any], arms: Sequence[str], lacking: str) -> None:
    positions = dict.fromkeys(arms, 0)
    for arm in given:
        check_arm(arm, positions)
    missing = [arm for arm in arms if arm not in given]
    if missing:
        raise ProblemError(f"{lacking} {listed(missing)}; expected every arm")


def _check_objectives(arm: str, values: Mapping[Any, Any], noise: Mapping[str, Noise]) -> None:
    for name in values:
        if name not in noise:
            hint = suggestion(str(name), noise)
            known = f" Objectives are {listed(noise)}" if hint.endswith("?") else ""
            raise ProblemError(f"arm '{arm}' has a value for {name!r}, which is no objective; {hint}{known}")


def _each(arm: str, values: Any, noise: Mapping[str, Noise]) -> list[tuple[str, Any]]:
    """Return (objective, value) in the order of the objectives. Raise ProblemError unless there is one for each."""
    if not isinstance(values, Mapping):
        raise ProblemError(f"arm '{arm}' has {values!r}, expected {{objective: value}} for {listed(noise)}")
    _check_objectives(arm, values, noise)
    missing = [name for name in noise if name not in values]
    if missing:
        raise ProblemError(f"arm '{arm}' has no value for {listed(missing)}; expected one for each objective")
    return [(name, values[name]) for name in noise]


def _value(arm: str, objective: str, given: Any, model: Noise) -> float:
    number = finite_number(given)
    if number is None or not model.allows(number):
        raise ProblemError(
            f"arm '{arm}', objective '{objective}': got {given!r}, expected {model.expected} "
            f"({type(model).__name__} noise)"
        )
    if abs(number) > LARGEST * min(1.0, model.sigma or 1.0):
        raise ProblemError(f"arm '{arm}', objective '{objective}': {number:g} is too large; measure in a larger unit")
    return number


def _finite(given: Any) -> float:
    number = finite_number(given)
    return np.nan if number is None else number
