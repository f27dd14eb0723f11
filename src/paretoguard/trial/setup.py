"""How an experiment is run: its settings, checked, and the engine that begins with them.

What a user's own algorithm or evidence lacks is said in words, before numba says it.
"""

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paretoguard.algorithms import Algorithm
from paretoguard.compiler.fingerprint import ROOMS
from paretoguard.compiler.jit import Part
from paretoguard.engine.draws import key
from paretoguard.engine.engine import Engine, new_engine
from paretoguard.engine.questions import (
    answer,
    choose,
    dominated,
    moment,
    pair_radius,
    radius,
    row_radius,
    select,
    undominated,
    weigh,
)
from paretoguard.errors import NotCompiledError, SettingsError
from paretoguard.evidence import Evidence
from paretoguard.problem import Problem
from paretoguard.trial import checks, promises, registry

OF_EVIDENCE = (moment, weigh, dominated, undominated, radius, row_radius, pair_radius)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_TELLING = re.compile(
    r"No implementation|annot|nknown|ntyped|ndefined|not defined|positional|missing|nsupported|not supported|required"
)


@dataclass(frozen=True)
class Setup:
    """Checked settings, with the records of the algorithm and of the evidence."""

    problem: Problem
    delta: float
    algorithm: Algorithm
    evidence: Evidence
    budget: int
    seed: int
    order: str  # "arrival" or "asked"

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        delta: float,
        algorithm: str | Algorithm,
        evidence: str | Evidence,
        budget: int | None = None,
        seed: int = 0,
        order: str | None = None,
    ) -> "Setup":
        """Return the settings; raise SettingsError if one of them is wrong or does not go with the others.

        Parameters
        ----------
        problem, delta, algorithm, evidence, budget, seed, order
            As for `Trial`.
        """
        if not isinstance(problem, Problem):
            raise SettingsError(
                f"the problem is {problem!r}; expected a pg.Problem (of a problem file: pg.load(path).problem)"
            )
        how = registry.algorithm(algorithm)
        kind = registry.evidence_for(how, evidence)
        counted = promises.order_of(kind, order)
        return cls(
            problem,
            checks.check_delta(delta),
            how,
            promises.in_order(kind, counted),
            checks.check_budget(budget),
            checks.check_seed(seed),
            counted,
        )

    @property
    def guarantee(self) -> str:
        """The label of every verdict: "finite-sample", "asymptotic" or "heuristic"."""
        return promises.guarantee(self.evidence, self.problem)

    def engine(self) -> Engine:
        """Return an experiment without results."""
        return engine_for(self.problem, self.algorithm, self.evidence, self.delta, seed=self.seed)

    def labels(self) -> dict[str, Any]:
        """Return what a result says of these settings."""
        return {
            "algorithm": registry.label(self.algorithm),
            "evidence": registry.label(self.evidence),
            "delta": self.delta,
            "guarantee": self.guarantee,
            "basis": promises.basis(self.evidence, self.problem),
            "assumptions": promises.assumptions(self.problem, self.evidence, self.order),
        }


def engine_for(
    problem: Problem,
    algorithm: Algorithm,
    evidence: Evidence,
    delta: float,
    *,
    seed: int = 0,
    batch: int = 1,
) -> Engine:
    """Return an experiment without results; raise SettingsError where the parts do not go with the problem."""
    arrays, how, what = problem.space(), registry.label(algorithm), registry.label(evidence)
    if arrays.learnt.any() and not evidence.learns:
        raise SettingsError(
            f"evidence {what!r} needs the scale of every noise; declare it, as Gaussian(std), SubGaussian(sigma) or "
            "Bounded(low, high), or use 'certified', which learns unknown ones (from measurements; to simulate, they "
            "must be stated)"
        )
    memory, levels = algorithm.fit(arrays), evidence.fit(delta, arrays)
    _check(memory, f"algorithm {how!r}", (choose,))
    _check(levels, f"evidence {what!r}", OF_EVIDENCE)
    if batch > 1 and not fills_batches(memory):
        raise SettingsError(f"algorithm {how!r} does not say how to fill a batch: register `select`, or take batch = 1")
    return new_engine(memory, levels, arrays, key(seed, 0))


def fills_batches(memory: NamedTuple) -> bool:
    """True if the algorithm says which arms to pull while results are outstanding."""
    return select.has_own_body(type(memory)) or not answer.has_own_body(type(memory))


def _check(record: Any, what: str, questions: Sequence[Part]) -> None:
    """Raise SettingsError unless kernels can ask this record what they need."""
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


def not_compiled(error: NotCompiledError, algorithm: Algorithm, evidence: Evidence) -> SettingsError:
    """Return what numba says in one paragraph: the last file of the user's that it names, and its most telling line."""
    lines = [line.strip() for line in _ANSI.sub("", str(error)).splitlines() if line.strip()]
    told = [line for line in lines if _TELLING.search(line) and not _PLACE.search(line)]
    places = [found for line in lines for found in _PLACE.findall(line)]
    own = [
        (file, line)
        for file, line in places
        if "-packages" not in file and not any(f"paretoguard/{room}" in file for room in ROOMS)
    ]
    where = f" at {own[-1][0]}, line {own[-1][1]}" if own else ""
    parts = f"{registry.label(algorithm)} with {registry.label(evidence)} evidence"
    return SettingsError(
        f"{parts} does not compile{where}: {told[-1] if told else lines[0]}\n"
        "Inside kernels: numbers, arrays made in `fit`, loops and math functions; no array can be made there. "
        "See docs/extending.md; all that numba says is in the exception's __cause__."
    )


def bad_queue(algorithm: Algorithm, arms: int) -> SettingsError:
    """Return the error for a decision that cannot be carried out."""
    return SettingsError(
        f"algorithm {registry.label(algorithm)!r} made a decision that cannot be carried out: `choose` and `select` "
        f"put places of arms, 0 to {arms - 1} here, in state.queue, and return how many, 0 to {max(arms, 2)}"
    )
