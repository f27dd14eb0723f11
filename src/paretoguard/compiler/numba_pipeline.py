"""Two ways in which kernels compile sooner than numba would compile them.

Functions that live only inside kernels get no machine code of their own: numba optimises every function and turns it
into machine code, also those that are only ever inlined into a kernel, which is optimised as a whole in the end.

Records pass whole from one function of a kernel to the next: numba takes a record apart at every call, into each number
of each of its arrays, and puts it together again inside. That is said to the code generator for this processor alone;
numba's model of a record stays as it is, for others such as GPUs.
"""

from typing import Any

from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import ArgPacker
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering

from paretoguard.compiler.fingerprint import is_of_engine

CHOOSES_PASSES = hasattr(CPUCodegen, "_pass_builder")  # over functions, of which older numba has one choice
ENOUGH = 1  # of LLVM's levels of optimisation, to make a function short


class _NoEnvironment:
    """The code generator, for a function that cannot be called from outside and so needs no environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: its variable is part of the kernel."""


class _InlineLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code to link into kernels."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(self._codegen)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimise as far as makes functions short; the rest is left to the kernel."""
        if not CHOOSES_PASSES:
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            passes, builder = self._codegen._function_pass_manager(opt=ENOUGH, loop_vectorize=False)
            passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Left to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=True, analysis_only=False)
class _InlineLowering(NativeLowering):  # type: ignore[misc]
    _name = "inline_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _InlineLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class InlineCompiler(CompilerBase):  # type: ignore[misc]
    """numba's compiler, but for the last step."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = [(_InlineLowering if each is NativeLowering else each, why) for each, why in pipeline.passes]
        pipeline.passes[:] = passes
        pipeline.finalize()
        return [pipeline]


# --- records ----------------------------------------------------------------------------------------------------------


class _Whole:
    """The model of a record of the engine, as an argument: the record itself."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def get_argument_type(self) -> Any:
        return self._model.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


class _Models:
    """Models of types, as arguments."""

    def __init__(self, models: Any) -> None:
        self._models = models

    def lookup(self, kind: Any) -> Any:
        model = self._models.lookup(kind)
        return _Whole(model) if is_of_engine(getattr(kind, "instance_class", None)) else model


def pass_records_whole() -> None:
    """From now on, let functions for this processor pass records of the engine whole."""
    context = cpu_target.target_context
    context.get_arg_packer = lambda kinds: ArgPacker(_Models(context.data_model_manager), kinds)
