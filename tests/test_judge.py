"""The truth and the judge, against the definitions written out in the most literal way."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from paretoguard.errors import ProblemError
from paretoguard.problem import Problem, truth
from paretoguard.problem.noise import Exact, Gaussian
from paretoguard.vocabulary import STATUSES

Floats = NDArray[np.float64]
Case = tuple[Problem, list[list[float]]]


def make(means: list[list[float]], texts: list[str], directions: list[str], **rest: Any) -> Problem:
    objectives = {f"x{c}": direction for c, direction in enumerate(directions)}
    return Problem(
        objectives, arms=[f"a{i}" for i in range(len(means))], noise=Gaussian(1.0), constraints=texts, **rest
    )


# The slow twin: definitions of the specification, §1 and §8 (5), one arm and one pair at a time.


def violation(problem: Problem, x: list[float]) -> list[float]:
    found = []
    for row in problem.constraints:
        total = 0.0
        for coefficient, value in zip(row.coefficients, x, strict=True):
            total += coefficient * value
        found.append(total - row.bound)
    return found


def lead(problem: Problem, j: list[float], i: list[float]) -> list[float]:
    """By how much j is better than i, objective by objective."""
    signs = [1 if direction == "max" else -1 for direction in problem.objectives.values()]
    return [sign * b - sign * a for sign, a, b in zip(signs, i, j, strict=True)]


def twin_truth(problem: Problem, means: list[list[float]]) -> tuple[set[int], set[int], set[int]]:
    arms = range(len(means))
    feasible = {i for i in arms if all(v <= 0 for v in violation(problem, means[i]))}
    dominated = {
        i for i in arms if any(j != i and all(v >= 0 for v in lead(problem, means[j], means[i])) for j in feasible)
    }
    return feasible, feasible - dominated, dominated


def twin_right(problem: Problem, means: list[list[float]], statuses: tuple[int, ...], task: str) -> bool:
    """Is this complete answer right? Statuses 1 optimal, 2 dominated, 3 infeasible."""
    O, S, I = ({i for i, status in enumerate(statuses) if status == code} for code in (1, 2, 3))  # noqa: E741
    feasible, pareto, dominated = twin_truth(problem, means)
    if not any(problem.tolerance.values()):
        return pareto == O and (task == "cpsi" or (dominated >= S and not I & feasible))
    allowed = [problem.tolerance[row.label] for row in problem.constraints]
    margins = [problem.tolerance[name] for name in problem.objectives]
    for i in O:
        if any(v > most for v, most in zip(violation(problem, means[i]), allowed, strict=True)):
            return False
        for j in feasible - {i}:
            leads = zip(lead(problem, means[j], means[i]), margins, strict=True)
            if all(v > most if most > 0 else v >= 0 for v, most in leads):
                return False
    justified = {i for i in S | I if any(all(v >= 0 for v in lead(problem, means[j], means[i])) for j in O - {i})}
    if task == "cpsi":
        return all(i in justified or i not in feasible for i in S | I)
    return justified >= S and not I & feasible


GRID = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])  # ties and boundaries are common, and sums are exact


@st.composite
def cases(draw: st.DrawFn, most: int = 4) -> Case:
    d = draw(st.integers(1, 3))
    K = draw(st.integers(1, most))
    means = [[draw(GRID) for _ in range(d)] for _ in range(K)]
    directions = [draw(st.sampled_from(["max", "min"])) for _ in range(d)]
    texts = [f"x{c} <= {draw(GRID)}" for c in range(d) if draw(st.booleans())]
    if draw(st.booleans()):
        texts.append(" + ".join(f"x{c}" for c in range(d)) + f" + 0 <= {draw(GRID)}")
    problem = make(means, texts, directions, tolerance=draw(st.sampled_from([0.0, 0.25, 0.3])))
    if draw(st.booleans()):
        named = {name: draw(st.sampled_from([0.0, 0.25])) for name in problem.tolerance}
        problem = make(means, texts, directions, tolerance=named)
    return problem, means


@given(cases(most=12))
@settings(max_examples=300, deadline=None)
def test_truth_is_the_definition(case: Case) -> None:
    problem, means = case
    truth = problem.truth(means)
    for names, flags, expected in zip(
        (truth.feasible, truth.pareto, truth.dominated),
        (truth.is_feasible, truth.is_pareto, truth.is_dominated),
        twin_truth(problem, means),
        strict=True,
    ):
        assert names == tuple(f"a{i}" for i in sorted(expected))
        assert np.flatnonzero(flags).tolist() == sorted(expected)


@pytest.mark.parametrize(
    ("means", "texts", "pareto", "dominated"),
    [
        ([[1, 1], [1, 1]], [], (), ("a0", "a1")),
        ([[1, 1], [1, 1], [0, 2]], [], ("a2",), ("a0", "a1")),
        ([[1, 1], [1, 0]], [], ("a0",), ("a1",)),
        ([[1, 1], [1, 0]], ["x1 <= 0"], ("a1",), ()),
        ([[1, 1], [1, 0]], ["x1 <= -1"], (), ()),
        ([[0.4, 0]], ["x0 >= 0.4"], ("a0",), ()),
        ([[0.0, -0.0], [-0.0, 0.0]], [], (), ("a0", "a1")),
    ],
)
def test_ties_boundaries_and_nothing_feasible(
    means: list[list[float]], texts: list[str], pareto: tuple[str, ...], dominated: tuple[str, ...]
) -> None:
    truth = make(means, texts, ["max", "max"]).truth(means)
    assert truth.pareto == pareto
    assert truth.dominated == dominated


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_large_truths_in_small_pieces(tolerance: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    means = np.round(rng.uniform(size=(700, 3)), 1)
    problem = make(means.tolist(), ["x0 + x1 + x2 <= 2"], ["max", "min", "max"], tolerance=tolerance)
    statuses = rng.integers(0, 4, size=(3, 700))
    expected, wrong = problem.truth(means), problem.wrong(statuses, means)
    _, pareto, dominated = twin_truth(problem, means.tolist())
    assert np.flatnonzero(expected.is_pareto).tolist() == sorted(pareto)
    assert np.flatnonzero(expected.is_dominated).tolist() == sorted(dominated)
    monkeypatch.setattr(truth, "CELLS", 1000)
    assert problem.truth(means) == expected
    assert problem.wrong(statuses, means).tolist() == wrong.tolist()


def test_twenty_thousand_arms() -> None:
    """Memory near K·d: a table of all pairs would hold 400 million entries."""
    rng = np.random.default_rng(2)
    means = rng.normal(size=(20_000, 3))
    problem = make(means.tolist(), ["x0 <= 1"], ["max", "max", "min"])
    truth = problem.truth(means)
    gains = means * [1, 1, -1]
    for i in np.flatnonzero(truth.is_pareto)[:20]:
        assert not np.any(truth.is_feasible & np.all(gains >= gains[i], axis=1) & (np.arange(20_000) != i))
    assert np.all(truth.is_pareto == (truth.is_feasible & ~truth.is_dominated))


@given(cases())
@settings(max_examples=120, deadline=None)
@pytest.mark.parametrize("task", ["e-cpsi", "cpsi"])
def test_every_complete_answer_is_judged_as_the_definition_does(task: str, case: Case) -> None:
    problem, means = case
    answers = list(product((1, 2, 3), repeat=len(means)))
    right = [twin_right(problem, means, answer, task) for answer in answers]
    assert (~problem.wrong(answers, means, task)).tolist() == right


@given(cases(most=3))
@settings(max_examples=120, deadline=None)
@pytest.mark.parametrize("task", ["e-cpsi", "cpsi"])
def test_a_partial_answer_is_right_where_it_can_be_completed_rightly(task: str, case: Case) -> None:
    """Without tolerance exactly there; with tolerance every right answer stays right when claims are taken back."""
    problem, means = case
    complete = [a for a in product((1, 2, 3), repeat=len(means)) if twin_right(problem, means, a, task)]
    partial = list(product((0, 1, 2, 3), repeat=len(means)))
    wrong = problem.wrong(partial, means, task)
    for answer, is_wrong in zip(partial, wrong, strict=True):
        extends = any(all(c in (0, full) for c, full in zip(answer, whole, strict=True)) for whole in complete)
        if 0 in answer and any(problem.tolerance.values()):
            assert not (extends and is_wrong)
        else:
            assert extends == (not is_wrong)


def test_both_reasons_are_right_for_an_arm_that_is_dominated_and_infeasible() -> None:
    means = [[1.0], [0.5]]
    problem = make(means, ["x0 >= 0.75"], ["max"])
    for status in ("dominated", "infeasible"):
        assert problem.is_correct({"a0": "optimal", "a1": status}, means)
    assert not problem.is_correct({"a0": "optimal", "a1": "optimal"}, means)
    assert problem.is_correct({"a0": "optimal", "a1": "undecided"}, means)
    assert not problem.is_correct({"a0": "infeasible", "a1": "undecided"}, means)


def test_cpsi_asks_only_for_the_set() -> None:
    means = [[1.0], [0.5]]
    problem = make(means, [], ["max"])
    answer = {"a0": "optimal", "a1": "infeasible"}
    assert not problem.is_correct(answer, means)
    assert problem.is_correct(answer, means, task="cpsi")


def test_tolerance_returns_ties_and_near_misses() -> None:
    means = [[1.0, 0.5], [1.0, 0.5], [0.75, 0.25], [0.0, -0.25]]
    problem = make(means, ["x0 <= 0.75"], ["max", "max"], tolerance=0.25)
    assert problem.is_correct(np.array([1, 1, 1, 2]), means)
    assert not problem.is_correct(np.array([1, 1, 1, 1]), means)  # a2 beats a3 by 0.75 and 0.5
    assert problem.is_correct(np.array([1, 1, 1, 1]), [*means[:3], [0.0, 0.0]])  # by 0.75 and 0.25, which is allowed
    assert problem.is_correct(np.array([0, 0, 0, 2]), means)
    assert problem.is_correct(np.array([3, 3, 1, 2]), means)
    assert not problem.is_correct(np.array([3, 3, 2, 2]), means)  # nothing returned dominates a2


def test_results_and_mappings_and_arrays_are_read_alike() -> None:
    means = [[1.0], [0.5]]
    problem = make(means, [], ["max"])
    verdicts = {arm: SimpleNamespace(status=status) for arm, status in (("a0", "optimal"), ("a1", "dominated"))}
    assert problem.is_correct(SimpleNamespace(verdicts=verdicts), means)
    assert problem.is_correct({"a1": "dominated", "a0": "optimal"}, {"a0": {"x0": 1.0}, "a1": {"x0": 0.5}})
    assert problem.is_correct([1, 2], means)
    assert problem.wrong(np.array([[1, 2], [2, 1], [0, 0]], dtype=np.int8), means).tolist() == [False, True, False]
    assert problem.wrong(np.zeros((0, 2), dtype=int), means).shape == (0,)
    assert [STATUSES.index(status) for status in STATUSES] == [0, 1, 2, 3]


def test_exact_objectives_are_judged_like_the_others() -> None:
    problem = Problem({"price": "min"}, arms=["a", "b"], noise=Exact(), constraints=["price <= 5"])
    assert problem.truth([[5.0], [4.0]]).pareto == ("b",)


@pytest.mark.parametrize(
    ("result", "task", "message"),
    [
        ({"a0": "optimal"}, "e-cpsi", r"the answer says nothing of 'a1'; expected every arm"),
        ({"a0": "optimal", "a2": "optimal"}, "e-cpsi", r"there is no arm 'a2'; expected one of 'a0', 'a1'"),
        (
            {"a0": "optimal", "a1": "dominatd"},
            "e-cpsi",
            r"arm 'a1' has the status 'dominatd'; did you mean 'dominated'\?",
        ),
        ([1, 2], "psi", r"there is no task 'psi'; did you mean 'cpsi'\?"),
        (
            [1, 2, 3],
            "e-cpsi",
            r"statuses have shape \(1, 3\) and type int64, expected \(runs, 2\) integers: 0 undecided",
        ),
        ([1.0, 2.0], "e-cpsi", r"type float64, expected \(runs, 2\) integers: 0 undecided, 1 optimal, 2 dominated"),
        ([1, 4], "e-cpsi", r"statuses range from 1 to 4, expected 0 undecided"),
        ([-1, 2], "e-cpsi", r"statuses range from -1 to 2, expected 0 undecided"),
    ],
)
def test_refusals(result: Any, task: str, message: str) -> None:
    means = [[1.0], [0.5]]
    with pytest.raises(ProblemError, match=message):
        make(means, [], ["max"]).is_correct(result, means, task)
