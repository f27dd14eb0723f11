"""The language of constraints, the rows it gives, and which sets of rows contradict each other."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from paretoguard.errors import ConstraintError, ProblemError
from paretoguard.problem import constraints
from paretoguard.problem.constraints import (
    Constraint,
    check_consistent,
    clash,
    constraint_notes,
    constraint_texts,
    greatest,
    implied,
    matrix,
    read_constraints,
)
from paretoguard.problem.grammar import parse, quoted, render
from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Gaussian, Noise

NAMES = ["x", "y", "wall ms", "safety"]
Floats = NDArray[np.float64]


def rows(*texts: str, names: list[str] = NAMES) -> tuple[Constraint, ...]:
    return read_constraints(constraint_texts(list(texts), names), names)


@pytest.mark.parametrize(
    ("text", "coefficients", "bound"),
    [
        ("x <= 1", {"x": 1}, 1),
        ("x < 1", {"x": 1}, 1),
        ("x ≤ 1", {"x": 1}, 1),
        ("x >= 0.4", {"x": -1}, -0.4),
        ("x > 1e-3", {"x": -1}, -1e-3),
        ("x ≥ .5", {"x": -1}, -0.5),
        ("0.4 <= x", {"x": -1}, -0.4),
        ("2*x + y <= 10", {"x": 2, "y": 1}, 10),
        ("x*2 - y/4 <= 1 + 1", {"x": 2, "y": -0.25}, 2),
        ("x <= y", {"x": 1, "y": -1}, 0),
        ("-x <= -(1 - 2*y)", {"x": -1, "y": -2}, -1),
        ("--x + -+-y <= 3", {"x": 1, "y": 1}, 3),
        ("(x + y)*(1 + 2)/3 >= -(2 - x)", {"x": 0, "y": -1}, 2),
        ("`wall ms` <= 2.5E+1", {"wall ms": 1}, 25),
        ("x + x - x <= 1", {"x": 1}, 1),
        ("2*3*x/4 <= 1", {"x": 1.5}, 1),
        ("-2*x <= 1", {"x": -2}, 1),
        ("x <= 10 - 4 - 3", {"x": 1}, 3),
        ("x <= 12/4/3", {"x": 1}, 1),
    ],
)
def test_linear_comparisons(text: str, coefficients: dict[str, float], bound: float) -> None:
    (half,) = parse(text, NAMES)
    assert half.coefficients == coefficients
    assert half.bound == bound
    assert half.text == text


def test_a_chain_gives_one_row_per_comparison_with_its_own_text() -> None:
    low, high = rows("0.15 <= x <= 1")
    assert (low.text, low.bound, low.coefficients) == ("0.15 <= x", -0.15, (-1, 0, 0, 0))
    assert (high.text, high.bound, high.coefficients) == ("x <= 1", 1.0, (1, 0, 0, 0))
    assert low.label == high.label == "0.15 <= x <= 1"
    assert [half.text for half in parse("1 >= x >= y >= safety", NAMES)] == ["1 >= x", "x >= y", "y >= safety"]


def test_named_constraints_keep_their_name() -> None:
    named = read_constraints(constraint_texts({"box": "0 <= x <= 1"}, NAMES), NAMES)
    assert [row.label for row in named] == ["box", "box"]
    assert [str(row) for row in named] == ["'box' (0 <= x)", "'box' (x <= 1)"]


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("safty >= 0.4", r"names no objective 'safty'; did you mean 'safety'\?", 0),
        ("2*`wall mz` >= 0.4", r"names no objective 'wall mz'; did you mean 'wall ms'\?", 2),
        ("qqq <= 1", r"names no objective 'qqq'; expected one of 'x', 'y', 'wall ms', 'safety'", 0),
        ("x = 1", r"is an equality: no number of noisy measurements can certify one; write a band instead", 2),
        ("x == 1", r"is an equality", 2),
        ("x != 1", r"excludes single values, which no linear constraint can; expected <= or >=", 2),
        ("x <> 1", r"excludes single values", 2),
        ("x =< 1", r"holds '=<'; did you mean '<='\?", 2),
        ("x => 1", r"holds '=>'; did you mean '>='\?", 2),
        ("x*y <= 1", r"is not linear: it multiplies two objectives", 1),
        ("x**2 <= 1", r"is not linear: it holds a power", 1),
        ("x^2 <= 1", r"is not linear: it holds a power", 1),
        ("1/x <= 1", r"is not linear: it divides by an objective", 2),
        ("x/(1 - 1) <= 1", r"divides by zero", 2),
        ("2x <= 1", r"holds an unexpected 'x'; expected an operator there; a product is written with \*", 1),
        ("2(x) <= 1", r"holds an unexpected '\('; expected an operator there; a product is written with \*", 1),
        ("x 3 <= 1", r"holds an unexpected '3'; expected an operator there", 2),
        ("x <= 1 and y <= 1", r"joins two comparisons; write them as two constraints", 7),
        ("x <= 1 >= y", r"turns around in the middle; write it as two constraints", 7),
        ("x + y", r"compares nothing; expected <= or >= somewhere", 5),
        ("", r"is empty; expected something like 'cost <= 10'", 0),
        ("x <= ", r"has the end where a number or an objective was expected", 4),
        ("<= x", r"has '<=' where a number or an objective was expected", 0),
        ("x <= inf", r"holds 'inf', but every number in a constraint must be finite; leave it out", 5),
        ("x <= NaN", r"holds 'NaN', but every number", 5),
        ("x <= 1e999", r"holds a number too large to compute with", 5),
        ("1e308*10*x <= 1", r"holds a number too large to compute with", 5),
        ("1e308*x + 1e308*x <= 1", r"holds a number too large to compute with", 8),
        ("(x <= 1", r"opens a parenthesis that is not closed", 0),
        ("x) <= 1", r"holds an unexpected '\)'; expected an operator there", 1),
        ("x <= 0,4", r"holds an unexpected ','; numbers take a decimal point, and each constraint stands alone", 6),
        ("x <= 40%", r"holds an unexpected '%'; write 0.4 for 40%", 7),
        ("`x <= 1", r"holds an unexpected '`'; a backtick opens a name and another one must close it", 0),
        ("'x' <= 1", r"holds an unexpected \"'\"; a name that is not an identifier stands between backticks", 0),
        ("x <= 1 & y <= 1", r"holds an unexpected '&'; write two constraints", 7),
        ("x <= $1", r"holds an unexpected '\$'; expected numbers, objective names and \+ - \* /", 5),
        ("(" * 101 + "x" + ")" * 101 + " <= 1", r"nests more than 100 parentheses; simplify it", 100),
    ],
)
def test_refusals_point_at_the_place(text: str, reason: str, position: int) -> None:
    with pytest.raises(ConstraintError, match=reason) as caught:
        parse(text, NAMES)
    assert caught.value.text == text
    assert caught.value.position == position
    message = str(caught.value).splitlines()
    assert message[0].startswith(f"constraint '{text}' ")
    assert message[1:] == ["    " + text, "    " + " " * position + "^"]


def test_the_name_of_a_constraint_is_in_the_message() -> None:
    with pytest.raises(ConstraintError, match=r"^constraint 'floor' \(safty >= 0.4\) names no objective 'safty'"):
        read_constraints({"floor": "safty >= 0.4"}, NAMES)


def test_nothing_is_evaluated() -> None:
    with pytest.raises(ConstraintError, match=r"names no objective '__import__'"):
        parse("__import__(x) <= 1", NAMES)


POINTS: Floats = np.array([[1.0, 0.0, 0.5], [-2.0, 3.0, 0.25], [0.125, -7.0, 4.0]])

# A random linear expression is built together with the value it should have at three points; reading it back must give
# a linear function with the same values.
LEAVES = st.one_of(
    st.integers(0, 9).map(lambda n: (str(n), np.full(3, float(n)), True)),
    st.floats(0.001, 1000).map(lambda v: (repr(v), np.full(3, v), True)),
    st.sampled_from(range(3)).map(lambda c: (quoted(NAMES[c]), POINTS[:, c], False)),
)
Built = tuple[str, Floats, bool]


def _joined(parts: tuple[Built, str, Built, bool]) -> Built:
    (left, a, left_constant), sign, (right, b, right_constant), space = parts
    glue = f" {sign} " if space else sign
    if sign in "+-":
        return f"({left}{glue}{right})", a + b if sign == "+" else a - b, left_constant and right_constant
    if sign == "/" and right_constant and np.all(np.abs(b) > 0.01):
        return f"({left})/({right})", a / b, left_constant
    if left_constant or right_constant:
        return f"({left}){glue.replace('/', '*')}({right})", a * b, left_constant and right_constant
    return f"-{left}" if not left.startswith("-") else left, -a if not left.startswith("-") else a, left_constant


EXPRESSIONS = st.recursive(
    LEAVES,
    lambda part: st.tuples(part, st.sampled_from("+-*/"), part, st.booleans()).map(_joined),
    max_leaves=8,
)


@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from(["<=", "<", ">=", ">"]))
@settings(max_examples=300, deadline=None)
def test_random_expressions_read_as_the_linear_function_they_are(left: Built, right: Built, sign: str) -> None:
    (half,) = parse(f"{left[0]} {sign} {right[0]}", NAMES)
    slack = half.bound - sum(value * POINTS[:, NAMES.index(name)] for name, value in half.coefficients.items())
    expected = right[1] - left[1] if sign in ("<=", "<") else left[1] - right[1]
    size = 1e-9 * (1 + np.abs(left[1]) + np.abs(right[1]) + abs(half.bound)) * 1e3
    assert np.all(np.abs(slack - expected) <= size)


@given(st.lists(st.floats(-1e12, 1e12), min_size=4, max_size=4), st.floats(-1e12, 1e12))
@settings(deadline=None)
def test_rows_written_out_read_back_exactly(coefficients: list[float], bound: float) -> None:
    (half,) = parse(render(coefficients, bound, NAMES), NAMES)
    assert [half.coefficients.get(name, 0.0) for name in NAMES] == coefficients
    assert half.bound == bound


def test_arrays_are_in_the_users_signs_and_zero_rows_go() -> None:
    texts = constraint_texts(([[1, 0, 0, -2], [0, 0, 0, 0], [0, 0, -1, 0]], [3, 1, -0.5]), NAMES)
    assert list(texts) == ["x - 2*safety <= 3", "0 <= 1", "`wall ms` >= 0.5"]
    A, b = matrix(read_constraints(texts, NAMES), 4)
    assert A.tolist() == [[1, 0, 0, -2], [0, 0, -1, 0]]
    assert b.tolist() == [3, -0.5]
    assert constraint_texts((np.zeros((0, 4)), np.zeros(0)), NAMES) == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x <= 1", r"constraints are 'x <= 1', expected a list of texts, .* one constraint is a list of one text"),
        (3, r"constraints are 3, expected a list of texts"),
        (["x <= 1", 5], r"constraint 2 is 5, expected a text such as 'cost <= 10'"),
        ({"a": 5}, r"constraint 'a' is 5, expected a text"),
        ({"": "x <= 1"}, r"constraint '' is empty; give it a name"),
        ({"a ": "x <= 1"}, r"constraint 'a ' begins or ends with a space; write 'a'"),
        ({3: "x <= 1"}, r"constraint 3 is not a name: got int, expected a string"),
        (
            ["x <= 1", "y <= 1", "x <= 1"],
            r"constraint 'x <= 1' is given twice, at places 1 and 3; remove or change one",
        ),
        (([[1, 0]], [1]), r"have shapes \(1, 2\) and \(1,\), expected \(m, 4\) and \(m,\): one column for each"),
        (([[1, 0, 0, 0]], [1, 2]), r"have shapes \(1, 4\) and \(2,\)"),
        (([1, 0, 0, 0], [1]), r"have shapes \(4,\) and \(1,\)"),
        (([[1, 0, 0, np.nan]], [1]), r"row 0: got \[1.0, 0.0, 0.0, nan\] and 1.0, expected finite numbers"),
        (
            ([[1, 0, 0, 0]], [np.inf]),
            r"row 0: .* and inf, expected finite numbers; leave out a row that bounds nothing",
        ),
        (([["a"] * 4], [1]), r"constraints \(A, b\) are not arrays of numbers"),
    ],
)
def test_what_is_not_a_set_of_constraints_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        constraint_texts(given, NAMES)


def test_line_breaks_in_a_text_are_spaces() -> None:
    assert list(constraint_texts(["x\n<= 1 "], NAMES)) == ["x <= 1"]


@pytest.mark.parametrize("text", ["2 <= 1", "x - x >= 1", "0*x <= -1"])
def test_a_row_that_can_never_hold_is_refused(text: str) -> None:
    with pytest.raises(
        ProblemError, match=r"constraint '.*' can never hold, whatever is measured; remove or correct it"
    ):
        rows(text)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            ["x <= 1", "y <= 0", "x >= 2"],
            r"^constraints 'x <= 1' and 'x >= 2' cannot hold together; remove or relax one",
        ),
        (["2 <= x <= 1"], r"^constraint '2 <= x <= 1' contradicts itself; correct its bounds"),
        (
            ["x <= 1", "y <= 1", "safety <= 9", "x + y >= 3"],
            r"^constraints 'x <= 1', 'y <= 1' and 'x \+ y >= 3' cannot hold together, though they could",
        ),
        (["x >= 1e-9", "x <= -1e-9", "x <= 1e9"], r"^constraints 'x >= 1e-9' and 'x <= -1e-9' cannot hold together"),
        (["x <= y", "y <= safety", "safety <= x - 1"], r"^constraints 'x <= y', 'y <= safety' and 'safety <= x - 1'"),
        (["1e9*x >= 2e9", "x <= 1"], r"^constraints '1e9\*x >= 2e9' and 'x <= 1'"),
    ],
)
def test_contradictions_name_the_rows_that_clash(texts: list[str], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        check_consistent(rows(*texts), 4)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["x <= 1"],
        ["x <= 0.4", "x >= 0.4"],
        ["3*x <= 0.3", "x >= 0.1"],
        ["x + y <= 1", "x + y >= 1", "x >= y"],
        ["1e12*x <= 1e-12", "y >= 1e12", "x + y >= 0"],
        ["1e200*x <= 1", "1e-200*y <= 1", "x + y <= 1"],
    ],
)
def test_rows_that_leave_something_are_accepted(texts: list[str]) -> None:
    check_consistent(rows(*texts), 4)


def test_a_bound_beyond_numbers_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"bounds an objective by a number too large to compute with"):
        rows("1e-200*y <= 1e200")


def _exists(A: Floats, b: Floats) -> bool:
    """Is {x : A x <= b} non-empty? Fourier–Motzkin elimination: nothing in common with linear programming."""
    while A.shape[1]:
        up, down, none = A[A[:, 0] > 0], A[A[:, 0] < 0], A[A[:, 0] == 0]
        over, under, rest = b[A[:, 0] > 0], b[A[:, 0] < 0], b[A[:, 0] == 0]
        combined = [(p / p[0] - q / q[0], u / p[0] - v / q[0]) for p, u in zip(up, over, strict=True)
                    for q, v in zip(down, under, strict=True)]  # fmt: skip
        A = np.array([row for row, _ in combined] + list(none)).reshape(-1, A.shape[1])[:, 1:]
        b = np.array([bound for _, bound in combined] + list(rest))
    return bool(np.all(b >= -1e-7))


@pytest.mark.parametrize("seed", range(60))
def test_a_clash_is_found_exactly_where_there_is_one_and_is_minimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, m = rng.integers(1, 4), rng.integers(1, 7)
    A = rng.integers(-2, 3, size=(m, d)).astype(float)
    A[np.all(A == 0, axis=1), 0] = 1
    b = rng.integers(-6, 5, size=m).astype(float)
    unit = 10.0 ** rng.integers(-6, 7, size=d)  # the answer may not depend on the units of the objectives
    infinite = np.full(d, np.inf)
    found = list(clash(A / unit, b, -infinite, infinite))
    assert bool(found) == (not _exists(A, b))
    if found:
        assert not _exists(A[found], b[found])
        for fewer in combinations(found, len(found) - 1):
            assert _exists(A[list(fewer)], b[list(fewer)])


@pytest.mark.parametrize("seed", range(40))
def test_implied_rows_can_go_and_the_others_cannot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, m = rng.integers(1, 4), rng.integers(2, 7)
    A = rng.integers(-2, 3, size=(m, d)).astype(float)
    A[np.all(A == 0, axis=1), 0] = 1
    b = rng.integers(0, 5, size=m).astype(float)
    infinite = np.full(d, np.inf)
    out = list(implied(A, b, -infinite, infinite))
    kept = [row for row in range(m) if row not in out]
    for row in range(m):
        others = [other for other in kept if other != row]
        beyond = _exists(np.vstack([A[others], -A[row]]), np.append(b[others], -b[row] - 1e-3))
        assert beyond == (row in kept)


def test_two_hundred_rows_and_a_degenerate_corner() -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(200, 5))
    b = np.abs(rng.normal(size=200))
    infinite = np.full(5, np.inf)
    assert clash(A, b, -infinite, infinite) == ()
    assert clash(A, np.zeros(200), -infinite, infinite) == ()
    A, b = np.vstack([A, -A[0]]), np.append(b, -b[0] - 1)
    found = list(clash(A, b, -infinite, infinite))
    assert 200 in found
    assert len(found) <= 6
    for fewer in combinations(found, len(found) - 1):
        assert clash(A[list(fewer)], b[list(fewer)], -infinite, infinite) == ()


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_useless_multipliers_do_no_harm(monkeypatch: pytest.MonkeyPatch, weight: float) -> None:
    """The multipliers only shorten the search: with none, or with all, the same minimal set is found."""
    solve = constraints._least_excess
    monkeypatch.setattr(constraints, "_least_excess", lambda A, *rest: (solve(A, *rest)[0], np.full(len(A), weight)))
    with pytest.raises(ProblemError, match=r"^constraints 'x <= 1', 'y <= 1' and 'x \+ y >= 3' cannot hold"):
        check_consistent(rows("safety <= 3", "x <= 1", "x - y <= 9", "y <= 1", "x + y >= 3", "y >= -5"), 4)


def test_greatest_value_over_a_box() -> None:
    low, high = np.array([0.0, -np.inf]), np.array([2.0, np.inf])
    assert greatest(np.array([3.0, 0.0]), low, high) == 6.0
    assert greatest(np.array([-3.0, 0.0]), low, high) == 0.0
    assert greatest(np.array([0.0, -1.0]), low, high) == np.inf


NOISE: dict[str, Noise] = {"eff": Bernoulli(), "ms": Bounded(0, 50), "g": Gaussian(1), "price": Exact()}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], []),
        (["eff >= 0.4", "ms <= 20"], []),
        (["1 <= 2", "eff >= 0.4"], ["constraint '1 <= 2' always holds and is left out"]),
        (["eff >= -1"], ["constraint 'eff >= -1' never binds: eff is Bernoulli, so between 0 and 1"]),
        (["ms <= 50"], ["constraint 'ms <= 50' never binds: ms is Bounded, so between 0 and 50"]),
        (
            ["eff + ms <= 51"],
            ["constraint 'eff + ms <= 51' never binds: "
             "eff is Bernoulli, so between 0 and 1; ms is Bounded, so between 0 and 50"],
        ),
        (["g <= 1", "g <= 2"], ["constraint 'g <= 2' never binds: the other constraints already imply it"]),
        (["g <= 1", "g + 0 <= 1"], ["constraint 'g + 0 <= 1' never binds: the other constraints already imply it"]),
        (["g <= 1", "g + eff <= 2"], ["constraint 'g + eff <= 2' never binds: the other constraints already imply it"]),
        (["eff >= 1.2"], ["no arm can satisfy constraint 'eff >= 1.2': eff is Bernoulli, so between 0 and 1"]),
        (
            ["g >= 1", "g <= eff - 0.5"],
            ["no arm can satisfy constraints 'g >= 1' and 'g <= eff - 0.5': eff is Bernoulli, so between 0 and 1"],
        ),
        (
            ["g >= 0.4", "g <= 0.4"],
            ["constraints 'g >= 0.4' and 'g <= 0.4' leave no room: noisy measurements can never certify an arm there; "
             "give a tolerance"],
        ),
        (["price >= 4", "price <= 4"], []),
    ],
)  # fmt: skip
def test_notes(texts: list[str], expected: list[str]) -> None:
    names = list(NOISE)
    written = constraint_texts(texts, names)
    found = read_constraints(written, names)
    assert list(constraint_notes(written, found, NOISE, [0.0] * len(found))) == expected


def test_tiny_bounds_do_not_overflow() -> None:
    written = constraint_texts(["eff <= 2e-309", "ms + g >= 1e-300"], list(NOISE))
    (note,) = constraint_notes(written, read_constraints(written, list(NOISE)), NOISE, [0.0, 0.0])
    assert note.startswith("constraint 'eff <= 2e-309' leaves no room")  # eff is between 0 and 1


def test_a_tolerance_gives_room() -> None:
    names = list(NOISE)
    written = constraint_texts(["g >= 0.4", "g <= 0.4"], names)
    assert constraint_notes(written, read_constraints(written, names), NOISE, [0.01, 0.01]) == ()
