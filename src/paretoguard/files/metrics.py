"""Metrics of a problem file: what is measured of a command, formulas over it, and the noise assumed of both.

A formula is arithmetic such as `size_mb / wall_s`, or one comparison such as `wall_ms > 200`, which gives 1 or 0: its
mean is a rate, which constraints can bound.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.problem.grammar import QUANTILE
from paretoguard.problem.names import check_name
from paretoguard.problem.noise import Bernoulli, Exact, Noise, Unknown

FAILED = "failed"
MEASURES = {
    "wall_ms": "time from start to end",
    "wall_s": "the same in seconds",
    "user_ms": "time of the processor in the program, without the system's",
    "peak_mb": "the largest resident memory of a process of it, in units of 1,000,000 bytes",
    "exit_code": "0 where all went well",
    "output_bytes": "how much it printed",
    "input_bytes": "the size of the files that were drawn for it",
    FAILED: "1 where it did not end well, else 0",
}
STEADY = ("exit_code", "output_bytes", "input_bytes")  # the same each time, where the input is
LONGEST_FORMULA = 1000  # characters
OPERATIONS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}


class Formula:
    """A formula, read once.

    >>> Formula("slow", "wall_ms > 200").value({"wall_ms": 250.0})
    1.0
    """

    def __init__(self, name: str, text: Any) -> None:
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_FORMULA:
            raise ProblemError(f"derived.{name} is {text!r}, expected a formula such as 'wall_ms > 200'")
        self.name, self.text = name, text.strip()
        try:
            self._tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._wrong("cannot be read") from None
        try:
            self.names = frozenset(self._used(self._tree))
        except RecursionError:
            raise self._wrong("is nested too deeply") from None
        if not self.names:
            raise self._wrong("names nothing that is measured")

    @property
    def is_test(self) -> bool:
        """True if its value is 0 or 1."""
        return isinstance(self._tree, ast.Compare)

    def value(self, measured: Mapping[str, float]) -> float:
        try:
            return self._value(self._tree, measured)
        except (ArithmeticError, ValueError) as error:
            given = ", ".join(f"{name} = {measured[name]!r}" for name in sorted(self.names))
            raise ProblemError(f"derived.{self.name} = {self.text!r} has no value for {given}: {error}") from None

    def _used(self, node: ast.expr) -> set[str]:
        """Return the names in a part of the formula."""
        if isinstance(node, ast.Name):
            return {node.id}
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return set()
        return {name for operand in self._split(node)[1] for name in self._used(operand)}

    def _value(self, node: ast.expr, measured: Mapping[str, float]) -> float:
        if isinstance(node, ast.Name):
            return float(measured[node.id])
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        operation, operands = self._split(node)
        return float(operation(*(self._value(operand, measured) for operand in operands)))

    def _split(self, node: ast.expr) -> tuple[Callable[..., float], list[ast.expr]]:
        """Return the operation and its operands; refuse everything but arithmetic and single comparisons."""
        match node:
            case ast.UnaryOp(sign, operand) if type(sign) in OPERATIONS:
                return OPERATIONS[type(sign)], [operand]
            case ast.BinOp(left, sign, right) if type(sign) in OPERATIONS:
                return OPERATIONS[type(sign)], [left, right]
            case ast.Compare(left, [sign], [right]) if type(sign) in OPERATIONS:
                return OPERATIONS[type(sign)], [left, right]
            case ast.Call(ast.Name(called), operands, keywords) if called in FUNCTIONS:
                least, most = (2, math.inf) if called in ("max", "min") else (1, 1)
                if keywords or not least <= len(operands) <= most:
                    raise self._wrong(f"gives {called} {len(operands)} values")
                return FUNCTIONS[called], operands
        raise self._wrong(f"has {ast.unparse(node)!r}, which is not understood")

    def _wrong(self, why: str) -> ProblemError:
        return ProblemError(
            f"derived.{self.name} = {self.text!r} {why}; expected arithmetic over what is measured, such as "
            f"'size_mb / wall_s', with + - * / ( ), {', '.join(sorted(FUNCTIONS))}, or one comparison such as "
            "'wall_ms > 200', which gives 1 or 0"
        )


def read_formulas(given: Any) -> dict[str, Formula]:
    """Read the table [derived]: each formula uses metrics, and formulas before it."""
    if not isinstance(given, Mapping):
        raise ProblemError(f"derived is {given!r}, expected a table of formulas [derived]")
    found: dict[str, Formula] = {}
    for name, text in given.items():
        if check_name("derived objective", name) in MEASURES:
            raise ProblemError(f"derived.{name} has the name of {MEASURES[name]}, which is measured; rename it")
        found[name] = Formula(name, text)
        later = found[name].names & (given.keys() - found.keys() | {name})
        if later:
            raise ProblemError(f"derived.{name} = {text!r} uses '{min(later)}', which is not derived before it")
    return found


def metrics_of(names: Iterable[str], formulas: Mapping[str, Formula]) -> list[str]:
    """Return the metrics that names stand for, or that formulas derive them from; those of fewest formulas first."""
    found: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in formulas:
            waiting += sorted(formulas[name].names)
        else:
            found[name] = None
    return list(found)


def check_constrained(texts: Iterable[Any], objectives: Iterable[str], derived: Iterable[str]) -> None:
    """Refuse a constraint on a metric or a formula that is no objective, also a misspelt one: say how to make it one.

    Quantiles, and names that are like an objective's, are left to the grammar of constraints, which has better advice.
    """
    named, known = list(objectives), [*derived, *MEASURES]
    for text in (text for text in texts if isinstance(text, str) and "`" not in text):
        for word in re.findall(r"\b[^\W\d]\w*", text):
            near = get_close_matches(word, [*named, *known], n=1)
            if word not in named and near and near[0] not in named and not QUANTILE.search(word):
                meant = "" if near[0] == word else f"if '{near[0]}' is meant, "
                raise ProblemError(
                    f"constraint {text!r} names no objective '{word}'; {meant}write {near[0]} = \"guard\" under "
                    "[objectives], which makes it a limit and no goal"
                )


def runs_are_alike(measure: Mapping[str, Any], arms: Mapping[str, Mapping[str, Any]]) -> bool:
    """True if all runs of an arm are the same, but for their time."""
    varied = any(key in measure for key in ("inputs", "prepare", "callable", "data"))
    varied = varied or any("callable" in arm for arm in arms.values())
    return not varied and measure.get("on_failure") != "infeasible"


def assumed_noise(name: str, formulas: Mapping[str, Formula], *, steady: bool) -> Noise:
    """Times vary by an unknown amount; a rate is of 0 and 1; a size is exact, where every run is the same."""
    if name in formulas:
        if formulas[name].is_test:
            return Bernoulli()
        parts = [assumed_noise(part, formulas, steady=steady) for part in formulas[name].names]
        return Exact() if all(isinstance(part, Exact) for part in parts) else Unknown()
    if name == FAILED:
        return Bernoulli()
    return Exact() if name in STEADY and steady else Unknown()
