"""What an answer rests on, in sentences a user can check."""

from typing import Any

from paretoguard.problem import Problem
from paretoguard.settings import Evidence, basis


def assumptions(problem: Problem, evidence: Evidence) -> tuple[str, ...]:
    """The assumptions behind the guarantee of an answer."""
    noise = "; ".join(f"{name}: {kind!r}" for name, kind in problem.noise.items())
    return (
        f"evidence: {basis(evidence)}",
        "each measurement of an arm is an independent draw, and its means do not drift",
        f"noise: {noise}",
        _dependence(problem.dependence),
    )


def _dependence(declared: Any) -> str:
    if isinstance(declared, str):
        if declared == "independent":
            return "the objectives of one measurement are independent, as declared"
        return "the objectives of one measurement may depend on each other in any way"
    return "the objectives of one measurement have the covariance declared"
