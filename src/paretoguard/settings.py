"""From the words a user writes (algorithm, evidence, delta, budget …) to records of the engine and their guarantee.

An algorithm or a kind of evidence is a record, or a text: the name of one that is built ("two-stage:form=2023"), or
the place of a user's own ("mymodule:MyPolicy:rate=2"; the module is looked for in the current folder and on Python's
path).
"""

import contextlib
import dataclasses
import difflib
import inspect
import math
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from paretoguard.engine.evidence import Certified, Glr, HansonWright, Lil, Practical, Theorem
from paretoguard.engine.evidence.learnt import LEAST_PULLS
from paretoguard.engine.loop import NO_BUDGET
from paretoguard.engine.policies import ECape, Game, Pitfall, Racing, TwoStage, Uniform
from paretoguard.engine.space import Space
from paretoguard.errors import SettingsError
from paretoguard.problem import Problem
from paretoguard.problem.classes import find_class

FINITE_SAMPLE, ASYMPTOTIC, HEURISTIC = "finite-sample", "asymptotic", "heuristic"
DEFAULT_ALGORITHM, DEFAULT_EVIDENCE = "pitfall", "certified"
ORDERS = {
    "arrival": "results are counted as they arrive: which of several outstanding ones comes first, or never comes, "
    "does not depend on their values",
    "asked": "results are counted in the order they were asked for, up to the first missing one of each arm",
}
MAX_SEED = 2**64 - 1
_PLACE = re.compile(r"\s*([^\W\d][\w.]*):([^\W\d][\w.<>]*)(?::(.*))?")  # module:Class or module:Class:options


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


ALGORITHMS: dict[str, type] = {kind.name: kind for kind in (Pitfall, ECape, TwoStage, Racing, Uniform, Game)}
EVIDENCE: dict[str, type] = {kind.name: kind for kind in (Certified, Practical, Lil, HansonWright, Theorem, Glr)}


def algorithm(value: str | Algorithm) -> Algorithm:
    """The algorithm with this name (`"name:option=value"` sets options) or at this place, or the record itself.

    >>> algorithm("e-cape")
    ECape()
    """
    return cast(Algorithm, _record(value, "algorithm", ALGORITHMS))


def evidence(value: str | Evidence) -> Evidence:
    """The kind of evidence with this name or at this place, or the record itself.

    >>> evidence("theorem").guarantee
    'finite-sample'
    """
    return cast(Evidence, _record(value, "evidence", EVIDENCE))


@dataclasses.dataclass(frozen=True)
class Stored:
    """A user's own part that a saved study names: imported only if it is run, so that the study can be read without."""

    text: str
    what: str  # "algorithm" or "evidence"
    guarantee: str = HEURISTIC

    @property
    def name(self) -> str:
        """The text that names it."""
        return self.text

    def fit(self, *arguments: Any, **named: Any) -> Any:
        """Import the part, and let it do this."""
        return _record(self.text, self.what, {}).fit(*arguments, **named)


def stored(text: str, what: str, guarantee: str = HEURISTIC) -> Any:
    """The algorithm or evidence (`what`) that a study names; a user's own is not imported yet."""
    built = ALGORITHMS if what == "algorithm" else EVIDENCE
    return _record(text, what, built) if text.partition(":")[0] in built else Stored(text, what, guarantee)


def label(record: Algorithm | Evidence) -> str:
    """The text for a record, with the options that differ from their defaults; `algorithm` and `evidence` read it back.

    >>> label(ECape())
    'e-cape'
    """
    if isinstance(record, Stored):
        return record.text
    kind = type(record)
    is_built = kind in (ALGORITHMS.get(record.name), EVIDENCE.get(record.name))
    changed = [
        f"{field.name}={getattr(record, field.name)}"
        for field in _fields(kind).values()
        if getattr(record, field.name) != _default(field)
    ]
    place = record.name if is_built else f"{kind.__module__}:{kind.__qualname__}"
    return place + (":" + ",".join(changed) if changed else "")


def guarantee(kind: Evidence, problem: Problem | None = None) -> str:
    """The label of answers that rest on this evidence: "finite-sample", "asymptotic" or "heuristic".

    Where scales are learnt from the results it is at most asymptotic.
    """
    promised = str(getattr(kind, "guarantee", HEURISTIC))
    if problem is not None and getattr(kind, "if_independent", False) and not _are_independent(problem):
        return HEURISTIC
    return ASYMPTOTIC if promised == FINITE_SAMPLE and problem is not None and problem.learnt else promised


def _are_independent(problem: Problem) -> bool:
    noisy = sum(model.sigma != 0 for model in problem.noise.values())
    return noisy < 2 or problem.dependence == "independent"


def evidence_for(how: Algorithm, given: str | Evidence) -> Evidence:
    """The evidence that goes with an algorithm: its own, if it has one, else the one given."""
    own = getattr(how, "evidence", None)
    return cast(Evidence, own()) if own is not None else evidence(given)


def order_of(kind: Evidence, order: str | None) -> str:
    """How results are counted: as asked for, or as an option of the evidence says; by default on arrival."""
    stated = getattr(kind, "order", "arrival") if getattr(kind, "any_order", False) == "option" else "arrival"
    if order is not None and stated not in ("arrival", order):
        raise SettingsError(f"order is {order!r}, but the evidence is {label(kind)!r}; leave one of them out")
    return order or str(stated)


def in_order(kind: Evidence, order: str) -> Evidence:
    """The evidence for results that are counted in this order, "arrival" or "asked"."""
    if order not in ORDERS:
        raise SettingsError(f"order is {order!r}; expected one of {', '.join(ORDERS)}")
    if getattr(kind, "any_order", False) == "option":
        try:
            return cast(Evidence, dataclasses.replace(cast(Any, kind), order=order))
        except ValueError as error:
            raise SettingsError(f"evidence {label(kind)!r} and order {order!r} do not go together: {error}") from error
    if order == "asked" and guarantee(kind) != HEURISTIC and not getattr(kind, "any_order", False):
        raise SettingsError(
            f"evidence {label(kind)!r} has no guarantee for results counted in the order asked; use 'certified'"
        )
    return kind


def _check_label(record: Any, text: str) -> None:
    labels = (FINITE_SAMPLE, ASYMPTOTIC, HEURISTIC)
    if guarantee(record) not in labels:
        raise SettingsError(f"{text} has guarantee {guarantee(record)!r}, expected one of {', '.join(labels)}")


def basis(kind: Evidence, problem: Problem | None = None) -> str:
    """What the label rests on, in one sentence."""
    stated = str(getattr(kind, "basis", "no theorem was stated for this evidence"))
    return f"{stated}, with scales learnt from the results" if problem is not None and problem.learnt else stated


def assumptions(problem: Problem, evidence: Evidence, order: str = "arrival") -> tuple[str, ...]:
    """The assumptions behind the guarantee of an answer."""
    noise = "; ".join(f"{name}: {kind!r}" for name, kind in problem.noise.items())
    return (
        f"evidence: {basis(evidence, problem)}",
        "each measurement of an arm is an independent draw, also of those of other arms, and its means do not drift",
        f"noise: {noise}",
        *_learnt(problem),
        _stated_dependence(problem.dependence),
        ORDERS[order],
    )


def _learnt(problem: Problem) -> tuple[str, ...]:
    if not problem.learnt:
        return ()
    return (
        f"the scale of {', '.join(problem.learnt)} is learnt from the results of each arm, which is right for many "
        f"results only (asymptotic); before {LEAST_PULLS} of them nothing is claimed about an arm but by exact values",
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
        name, _, options = (part.strip() for part in value.partition(":"))
        if name in built:
            return _made(built[name], name, options, what)
        if _PLACE.fullmatch(value) is None:
            raise SettingsError(
                f"{what} {value!r} is not one of those built: {_listed(built, name)} (one of your own is module:Class)"
            )
        return _fitting(own(value, what), what, f"{what} {value!r}")
    if isinstance(value, type):
        raise SettingsError(f"{what} is the class {value.__name__}; pass a record of it: {value.__name__}()")
    if not hasattr(value, "fit") or not hasattr(value, "name"):
        raise SettingsError(f"{what} is {value!r}; expected a name ({', '.join(built)}) or a record with name and fit")
    _check_label(value, f"{what} {value!r}")
    return value


def _made(kind: type, name: str, options: str, what: str) -> Any:
    given = _options(kind, name, options) if options else {}
    for field in _fields(kind).values():
        if _default(field) is dataclasses.MISSING and field.name not in given:
            raise SettingsError(f"{what} {name!r} needs the option {field.name!r}; write {name}:{field.name}=…")
    try:
        return kind(**given)
    except ValueError as error:
        raise SettingsError(f"{what} '{name}{':' if options else ''}{options}': {error}") from None


def _fitting(record: Any, what: str, text: str) -> Any:
    """The record of a user's own class, if it can serve as a `what`."""
    missing = [name for name in ("name", "fit") if not hasattr(record, name)]
    if missing:
        raise SettingsError(f"{text} lacks {' and '.join(missing)}; expected a class with name and fit")
    takes, other = (("space",), "evidence") if what == "algorithm" else (("delta", "space"), "an algorithm")
    try:
        inspect.signature(record.fit).bind(*takes)
    except TypeError:
        raise SettingsError(f"{text} has no fit({', '.join(takes)}); is it {other}?") from None
    _check_label(record, text)
    return record


def own(text: str, what: str = "part") -> Any:
    """The record at a place in a module of the user's own, whatever it is for: "mymodule:MyPolicy:rate=2"."""
    found = _PLACE.fullmatch(text)
    if found is None:
        raise SettingsError(f"{what} {text!r} names no class; write module:Class or module:Class:option=value")
    module, place, options = found.groups("")
    kind = find_class(module, place, what)
    if not dataclasses.is_dataclass(kind):
        raise SettingsError(f"{what} '{module}:{place}' is not a dataclass; its options are to be the fields of one")
    return _made(kind, f"{module}:{place}", options, what)


def _fields(kind: type) -> dict[str, dataclasses.Field[Any]]:
    """The options of a record, by name."""
    return {field.name: field for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _listed(names: Iterable[str], wanted: str) -> str:
    close = difflib.get_close_matches(wanted, list(names), n=1)
    return ", ".join(names) + (f"; did you mean {close[0]!r}?" if close else "")


def _options(kind: type, name: str, text: str) -> dict[str, Any]:
    """Read `a=1,b=x` for the fields of a record."""
    hints = {key: typing.get_type_hints(kind)[key] for key in _fields(kind)}
    options: dict[str, Any] = {}
    for item in text.split(","):
        key, equals, raw = (word.strip() for word in item.partition("="))
        if key not in hints:
            known = f"its options are: {_listed(hints, key)}" if hints else "it takes none"
            raise SettingsError(f"{name!r} has no option {key!r}; {known}")
        if not equals:
            raise SettingsError(f"option {key!r} of {name!r} has no value; write {name}:{key}=…")
        options[key] = _read(raw, hints[key], f"option {key!r} of {name!r}")
    return options


def _read(raw: str, hint: Any, what: str) -> Any:
    """A value of the hinted type, one of _READERS or several of them; for any other type, the text itself."""
    kinds = [kind for kind in _READERS if kind in (typing.get_args(hint) or (hint,))]
    for kind in kinds:
        with contextlib.suppress(ValueError, KeyError):
            return _READERS[kind](raw)
    if kinds:
        expected = " or ".join(_WORDS[kind] for kind in kinds)
        raise SettingsError(f"{what} is {raw!r}, expected {expected}")
    return raw


_WORDS = {type(None): "None", bool: "True or False", int: "a whole number", float: "a number", str: "a text"}
_READERS: dict[type, Callable[[str], Any]] = {
    type(None): {"None": None}.__getitem__,
    bool: {"True": True, "False": False}.__getitem__,
    int: int,
    float: float,
    str: str,
}
