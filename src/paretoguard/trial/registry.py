"""From the words a user writes for an algorithm or a kind of evidence to its record.

An algorithm or a kind of evidence is a record, or a text: the name of one that is built ("two-stage:form=2023"), or
the place of a user's own ("mymodule:MyPolicy:rate=2"; the module is looked for in the current folder and on Python's
path).
"""

import contextlib
import dataclasses
import difflib
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from paretoguard.algorithms import ECape, Game, Pitfall, Racing, TwoStage, Uniform
from paretoguard.engine.arrays import Space
from paretoguard.errors import SettingsError
from paretoguard.evidence import Certified, Glr, HansonWright, Lil, Practical, Theorem
from paretoguard.problem.importing import find_class
from paretoguard.vocabulary import GUARANTEES, HEURISTIC

DEFAULT_ALGORITHM, DEFAULT_EVIDENCE = "pitfall", "certified"
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


def evidence_for(how: Algorithm, given: str | Evidence) -> Evidence:
    """The evidence that goes with an algorithm: its own, if it has one, else the one given."""
    own = getattr(how, "evidence", None)
    return cast(Evidence, own()) if own is not None else evidence(given)


def _stated(record: Any) -> str:
    return str(getattr(record, "guarantee", HEURISTIC))


def _check_label(record: Any, text: str) -> None:
    if _stated(record) not in GUARANTEES:
        raise SettingsError(f"{text} has guarantee {_stated(record)!r}, expected one of {', '.join(GUARANTEES)}")


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
