"""Delta, budget, seed and counts, checked."""

import math
from numbers import Integral, Real
from typing import Any

from paretoguard.engine.loop import NO_BUDGET
from paretoguard.errors import SettingsError

MAX_SEED = 2**64 - 1


def check_delta(delta: Any) -> float:
    """Return delta; raise SettingsError if it is no number between 0 and 1."""
    if not _is_real(delta) or not 0.0 < float(delta) < 1.0:
        raise SettingsError(
            f"delta is {delta!r}; it is the error probability you accept, a number between 0 and 1 such as 0.05"
        )
    return float(delta)


def check_budget(budget: Any) -> int:
    """Return the largest number of samples; None means no limit."""
    if budget is None:
        return NO_BUDGET
    return check_count(budget, "budget", "the largest number of samples")


def check_seed(seed: Any) -> int:
    """Return the seed; raise SettingsError if it does not fit 64 bits."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) <= MAX_SEED:
        raise SettingsError(f"seed is {seed!r}; expected a whole number from 0 to {MAX_SEED}")
    return int(seed)


def check_count(value: Any, name: str, meaning: str, most: int = 2**62) -> int:
    """Return the value; raise SettingsError if it is no whole number from 1 to `most`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise SettingsError(f"{name} is {value!r}; it is {meaning}, a whole number of at least 1")
    if int(value) > most:
        raise SettingsError(f"{name} is {value!r}; it is {meaning}, at most {most:,}")
    return int(value)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
