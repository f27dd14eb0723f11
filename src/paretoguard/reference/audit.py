"""Are claims borne out by the results? Recomputed from the results alone."""

from collections.abc import Iterator, Mapping, Sequence

from paretoguard.errors import ProblemError, SettingsError
from paretoguard.problem import Problem
from paretoguard.reference.claims import DOMINATED, OPTIMAL, Claims
from paretoguard.reference.evidence import INFEASIBLE
from paretoguard.reference.kinds import evidence_of
from paretoguard.reference.units import Units, in_deviations

Results = Sequence[tuple[str, Mapping[str, float]]]
CLAIMED = (OPTIMAL, DOMINATED, INFEASIBLE)


def audit(
    problem: Problem,
    results: Results,
    claims: Mapping[str, str],
    *,
    delta: float,
    evidence: str = "certified",
    order: str = "arrival",
) -> dict[str, bool]:
    """For each arm of which something is claimed: was that certain at some time along the results?

    `results` are (arm, {objective: value}) in the order they counted; `claims` are "optimal", "dominated" or
    "infeasible".

    >>> import paretoguard as pg
    >>> problem = pg.Problem({"speed": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    >>> results = [("a", {"speed": 0.0}), ("b", {"speed": 5.0})] * 20
    >>> audit(problem, results, {"a": "dominated", "b": "dominated"}, delta=0.1)
    {'a': True, 'b': False}
    """
    for arm, status in claims.items():
        problem.index(arm)
        if status not in CLAIMED:
            raise SettingsError(f"arm {arm!r} is claimed to be {status!r}; expected one of {', '.join(CLAIMED)}")
    units = in_deviations(problem)
    rows = list(_read(problem, units, results))
    now = _at_the_end(units, rows, delta, evidence, order)
    found = {arm: now.holds(problem.index(arm), status) for arm, status in claims.items()}
    left = {problem.index(arm): claims[arm] for arm, holds in found.items() if not holds}
    proven = _on_the_way(units, rows, left, delta, evidence, order) if left else set()
    return {arm: holds or problem.index(arm) in proven for arm, holds in found.items()}


def statuses(
    problem: Problem, results: Results, *, delta: float, evidence: str = "certified", order: str = "arrival"
) -> dict[str, str]:
    """Each arm's status that is certain at the end of the results; "undecided" where none is."""
    units = in_deviations(problem)
    now = _at_the_end(units, list(_read(problem, units, results)), delta, evidence, order)
    return {arm: now.status(i) for i, arm in enumerate(problem.arms)}


def _at_the_end(
    units: Units, rows: Sequence[tuple[int, list[float]]], delta: float, evidence: str, order: str
) -> Claims:
    """What is certain once all results are in."""
    present, claims = evidence_of(units, delta, evidence, order), Claims(units.arms)
    for place, values in rows:
        present.take(place, values)
    for i in range(units.arms):
        claims.look(present, i, range(i))
    return claims


def _on_the_way(
    units: Units,
    rows: Sequence[tuple[int, list[float]]],
    claims: Mapping[int, str],
    delta: float,
    evidence: str,
    order: str,
) -> set[int]:
    """Which of these claims follow from what was certain after one result or another."""
    past, kept, proven = evidence_of(units, delta, evidence, order), Claims(units.arms), set()
    for place, values in rows:
        past.take(place, values)
        if kept.look(past, place, [j for j in range(units.arms) if j != place]):
            proven |= {i for i, status in claims.items() if i not in proven and kept.holds(i, status)}
            if len(proven) == len(claims):
                break
    return proven


def _read(problem: Problem, units: Units, results: Results) -> Iterator[tuple[int, list[float]]]:
    """The place of each arm and its values, in the order of the objectives."""
    exact: dict[str, list[float]] = {}
    for arm, values in results:
        row = [float(value) for value in problem.values(arm, values)]
        fixed = [row[one.place] for one in units.exact]
        if exact.setdefault(arm, fixed) != fixed:
            raise ProblemError(f"arm {arm!r} has the exact values {fixed} after {exact[arm]}; expected the same again")
        yield problem.index(arm), row
