"""Fit an algorithm and evidence to a problem, and say in words what a user's own part lacks before numba says it."""

import inspect
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from numba.core.errors import NumbaError

from paretoguard.compiler.jit import Part
from paretoguard.engine.arrays import Space
from paretoguard.engine.questions import (
    answer,
    decide,
    dominated,
    moment,
    pair_radius,
    radius,
    restart,
    row_radius,
    select,
    undominated,
    weigh,
)
from paretoguard.engine.state import State
from paretoguard.errors import SettingsError
from paretoguard.trial import registry

OF_POLICIES = (restart, decide, answer)
OF_EVIDENCE = (moment, weigh, dominated, undominated, radius, row_radius, pair_radius)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_TELLING = re.compile(
    r"No implementation|annot|nknown|ntyped|ndefined|not defined|positional|missing|nsupported|not supported|required"
)


def fit(
    algorithm: registry.Algorithm, evidence: registry.Evidence, delta: float, space: Space, batch: int = 1
) -> tuple[NamedTuple, NamedTuple]:
    """The kernel records for one problem."""
    if space.learnt.any() and not getattr(evidence, "learns", False):
        raise SettingsError(
            f"evidence {registry.label(evidence)!r} needs the scale of every noise; declare it, as Gaussian(std), "
            "SubGaussian(sigma) or Bounded(low, high), or use 'certified', which learns unknown ones "
            "(from measurements; to simulate, they must be stated)"
        )
    policy, levels = algorithm.fit(space), evidence.fit(delta, space)
    how, what = f"algorithm {registry.label(algorithm)!r}", f"evidence {registry.label(evidence)!r}"
    _check(policy, how, OF_POLICIES)
    _check(levels, what, OF_EVIDENCE)
    if batch > 1 and not select.has_body(type(policy)):
        raise SettingsError(f"{how} does not say how to fill a batch: register `select` for it, or take batch = 1")
    return policy, levels


def _check(record: Any, what: str, questions: Sequence[Part]) -> None:
    """Refuse a kernel record that kernels cannot ask what they need."""
    kind = type(record)
    if not isinstance(record, tuple) or not hasattr(record, "_fields"):
        raise SettingsError(f"{what}: fit gave {record!r}, expected a NamedTuple of numbers and arrays")
    for question in questions:
        name = question.__name__
        if not question.has_body(kind):
            raise SettingsError(f"{what} answers no `{name}`: write @{name}.register({kind.__name__}) above a function")
        expected = list(inspect.signature(question).parameters)
        try:
            inspect.signature(question.dispatch(kind)).bind(*expected)
        except TypeError as error:
            raise SettingsError(f"{what}: `{name}` is asked with ({', '.join(expected)}), but {error}") from None


def not_compiled(error: NumbaError, algorithm: registry.Algorithm, evidence: registry.Evidence) -> SettingsError:
    """What numba says, in one paragraph: the last file of the user's that it names, and its most telling line."""
    lines = [line.strip() for line in _ANSI.sub("", str(error)).splitlines() if line.strip()]
    told = [line for line in lines if _TELLING.search(line) and not _PLACE.search(line)]
    places = [found for line in lines for found in _PLACE.findall(line)]
    own = [(file, line) for file, line in places if "-packages" not in file and "paretoguard/engine" not in file]
    where = f" at {own[-1][0]}, line {own[-1][1]}" if own else ""
    parts = f"{registry.label(algorithm)} with {registry.label(evidence)} evidence"
    return SettingsError(
        f"{parts} does not compile{where}: {told[-1] if told else lines[0]}\n"
        "Inside kernels: numbers, arrays made in `fit`, loops and math functions; no array can be made there. "
        "See docs/extending.md; all that numba says is in the exception's __cause__."
    )


def check_queue(queued: int, space: Space, state: State, algorithm: registry.Algorithm) -> None:
    """Refuse a decision that names no arms: too many, too few, or places where there is no arm."""
    if not 0 <= queued <= len(state.queue) or any(not 0 <= arm < space.arms for arm in state.queue[:queued]):
        raise bad_queue(algorithm, space)


def bad_queue(algorithm: registry.Algorithm, space: Space) -> SettingsError:
    """A decision that cannot be carried out."""
    K = space.arms
    return SettingsError(
        f"algorithm {registry.label(algorithm)!r} made a decision that cannot be carried out: `decide` and `select` "
        f"put places of arms, 0 to {K - 1} here, in state.queue, and return how many, 0 to {max(K, 2)}"
    )
