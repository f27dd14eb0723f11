"""Why each arm has its status: the numbers and the sentences, in the user's names, units and signs."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.engine.claims import DOMINATED as DOMINATED_CODE
from paretoguard.engine.claims import INFEASIBLE as INFEASIBLE_CODE
from paretoguard.engine.claims import OPTIMAL as OPTIMAL_CODE
from paretoguard.engine.probe import (
    DOMINATION,
    FEASIBILITY,
    NON_DOMINATION,
    claim,
    closest_rival,
    difference_limit,
    likeliest_dominator,
    limits,
)
from paretoguard.engine.space import Space
from paretoguard.engine.state import State
from paretoguard.problem import STATUSES, Problem
from paretoguard.verdict import Missing, Verdict, show

MOST_PULLS = 10**12  # more than this is "no number of pulls would do"


@dataclass(frozen=True)
class Snapshot:
    """Everything an explanation may quote, in the user's units and order."""

    problem: Problem
    evidence: NamedTuple
    space: Space
    state: State
    means: NDArray[float64]  # [K, d]
    limits: NDArray[float64]  # [K, d] half-widths; 0 for exact objectives
    slack: NDArray[float64]  # [K, m] bound minus left-hand side, per constraint
    slack_limits: NDArray[float64]  # [K, m]
    row_limits: NDArray[float64]  # [K] half-widths along any unit direction, in standard deviations
    norms: NDArray[float64]  # [m] engine slack = slack / norm
    sigma: NDArray[float64]  # [d] half-width of an objective = sigma * half-width in engine units; 0 if exact
    sign: NDArray[float64]  # [d] +1 max, -1 min


def snapshot(problem: Problem, evidence: NamedTuple, space: Space, state: State) -> Snapshot:
    """The numbers at the present moment."""
    K, d = space.arms, space.objectives
    coordinate, row = np.zeros(K), np.zeros(K)
    limits(evidence, state, coordinate, row)
    means, sigma, sign = np.zeros((K, d)), np.zeros(d), np.zeros(d)
    for place, objective in enumerate(space.order):
        means[:, objective] = state.means[:, place] / space.scale[place]
        sign[objective] = math.copysign(1.0, space.scale[place])
        sigma[objective] = 1.0 / abs(space.scale[place]) if place < space.noisy else 0.0
    m = len(problem.constraints)
    norms, noisy = np.ones(m), np.zeros(m)
    for engine_row, (index, norm) in enumerate(problem.engine_rows()):
        norms[index] = norm
        noisy[index] = 1.0 if engine_row < space.region.A.shape[0] else 0.0
    A = np.array([c.coefficients for c in problem.constraints]).reshape(m, d)
    bound = np.array([c.bound for c in problem.constraints])
    with np.errstate(invalid="ignore"):
        half = np.where(sigma > 0, coordinate[:, None] * sigma, 0.0)
        slack_half = np.where(noisy > 0, row[:, None] * (norms * noisy), 0.0)
    return Snapshot(
        problem, evidence, space, state, means, half, bound - means @ A.T, slack_half, row, norms, sigma, sign
    )


def explain(numbers: Snapshot, statuses: NDArray[uint8], via: NDArray[int64], guarantee: str) -> dict[str, Verdict]:
    """A verdict for each arm, in arm order."""
    return {arm: _verdict(numbers, i, statuses, via, guarantee) for i, arm in enumerate(numbers.problem.arms)}


def _verdict(numbers: Snapshot, i: int, statuses: NDArray[uint8], via: NDArray[int64], guarantee: str) -> Verdict:
    names = list(numbers.problem.objectives)
    explained = {
        OPTIMAL_CODE: _why_optimal,
        DOMINATED_CODE: lambda numbers, i: _why_dominated(numbers, i, via),
        INFEASIBLE_CODE: _why_infeasible,
    }.get(int(statuses[i]), lambda numbers, i: _why_undecided(numbers, i, statuses))(numbers, i)
    mean, half = numbers.means[i], numbers.limits[i]
    return Verdict(
        arm=numbers.problem.arms[i],
        status=STATUSES[statuses[i]],
        guarantee=guarantee,
        pulls=int(numbers.state.counts[i]),
        mean=_by_name(names, mean),
        low=_by_name(names, mean - half),
        high=_by_name(names, mean + half),
        **explained,
    )


def _by_name(names: Sequence[str], values: NDArray[float64]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


# --- constraints ---------------------------------------------------------------------------------------------------


def _tightest(numbers: Snapshot, i: int) -> int | None:
    """The constraint with the least slack in engine units; one that is certain to fail comes first."""
    if numbers.slack.shape[1] == 0:
        return None
    scaled = numbers.slack[i] / numbers.norms
    certain = (numbers.slack[i] < 0) & (numbers.slack_limits[i] == 0)
    return int(np.argmin(np.where(certain, -math.inf, scaled)))


def _slack_fields(numbers: Snapshot, i: int, row: int | None) -> dict[str, Any]:
    if row is None:
        return {}
    slack, half = float(numbers.slack[i, row]), float(numbers.slack_limits[i, row])
    return {
        "constraint": numbers.problem.constraints[row].label,
        "slack": slack,
        "slack_low": slack - half,
        "slack_high": slack + half,
    }


def _at_least(limit: float, half: float) -> str:
    """The confidence limit in brackets; nothing where the number is exact, or where the limit says nothing.

    An algorithm that drops arms on the way may rest on a limit that was certified earlier than now.
    """
    return f" (at least {show(limit)})" if half > 0 and limit >= 0 else ""


def _failure(numbers: Snapshot, i: int, row: int) -> str:
    """`'safety >= 0.4' fails by 0.012 (at least 0.003)`."""
    slack, half = numbers.slack[i, row], numbers.slack_limits[i, row]
    text = f"'{numbers.problem.constraints[row].text}' fails by {show(-slack)}"
    if half == 0:
        return f"{text} exactly"
    return text + _at_least(-slack - half, half)


def _why_infeasible(numbers: Snapshot, i: int) -> dict[str, Any]:
    row = _tightest(numbers, i)
    assert row is not None, "an infeasible arm has a constraint that it fails"
    if numbers.slack[i, row] + numbers.slack_limits[i, row] <= 0:
        return {"reason": _failure(numbers, i, row), **_slack_fields(numbers, i, row)}
    # No single row is certain to fail, but no point near the mean satisfies them all.
    failing = [row, *(int(other) for other in np.flatnonzero(numbers.slack[i] < 0) if other != row)]
    away, half = float(numbers.state.eta[i]), float(numbers.row_limits[i])
    reason = (
        " and ".join(_failure(numbers, i, other) for other in failing)
        + f"; the nearest point within all constraints is {show(away)} standard deviations away"
        + _at_least(away - half, half)
    )
    return {"reason": reason, **_slack_fields(numbers, i, row)}


# --- dominance -----------------------------------------------------------------------------------------------------


def _chain(i: int, via: NDArray[int64]) -> list[int]:
    """Arm i, then each arm's dominator; equal exact arms dominate each other, so an arm met again ends it."""
    chain = [i]
    while via[chain[-1]] >= 0 and via[chain[-1]] not in chain:
        chain.append(int(via[chain[-1]]))
    return chain


def _gain(numbers: Snapshot, i: int, j: int) -> tuple[NDArray[float64], NDArray[float64]]:
    """How much better j is than i in each objective, and the half-width of that difference."""
    gain = numbers.sign * (numbers.means[j] - numbers.means[i])
    half = difference_limit(numbers.evidence, numbers.state, i, j)
    return gain, np.where(numbers.sigma > 0, numbers.sigma * half, 0.0)


def _better(direction: str) -> str:
    return "higher" if direction == "max" else "lower"


def _why_dominated(numbers: Snapshot, i: int, via: NDArray[int64]) -> dict[str, Any]:
    chain = _chain(i, via)
    if len(chain) == 1:  # certified earlier than now
        chain.append(likeliest_dominator(numbers.evidence, numbers.space, numbers.state, i))
    by = chain[-1]
    gain, half = _gain(numbers, i, by)
    links = [_gain(numbers, low, high) for low, high in itertools.pairwise(chain)]
    # The direct comparison and the sum along the chain hold at the same time: take the sharper limit of the two.
    low = np.maximum(gain - half, sum(g - h for g, h in links))
    high = np.minimum(gain + half, sum(g + h for g, h in links))
    names = list(numbers.problem.objectives)
    parts = []
    for c, (name, direction) in enumerate(numbers.problem.objectives.items()):
        if gain[c] == 0:
            parts.append(f"{name} equal")
        else:
            parts.append(f"{name} {_better(direction)} by {show(gain[c])}{_at_least(low[c], half[c])}")
    arms = numbers.problem.arms
    through = f", by way of {', '.join(arms[k] for k in chain[1:-1])}" if len(chain) > 2 else ""
    return {
        "reason": f"{arms[by]} is at least as good in every objective: {', '.join(parts)}{through}",
        "by": arms[by],
        "margins": _by_name(names, gain),
        "margins_low": _by_name(names, low),
        "margins_high": _by_name(names, high),
    }


# --- returned arms ---------------------------------------------------------------------------------------------------


def _why_optimal(numbers: Snapshot, i: int) -> dict[str, Any]:
    row = _tightest(numbers, i)
    sentences = []
    if row is not None:
        slack, half = numbers.slack[i, row], numbers.slack_limits[i, row]
        sentences.append(
            f"every constraint holds, the tightest, '{numbers.problem.constraints[row].text}', "
            f"with {show(slack)} to spare{_at_least(slack - half, half)}"
        )
    fields = _slack_fields(numbers, i, row)
    rival = closest_rival(numbers.evidence, numbers.space, numbers.state, i)
    if rival < 0:
        sentences.append("no other arm can be feasible" if len(numbers.problem.arms) > 1 else "it is the only arm")
    else:
        objective, lead, low = _lead(numbers, i, rival)
        name = list(numbers.problem.objectives)[objective]
        word = _better(numbers.problem.objectives[name])
        at_least = _at_least(low, float(numbers.sigma[objective]))
        sentences.append(
            f"closest rival {numbers.problem.arms[rival]}: {name} is {word} here by {show(lead)}{at_least}"
        )
        fields |= {"rival": numbers.problem.arms[rival], "lead": {name: lead}, "lead_low": {name: low}}
    return {"reason": "; ".join(sentences), **fields}


def _lead(numbers: Snapshot, i: int, rival: int) -> tuple[int, float, float]:
    """The objective in which i is furthest ahead of `rival` (in standard deviations), by how much, and at least."""
    gain, half = _gain(numbers, rival, i)
    exact = (numbers.sigma == 0) & (gain > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(numbers.sigma > 0, gain / numbers.sigma, np.where(exact, math.inf, -math.inf))
    c = int(np.argmax(scaled))
    return c, float(gain[c]), float(gain[c] - half[c])


# --- what is missing -----------------------------------------------------------------------------------------------


def _pulls_needed(numbers: Snapshot, kind: int, i: int, j: int) -> dict[str, int]:
    """How many more pulls of i (and j) would certify a claim at the present means; {} if no number would.

    The arm with fewer pulls is raised to the other's count first, then both together.
    """
    counts = numbers.state.counts
    now_i, now_j = int(counts[i]), int(counts[j])

    def certified(level: int) -> bool:
        return bool(
            claim(numbers.evidence, numbers.space, numbers.state, kind, i, j, max(now_i, level), max(now_j, level))
            >= 0.0
        )

    high = max(min(now_i, now_j), 1)
    while not certified(high):
        high *= 2
        if high > MOST_PULLS:
            return {}
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if certified(middle) else (middle, high)
    needed = {numbers.problem.arms[k]: max(0, high - int(counts[k])) for k in {i: None, j: None}}
    return {arm: number for arm, number in needed.items() if number > 0}


def _missing(numbers: Snapshot, kind: int, i: int, j: int, text: str) -> Missing:
    return Missing(text, _pulls_needed(numbers, kind, i, j))


def _holds(numbers: Snapshot, kind: int, i: int, j: int) -> bool:
    counts = numbers.state.counts
    value = claim(numbers.evidence, numbers.space, numbers.state, kind, i, j, int(counts[i]), int(counts[j]))
    return bool(value >= 0.0)


def _why_undecided(numbers: Snapshot, i: int, statuses: NDArray[uint8]) -> dict[str, Any]:
    if numbers.state.counts[i] == 0:
        return {"reason": "never pulled", "missing": Missing("a first pull", {numbers.problem.arms[i]: 1})}
    row = _tightest(numbers, i)
    looks, options = _open_claims(numbers, i, row)
    missing = options[0] if options else Missing("until other arms have results", {})
    return {"reason": f"{looks}; not certain yet {missing}", "missing": missing, **_slack_fields(numbers, i, row)}


def _open_claims(numbers: Snapshot, i: int, row: int | None) -> tuple[str, list[Missing]]:
    """What arm i looks like, and the claims that would settle it, the decisive one first."""
    arms, state = numbers.problem.arms, numbers.state
    text = "" if row is None else f"'{numbers.problem.constraints[row].text}'"
    if state.optimal[i] == 1:
        rival = closest_rival(numbers.evidence, numbers.space, state, i)
        options = []
        if not _holds(numbers, FEASIBILITY, i, i):
            options.append(_missing(numbers, FEASIBILITY, i, i, f"that {text} holds"))
        if rival >= 0 and not _holds(numbers, NON_DOMINATION, i, rival):
            options.append(_missing(numbers, NON_DOMINATION, i, rival, f"that {arms[rival]} does not dominate it"))
        return "looks optimal", sorted(options, key=_cost, reverse=True)  # all are needed: the dearest decides
    by = likeliest_dominator(numbers.evidence, numbers.space, state, i)
    options = []
    if by >= 0 and not _holds(numbers, DOMINATION, i, by):
        options.append(_missing(numbers, DOMINATION, i, by, f"that {arms[by]} dominates it"))
    elif by >= 0:
        side = f"on which side of the constraints {arms[by]}, which dominates it, lies"
        options.append(_missing(numbers, FEASIBILITY, by, by, side))
    if state.inside[i] == 0:
        options.append(_missing(numbers, FEASIBILITY, i, i, f"that {text} fails"))
    looks = "looks dominated" if state.inside[i] == 1 else "looks infeasible"
    return looks, sorted(options, key=_cost)  # one is enough: the cheapest decides


def _cost(missing: Missing) -> float:
    return float(sum(missing.pulls.values())) if missing.pulls else math.inf
