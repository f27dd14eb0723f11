"""Notes beside an answer: what to doubt, what is not promised, what is waited for."""

from collections.abc import Iterable, Mapping

from paretoguard.problem import Problem
from paretoguard.verdict.result import Verdict


def alarms(problem: Problem, contradicted: Iterable[str], delta: float) -> tuple[str, ...]:
    arms = ", ".join(sorted(contradicted, key=problem.arms.index))
    if not arms:
        return ()
    return (
        f"assumptions violated? Of {arms} one thing was certified and later its contrary, which happens with "
        f"probability at most {delta:g} if noise, independence and steady means are as declared",
    )


def unpromised(algorithm: str, read_off: Iterable[str]) -> tuple[str, ...]:
    if not any(read_off):
        return ()
    return (
        f"{algorithm} answers for the set of best arms; why each other arm is out is read off the means (heuristic)",
    )


def ties(problem: Problem, verdicts: Mapping[str, Verdict], *, spent: bool) -> tuple[str, ...]:
    """Say at the end of a budget why arms may be undecided."""
    ended = spent and any(verdict.status == "undecided" for verdict in verdicts.values())
    if not ended or all(problem.tolerance.values()):
        return ()
    return (
        "the budget is spent; arms that tie, or lie on the border of a constraint, would stay undecided however "
        "much is measured: a tolerance for each objective and constraint settles those",
    )


def waiting(held: int) -> tuple[str, ...]:
    return (f"results that wait for earlier ones of their arm, not counted yet: {held:,}",) if held else ()
