"""How kernels compile: the one place that says so. `disk_cache` keeps their machine code.

Four decorators:

- `inner`: a function used inside kernels; always inlined, never cached by itself, may not allocate;
- `aside`: the same, called rather than inlined, for long functions off the hot path;
- `entry`: a kernel called from Python; its machine code is kept on disk;
- `part`: a function whose body is chosen by the *type* of a record. Bodies are added with `@name.register(Record)`,
  also from outside this package, and compile together with the kernel that uses them.
"""

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import numba
from numba.core import config, types
from numba.extending import overload

from paretoguard.compiler.disk_cache import DiskCache, cache_folder, note_body
from paretoguard.compiler.gc_pause import without_collecting

F = TypeVar("F", bound=Callable[..., Any])


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


try:
    from paretoguard.compiler.numba_pipeline import InlineCompiler
except ImportError:  # a numba that is built otherwise: kernels then take longer to compile
    _PIPELINE: dict[str, Any] = {}
else:
    _PIPELINE = {"pipeline_class": InlineCompiler}
COMPILED = not config.DISABLE_JIT
# The wrappers that numba makes for calls from C, and for inner functions from Python, take most of the time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INNER_OPTIONS = {**_OPTIONS, "forceinline": True, "no_cpython_wrapper": True, **_PIPELINE}
_entries: list[Any] = []


def inner(function: F) -> F:
    """Compile a function for use inside kernels only: inlined, allocation refused at compile time."""
    return cast(F, _kernels_only(numba.njit(**_INNER_OPTIONS)(function)))


def aside(function: F) -> F:
    """As `inner`, but called rather than inlined: for long functions off the hot path, which compile once this way."""
    return cast(F, _kernels_only(numba.njit(**{**_INNER_OPTIONS, "forceinline": False})(function)))


def _kernels_only(function: Any) -> Any:
    """Refuse calls from Python: the wrapper that they would need is not made (see _OPTIONS)."""
    if COMPILED:

        def keep(compiled: Any) -> None:
            function.overloads[tuple(compiled.signature.args)] = compiled

        def refuse(*arguments: Any, **named: Any) -> None:
            raise TypeError(f"{function.__name__} is for use inside kernels; call a function marked `entry` instead")

        function.add_overload = keep
        function._compile_for_args = refuse
    return function


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it releases the GIL and its machine code is kept on disk."""
    kernel = numba.njit(**_OPTIONS)(function)
    if COMPILED:
        _entries.append(kernel)
        # numba makes objects by the million and few cycles: looking for garbage takes a tenth of its time
        kernel._compile_for_args = without_collecting()(kernel._compile_for_args)
        if cache_folder() is not None:
            kernel._cache = DiskCache(function)
    return cast(F, kernel)


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

    question: Any = functools.update_wrapper(ask, stub)

    @overload(question, strict=False, jit_options=_INNER_OPTIONS)  # type: ignore[untyped-decorator]
    def choose(record: Any, *arguments: Any) -> Any:
        is_view = by_evidence and isinstance(record, types.BaseTuple)  # type: ignore[attr-defined]
        kind = record.types[0] if is_view else record
        body = bodies.dispatch(getattr(kind, "instance_class", object))
        return None if body is missing else body

    def register(record: type, body: Callable[..., Any] | None = None) -> Any:
        if body is None:
            return lambda body: register(record, body)
        note_body(record, body)
        return bodies.register(record, body)

    question.register, question.dispatch = register, bodies.dispatch
    question.has_body = lambda record: bodies.dispatch(record) is not missing
    question.has_own_body = lambda record: bodies.dispatch(record) is not bodies.dispatch(object)
    return cast(Part, question)


def cache_hits() -> tuple[int, int]:
    """Return how many kernels this process loaded from disk, and how many it compiled."""
    stats = [kernel.stats for kernel in _entries]
    return sum(s.cache_hits.total() for s in stats), sum(s.cache_misses.total() for s in stats)
