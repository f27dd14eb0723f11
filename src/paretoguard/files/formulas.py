"""Derived objectives: formulas over what is measured, such as `size_mb / wall_s` or `wall_ms > 200`.

A comparison gives 1 or 0: its mean is a rate, which constraints can bound. Nothing but arithmetic is understood.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from paretoguard.errors import ProblemError

LONGEST = 1000  # characters
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
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
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
        """Is its value 0 or 1?"""
        return isinstance(self._tree, ast.Compare)

    def value(self, measured: Mapping[str, float]) -> float:
        """The value for one result."""
        try:
            found = float(self._value(self._tree, measured))
        except (ArithmeticError, ValueError) as error:
            given = ", ".join(f"{name} = {measured[name]!r}" for name in sorted(self.names))
            raise ProblemError(f"derived.{self.name} = {self.text!r} has no value for {given}: {error}") from None
        return found

    def _used(self, node: ast.AST) -> list[str]:
        """The names in it; anything that is not understood is refused."""
        if isinstance(node, ast.Name):
            return [node.id]
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return []
        if isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in OPERATIONS:
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATIONS:
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            least, most = (2, math.inf) if node.func.id in ("max", "min") else (1, 1)
            if node.keywords or not least <= len(node.args) <= most:
                raise self._wrong(f"gives {node.func.id} {len(node.args)} values")
            parts = list(node.args)
        else:
            shown = ast.unparse(node)
            raise self._wrong(f"has {shown!r}, which is not understood")
        return [name for part in parts for name in self._used(part)]

    def _value(self, node: Any, measured: Mapping[str, float]) -> float:
        if isinstance(node, ast.Name):
            return measured[node.id]
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.UnaryOp):
            return OPERATIONS[type(node.op)](self._value(node.operand, measured))
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*(self._value(part, measured) for part in node.args))  # type: ignore[attr-defined]
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.left, node.comparators[0]]
        kind = type(node.op if isinstance(node, ast.BinOp) else node.ops[0])
        return float(OPERATIONS[kind](*(self._value(side, measured) for side in sides)))

    def _wrong(self, why: str) -> ProblemError:
        return ProblemError(
            f"derived.{self.name} = {self.text!r} {why}; expected arithmetic over what is measured, such as "
            f"'size_mb / wall_s', with + - * / ( ), {', '.join(sorted(FUNCTIONS))}, or one comparison such as "
            "'wall_ms > 200', which gives 1 or 0"
        )
