"""How functions are marked for kernels. They stay plain Python; `tiers` says when they run as machine code.

Four decorators:

- `inner`: a function used inside kernels; always inlined, may not allocate;
- `aside`: the same, called rather than inlined, for long functions off the hot path;
- `entry`: a kernel, which Python calls;
- `part`: a function whose body is chosen by the *type* of a record. Bodies are added with `@name.register(Record)`,
  also from outside this package, and compile together with the kernel that uses them.
"""

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from paretoguard.compiler import marks
from paretoguard.compiler.tiers import Kernel

F = TypeVar("F", bound=Callable[..., Any])
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Part(Protocol):
    """A function with one body per record type."""

    def __call__(self, record: Any, *arguments: Any) -> Any:
        """Run the body registered for the type of `record`."""

    @typing.overload
    def register(self, record: type, body: F) -> F:
        """Add the body for a record type."""

    @typing.overload
    def register(self, record: type) -> Callable[[F], F]:
        """The same as a decorator."""

    __name__: str

    def has_body(self, record: type) -> bool:
        """True if there is a body for this record type."""

    def has_own_body(self, record: type) -> bool:
        """True if that body is not the one that holds by default."""

    def dispatch(self, record: type) -> Callable[..., Any]:
        """Return the body for this record type."""


def inner(function: F) -> F:
    """Mark a function for use inside kernels: inlined, allocation refused at compile time."""
    marks.marked.append(marks.Marked(function, inlined=True))
    return function


def aside(function: F) -> F:
    """As `inner`, but called rather than inlined: for long functions off the hot path, which compile once this way."""
    marks.marked.append(marks.Marked(function, inlined=False))
    return function


def entry(function: Callable[_P, _R]) -> Kernel[_P, _R]:
    """Make a kernel that Python calls; as machine code it releases the GIL."""
    return Kernel(function)


def entry_at_once(function: Callable[_P, _R]) -> Kernel[_P, _R]:
    """As `entry`, for a kernel that does much work a call: it is compiled before its first one."""
    return Kernel(function, at_once=True)


def part(stub: Callable[..., Any]) -> Part:
    """Declare a function with one body per record type; the stub gives its signature and its documentation.

    The body is chosen by the type of the first argument, a NamedTuple or, where that is called `view`, by the type of
    the evidence in it.
    """
    first = next(iter(inspect.signature(stub).parameters))
    by_evidence = first == "view"

    def missing(record: Any, *arguments: Any) -> Any:
        what, kind = ("evidence", type(record.evidence)) if by_evidence else (first, type(record))
        raise TypeError(f"{what} {kind.__name__} has no registered `{stub.__name__}`")

    bodies = functools.singledispatch(missing)

    def ask(record: Any, *arguments: Any) -> Any:
        return bodies.dispatch(type(record.evidence if by_evidence else record))(record, *arguments)

    def body_of(record: type) -> Callable[..., Any] | None:
        found = bodies.dispatch(record)
        return None if found is missing else found

    def register(record: type, body: Callable[..., Any] | None = None) -> Any:
        if body is None:
            return lambda body: register(record, body)
        marks.note_body(record, body)
        return bodies.register(record, body)

    question: Any = functools.update_wrapper(ask, stub)
    question.register, question.dispatch = register, bodies.dispatch
    question.has_body = lambda record: bodies.dispatch(record) is not missing
    question.has_own_body = lambda record: bodies.dispatch(record) is not bodies.dispatch(object)
    marks.questions.append(marks.Question(question, body_of, by_evidence))
    return cast(Part, question)
