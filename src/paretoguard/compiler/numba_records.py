"""Records of the engine pass whole from one function of a kernel to the next.

numba takes a record apart at every call, into each number of each of its arrays, and puts it together again inside. The
functions of a kernel pass a hundred arrays along, and compiling one took much of its time for that. Records from
elsewhere pass as they always do, so that code compiled without this package can be called with them.
"""

from typing import Any

from numba.core import types
from numba.core.datamodel.models import TupleModel, UniTupleModel
from numba.extending import register_model

from paretoguard.compiler.fingerprint import is_of_engine


class _Record:
    """How a record is an argument."""

    fe_type: Any

    def is_whole(self) -> bool:
        """Is this a record of the engine?"""
        return is_of_engine(self.fe_type.instance_class)

    def get_argument_type(self) -> Any:
        """That of the record itself, or of its parts."""
        return self.get_value_type() if self.is_whole() else super().get_argument_type()  # type: ignore[attr-defined,misc]

    def as_argument(self, builder: Any, value: Any) -> Any:
        """From a value to arguments."""
        return value if self.is_whole() else super().as_argument(builder, value)  # type: ignore[misc]

    def from_argument(self, builder: Any, value: Any) -> Any:
        """And back."""
        return value if self.is_whole() else super().from_argument(builder, value)  # type: ignore[misc]


@register_model(types.NamedTuple)  # type: ignore[attr-defined]
class _Mixed(_Record, TupleModel):  # type: ignore[misc]
    """A record with fields of several types."""


@register_model(types.NamedUniTuple)  # type: ignore[attr-defined]
class _Alike(_Record, UniTupleModel):  # type: ignore[misc]
    """A record with fields of one type."""
