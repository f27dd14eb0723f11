"""Constraints as a user gives them, read into rows over the objectives; and notes on odd ones.

Every row reads coefficients · x <= bound in the user's units and signs: a minimised objective is not negated here.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import ArrayLike

from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats
from paretoguard.problem.consistency import RELATIVE, clash, greatest, implied, row_sizes
from paretoguard.problem.grammar import number, parse, render
from paretoguard.problem.names import check_names
from paretoguard.problem.noise import Noise

ConstraintsGiven = Sequence[str] | Mapping[str, str] | tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Constraint:
    """One row: coefficients · x <= bound. The two halves of `0.15 <= x <= 1` share their label.

    `label` is the name the user gave, or else the constraint as written; `text` is the comparison of this row.
    """

    label: str
    text: str
    coefficients: tuple[float, ...]
    bound: float

    def __str__(self) -> str:
        return f"'{self.text}'" if self.text in self.label else f"'{self.label}' ({self.text})"


def constraint_texts(given: Any, objectives: Sequence[str]) -> dict[str, str]:
    """Return the constraints as label -> text; rows of (A, b) are written out.

    >>> constraint_texts(([[1, 0], [0, -1]], [10, -0.4]), ["cost", "safety"])
    {'cost <= 10': 'cost <= 10', 'safety >= 0.4': 'safety >= 0.4'}
    """
    if isinstance(given, tuple) and len(given) == 2 and not any(isinstance(part, str) for part in given):
        return {text: text for text in _rows_written_out(*given, objectives)}
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise ProblemError(
            f"constraints are {given!r}, expected a list of texts, a mapping from names to texts, or a pair (A, b); "
            "one constraint is a list of one text"
        )
    if isinstance(given, Mapping):
        check_names("constraint", given)
        return {name: _one_line(text, f"constraint '{name}'") for name, text in given.items()}
    texts = [_one_line(text, f"constraint {place}") for place, text in enumerate(given, start=1)]
    for place, text in enumerate(texts):
        if text in texts[:place]:
            first = texts.index(text) + 1
            raise ProblemError(
                f"constraint '{text}' is given twice, at places {first} and {place + 1}; remove or change one"
            )
    return {text: text for text in texts}


def read_constraints(texts: Mapping[str, str], objectives: Sequence[str]) -> tuple[Constraint, ...]:
    """Parse the texts into rows; rows without an objective are dropped, unless they can never hold.

    >>> read_constraints({"box": "0.15 <= x <= 1"}, ["x"])[1]
    Constraint(label='box', text='x <= 1', coefficients=(1.0,), bound=1.0)
    """
    rows = []
    for label, text in texts.items():
        for half in parse(text, objectives, "" if label == text else label):
            row = Constraint(
                label, half.text, tuple(half.coefficients.get(name, 0.0) + 0.0 for name in objectives), half.bound
            )
            largest = max(map(abs, row.coefficients))
            if largest > 0 and math.isinf(row.bound / largest):
                raise ProblemError(f"constraint {row} bounds an objective by a number too large to compute with")
            if largest == 0 and row.bound < 0:
                raise ProblemError(f"constraint {row} can never hold, whatever is measured; remove or correct it")
            if largest > 0:
                rows.append(row)
    return tuple(rows)


def matrix(rows: Sequence[Constraint], objectives: int) -> tuple[Floats, Floats]:
    """Return (A [m, d], b [m]) of the rows, in the user's units."""
    A = np.array([row.coefficients for row in rows], dtype=float64).reshape(len(rows), objectives)
    return A, np.array([row.bound for row in rows], dtype=float64)


def check_consistent(rows: Sequence[Constraint], objectives: int) -> None:
    """Raise ProblemError if no point satisfies all constraints; it names a smallest set of them that clash."""
    A, b = matrix(rows, objectives)
    infinite = np.full(objectives, np.inf)
    clashing = [rows[row] for row in clash(A, b, -infinite, infinite)]
    if not clashing:
        return
    if len({row.label for row in clashing}) == 1:
        raise ProblemError(f"constraint '{clashing[0].label}' contradicts itself; correct its bounds")
    others = "" if len(clashing) == 2 else ", though they could without any one of them"
    raise ProblemError(f"{_together(clashing)} cannot hold together{others}; remove or relax one")


def constraint_notes(
    texts: Mapping[str, str], rows: Sequence[Constraint], noise: Mapping[str, Noise], row_tolerance: Sequence[float]
) -> tuple[str, ...]:
    """Return notes on constraints that are usable but odd: never binding, never met, or without room."""
    A, b = matrix(rows, len(noise))
    low, high = (np.array([model.support[side] for model in noise.values()]) for side in (0, 1))
    labels = {row.label for row in rows}
    notes = [f"constraint '{label}' always holds and is left out" for label in texts if label not in labels]
    clashing = clash(A, b, low, high)
    if clashing:
        named = _together([rows[row] for row in clashing])
        return (*notes, f"no arm can satisfy {named}: {_ranges(A[list(clashing)], noise)}")
    noisy = np.array([model.sigma != 0 for model in noise.values()])
    pinched = [row for row in range(len(rows)) if np.any(A[row, noisy]) and row_tolerance[row] == 0]
    narrowed = b.copy()
    narrowed[pinched] -= 2 * RELATIVE * row_sizes(A, b)[pinched]
    tight = clash(A, narrowed, low, high)
    if tight:
        named = _together([rows[row] for row in tight])
        leave = "leave" if named.startswith("constraints") else "leaves"
        notes.append(f"{named} {leave} no room: noisy measurements can never certify an arm there; give a tolerance")
    by_range = [row for row in range(len(rows)) if greatest(A[row], low, high) <= b[row]]
    rest = [row for row in range(len(rows)) if row not in by_range]
    by_others = sorted({rest[row] for row in implied(A[rest], b[rest], low, high)})
    notes += [f"constraint {rows[row]} never binds: {_ranges(A[[row]], noise)}" for row in by_range]
    notes += [f"constraint {rows[row]} never binds: the other constraints already imply it" for row in by_others]
    return tuple(notes)


def _ranges(A: Floats, noise: Mapping[str, Noise]) -> str:
    reasons = []
    for touched, (name, model) in zip(np.any(A != 0, axis=0), noise.items(), strict=True):
        low, high = model.support
        if touched and np.isfinite(low):
            reasons.append(f"{name} is {type(model).__name__}, so between {number(low)} and {number(high)}")
    return "; ".join(reasons)


def _together(rows: Sequence[Constraint]) -> str:
    named = list(dict.fromkeys(str(row) for row in rows))
    if len(named) == 1:
        return f"constraint {named[0]}"
    return f"constraints {', '.join(named[:-1])} and {named[-1]}"


def _one_line(text: Any, what: str) -> str:
    if not isinstance(text, str):
        raise ProblemError(f"{what} is {text!r}, expected a text such as 'cost <= 10'")
    return re.sub(r"[\t\r\n]", " ", text).strip()


def _rows_written_out(A: ArrayLike, b: ArrayLike, objectives: Sequence[str]) -> list[str]:
    try:
        matrix, bounds = np.asarray(A, dtype=float64), np.asarray(b, dtype=float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"constraints (A, b) are not arrays of numbers: {error}") from error
    d = len(objectives)
    if matrix.size == 0 and bounds.size == 0:
        return []
    if matrix.ndim != 2 or matrix.shape[1] != d or bounds.shape != matrix.shape[:1]:
        raise ProblemError(
            f"constraints (A, b) have shapes {matrix.shape} and {bounds.shape}, expected (m, {d}) and (m,): "
            f"one column for each of the {d} objectives, one entry of b for each row"
        )
    for row in range(len(bounds)):
        if not (np.all(np.isfinite(matrix[row])) and np.isfinite(bounds[row])):
            raise ProblemError(
                f"constraints (A, b), row {row}: got {matrix[row].tolist()} and {bounds[row]}, "
                "expected finite numbers; leave out a row that bounds nothing"
            )
    return [render(values, bound, objectives) for values, bound in zip(matrix.tolist(), bounds.tolist(), strict=True)]
