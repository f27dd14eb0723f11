"""Confidence limits that reach across a constraint, beside a verdict for which that constraint holds or fails."""

import math
from collections.abc import Iterable, Mapping
from typing import Protocol

from paretoguard.problem import Problem
from paretoguard.problem.constraints import Constraint
from paretoguard.vocabulary import INFEASIBLE, OPTIMAL, STATUSES

ACROSS = (
    "Limits that reach across a constraint do not contradict a verdict: they hold for all means together, and each "
    "claim has evidence of its own, which is sharper."
)


class Limited(Protocol):
    """What is looked at in a verdict."""

    @property
    def status(self) -> str:
        """As the verdict says."""

    @property
    def mean(self) -> Mapping[str, float]:
        """By objective."""

    @property
    def low(self) -> Mapping[str, float]:
        """Lower limits."""

    @property
    def high(self) -> Mapping[str, float]:
        """Upper limits."""


def crossed(problem: Problem, verdicts: Iterable[Limited]) -> list[Constraint]:
    """The constraints across which limits reach, against what a verdict says."""
    found = [row for verdict in verdicts for row in _crossed(problem, verdict)]
    return [row for row in problem.constraints if row in found]


def _crossed(problem: Problem, verdict: Limited) -> list[Constraint]:
    """Of an optimal arm, those that its limits leave by more than the tolerance; of an infeasible one, those that fail.

    An infeasible arm has none where its limits lie beyond some constraint as a whole.
    """
    reaches = [(row, *_reach(row, verdict)) for row in problem.constraints]
    if verdict.status == STATUSES[OPTIMAL]:
        return [row for row, _, most in reaches if row.bound + problem.tolerance[row.label] < most < math.inf]
    if verdict.status != STATUSES[INFEASIBLE] or any(row.bound < least for row, least, _ in reaches):
        return []
    return [row for row, least, _ in reaches if -math.inf < least and row.bound < _side(row, verdict.mean)]


def _side(row: Constraint, point: Mapping[str, float]) -> float:
    """The left-hand side of a constraint."""
    return sum(a * x for a, x in zip(row.coefficients, point.values(), strict=True) if a)


def _reach(row: Constraint, verdict: Limited) -> tuple[float, float]:
    """The least and the greatest left-hand side within the limits."""
    ends = zip(row.coefficients, verdict.low.values(), verdict.high.values(), strict=True)
    pairs = [sorted((a * low, a * high)) for a, low, high in ends if a]
    return sum(least for least, _ in pairs), sum(most for _, most in pairs)
