"""Metrics that have not varied: their scale cannot be learnt, and what rests on them would be measured without end."""

import math
from collections.abc import Mapping, Sequence

from paretoguard.errors import ProblemError
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.files.formulas import Formula
from paretoguard.problem import Problem
from paretoguard.problem.noise import Unknown
from paretoguard.verdict import Result

PEAK = "peak_mb"
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
    lacking = [verdict.missing for verdict in result.verdicts.values() if verdict.status == "undecided"]
    names = [missing.still if missing is not None else () for missing in lacking]
    return tuple(dict.fromkeys(name for some in names for name in some)) if all(names) else ()


def stopped(names: Sequence[str]) -> str:
    """Why a race without a budget was stopped."""
    return (
        f"stopped, as all that is open rests on {' and '.join(names)}, which has not varied: more results would decide "
        "nothing. What is known is kept. To go on, change the file (see the note on what has not varied) or give a "
        "--budget, and begin another race: --name NEW"
    )


def advice(name: str, result: Result, least: float | None) -> str:
    """What to write in the file instead; `least` is the least peak memory that is told apart from less, in MB."""
    if name != PEAK:
        return (
            f'declare [noise.{name}] with kind = "exact" if it is the same in every run, else with kind = "bounded" '
            "and its low and high"
        )
    limit = _limit(name, result.stated) if result.stated is not None else None
    low = _least_said(result, least, limit)
    return (
        f"{low}it may vary now and then, so ask how often it is too much: under [derived] write heavy = "
        f'"{name} > {SOME_LIMIT if limit is None else limit:g}", under [objectives] heavy = "guard", and the '
        f'constraint "heavy <= 0.01"; or declare [noise.{name}] with kind = "bounded" and its low and high'
    )


def _least_said(result: Result, least: float | None, limit: float | None) -> str:
    """That arms need no more memory than can be told apart, and what that means for a limit above it."""
    peaks = {arm: result.verdicts[arm].mean[PEAK] for arm in still(result).get(PEAK, ())}
    if least is None or not any(peak <= least for peak in peaks.values()):
        return ""
    means = f", and the limit of {limit:g} MB held in all of those runs" if limit is not None else ""
    return f"{_told_apart(least)}: they need that or less{means}; "


def _told_apart(least: float) -> str:
    return f"less than {least:g} MB are not told apart here, which the process may take that starts the commands"


def check_peaks(problem: Problem, formulas: Mapping[str, Formula], least: float | None) -> None:
    """Refuse what asks whether a command takes less memory than can be told apart."""
    if least is None:
        return
    limit = _limit(PEAK, problem) if PEAK in problem.objectives else None
    if limit is not None and limit <= least:
        raise ProblemError(f"the limit on {PEAK} is {limit:g} MB, but {_told_apart(least)}; give one above that")
    for formula in formulas.values():
        below = [formula.value({PEAK: share * least}) for share in (0.05, 0.95, 1.0)] if formula.names == {PEAK} else []
        if formula.is_test and len(set(below)) > 1:
            raise ProblemError(
                f"derived.{formula.name} = {formula.text!r} is not the same below {least:g} MB, but "
                f"{_told_apart(least)}; compare with more than that"
            )


def _limit(name: str, problem: Problem) -> float | None:
    """The upper limit that a constraint on this objective alone states."""
    place = list(problem.objectives).index(name)
    for row in problem.constraints:
        if [c for c, a in enumerate(row.coefficients) if a] == [place] and row.coefficients[place] > 0:
            return float(row.bound / row.coefficients[place])
    return None
