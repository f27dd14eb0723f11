"""The language of constraints: comparisons of linear expressions over objective names, read without `eval`.

    constraint = sum (("<=" | "<" | ">=" | ">") sum)+         all comparisons of a chain in one direction
    sum        = product (("+" | "-") product)*
    product    = factor (("*" | "/") factor)*                 at most one factor holds an objective, none divides
    factor     = ("+" | "-")* (number | name | `any name` | "(" sum ")")

A name that is not an identifier is written between backticks: `wall ms` <= 20. Strict and weak comparisons read the
same: both include the boundary.
"""

import math
import re
from collections.abc import Callable, Sequence
from operator import mul, truediv
from typing import NamedTuple

from paretoguard.errors import ConstraintError
from paretoguard.problem.names import suggestion

TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<quoted>`[^`]*`)"
    r"|(?P<sign><=|>=|==|!=|<>|=<|=>|\*\*|[-+*/()<>=≤≥≠^])"
)
UP, DOWN = ("<=", "<", "≤"), (">=", ">", "≥")
MISREAD = {
    **dict.fromkeys(
        ("=", "=="),
        "is an equality: no number of noisy measurements can certify one; "
        "write a band instead, for instance 0.39 <= x <= 0.41",
    ),
    **dict.fromkeys(("!=", "<>", "≠"), "excludes single values, which no linear constraint can; expected <= or >="),
    **dict.fromkeys(("**", "^"), "is not linear: it holds a power"),
    **dict.fromkeys(("and", "or"), "joins two comparisons; write them as two constraints"),
    "=<": "holds '=<'; did you mean '<='?",
    "=>": "holds '=>'; did you mean '>='?",
}
TYPING_SLIPS = {
    ",": "numbers take a decimal point, and each constraint stands alone",
    "%": "write 0.4 for 40%",
    "`": "a backtick opens a name and another one must close it",
    "'": "a name that is not an identifier stands between backticks: `wall ms`",
    '"': "a name that is not an identifier stands between backticks: `wall ms`",
    "&": "write two constraints",
}
QUANTILE = re.compile(r"(?:^|_)(?:[pq](?P<digits>\d{2,4})|median|percentile)(?=_|$)")
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
DEEPEST = 100  # nested parentheses; an expression deeper than this is refused, not left to overflow the stack


class Token(NamedTuple):
    """A word of the constraint: its kind (number, name, quoted, sign, end), text, begin and end."""

    kind: str
    word: str
    start: int
    stop: int


class Linear(NamedTuple):
    """Σ coefficients[name]·name + constant, read from text[start:stop]."""

    coefficients: dict[str, float]
    constant: float
    start: int
    stop: int


class Inequality(NamedTuple):
    """Σ coefficients[name]·name <= bound; `text` is the comparison as written."""

    text: str
    coefficients: dict[str, float]
    bound: float


def parse(text: str, names: Sequence[str], label: str = "") -> list[Inequality]:
    """Read a constraint: one inequality per comparison, so two for `0.15 <= x <= 1`.

    >>> parse("2*cost + latency >= 10", ["cost", "latency"])
    [Inequality(text='2*cost + latency >= 10', coefficients={'cost': -2.0, 'latency': -1.0}, bound=-10.0)]
    """
    return _Reader(text, names, label).constraint()


def quoted(name: str) -> str:
    """Return the name as a constraint writes it: between backticks unless it is an identifier.

    >>> quoted("cost"), quoted("wall ms")
    ('cost', '`wall ms`')
    """
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f"`{name}`"


def render(coefficients: Sequence[float], bound: float, names: Sequence[str]) -> str:
    """Write Σ coefficients·names <= bound so that `parse` reads the same numbers back.

    >>> render([-1.0, 0.0], -0.4, ["cost", "latency"])
    'cost >= 0.4'
    """
    terms = [(value, name) for value, name in zip(coefficients, names, strict=True) if value != 0]
    if not terms:
        return f"0 <= {number(bound)}"
    sign = "<="
    if all(value < 0 for value, _ in terms):
        terms, bound, sign = [(-value, name) for value, name in terms], -bound, ">="
    text = ""
    for value, name in terms:
        glue = (" + " if value > 0 else " - ") if text else ("" if value > 0 else "-")
        factor = "" if abs(value) == 1 else f"{number(abs(value))}*"
        text += f"{glue}{factor}{quoted(name)}"
    return f"{text} {sign} {number(bound)}"


def number(value: float) -> str:
    """Return the shortest text that reads back as the same number.

    >>> number(10.0), number(0.1)
    ('10', '0.1')
    """
    return repr(float(value) + 0.0).removesuffix(".0")


def _instead_of_a_quantile(name: str, text: str) -> str:
    """Return what to write for `p99 <= 200`; nothing if the name is not that of a quantile.

    >>> _instead_of_a_quantile("wall_ms_p99", "wall_ms_p99 <= 200").split(": ")[1]
    "derive slow = 'wall_ms > 200' and write slow <= 0.01"
    >>> _instead_of_a_quantile("score_p10", "0.5 <= score_p10").split(": ")[1]
    "derive low = 'score < 0.5' and write low <= 0.1"
    """
    found = QUANTILE.search(name)
    if found is None:
        return ""
    why = "constraints bound means, and a quantile is none; bound the rate of what lies beyond"
    call = rf"{re.escape(name)}(?:\s*\(\s*(\w+)\s*\))?"
    left = re.search(rf"{call}\s*([<>≤≥])=?\s*({NUMBER})", text)
    right = re.search(rf"({NUMBER})\s*([<>≤≥])=?\s*{call}", text)
    if left is not None:
        inner, sign, limit = left.groups()
    elif right is not None:
        limit, sign, inner = right.groups()
        sign = ">" if sign in "<≤" else "<"
    else:
        return f"{why}, as with slow = 'wall_ms > 200' and slow <= 0.01"
    of = QUANTILE.sub("", name).strip("_") or inner or "wall_ms"
    share = int(found["digits"] or "50") / 10 ** len(found["digits"] or "50")
    if sign in "<≤":
        return f"{why}: derive slow = '{of} > {limit}' and write slow <= {1 - share:.6g}"
    return f"{why}: derive low = '{of} < {limit}' and write low <= {share:.6g}"


class _Reader:
    """Recursive descent over the tokens of one constraint."""

    def __init__(self, text: str, names: Sequence[str], label: str) -> None:
        self.text = text
        self.names = names
        self.label = label
        self.depth = 0
        self.tokens = iter(self.tokenize())
        self.token = next(self.tokens)

    def refusal(self, reason: str, position: int) -> ConstraintError:
        named = f"'{self.label}' ({self.text})" if self.label else f"'{self.text}'"
        message = f"constraint {named} {reason}\n    {self.text}\n    {' ' * position}^"
        return ConstraintError(message, self.text, position)

    def tokenize(self) -> list[Token]:
        tokens, position = [], 0
        while position < len(self.text):
            match = TOKEN.match(self.text, position)
            if match is None:
                character = self.text[position]
                hint = TYPING_SLIPS.get(character, "expected numbers, objective names and + - * / ( ) <= >=")
                raise self.refusal(f"holds an unexpected {character!r}; {hint}", position)
            if match.lastgroup != "space":
                tokens.append(Token(match.lastgroup or "", match.group(), position, match.end()))
            position = match.end()
        end = len(self.text.rstrip())
        tokens.append(Token("end", "", end, end))
        return tokens

    def advance(self) -> Token:
        """Return the current token, and step to the next one."""
        taken = self.token
        if taken.kind != "end":
            self.token = next(self.tokens)
        return taken

    def constraint(self) -> list[Inequality]:
        if self.token.kind == "end":
            raise self.refusal("is empty; expected something like 'cost <= 10'", 0)
        parts, signs = [self.sum()], []
        while self.token.kind != "end":
            signs.append(self.comparison())
            parts.append(self.sum())
        if not signs:
            raise self.refusal("compares nothing; expected <= or >= somewhere", self.token.start)
        for sign in signs[1:]:
            if (sign.word in UP) != (signs[0].word in UP):
                raise self.refusal("turns around in the middle; write it as two constraints", sign.start)
        return [self.inequality(*half) for half in zip(parts, signs, parts[1:], strict=False)]

    def inequality(self, left: Linear, sign: Token, right: Linear) -> Inequality:
        text = self.text[left.start : right.stop].strip()
        if sign.word in DOWN:
            left, right = right, left
        difference = self.plus(left, right, -1.0, sign.start)
        return Inequality(text, difference.coefficients, 0.0 - difference.constant)

    def comparison(self) -> Token:
        sign = self.advance()
        if sign.word in UP or sign.word in DOWN:
            return sign
        if sign.word.lower() in MISREAD:
            raise self.refusal(MISREAD[sign.word.lower()], sign.start)
        product = "; a product is written with *" if sign.kind in ("name", "quoted") or sign.word == "(" else ""
        raise self.refusal(f"holds an unexpected '{sign.word}'; expected an operator there{product}", sign.start)

    def sum(self) -> Linear:
        total = self.product()
        while self.token.word in ("+", "-"):
            sign = self.advance()
            total = self.plus(total, self.product(), 1.0 if sign.word == "+" else -1.0, sign.start)
        return total

    def product(self) -> Linear:
        result = self.factor()
        while self.token.word in ("*", "/"):
            sign = self.advance()
            other = self.factor()
            if sign.word == "/":
                product = self.scaled(result, truediv, self.divisor(other), sign.start)
            elif result.coefficients and other.coefficients:
                raise self.refusal("is not linear: it multiplies two objectives", sign.start)
            elif other.coefficients:
                product = self.scaled(other, mul, result.constant, sign.start)
            else:
                product = self.scaled(result, mul, other.constant, sign.start)
            result = product._replace(start=result.start, stop=other.stop)
        return result

    def factor(self) -> Linear:
        sign, start = 1.0, self.token.start
        while self.token.word in ("+", "-"):
            sign = -sign if self.advance().word == "-" else sign
        token = self.advance()
        if token.kind == "number":
            value = Linear({}, self.finite(float(token.word), token.start), token.start, token.stop)
        elif token.kind in ("name", "quoted"):
            value = Linear({self.objective(token): 1.0}, 0.0, token.start, token.stop)
        elif token.word == "(":
            value = self.parenthesis(token)
        else:
            got = f"'{token.word}'" if token.word else "the end"
            raise self.refusal(f"has {got} where a number or an objective was expected", token.start)
        if sign < 0:
            value = self.scaled(value, mul, -1.0, start)
        return value._replace(start=start)

    def parenthesis(self, opening: Token) -> Linear:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refusal(f"nests more than {DEEPEST} parentheses; simplify it", opening.start)
        inside = self.sum()
        self.depth -= 1
        if self.token.word != ")":
            raise self.refusal("opens a parenthesis that is not closed", opening.start)
        return inside._replace(start=opening.start, stop=self.advance().stop)

    def objective(self, token: Token) -> str:
        name = token.word.strip("`")
        if name in self.names:
            return name
        if token.kind == "name" and name.lower() in ("inf", "infinity", "nan"):
            why = f"holds '{name}', but every number in a constraint must be finite; leave it out"
            raise self.refusal(why, token.start)
        hint = _instead_of_a_quantile(name, self.text) or suggestion(name, self.names)
        raise self.refusal(f"names no objective '{name}'; {hint}", token.start)

    def finite(self, value: float, position: int) -> float:
        if not math.isfinite(value):
            raise self.refusal("holds a number too large to compute with", position)
        return value

    def plus(self, left: Linear, right: Linear, sign: float, position: int) -> Linear:
        total = dict(left.coefficients)
        for name, value in right.coefficients.items():
            total[name] = self.finite(total.get(name, 0.0) + sign * value, position)
        constant = self.finite(left.constant + sign * right.constant, position)
        return Linear(total, constant, left.start, right.stop)

    def scaled(self, value: Linear, operate: Callable[[float, float], float], by: float, position: int) -> Linear:
        coefficients = {name: self.finite(operate(number, by), position) for name, number in value.coefficients.items()}
        return value._replace(coefficients=coefficients, constant=self.finite(operate(value.constant, by), position))

    def divisor(self, value: Linear) -> float:
        if value.coefficients:
            raise self.refusal("is not linear: it divides by an objective", value.start)
        if value.constant == 0:
            raise self.refusal("divides by zero", value.start)
        return value.constant
