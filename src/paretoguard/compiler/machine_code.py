"""Kernels made by numba: the one place that says how they compile. Loaded only when a kernel is to be compiled or read.

Functions that were marked for kernels stay plain Python; numba is told here what each of them is compiled as.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.extending import overload

from paretoguard.compiler import marks
from paretoguard.compiler.cache_folder import cache_folder, compiling_alone
from paretoguard.compiler.disk_cache import DiskCache
from paretoguard.compiler.gc_pause import without_collecting
from paretoguard.errors import NotCompiledError

try:
    from paretoguard.compiler.numba_pipeline import InlineCompiler, pass_records_whole
except ImportError:  # a numba that is built otherwise: kernels then take longer to compile
    _PIPELINE: dict[str, Any] = {}
else:
    _PIPELINE = {"pipeline_class": InlineCompiler}
    pass_records_whole()

# The wrappers that numba makes for calls from C, and for inner functions from Python, take most of the time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INNER_OPTIONS = {**_OPTIONS, "forceinline": True, "no_cpython_wrapper": True, **_PIPELINE}
_functions: list[Any] = []  # what the marked functions are compiled as, in the order of their marks
_known_questions: list[marks.Question] = []


class MachineCode:
    """The machine code of one kernel, for each kind of arguments that it was made for or read from disk.

    Called with arguments of another kind, it asks `other` what to call instead.
    """

    def __init__(self, body: Callable[..., Any], other: Callable[..., Callable[..., Any]]) -> None:
        self._dispatcher: Any = numba.njit(**_OPTIONS)(body)
        self._compile = without_collecting()(self._dispatcher._compile_for_args)  # it makes objects by the million
        self._dispatcher._compile_for_args = other
        self._disk = DiskCache(body) if cache_folder() is not None else None
        if self._disk is not None:
            self._dispatcher._cache = self._disk
        self.call: Callable[..., Any] = self._dispatcher
        self.loaded = self.compiled = 0

    def read(self, arguments: tuple[Any, ...]) -> Any:
        """Return the machine code for arguments of this kind, loaded or from disk; None if there is none."""
        kinds = self._numba_types(arguments)
        with global_compiler_lock:
            found = self._dispatcher.overloads.get(kinds)
            if found is None and self._disk is not None:
                found = self._disk.load_overload(kinds, self._dispatcher.targetctx)
                if found is not None:
                    self._dispatcher.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
                    self._dispatcher.add_overload(found)
                    self.loaded += 1
        return None if found is None else found.entry_point

    def compile(self, arguments: tuple[Any, ...]) -> Any:
        """Return the machine code for arguments of this kind, compiled unless there is some.

        Raise NotCompiledError if the kernel does not compile.
        """
        found = self.read(arguments)
        if found is not None:
            return found
        with global_compiler_lock, compiling_alone(self._file_name(arguments)):
            found = self.read(arguments)  # another thread or process may have made it meanwhile
            if found is None:
                tell_numba()
                try:
                    found = self._compile(*arguments)
                except NumbaError as error:
                    raise NotCompiledError(str(error)) from error
                self.compiled += 1
        return found

    def _numba_types(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        kinds = tuple(self._dispatcher.typeof_pyval(each) for each in arguments)
        self._dispatcher._types_active_call.clear()
        return kinds

    def _file_name(self, arguments: tuple[Any, ...]) -> str:
        if self._disk is None:
            return ""
        return self._disk.file_name(self._numba_types(arguments), self._dispatcher.targetctx.codegen())


def tell_numba() -> None:
    """Tell numba of every function marked since the last time, so that code it compiles can call them."""
    for function, inlined in marks.marked[len(_functions) :]:
        compiled = numba.njit(**{**_INNER_OPTIONS, "forceinline": inlined})(function)
        _keep_only(compiled)
        _functions.append(compiled)  # numba itself keeps no more than a weak reference
        cpu_target.typing_context.insert_global(function, types.Dispatcher(compiled))
    for question in marks.questions[len(_known_questions) :]:
        _known_questions.append(question)
        _tell_question(question)


def _keep_only(function: Any) -> None:
    """Make no wrapper for calls from Python, of which there are none."""

    def keep(compiled: Any) -> None:
        function.overloads[tuple(compiled.signature.args)] = compiled

    function.add_overload = keep


def _tell_question(question: marks.Question) -> None:
    @overload(question.ask, strict=False, jit_options=_INNER_OPTIONS)  # type: ignore[untyped-decorator]
    def choose(record: Any, *arguments: Any) -> FunctionType | None:
        is_view = question.by_evidence and isinstance(record, types.BaseTuple)  # type: ignore[attr-defined]
        kind = record.types[0] if is_view else record
        return question.body_of(getattr(kind, "instance_class", object))  # type: ignore[return-value]
