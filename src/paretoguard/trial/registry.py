"""From the words a user writes for an algorithm or a kind of evidence to its record.

An algorithm or a kind of evidence is a record, or a text: the name of one that is built ("two-stage:form=2023"), or
the place of a user's own ("mymodule:MyAlgorithm:rate=2"; the module is looked for in the current folder and on Python's
path).
"""

import contextlib
import dataclasses
import difflib
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, cast

from paretoguard import algorithms, evidence as kinds_of_evidence
from paretoguard.algorithms import Algorithm
from paretoguard.errors import SettingsError
from paretoguard.evidence import Evidence
from paretoguard.problem.names import find_class
from paretoguard.vocabulary import ALGORITHM_NAMES, EVIDENCE_NAMES, GUARANTEES

DEFAULT_ALGORITHM, DEFAULT_EVIDENCE, DEFAULT_DELTA = "pitfall", "certified", 0.05
_PLACE = re.compile(r"\s*([^\W\d][\w.]*):([^\W\d][\w.<>]*)(?::(.*))?")  # module:Class or module:Class:options


def _built(room: ModuleType, names: Iterable[str]) -> dict[str, type]:
    """Return the built-in records with these names, which the room exports."""
    found = {getattr(each, "name", ""): each for each in vars(room).values() if isinstance(each, type)}
    return {name: found[name] for name in names}


ALGORITHMS = _built(algorithms, ALGORITHM_NAMES)
EVIDENCE = _built(kinds_of_evidence, EVIDENCE_NAMES)


def algorithm(value: str | Algorithm) -> Algorithm:
    """Return the algorithm of this name (`"name:option=value"` sets options) or place, or the record itself.

    >>> algorithm("e-cape")
    ECape()
    """
    return cast(Algorithm, _record(value, "algorithm", ALGORITHMS))


def evidence(value: str | Evidence) -> Evidence:
    """Return the kind of evidence of this name or place, or the record itself.

    >>> evidence("theorem").guarantee
    'finite-sample'
    """
    return cast(Evidence, _record(value, "evidence", EVIDENCE))


class _Stored:
    """A user's own part that a saved study names: imported only if it is run, so that the study can be read without."""

    what: str

    def __init__(self, text: str) -> None:
        self.name = self.text = text

    def fit(self, *arguments: Any) -> Any:
        return _record(self.text, self.what, {}).fit(*arguments)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(self.text)


class StoredAlgorithm(_Stored, Algorithm):
    """A user's own algorithm, not imported yet."""

    what = "algorithm"


class StoredEvidence(_Stored, Evidence):
    """A user's own kind of evidence, not imported yet; what it promises is known."""

    what = "evidence"

    def __init__(self, text: str, guarantee: str) -> None:
        super().__init__(text)
        self.guarantee = guarantee  # type: ignore[misc]


def stored_algorithm(text: str) -> Algorithm:
    """Return the algorithm that a study names; a user's own is not imported yet."""
    return algorithm(text) if text.partition(":")[0] in ALGORITHMS else StoredAlgorithm(text)


def stored_evidence(text: str, guarantee: str) -> Evidence:
    """Return the evidence that a study names; a user's own is not imported yet."""
    return evidence(text) if text.partition(":")[0] in EVIDENCE else StoredEvidence(text, guarantee)


def label(record: Algorithm | Evidence) -> str:
    """Return the text for a record, with options that differ from their defaults; `algorithm`, `evidence` read it back.

    >>> label(algorithms.ECape())
    'e-cape'
    """
    if isinstance(record, _Stored):
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
    """Return the evidence of an algorithm that has its own, else the one given."""
    return cast(Evidence, how.evidence()) if how.evidence is not None else evidence(given)


def _checked(record: Any, what: str, text: str) -> Any:
    """Return the record; raise SettingsError if it cannot serve as a `what`."""
    base, other = (Algorithm, Evidence) if what == "algorithm" else (Evidence, Algorithm)
    if not isinstance(record, base):
        hint = f"; it is {'evidence' if other is Evidence else 'an algorithm'}" if isinstance(record, other) else ""
        raise SettingsError(
            f"{text} is no {base.__name__}; derive its class from paretoguard.extend.{base.__name__}{hint}"
        )
    if isinstance(record, Evidence) and record.guarantee not in GUARANTEES:
        raise SettingsError(f"{text} has guarantee {record.guarantee!r}, expected one of {', '.join(GUARANTEES)}")
    return record


def _record(value: Any, what: str, built: Mapping[str, type]) -> Any:
    if isinstance(value, str):
        name, _, options = (part.strip() for part in value.partition(":"))
        if name in built:
            return _made(built[name], name, options, what)
        if _PLACE.fullmatch(value) is None:
            raise SettingsError(
                f"{what} {value!r} is not one of those built: {_listed(built, name)} (one of your own is module:Class)"
            )
        return _checked(own(value, what), what, f"{what} {value!r}")
    if isinstance(value, type):
        raise SettingsError(f"{what} is the class {value.__name__}; pass a record of it: {value.__name__}()")
    if not hasattr(value, "fit"):
        raise SettingsError(f"{what} is {value!r}; expected a name ({', '.join(built)}) or a record")
    return _checked(value, what, f"{what} {value!r}")


def _made(kind: Any, name: str, options: str, what: str) -> Any:
    if inspect.isabstract(kind):
        raise SettingsError(f"{what} {name!r} lacks {', '.join(sorted(kind.__abstractmethods__))}")
    given = _options(kind, name, options) if options else {}
    for field in _fields(kind).values():
        if _default(field) is dataclasses.MISSING and field.name not in given:
            raise SettingsError(f"{what} {name!r} needs the option {field.name!r}; write {name}:{field.name}=…")
    try:
        return kind(**given)
    except ValueError as error:
        raise SettingsError(f"{what} '{name}{':' if options else ''}{options}': {error}") from None


def own(text: str, what: str = "part") -> Any:
    """Return the record at a place in a module of the user's own: "mymodule:MyAlgorithm:rate=2"."""
    found = _PLACE.fullmatch(text)
    if found is None:
        raise SettingsError(f"{what} {text!r} names no class; write module:Class or module:Class:option=value")
    module, place, options = found.groups("")
    kind = find_class(module, place, what)
    if not dataclasses.is_dataclass(kind):
        raise SettingsError(f"{what} '{module}:{place}' is not a dataclass; its options are to be the fields of one")
    return _made(kind, f"{module}:{place}", options, what)


def _fields(kind: type) -> dict[str, dataclasses.Field[Any]]:
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
    """Return the value of a text for a field of the hinted type; for other types than in _READERS, the text."""
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
