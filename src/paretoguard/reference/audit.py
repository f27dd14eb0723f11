"""Are claims borne out by the results? Recomputed from the results alone."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from paretoguard.errors import ProblemError, SettingsError
from paretoguard.problem import Problem
from paretoguard.reference.certified import Certified
from paretoguard.reference.claims import Claims
from paretoguard.reference.evidence import Evidence
from paretoguard.reference.units import Units, in_deviations
from paretoguard.reference.widths import Lil, Practical, Theorem
from paretoguard.vocabulary import ORDERS

Results = Sequence[tuple[str, Mapping[str, float]]]
Rows = list[tuple[int, list[float]]]  # the place of the arm, its values in the order of the objectives
CLAIMED = ("optimal", "dominated", "infeasible")
WIDTHS: dict[str, type[Evidence]] = {"practical": Practical, "theorem": Theorem, "lil": Lil}
MOST_SHARE = 0.5


def audit(
    problem: Problem,
    results: Results,
    claims: Mapping[str, str],
    *,
    delta: float,
    evidence: str = "certified",
    order: str = "arrival",
) -> dict[str, bool]:
    """Return of each arm of which something is claimed whether that was certain at some time along the results.

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
    rows, begin = _read(problem, units, results), partial(evidence_of, units, delta, evidence, order)
    now = _at_the_end(begin, rows)
    found = {arm: now.holds(problem.index(arm), status) for arm, status in claims.items()}
    left = {problem.index(arm): claims[arm] for arm, holds in found.items() if not holds}
    proven = _on_the_way(begin, rows, left) if left else set()
    return {arm: holds or problem.index(arm) in proven for arm, holds in found.items()}


def statuses(
    problem: Problem, results: Results, *, delta: float, evidence: str = "certified", order: str = "arrival"
) -> dict[str, str]:
    """Return each arm's status that is certain at the end of the results; "undecided" if none is."""
    units = in_deviations(problem)
    rows = _read(problem, units, results)
    now = _at_the_end(partial(evidence_of, units, delta, evidence, order), rows)
    return {arm: now.status(i) for i, arm in enumerate(problem.arms)}


def _read(problem: Problem, units: Units, results: Results) -> Rows:
    exact: dict[str, list[float]] = {}
    rows = []
    for arm, values in results:
        row = [float(value) for value in problem.values(arm, values)]
        fixed = [row[one.place] for one in units.exact]
        if exact.setdefault(arm, fixed) != fixed:
            raise ProblemError(f"arm {arm!r} has the exact values {fixed} after {exact[arm]}; expected the same again")
        rows.append((problem.index(arm), row))
    return rows


def _at_the_end(begin: Callable[[], Evidence], rows: Rows) -> Claims:
    """Return what is certain once all results are in."""
    evidence = begin()
    arms = evidence.units.arms
    claims = Claims(arms)
    for place, values in rows:
        evidence.take(place, values)
    for i in range(arms):
        claims.look(evidence, i, range(i))
    return claims


def _on_the_way(begin: Callable[[], Evidence], rows: Rows, claimed: Mapping[int, str]) -> set[int]:
    """Return the arms of which the claimed status followed from what was certain after one result or another."""
    evidence = begin()
    arms = evidence.units.arms
    claims, proven = Claims(arms), set[int]()
    for place, values in rows:
        evidence.take(place, values)
        if claims.look(evidence, place, [j for j in range(arms) if j != place]):
            proven |= {i for i, status in claimed.items() if i not in proven and claims.holds(i, status)}
            if len(proven) == len(claimed):
                break
    return proven


# --- the kinds of evidence that can be audited ---
def evidence_of(units: Units, delta: Any, text: str, order: str) -> Evidence:
    """Return the evidence that a text names ("certified:expected_samples=5000"), before any result."""
    if isinstance(delta, bool) or not isinstance(delta, float | int) or not 0.0 < delta < 1.0:
        raise SettingsError(f"delta is {delta!r}, expected a number between 0 and 1")
    name, _, rest = (part.strip() for part in str(text).partition(":"))
    known = ("certified", *WIDTHS)
    if name not in known:
        raise SettingsError(f"evidence is {text!r}, expected one that can be audited: {', '.join(known)}")
    options = _options(text, rest, ("expected_samples", "order", "several") if name == "certified" else ())
    counted = options.get("order", "arrival") if order == "arrival" else order
    if counted not in ORDERS:
        raise SettingsError(f"order is {counted!r}, expected one of {', '.join(ORDERS)}")
    if name == "certified":
        several = _share(text, options.get("several", "0"))
        is_apart = units.dependence.is_independent or len(units.compared) == 1
        if several > 0.0 and (counted == "asked" or units.is_learning or not is_apart):
            raise SettingsError(f"evidence {text!r}: several > 0 needs known scales, independence and order 'arrival'")
        several = several if units.arms > 2 else 0.0
        return Certified(units, delta, _count(text, options.get("expected_samples", "None")), counted, several)
    if name == "lil" and counted == "asked":
        raise SettingsError("evidence 'lil' promises nothing of results counted in the order asked; use 'certified'")
    if units.is_learning:
        raise SettingsError(f"evidence {name!r} needs the scale of every noise; declare it, or use 'certified'")
    return WIDTHS[name](units, delta)


def _options(text: str, rest: str, known: tuple[str, ...]) -> dict[str, str]:
    """Return "a=1,b=x" as a mapping."""
    options = {}
    for item in rest.split(",") if rest else ():
        key, equals, value = (word.strip() for word in item.partition("="))
        if not equals or key not in known:
            expected = f"option=value, with {' or '.join(known)}" if known else "none"
            raise SettingsError(f"evidence {text!r} has the option {item.strip()!r}, expected {expected}")
        options[key] = value
    return options


def _count(text: str, given: str) -> int | None:
    if given == "None":
        return None
    if not given.isdecimal() or int(given) < 1:
        raise SettingsError(f"evidence {text!r}: expected_samples is {given!r}, expected a whole number of at least 1")
    return int(given)


def _share(text: str, given: str) -> float:
    try:
        share = float(given)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= MOST_SHARE:
        raise SettingsError(f"evidence {text!r}: several is {given!r}, expected a number from 0 to {MOST_SHARE}")
    return share
