"""Kernels that compile in a second, for tests of tiers."""

from typing import NamedTuple

from paretoguard.compiler.jit import entry, entry_at_once, inner
from paretoguard.numeric import Floats


class Sum(NamedTuple):
    """What `add` works on."""

    values: Floats  # [n]
    total: Floats  # [1]


class LargeSum(NamedTuple):
    """As Sum, too large to be interpreted."""

    values: Floats
    total: Floats

    @property
    def is_large(self) -> bool:
        return True


@inner
def _square(value: float) -> float:
    return value * value


@entry
def add(numbers: Sum | LargeSum) -> float:
    """Add the squares to the total; return it."""
    for k in range(numbers.values.shape[0]):
        numbers.total[0] += _square(numbers.values[k])
    return float(numbers.total[0])


@entry_at_once
def add_at_once(numbers: Sum) -> float:
    return float(numbers.values[0]) + 1.0


@entry
def lame(numbers: Sum) -> float:
    return numbers.values.nowhere if numbers.total[0] > 0.0 else 0.0  # type: ignore[attr-defined]
