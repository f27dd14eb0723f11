"""The problem: objectives, constraints, arms, noise, dependence and tolerances; and an instance of it with known means.

Everything is checked once, when a `Problem` is made. Attributes are in the user's words and units, `space()` is in the
engine's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats
from paretoguard.problem import inputs
from paretoguard.problem.constraints import (
    Constraint,
    ConstraintsGiven,
    check_consistent,
    constraint_notes,
    constraint_texts,
    matrix,
    read_constraints,
)
from paretoguard.problem.inputs import GUARD, SIGNS, Means
from paretoguard.problem.names import listed, suggestion
from paretoguard.problem.noise import Noise
from paretoguard.problem.truth import Booleans, Scores, Truth, breaches, true_sets, wrong_answers
from paretoguard.problem.units import Dependence, EngineRow, Units, to_engine
from paretoguard.vocabulary import E_CPSI, TASKS


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Problem:
    """The question which arms are Pareto-optimal among those that satisfy the constraints.

    Parameters
    ----------
    objectives
        name -> "max", "min", or "guard" for an objective that only constraints look at.
    arms
        The names of the arms.
    noise
        One model for all objectives, or one for each by name.
    constraints
        Texts such as "cost <= 10" or "0.15 <= x <= 1"; a mapping names them. Or (A, b) for A x <= b in your units and
        signs.
    dependence
        How the objectives of one measurement depend on each other: "unknown", "independent", or the covariance of the
        Gaussian objectives in their order.
    tolerance
        One number for every objective and every constraint, or a mapping from objectives and constraint labels (the
        rest is 0), in your units. Objectives that only guard have none.
    name
        What the problem is called in tables and files.

    >>> from paretoguard.problem.noise import Bernoulli
    >>> problem = Problem({"efficacy": "max", "harm": "min"}, arms=["75mg", "150mg"], noise=Bernoulli(),
    ...                   constraints=["efficacy >= 0.4"])
    >>> problem.truth([[0.5, 0.1], [0.3, 0.0]]).pareto
    ('75mg',)
    """

    objectives: Mapping[str, str]
    arms: tuple[str, ...]
    noise: Mapping[str, Noise]
    constraints: tuple[Constraint, ...]  # one per row
    constraint_texts: Mapping[str, str]  # label -> the whole constraint as written
    dependence: Dependence
    tolerance: Mapping[str, float]  # by objective and by constraint label
    name: str

    def __init__(
        self,
        objectives: Mapping[str, str],
        *,
        arms: Sequence[str],
        noise: Noise | Mapping[str, Noise],
        constraints: ConstraintsGiven = (),
        dependence: str | ArrayLike = "unknown",
        tolerance: float | Mapping[str, float] = 0.0,
        name: str = "",
    ) -> None:
        directions = inputs.read_objectives(objectives)
        names = tuple(directions)
        texts = constraint_texts(constraints, names)
        rows = read_constraints(texts, names)
        models = inputs.read_noise(noise, names)
        if not isinstance(name, str):
            raise ProblemError(f"the name of the problem is {name!r}, expected a string")
        _fill(
            self,
            objectives=MappingProxyType(directions),
            arms=inputs.read_arms(arms),
            noise=MappingProxyType(models),
            constraints=rows,
            constraint_texts=MappingProxyType(texts),
            dependence=inputs.read_dependence(dependence, models),
            tolerance=MappingProxyType(inputs.read_tolerance(tolerance, directions, texts)),
            name=name,
        )
        check_consistent(rows, len(names))

    def __repr__(self) -> str:
        goals = ", ".join(f"{direction} {objective}" for objective, direction in self.objectives.items())
        parts = [repr(self.name)] if self.name else []
        parts += [goals, f"{len(self.arms)} arms"]
        if self.constraint_texts:
            parts.append(f"constraints {listed(self.constraint_texts)}")
        return f"Problem({'; '.join(parts)})"

    def _key(self) -> tuple[Any, ...]:
        """Return what makes two problems equal; the order of the objectives counts."""
        mappings = (tuple(part.items()) for part in (self.objectives, self.noise, self.tolerance))
        return (*mappings, self.arms, self.constraints, self.dependence, self.name)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Problem) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remade, (self.to_arguments(),))

    def to_arguments(self) -> dict[str, Any]:
        """Return arguments that make an equal problem, as plain values."""
        texts = self.constraint_texts
        named = any(label != text for label, text in texts.items())
        return {
            "objectives": dict(self.objectives),
            "arms": self.arms,
            "noise": dict(self.noise),
            "constraints": dict(texts) if named else list(texts.values()),
            "dependence": self.dependence,
            "tolerance": dict(self.tolerance),
            "name": self.name,
        }

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Constraints that are usable but odd: they never bind, no arm can satisfy them, or they leave no room."""
        slacks = [self.tolerance[row.label] for row in self.constraints]
        return constraint_notes(self.constraint_texts, self.constraints, self.noise, slacks)

    @cached_property
    def _units(self) -> Units:
        A, b = matrix(self.constraints, len(self.objectives))
        return to_engine(
            arms=len(self.arms),
            signs=self._signs,
            noise=tuple(self.noise.values()),
            A=A,
            b=b,
            dependence=self.dependence,
            tolerance=self._tolerance,
            row_tolerance=self._row_tolerance,
        )

    @cached_property
    def _signs(self) -> Floats:
        return np.array([SIGNS[direction] for direction in self.objectives.values()])

    @cached_property
    def _tolerance(self) -> Floats:
        return np.array([self.tolerance.get(objective, 0.0) for objective in self.objectives])

    @cached_property
    def _row_tolerance(self) -> Floats:
        return np.array([self.tolerance[row.label] for row in self.constraints])

    @property
    def compared(self) -> tuple[str, ...]:
        """The objectives that count in dominance: all but those that only guard."""
        return tuple(name for name, direction in self.objectives.items() if direction != GUARD)

    @property
    def learnt(self) -> tuple[str, ...]:
        """The noisy objectives whose scale is not declared."""
        return tuple(name for name, model in self.noise.items() if math.isnan(model.sigma))

    def space(self) -> ProblemArrays:
        """Return the problem in engine units: engine value of objective order[c] = user's value * scale[c]."""
        return self._units.space

    def engine_rows(self) -> tuple[EngineRow, ...]:
        """Return where each row of the engine comes from, the noisy rows first."""
        return self._units.rows

    def values(self, arm: str, values: Mapping[str, Any]) -> Floats:
        """Return one measurement as an array [d] in the objectives' order. Raise ProblemError if it is impossible.

        Parameters
        ----------
        arm
            The arm that was measured.
        values
            {objective: value}, with a value for every objective.

        >>> from paretoguard.problem.noise import Bernoulli
        >>> Problem({"success": "max"}, arms=["a"], noise=Bernoulli()).values("a", {"success": True})
        array([1.])
        """
        self.index(arm)
        return inputs.read_values(arm, values, self.noise)

    def part(self, arm: str, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the values of some objectives of one measurement. Raise ProblemError if one is impossible.

        Parameters
        ----------
        arm
            The arm that was measured.
        values
            {objective: value}, with a value for one objective or more.

        Returns
        -------
        dict
            The same values as floats, in the objectives' order.
        """
        self.index(arm)
        return inputs.read_part(arm, values, self.noise)

    def check_rows(self, rows: Floats) -> None:
        """Raise ProblemError if one of these measurements [n, d] is impossible."""
        inputs.check_rows(rows, self.noise)

    @cached_property
    def _is_exact_but_guarded(self) -> bool:
        """True if exact values alone decide which arm is better, while a guard is noisy."""
        exact = {name for name, model in self.noise.items() if model.sigma == 0}
        return exact.issuperset(self.compared) and len(exact) < len(self.objectives)

    def check_apart(self, arm: str, values: Mapping[str, float], others: Mapping[str, Mapping[str, float]]) -> None:
        """Raise ProblemError if an arm exactly equals another: each dominates the other, and feasibility is noisy.

        `values` are those of `arm`, and `others` maps arms to theirs.
        """
        if not self._is_exact_but_guarded:
            return
        for other, known in others.items():
            if other != arm and all(known.get(name) == values[name] for name in self.compared):
                raise ProblemError(
                    f"arms '{other}' and '{arm}' are exactly equal in {listed(self.compared)}, so that each would "
                    "dominate the other; leave one of them out, or compare something else as well"
                )

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {arm: position for position, arm in enumerate(self.arms)}

    def index(self, arm: str) -> int:
        """Return the arm's place in the list `arms`. Raise ProblemError if there is no arm of this name."""
        inputs.check_arm(arm, self._positions)
        return self._positions[arm]

    def truth(self, means: Means) -> Truth:
        """Return which arms are feasible, Pareto-optimal and dominated at these means, by the definitions.

        Parameters
        ----------
        means
            An array [K, d] in the order of arms and objectives, or arm -> {objective: mean}.
        """
        feasible, dominated, pareto = true_sets(self._scores(means))
        named = [tuple(self.arms[i] for i in np.flatnonzero(part)) for part in (feasible, pareto, dominated)]
        return Truth(named[0], named[1], named[2], feasible, pareto, dominated)

    def _scores(self, means: Means) -> Scores:
        array = inputs.read_means(means, self.arms, self.noise)
        A, b = matrix(self.constraints, len(self.objectives))
        compared = self._signs != 0
        gains = (array * self._signs)[:, compared]
        return Scores(gains, breaches(array, A, b), self._tolerance[compared], self._row_tolerance)

    def wrong(self, statuses: ArrayLike, means: Means, task: str = E_CPSI) -> Booleans:
        """Return which answers claim something false.

        Parameters
        ----------
        statuses
            [runs, K] the answers: 0 undecided, 1 optimal, 2 dominated, 3 infeasible.
        means
            The true means, as for `truth`.
        task
            What an answer claims. "cpsi": the set of best arms alone; "e-cpsi": with a reason for every other arm.

        Returns
        -------
        array of bool
            [runs] True where an answer is wrong.
        """
        if task not in TASKS:
            raise ProblemError(f"there is no task {task!r}; {suggestion(str(task), TASKS)}")
        return wrong_answers(inputs.check_statuses(statuses, len(self.arms)), self._scores(means), task)

    def is_correct(self, result: Any, means: Means, task: str = E_CPSI) -> bool:
        """True if no claim of an answer is false at these means; undecided arms claim nothing.

        Several answers may be right: an arm that is both infeasible and dominated may be called either. With
        tolerances, the promise of spec §8 (5) is judged instead.

        Parameters
        ----------
        result
            A `Result`, a mapping arm -> status, or an array [K] of statuses: 0 undecided, 1 optimal, 2 dominated,
            3 infeasible.
        means
            The true means, as for `truth`.
        task
            What the answer claims, as for `wrong`.

        >>> from paretoguard.problem.noise import Gaussian
        >>> problem = Problem({"speed": "max"}, arms=["a", "b"], noise=Gaussian(1.0))
        >>> problem.is_correct({"a": "dominated", "b": "optimal"}, [[1.0], [2.0]])
        True
        """
        return not self.wrong([inputs.read_statuses(result, self.arms)], means, task)[0]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Instance:
    """A problem whose means are known: what a simulation draws from, and what answers are judged against.

    Parameters
    ----------
    problem
        The question.
    means
        The true means in your units: an array [K, d] in the order of arms and objectives, or arm ->
        {objective: mean}. The attribute is such an array, read-only.
    name
        What the instance is called; by default as its problem.
    provenance
        Where the means come from.

    >>> from paretoguard.problem.noise import Gaussian
    >>> Instance(Problem({"speed": "max"}, arms=["a", "b"], noise=Gaussian(1.0)), [[1.0], [2.0]]).truth().pareto
    ('b',)
    """

    problem: Problem
    means: Floats
    name: str
    provenance: str

    def __init__(self, problem: Problem, means: Means, name: str = "", provenance: str = "") -> None:
        if not isinstance(problem, Problem):
            raise ProblemError(f"an instance is made from a Problem, got {type(problem).__name__}")
        array = inputs.read_means(means, problem.arms, problem.noise)
        inputs.check_range(array, problem.arms, problem.noise)
        array.flags.writeable = False
        _fill(self, problem=problem, means=array, name=name or problem.name, provenance=provenance)

    @cached_property
    def _truth(self) -> Truth:
        return self.problem.truth(self.means)

    def truth(self) -> Truth:
        """Return which arms are feasible, Pareto-optimal and dominated, by the definitions."""
        return self._truth

    def __repr__(self) -> str:
        return f"Instance({self.name!r}, {len(self.problem.arms)} arms, {len(self.problem.objectives)} objectives)"

    def _key(self) -> tuple[Any, ...]:
        return (self.problem, self.means.tobytes(), self.name, self.provenance)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Instance) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Instance, (self.problem, self.means, self.name, self.provenance))


def _remade(arguments: dict[str, Any]) -> Problem:
    return Problem(**arguments)


def _fill(frozen: Any, **attributes: Any) -> None:
    for attribute, value in attributes.items():
        object.__setattr__(frozen, attribute, value)
