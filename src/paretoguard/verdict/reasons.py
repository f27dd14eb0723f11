"""Why each arm has its status: sentences in the user's names, units and signs."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import uint8

from paretoguard.algorithms.pitfall.costs import new_pitfalls
from paretoguard.algorithms.pitfall.search import ratio_dominators
from paretoguard.engine.explain import (
    closest_rival,
    difference_limit,
    likeliest_dominator,
    several_dominators,
)
from paretoguard.engine.questions import ratio_bar
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.numeric import Bytes, Floats, Integers
from paretoguard.verdict.missing import open_claims
from paretoguard.verdict.result import Missing, Verdict
from paretoguard.verdict.snapshot import Snapshot, possible_slack, tightest, unvaried
from paretoguard.verdict.tables import show, show_least
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL, STATUSES

SCALE = "a scale to go by"  # what an arm of unknown scale lacks first


def explain(
    numbers: Snapshot, statuses: Bytes, via: Integers, guarantee: str, arms: Iterable[int]
) -> dict[str, Verdict]:
    return {numbers.problem.arms[i]: _verdict(numbers, i, statuses, via, guarantee) for i in arms}


def since(earlier: Verdict, now: Verdict, samples: int) -> Verdict:
    """Return a verdict that was certain after so many samples; it stands although its evidence is weaker now."""
    present = {name: getattr(now, name) for name in ("pulls", "mean", "low", "high")}
    return replace(earlier, reason=f"{earlier.reason}; certain since sample {samples:,}", **present)


def _verdict(numbers: Snapshot, i: int, statuses: Bytes, via: Integers, guarantee: str) -> Verdict:
    names = list(numbers.problem.objectives)
    if statuses[i] == OPTIMAL:
        why = _why_optimal(numbers, i)
    elif statuses[i] == DOMINATED:
        why = _why_dominated(numbers, i, via)
    elif statuses[i] == INFEASIBLE:
        why = _why_infeasible(numbers, i)
    else:
        why = _why_undecided(numbers, i)
    mean, half = numbers.means[i], numbers.limits[i]
    return Verdict(
        arm=numbers.problem.arms[i],
        status=STATUSES[statuses[i]],
        guarantee=guarantee,
        pulls=int(numbers.view.state.counts[i]),
        mean=_by_name(names, mean),
        low=_by_name(names, np.maximum(mean - half, numbers.support[0])),
        high=_by_name(names, np.minimum(mean + half, numbers.support[1])),
        **why,
    )


def _by_name(names: Sequence[str], values: Floats) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


# --- constraints ---------------------------------------------------------------------------------------------------


def _slack_fields(numbers: Snapshot, i: int, row: int | None) -> dict[str, Any]:
    if row is None:
        return {}
    slack, half = float(numbers.slack[i, row]), float(numbers.slack_limits[i, row])
    least, most = possible_slack(numbers, row)
    return {
        "constraint": numbers.problem.constraints[row].label,
        "slack": slack,
        "slack_low": max(slack - half, min(slack, least)),
        "slack_high": min(slack + half, max(slack, most)),
    }


def _at_least(limit: float, half: float) -> str:
    """Return the confidence limit in brackets; "" if the number is exact, or if the limit says nothing.

    An algorithm that drops arms on the way may rest on a limit that was certified earlier than now.
    """
    if half <= 0 or limit < 0:
        return ""
    return " (just certain)" if limit < 0.01 * half else f" (at least {show_least(limit)})"


def _failure(numbers: Snapshot, i: int, row: int) -> str:
    """Return a text such as `'safety >= 0.4' fails by 0.012 (at least 0.003)`."""
    slack, half = numbers.slack[i, row], numbers.slack_limits[i, row]
    text = f"{numbers.problem.constraints[row]} fails by {show(-slack)}"
    if half == 0:
        return f"{text} exactly"
    return text + _at_least(-slack - half, half)


def _why_infeasible(numbers: Snapshot, i: int) -> dict[str, Any]:
    row = tightest(numbers, i)
    assert row is not None, "an infeasible arm has a constraint that it fails"
    fails = numbers.slack[i] < 0
    if not fails[row] and fails.any():  # a row that has not varied came first, but holds
        row = int(np.argmin(np.where(fails, numbers.slack[i] / numbers.units[i], math.inf)))
    failing = [row, *(int(other) for other in np.flatnonzero(numbers.slack[i] < 0) if other != row)]
    away = float(numbers.view.state.lazy_eta[i])
    every = " and ".join(_failure(numbers, i, other) for other in failing)
    # If no single limit says that a row fails, several rows may fail together; but bets are sharper than limits.
    alone = numbers.problem.learnt or away * numbers.units[i, row] <= -numbers.slack[i, row] * (1 + 1e-9)
    if numbers.slack[i, row] + numbers.slack_limits[i, row] <= 0 or (len(failing) == 1 and alone):
        reason = _failure(numbers, i, row)
    elif math.isinf(away):
        reason = f"given its exact values no point satisfies every constraint: {every}"
    elif numbers.problem.learnt:
        reason = f"{every}; not all can hold"
    else:
        reason = f"{every}; not all can hold: the nearest point within all is {show(away)} standard deviations away"
    return {"reason": reason, **_slack_fields(numbers, i, row)}


# --- dominance -----------------------------------------------------------------------------------------------------


def _chain(i: int, via: Integers) -> list[int]:
    """Return arm i, its dominator, and so on; equal exact arms dominate each other, so an arm met again ends it."""
    chain = [i]
    while via[chain[-1]] >= 0 and via[chain[-1]] not in chain:
        chain.append(int(via[chain[-1]]))
    return chain


def _gain(numbers: Snapshot, i: int, j: int) -> tuple[Floats, Floats]:
    """Return how much better j is than i in each objective, and the half-width of that difference."""
    half, arrays = np.zeros_like(numbers.sigma), numbers.view.problem
    for c, objective in enumerate(arrays.order[: arrays.noisy]):
        half[objective] = numbers.sigma[objective] * difference_limit(numbers.view, i, j, c)
    return numbers.sign * (numbers.means[j] - numbers.means[i]), half


def _better(direction: str) -> str:
    return "higher" if direction == "max" else "lower"


def dominators(numbers: Snapshot, i: int, via: Integers) -> list[int]:
    """Return arms of which at least one dominates i, if no chain leads to one; none if nothing says so."""
    if via[i] >= 0:
        return []
    found = np.zeros(len(via), dtype=uint8)
    is_found = several_dominators(numbers.view, i, found)
    by_ratio = ratio_bar.has_own_body(type(numbers.view.evidence))
    if by_ratio and not is_found:  # else there is nothing to compile for
        ratio_dominators(numbers.view, new_pitfalls(numbers.view.problem, plain=False, catch_up=0.0), i, found)
    return np.flatnonzero(found).tolist() if is_found or by_ratio else []


def _why_below_some(numbers: Snapshot, i: int, above: Sequence[int]) -> dict[str, Any]:
    ahead = {numbers.problem.arms[j]: ", ".join(_ahead(numbers, _gain(numbers, i, j)[0])) for j in above}
    *others, last = ahead
    reason = (
        f"at least one of {', '.join(others)} and {last} is at least as good in every objective, though which is not "
        f"certain; as estimated, {'; '.join(f'{arm}: {leads}' for arm, leads in ahead.items())}"
    )
    return {"reason": reason, "by_one_of": tuple(ahead)}


def _ahead(numbers: Snapshot, gain: Floats, limits: Sequence[str] = ()) -> list[str]:
    """Return a text such as `speed higher by 2 (at least 1)` for each objective that is compared."""
    parts = []
    for c, (name, direction) in enumerate(numbers.problem.objectives.items()):
        if name in numbers.problem.compared:
            by = f"{_better(direction)} by {show(gain[c])}{limits[c] if limits else ''}"
            parts.append(f"{name} equal" if gain[c] == 0 else f"{name} {by}")
    return parts


def _why_dominated(numbers: Snapshot, i: int, via: Integers) -> dict[str, Any]:
    found = dominators(numbers, i, via)
    if len(found) > 1:
        return _why_below_some(numbers, i, found)
    chain = [i, *found] if found else _chain(i, via)
    if len(chain) == 1:  # certified earlier than now
        chain.append(likeliest_dominator(numbers.view, i))
    by = chain[-1]
    gain, half = _gain(numbers, i, by)
    links = [_gain(numbers, low, high) for low, high in itertools.pairwise(chain)]
    # The direct comparison and the sum along the chain hold at the same time: take the sharper limit of the two.
    low = np.maximum(gain - half, sum(g - h for g, h in links))
    high = np.minimum(gain + half, sum(g + h for g, h in links))
    names = list(numbers.problem.compared)
    places = [c for c, name in enumerate(numbers.problem.objectives) if name in names]
    parts = _ahead(numbers, gain, [_at_least(least, width) for least, width in zip(low, half, strict=True)])
    arms = numbers.problem.arms
    through = f", by way of {', '.join(arms[k] for k in chain[1:-1])}" if len(chain) > 2 else ""
    return {
        "reason": f"{arms[by]} is at least as good in every objective: {', '.join(parts)}{through}",
        "by": arms[by],
        "margins": _by_name(names, gain[places]),
        "margins_low": _by_name(names, low[places]),
        "margins_high": _by_name(names, high[places]),
    }


# --- returned arms ---------------------------------------------------------------------------------------------------


def _why_optimal(numbers: Snapshot, i: int) -> dict[str, Any]:
    row = tightest(numbers, i)
    fields = _slack_fields(numbers, i, row)
    sentences = [] if row is None else [_room_left(numbers, i, row)]
    rival = closest_rival(numbers.view, i)
    if rival < 0:
        sentences.append("no other arm can be feasible" if len(numbers.problem.arms) > 1 else "it is the only arm")
        return {"reason": "; ".join(sentences), **fields}
    objective, lead, low = _lead(numbers, i, rival)
    name = list(numbers.problem.objectives)[objective]
    if low < 0 and any(numbers.problem.tolerance[other] for other in numbers.problem.compared):
        ahead = f", which is {_no_more(numbers, i, rival)}"
    else:
        word = _better(numbers.problem.objectives[name])
        ahead = f": {name} is {word} here by {show(lead)}{_at_least(low, lead - low)}"
    sentences.append(f"closest rival {numbers.problem.arms[rival]}{ahead}")
    fields |= {"rival": numbers.problem.arms[rival], "lead": {name: lead}, "lead_low": {name: low}}
    return {"reason": "; ".join(sentences), **fields}


def _room_left(numbers: Snapshot, i: int, row: int) -> str:
    """Say how the tightest constraint holds, and what is certain if it may fail within its tolerance."""
    slack, half = float(numbers.slack[i, row]), float(numbers.slack_limits[i, row])
    constraint = numbers.problem.constraints[row]
    tolerance = numbers.problem.tolerance[constraint.label]
    if slack - half < 0 < tolerance:
        stands = f"with {show(slack)} to spare" if slack >= 0 else f"failing by {show(-slack)}"
        certain = f"certain: it fails by no more than the tolerance {show(tolerance)}"
        within = f"every constraint holds within its tolerance, the tightest, {constraint}"
        return f"{within}, {stands} as estimated ({certain})"
    spare = f"{show(slack)} to spare{_at_least(slack - half, half)}"
    return f"every constraint holds, the tightest, {constraint}, with {spare}"


def _no_more(numbers: Snapshot, i: int, rival: int) -> str:
    """Say in which objectives the rival is not better by more than the tolerance, for certain or as estimated."""
    gain, half = _gain(numbers, rival, i)
    allowed = numbers.problem.tolerance
    places = {name: c for c, name in enumerate(numbers.problem.objectives) if name in numbers.problem.compared}
    words = "not better by more than the tolerance in"
    if certain := [name for name, c in places.items() if gain[c] - half[c] > -allowed[name]]:
        return f"{words} {_with_tolerance(certain, allowed)}"
    likely = [name for name, c in places.items() if gain[c] > -allowed[name]]
    where = f": as estimated, not in {_with_tolerance(likely, allowed)}" if likely else ""
    return f"{words} every objective{where}"


def _with_tolerance(names: Sequence[str], allowed: Mapping[str, float]) -> str:
    return ", nor in ".join(f"{name} ({show(allowed[name])})" for name in names)


def _lead(numbers: Snapshot, i: int, rival: int) -> tuple[int, float, float]:
    """Return the objective in which i is furthest ahead of `rival` in standard deviations, the lead and its limit."""
    gain, half = _gain(numbers, rival, i)
    exact = (numbers.sigma == 0) & (gain > 0)
    guards = [name not in numbers.problem.compared for name in numbers.problem.objectives]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(numbers.sigma > 0, gain / half, np.where(exact, math.inf, -math.inf))
    c = int(np.argmax(np.where(guards, -math.inf, scaled)))
    return c, float(gain[c]), float(gain[c] - half[c])


# --- undecided arms --------------------------------------------------------------------------------------------------


def _why_undecided(numbers: Snapshot, i: int) -> dict[str, Any]:
    if numbers.view.state.counts[i] == 0:
        return {"reason": "never pulled", "missing": Missing("a first pull", {numbers.problem.arms[i]: 1})}
    few = LEAST_PULLS - int(numbers.view.state.counts[i])
    if numbers.problem.learnt and few > 0:
        reason = f"its scale is learnt, and nothing is claimed before {LEAST_PULLS} results"
        return {"reason": reason, "missing": Missing(SCALE, {numbers.problem.arms[i]: few})}
    row = tightest(numbers, i)
    looks, options = open_claims(numbers, i, row)
    names = unvaried(numbers, i)
    if names and not (options and options[0].pulls):
        reason = f"{' and '.join(names)} has not varied in its results, so that its scale is not known"
        return {"reason": reason, "missing": Missing("results that vary", {}, names), **_slack_fields(numbers, i, row)}
    missing = options[0] if options else Missing("until other arms have results", {})
    return {"reason": f"{looks}; not certain yet {missing}", "missing": missing, **_slack_fields(numbers, i, row)}
