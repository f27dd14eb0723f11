"""What was marked for kernels: functions, and bodies from outside the engine. `machine_code` makes kernels of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from paretoguard.compiler.fingerprint import is_of_engine


class Marked(NamedTuple):
    """A function for use inside kernels."""

    function: Callable[..., Any]
    inlined: bool


class Question(NamedTuple):
    """A function with one body per record type."""

    ask: Callable[..., Any]
    body_of: Callable[[type], Callable[..., Any] | None]
    by_evidence: bool  # the type that counts is that of the evidence in a view


marked: list[Marked] = []
questions: list[Question] = []
bodies: defaultdict[type, list[Callable[..., Any]]] = defaultdict(list)  # bodies from outside the engine, by record
for_all: list[Callable[..., Any]] = []  # bodies from outside the engine, for records of the engine


def note_body(record: type, body: Callable[..., Any]) -> None:
    """Note that kernels with this record hold the code of this body."""
    if not is_of_engine(body):
        (for_all if record is object or is_of_engine(record) else bodies[record]).append(body)


def modules_with_bodies(records: Iterable[type]) -> list[str]:
    """Return the modules from outside the engine that have bodies for some of these records."""
    found = [*for_all, *(body for record in records for kind in record.__mro__ for body in bodies.get(kind, ()))]
    return list(dict.fromkeys(body.__module__ for body in found))
