"""Metrics that have not varied: their scale cannot be learnt, and what rests on them would be measured without end."""

import math
from collections.abc import Sequence

from paretoguard.engine.evidence.learnt import LEAST_PULLS
from paretoguard.problem import Problem
from paretoguard.problem.noise import Unknown
from paretoguard.verdict import UNDECIDED, Result

PEAK = "peak_mb"
NEAR = 1.02  # a peak within this factor of the floor is the floor
SOME_LIMIT = 64.0  # MB, in advice, where the file states none


def still(result: Result) -> dict[str, list[str]]:
    """The objectives of unknown scale that have not varied in enough results, and of which arms."""
    noise = result.stated.noise if result.stated is not None else {}
    enough = [verdict for verdict in result.verdicts.values() if verdict.pulls >= LEAST_PULLS]
    found = {
        name: [verdict.arm for verdict in enough if math.isinf(verdict.high[name])]
        for name, model in noise.items()
        if isinstance(model, Unknown)
    }
    return {name: arms for name, arms in found.items() if arms}


def rests_on(result: Result) -> tuple[str, ...]:
    """What has not varied, where all that is open rests on it; else nothing."""
    lacking = [verdict.missing for verdict in result.verdicts.values() if verdict.status == UNDECIDED]
    names = [missing.still if missing is not None else () for missing in lacking]
    return tuple(dict.fromkeys(name for some in names for name in some)) if all(names) else ()


def stopped(names: Sequence[str]) -> str:
    """Why a race without a budget was stopped."""
    return (
        f"stopped, as all that is open rests on {' and '.join(names)}, which has not varied: more results would decide "
        "nothing. What is known is kept. To go on, change the file (see the note on what has not varied) or give a "
        "--budget, and begin another race: --name NEW"
    )


def advice(name: str, result: Result, floor: float | None) -> str:
    """What to write in the file instead; `floor` is the least peak memory that can be seen, in MB."""
    if name != PEAK:
        return (
            f'declare [noise.{name}] with kind = "exact" if it is the same in every run, else with kind = "bounded" '
            "and its low and high"
        )
    limit = _limit(name, result.stated) if result.stated is not None else None
    low = _floor_said(result, floor, limit)
    return (
        f"{low}it may vary now and then, so ask how often it is too much: under [derived] write heavy = "
        f'"{name} > {SOME_LIMIT if limit is None else limit:g}", under [objectives] heavy = "guard", and the '
        f'constraint "heavy <= 0.01"; or declare [noise.{name}] with kind = "bounded" and its low and high'
    )


def _floor_said(result: Result, floor: float | None, limit: float | None) -> str:
    """That arms need no more memory than can be seen, and what that means for a limit above it."""
    peaks = {arm: result.verdicts[arm].mean[PEAK] for arm in still(result).get(PEAK, ())}
    if floor is None or not any(peak <= NEAR * floor for peak in peaks.values()):
        return ""
    means = ""
    if limit is not None and limit > floor:
        means = f", and the limit of {limit:g} MB, which is above that, held in all of those runs"
    return (
        f"{PEAK} cannot be less than about {floor:.0f} MB here, which the process takes that starts the commands: "
        f"they need that or less{means}; "
    )


def _limit(name: str, problem: Problem) -> float | None:
    """The limit that a constraint on this objective alone states."""
    place = list(problem.objectives).index(name)
    for row in problem.constraints:
        if [c for c, a in enumerate(row.coefficients) if a] == [place]:
            return float(row.bound / row.coefficients[place])
    return None
