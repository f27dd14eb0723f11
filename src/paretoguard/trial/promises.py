"""What an answer promises: the label of its guarantee, what the label rests on, and the assumptions behind it."""

import dataclasses
from typing import Any, cast

from paretoguard.errors import SettingsError
from paretoguard.evidence import Evidence
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.problem import Problem
from paretoguard.trial.registry import label
from paretoguard.vocabulary import AS_ASKED, ASYMPTOTIC, BY_ARRIVAL, FINITE_SAMPLE, HEURISTIC, ORDERS

COUNTED = {  # in each of ORDERS
    BY_ARRIVAL: "results are counted as they arrive: which of several outstanding ones comes first, or never comes, "
    "does not depend on their values",
    AS_ASKED: "results are counted in the order they were asked for, up to the first missing one of each arm",
}


def guarantee(kind: Evidence, problem: Problem | None = None) -> str:
    """Return the label of answers that rest on this evidence; at most asymptotic where scales are learnt."""
    promised = kind.guarantee
    if problem is not None and kind.if_independent and not _are_independent(problem):
        return HEURISTIC
    return ASYMPTOTIC if promised == FINITE_SAMPLE and problem is not None and problem.learnt else promised


def _are_independent(problem: Problem) -> bool:
    noisy = sum(model.sigma != 0 for model in problem.noise.values())
    return noisy < 2 or problem.dependence == "independent"


def order_of(kind: Evidence, order: str | None) -> str:
    """Return how results are counted: as given, else as an option of the evidence says, else on arrival."""
    stated = kind.order if kind.takes_order else BY_ARRIVAL
    if order is not None and stated not in (BY_ARRIVAL, order):
        raise SettingsError(f"order is {order!r}, but the evidence is {label(kind)!r}; leave one of them out")
    return order or stated


def in_order(kind: Evidence, order: str) -> Evidence:
    """Return the evidence for results counted in this order; raise SettingsError if it promises nothing then."""
    if order not in ORDERS:
        raise SettingsError(f"order is {order!r}; expected one of {', '.join(ORDERS)}")
    if kind.takes_order:
        try:
            return cast(Evidence, dataclasses.replace(cast(Any, kind), order=order))
        except ValueError as error:
            raise SettingsError(f"evidence {label(kind)!r} and order {order!r} do not go together: {error}") from error
    if order == AS_ASKED and guarantee(kind) != HEURISTIC and not kind.any_order:
        raise SettingsError(
            f"evidence {label(kind)!r} has no guarantee for results counted in the order asked; use 'certified'"
        )
    return kind


def basis(kind: Evidence, problem: Problem | None = None) -> str:
    """Return what the guarantee rests on, in one sentence."""
    learnt = problem is not None and problem.learnt
    return f"{kind.basis}, with scales learnt from the results" if learnt else kind.basis


def assumptions(problem: Problem, evidence: Evidence, order: str = BY_ARRIVAL) -> tuple[str, ...]:
    """Return the assumptions behind the guarantee of an answer."""
    noise = "; ".join(f"{name}: {kind!r}" for name, kind in problem.noise.items())
    return (
        f"evidence: {basis(evidence, problem)}",
        "each measurement of an arm is an independent draw, also of those of other arms, and its means do not drift",
        f"noise: {noise}",
        *_learnt(problem),
        _stated_dependence(problem.dependence),
        COUNTED[order],
    )


def _learnt(problem: Problem) -> tuple[str, ...]:
    if not problem.learnt:
        return ()
    return (
        f"the scale of {', '.join(problem.learnt)} is learnt from the results of each arm, which is right for many "
        f"results only (asymptotic); before {LEAST_PULLS} of them nothing is claimed about an arm but by exact values",
    )


def _stated_dependence(declared: Any) -> str:
    if isinstance(declared, str):
        if declared == "independent":
            return "the objectives of one measurement are independent, as declared"
        return "the objectives of one measurement may depend on each other in any way"
    return "the objectives of one measurement have the covariance declared"
