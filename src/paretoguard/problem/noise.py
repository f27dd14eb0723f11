"""Noise models: how the measurements of one objective scatter around its mean.

Every model states a sub-Gaussian scale `sigma` in the objective's own unit; the engine divides by it. A parameter may
be a sequence with one number per objective.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretoguard.errors import ProblemError, SettingsError
from paretoguard.problem.names import find_class, suggestion

Parameter = float | Sequence[float] | NDArray[Any]


def finite_number(value: Any) -> float | None:
    """Return the value as a float, or None if it is not a finite number (a string is not, even "1")."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real | np.bool_):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True)
class Noise:
    """The base of every noise model: how measurements of one objective scatter around its mean."""

    kind: ClassVar[str] = ""
    law: ClassVar[Callable[..., NamedTuple] | None] = None  # a method, of a model that says itself how it is simulated

    if TYPE_CHECKING:

        @property
        def sigma(self) -> Any:
            """Sub-Gaussian scale: nan if unknown, 0 if exact; one number per objective before `split`."""

    @property
    def support(self) -> tuple[float, float]:
        """The least and the greatest possible value."""
        return (-math.inf, math.inf)

    @property
    def expected(self) -> str:
        """The possible values, in words."""
        return "a finite number"

    def allows(self, value: float) -> bool:
        """True if a measurement can have this `value`.

        >>> Bernoulli().allows(0.5), Bounded(0, 10).allows(10)
        (False, True)
        """
        low, high = self.support
        return math.isfinite(value) and low <= value <= high

    def split(self, objectives: int) -> tuple["Noise", ...]:
        """Return one noise model for each of so many `objectives`; a sequence must have one number for each.

        >>> Gaussian([1.0, 2.0]).split(2)
        (Gaussian(std=1.0), Gaussian(std=2.0))
        """
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in given.items():
            if isinstance(value, tuple) and len(value) != objectives:
                raise ProblemError(
                    f"{self!r}: {name} has {len(value)} numbers, expected one for each of the {objectives} objectives"
                )
        return tuple(
            type(self)(**{name: value[c] if isinstance(value, tuple) else value for name, value in given.items()})
            for c in range(objectives)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a table of a problem file; the kind of a user's own model is "mymodule:MyNoise".

        >>> Bounded(0, 10).to_dict()
        {'kind': 'bounded', 'low': 0.0, 'high': 10.0}
        """
        model = type(self)
        is_built = NOISE_KINDS.get(self.kind) is model
        table: dict[str, Any] = {"kind": self.kind if is_built else f"{model.__module__}:{model.__qualname__}"}
        for field in fields(self):
            value = getattr(self, field.name)
            table[field.name] = list(value) if isinstance(value, tuple) else value
        return table

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> "Noise":
        """Return the model that `to_dict` wrote. Raise ProblemError if the `table` holds no noise model.

        >>> Noise.from_dict({"kind": "gaussian", "std": 0.5})
        Gaussian(std=0.5)
        """
        given = dict(table)
        kind = given.pop("kind", None)
        if kind is None:
            raise ProblemError(f"noise {dict(table)!r} has no kind; expected one of {', '.join(NOISE_KINDS)}")
        if not isinstance(kind, str) or (kind not in NOISE_KINDS and ":" not in kind):
            raise ProblemError(f"noise kind {kind!r} is not known; {suggestion(str(kind), NOISE_KINDS)}")
        model = NOISE_KINDS[kind] if kind in NOISE_KINDS else _own(kind)
        names = [field.name for field in fields(model)]
        for name in given:
            if name not in names:
                hint = suggestion(name, names) if names else f"{kind} noise takes no parameter"
                raise ProblemError(f"{kind} noise has no parameter '{name}'; {hint}")
        missing = [field.name for field in fields(model) if field.name not in given and field.default is MISSING]
        if missing:
            raise ProblemError(f"{kind} noise lacks {' and '.join(missing)}; expected {', '.join(names)}")
        return model(**given)


@dataclass(frozen=True)
class Bernoulli(Noise):
    """Successes and failures: every value is 0 or 1."""

    kind: ClassVar[str] = "bernoulli"
    sigma: ClassVar[float] = 0.5  # by Hoeffding's lemma
    support: ClassVar[tuple[float, float]] = (0.0, 1.0)
    expected: ClassVar[str] = "0 or 1"

    def allows(self, value: float) -> bool:
        """True if the value is 0 or 1."""
        return value in (0.0, 1.0)


@dataclass(frozen=True)
class Bounded(Noise):
    """Any distribution between two limits; a value outside is refused, never clipped.

    Parameters
    ----------
    low, high
        The least and the greatest possible value: numbers, or sequences with one number per objective.
    """

    low: Parameter
    high: Parameter
    kind: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        low, high = _parameter(self, "low"), _parameter(self, "high")
        lows, highs = np.atleast_1d(low), np.atleast_1d(high)
        if lows.size > 1 and highs.size > 1 and lows.size != highs.size:
            raise ProblemError(f"{self!r}: low has {lows.size} numbers and high has {highs.size}; expected as many")
        if not np.all(lows < highs):
            raise ProblemError(f"{self!r}: low must be below high")

    @property
    def sigma(self) -> Any:
        """(high − low)/2, by Hoeffding's lemma."""
        half = np.asarray(self.high) / 2 - np.asarray(self.low) / 2
        return half.item() if half.ndim == 0 else tuple(half.tolist())

    @property
    def support(self) -> tuple[float, float]:
        """The least and the greatest possible value. Raise ProblemError if there is one for each objective."""
        return _one(self.low), _one(self.high)

    @property
    def expected(self) -> str:
        """The possible values, in words."""
        low, high = self.support
        return f"a number between {low:.12g} and {high:.12g}"


@dataclass(frozen=True)
class Gaussian(Noise):
    """Normal noise of known standard deviation.

    Parameters
    ----------
    std
        The standard deviation in the objective's unit: a number, or a sequence with one number per objective.
    """

    std: Parameter
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        _positive(self, "std")

    @property
    def sigma(self) -> Any:
        """The standard deviation."""
        return self.std


@dataclass(frozen=True)
class SubGaussian(Noise):
    """Any noise whose tails are no heavier than those of a normal with standard deviation `sigma`.

    Parameters
    ----------
    sigma
        The scale in the objective's unit: a number, or a sequence with one number per objective.
    """

    sigma: Parameter
    kind: ClassVar[str] = "subgaussian"

    def __post_init__(self) -> None:
        _positive(self, "sigma")


@dataclass(frozen=True)
class Unknown(Noise):
    """Noise of unknown scale, which is learnt from the samples."""

    kind: ClassVar[str] = "unknown"
    sigma: ClassVar[float] = math.nan


@dataclass(frozen=True)
class Exact(Noise):
    """No noise: a price or a size, known after one pull."""

    kind: ClassVar[str] = "exact"
    sigma: ClassVar[float] = 0.0


NOISE_KINDS: dict[str, type[Noise]] = {
    model.kind: model for model in (Bernoulli, Bounded, Gaussian, SubGaussian, Unknown, Exact)
}


def _own(place: str) -> type[Noise]:
    """Return the noise model at "mymodule:MyNoise"."""
    module, _, name = place.partition(":")
    try:
        found = find_class(module, name, "noise kind")
    except SettingsError as error:
        raise ProblemError(str(error)) from error
    if not issubclass(found, Noise):
        raise ProblemError(f"noise kind {place!r} is no noise model; derive it from paretoguard.Noise")
    return found


def _one(value: Parameter) -> float:
    if not isinstance(value, float):
        raise ProblemError(f"{value!r} holds one number per objective, expected a single number")
    return value


def _parameter(noise: Noise, name: str) -> float | tuple[float, ...]:
    """Check that a parameter is finite; store and return it as a float, or a tuple of floats."""
    given = getattr(noise, name)
    several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) and np.ndim(given) > 0
    values = given if several else [given]
    numbers = tuple(number for value in values if (number := finite_number(value)) is not None)
    if not numbers or len(numbers) < len(values):
        expected = "a finite number, or a sequence with one per objective"
        raise ProblemError(f"{type(noise).__name__} {name} must be {expected}; got {given!r}")
    stored = numbers if several else numbers[0]
    object.__setattr__(noise, name, stored)
    return stored


def _positive(noise: Noise, name: str) -> None:
    for number in np.atleast_1d(_parameter(noise, name)).tolist():
        if number <= 0:
            raise ProblemError(f"{noise!r}: {name} must be above 0; an objective without noise is Exact()")
        if math.isinf(1 / number):
            raise ProblemError(f"{noise!r}: {name} is too small to divide by; measure in a smaller unit")
