"""From the words a user writes (algorithm, evidence, delta, budget …) to records of the engine and their guarantee."""

import dataclasses
import difflib
import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from paretoguard.engine.evidence import Practical, Theorem
from paretoguard.engine.loop import NO_BUDGET
from paretoguard.engine.policies import ECape, Racing, TwoStage, Uniform
from paretoguard.engine.space import Space
from paretoguard.errors import SettingsError
from paretoguard.problem import Problem

FINITE_SAMPLE, ASYMPTOTIC, HEURISTIC = "finite-sample", "asymptotic", "heuristic"
DEFAULT_ALGORITHM, DEFAULT_EVIDENCE = "e-cape", "theorem"
MAX_SEED = 2**64 - 1


@runtime_checkable
class Algorithm(Protocol):
    """An algorithm's options: `fit` gives the record that the engine runs."""

    @property
    def name(self) -> str:
        """What users call it."""

    def fit(self, space: Space) -> NamedTuple:
        """The kernel record for one problem."""


@runtime_checkable
class Evidence(Protocol):
    """Options of a kind of evidence: `fit` gives the record that the engine runs."""

    @property
    def name(self) -> str:
        """What users call it."""

    def fit(self, delta: float, space: Space) -> NamedTuple:
        """The kernel record for one problem and one delta."""


ALGORITHMS: dict[str, type] = {kind.name: kind for kind in (ECape, TwoStage, Racing, Uniform)}
EVIDENCE: dict[str, type] = {kind.name: kind for kind in (Practical, Theorem)}


def algorithm(value: str | Algorithm) -> Algorithm:
    """The algorithm with this name (`"name:option=value"` sets options), or the record itself.

    >>> algorithm("e-cape")
    ECape()
    """
    return cast(Algorithm, _record(value, "algorithm", ALGORITHMS))


def evidence(value: str | Evidence) -> Evidence:
    """The kind of evidence with this name, or the record itself.

    >>> evidence("theorem").guarantee
    'finite-sample'
    """
    return cast(Evidence, _record(value, "evidence", EVIDENCE))


def label(record: Algorithm | Evidence) -> str:
    """The name of a record with the options that differ from their defaults; `algorithm` and `evidence` read it back.

    >>> label(ECape())
    'e-cape'
    """
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(record) if dataclasses.is_dataclass(record) else ()
    changed = [
        f"{field.name}={getattr(record, field.name)}"
        for field in fields
        if getattr(record, field.name) != field.default
    ]
    return record.name + (":" + ",".join(changed) if changed else "")


def guarantee(kind: Evidence) -> str:
    """The label of answers that rest on this evidence: "finite-sample", "asymptotic" or "heuristic"."""
    return str(getattr(kind, "guarantee", HEURISTIC))


def basis(kind: Evidence) -> str:
    """What the label rests on, in one sentence."""
    return str(getattr(kind, "basis", "no theorem was stated for this evidence"))


def assumptions(problem: Problem, evidence: Evidence) -> tuple[str, ...]:
    """The assumptions behind the guarantee of an answer."""
    noise = "; ".join(f"{name}: {kind!r}" for name, kind in problem.noise.items())
    return (
        f"evidence: {basis(evidence)}",
        "each measurement of an arm is an independent draw, and its means do not drift",
        f"noise: {noise}",
        _stated_dependence(problem.dependence),
    )


def _stated_dependence(declared: Any) -> str:
    if isinstance(declared, str):
        if declared == "independent":
            return "the objectives of one measurement are independent, as declared"
        return "the objectives of one measurement may depend on each other in any way"
    return "the objectives of one measurement have the covariance declared"


def check_delta(delta: Any) -> float:
    """Delta, if it is a number between 0 and 1."""
    if not _is_real(delta) or not 0.0 < float(delta) < 1.0:
        raise SettingsError(
            f"delta is {delta!r}; it is the error probability you accept, a number between 0 and 1 such as 0.05"
        )
    return float(delta)


def check_budget(budget: Any) -> int:
    """The largest number of samples; None means no limit."""
    if budget is None:
        return NO_BUDGET
    return check_count(budget, "budget", "the largest number of samples")


def check_seed(seed: Any) -> int:
    """The seed, if it fits 64 bits."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) <= MAX_SEED:
        raise SettingsError(f"seed is {seed!r}; expected a whole number from 0 to {MAX_SEED}")
    return int(seed)


def check_count(value: Any, name: str, meaning: str, most: int = 2**62) -> int:
    """A whole number of at least 1, and at most `most`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise SettingsError(f"{name} is {value!r}; it is {meaning}, a whole number of at least 1")
    if int(value) > most:
        raise SettingsError(f"{name} is {value!r}; it is {meaning}, at most {most:,}")
    return int(value)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))


def _record(value: Any, what: str, built: Mapping[str, type]) -> Any:
    if isinstance(value, str):
        name, _, options = value.partition(":")
        kind = built.get(name.strip())
        if kind is None:
            raise SettingsError(f"{what} {value!r} is not one of those built: {_listed(built, name)}")
        try:
            return kind(**_options(kind, name, options)) if options else kind()
        except ValueError as error:
            raise SettingsError(f"{what} {value!r}: {error}") from None
    if isinstance(value, type):
        raise SettingsError(f"{what} is the class {value.__name__}; pass a record of it: {value.__name__}()")
    if not hasattr(value, "fit") or not hasattr(value, "name"):
        raise SettingsError(f"{what} is {value!r}; expected a name ({', '.join(built)}) or a record with name and fit")
    return value


def _listed(names: Iterable[str], wanted: str) -> str:
    close = difflib.get_close_matches(wanted, list(names), n=1)
    return ", ".join(names) + (f"; did you mean {close[0]!r}?" if close else "")


def _options(kind: type, name: str, text: str) -> dict[str, Any]:
    """Read `a=1,b=x` for the fields of a record."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    options: dict[str, Any] = {}
    for item in text.split(","):
        key, equals, raw = (word.strip() for word in item.partition("="))
        if not equals or key not in fields:
            known = ", ".join(fields) or "none"
            raise SettingsError(f"{name!r} has no option {item.strip()!r}; its options are: {known} (as option=value)")
        options[key] = _read(raw, fields[key].type)
    return options


def _read(raw: str, kind: Any) -> Any:
    for name, reader in (("int", int), ("float", float)):
        if name in str(kind):
            try:
                return reader(raw)
            except ValueError:
                raise SettingsError(f"{raw!r} is not a number of the expected kind ({name})") from None
    return raw
