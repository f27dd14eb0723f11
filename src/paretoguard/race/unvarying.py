"""Metrics that have not varied: their scale cannot be learnt, and what rests on them would be measured without end."""

import math
from collections.abc import Mapping, Sequence

from paretoguard.errors import ProblemError
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.files.metrics import Formula
from paretoguard.problem import Problem
from paretoguard.problem.noise import Unknown
from paretoguard.verdict import Result

PEAK = "peak_mb"
SOME_LIMIT = 64.0  # MB, in advice, where the file states none


def constant_metrics(result: Result) -> dict[str, list[str]]:
    """Return the objectives of unknown scale that have not varied in enough results, and of which arms."""
    noise = result.stated.noise if result.stated is not None else {}
    enough = [verdict for verdict in result.verdicts.values() if verdict.pulls >= LEAST_PULLS]
    found = {
        name: [verdict.arm for verdict in enough if math.isinf(verdict.high[name])]
        for name, model in noise.items()
        if isinstance(model, Unknown)
    }
    return {name: arms for name, arms in found.items() if arms}


def why_stuck(result: Result) -> str:
    """Return why a race without a budget should stop: if all that is open rests on what has not varied; else ""."""
    lacking = [verdict.missing for verdict in result.verdicts.values() if verdict.status == "undecided"]
    constant = [missing.still if missing is not None else () for missing in lacking]
    if not constant or not all(constant):
        return ""
    names = dict.fromkeys(name for of_an_arm in constant for name in of_an_arm)
    return (
        f"stopped, as all that is open rests on {' and '.join(names)}, which has not varied: more results would decide "
        "nothing. What is known is kept. To go on, change the file (see the note on what has not varied) or give a "
        "--budget, and begin another race: --name NEW"
    )


def advice(name: str, arms: Sequence[str], result: Result, least: float | None) -> str:
    """Say what to write in the file instead; `least` is the least peak memory that is told apart from less, in MB."""
    if name != PEAK:
        return (
            f'declare [noise.{name}] with kind = "exact" if it is the same in every run, else with kind = "bounded" '
            "and its low and high"
        )
    limit = _limit(result.stated) if result.stated is not None else None
    low = ""
    if least is not None and min(result.verdicts[arm].mean[PEAK] for arm in arms) <= least:
        means = f", and the limit of {limit:g} MB held in all of those runs" if limit is not None else ""
        low = f"{_told_apart(least)}: they need that or less{means}; "
    return (
        f"{low}it may vary now and then, so ask how often it is too much: under [derived] write heavy = "
        f'"{PEAK} > {SOME_LIMIT if limit is None else limit:g}", under [objectives] heavy = "guard", and the '
        f'constraint "heavy <= 0.01"; or declare [noise.{PEAK}] with kind = "bounded" and its low and high'
    )


def _told_apart(least: float) -> str:
    return f"less than {least:g} MB are not told apart here, which the process may take that starts the commands"


def check_peaks(problem: Problem, formulas: Mapping[str, Formula], least: float | None) -> None:
    """Refuse what asks whether a command takes less memory than can be told apart."""
    if least is None:
        return
    limit = _limit(problem)
    if limit is not None and limit <= least:
        raise ProblemError(f"the limit on {PEAK} is {limit:g} MB, but {_told_apart(least)}; give one above that")
    for formula in formulas.values():
        below = [formula.value({PEAK: share * least}) for share in (0.05, 0.95, 1.0)] if formula.names == {PEAK} else []
        if formula.is_test and len(set(below)) > 1:
            raise ProblemError(
                f"derived.{formula.name} = {formula.text!r} is not the same below {least:g} MB, but "
                f"{_told_apart(least)}; compare with more than that"
            )


def _limit(problem: Problem) -> float | None:
    """Return the upper limit that a constraint on peak memory alone states."""
    for row in problem.constraints:
        used = {name: a for name, a in zip(problem.objectives, row.coefficients, strict=True) if a}
        if used.keys() == {PEAK} and used[PEAK] > 0:
            return float(row.bound / used[PEAK])
    return None
