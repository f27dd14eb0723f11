"""Measurements, means and answers as users give them, turned into arrays; anything impossible is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import ArrayLike, NDArray

from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats
from paretoguard.problem.names import listed, suggestion
from paretoguard.problem.noise import Noise, finite_number
from paretoguard.vocabulary import STATUSES

Means = ArrayLike | Mapping[str, Mapping[str, float]]

LARGEST = 1e140  # of a measurement, in standard deviations: sums and squares must not overflow


def read_values(arm: str, values: Any, noise: Mapping[str, Noise]) -> Floats:
    """One measurement of an arm, {objective: value}, as an array [d] in the order of the objectives."""
    return np.array([_value(arm, objective, given, noise[objective]) for objective, given in _each(arm, values, noise)])


def read_part(arm: str, values: Any, noise: Mapping[str, Noise]) -> dict[str, float]:
    """Values of at least one objective of an arm."""
    if not isinstance(values, Mapping) or not values:
        raise ProblemError(f"arm '{arm}' has {values!r}, expected {{objective: value}} for some of {listed(noise)}")
    _check_objectives(arm, values, noise)
    part = {name: noise[name] for name in noise if name in values}
    return {name: _value(arm, name, given, noise[name]) for name, given in _each(arm, values, part or noise)}


def check_rows(rows: Floats, noise: Mapping[str, Noise]) -> None:
    """Refuse measurements [n, d] if the noise of an objective cannot give one of them."""
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
    """Means of all arms as an array [K, d], from such an array or from arm -> {objective: mean}; of any range."""
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
    """Refuse means [K, d] that the noise cannot have, such as a Bernoulli mean above 1."""
    for c, (objective, model) in enumerate(noise.items()):
        low, high = model.support
        for i in np.flatnonzero((means[:, c] < low) | (means[:, c] > high))[:1]:
            raise ProblemError(
                f"the mean of arm '{arms[i]}', objective '{objective}' is {means[i, c]:.12g}, "
                f"expected a number between {low:.12g} and {high:.12g} ({type(model).__name__} noise)"
            )


def read_statuses(result: Any, arms: Sequence[str]) -> NDArray[Any]:
    """The statuses [K] of an answer (positions in STATUSES): of a Result, a mapping arm -> status, or such an array."""
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
    """The statuses of several answers, [runs, K], each a position in STATUSES."""
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
    """Refuse what is not the name of an arm."""
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
    """(objective, value) in the order of the objectives, once there is exactly one for each."""
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
