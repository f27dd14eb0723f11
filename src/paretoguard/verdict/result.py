"""Verdicts on arms, results of whole problems, their plain rows, and limits that reach across a constraint."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any

from paretoguard.errors import ProblemError
from paretoguard.problem import Problem
from paretoguard.problem.constraints import Constraint
from paretoguard.verdict import tables
from paretoguard.vocabulary import ANSWER_FOUND, BUDGET_SPENT, FINITE_SAMPLE, INFEASIBLE, OPTIMAL, STATUSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

MARKS = {"optimal": "★", "dominated": "▽", "infeasible": "✕", "undecided": "?"}
_COLUMNS = ("arm", "status", "pulls", "why")
COLOURS = {"optimal": "green", "dominated": "blue", "infeasible": "red", "undecided": "yellow"}
ACROSS = (
    "Limits that reach across a constraint do not contradict a verdict: they hold for all means together, and each "
    "claim has evidence of its own, which is sharper."
)


@dataclass(frozen=True)
class Missing:
    """A claim that an undecided arm still lacks, and about how many more pulls of which arms it would take.

    `pulls` is empty if no number of pulls would do at the present estimates (a tie, or an arm on a boundary), or if the
    claim rests on results that have not varied: `still` names their objectives.
    """

    claim: str
    pulls: dict[str, int]
    still: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.still:
            return f"{self.claim}: it rests on {' and '.join(self.still)}, of which the scale is not known"
        if not self.pulls:
            return f"{self.claim}: at the present estimates no number of pulls would decide it"
        (first, number), *others = self.pulls.items()
        needed = f"{number:,} more pull{'' if number == 1 else 's'} of {first}" + "".join(
            f" and {number:,} of {arm}" for arm, number in others
        )
        return f"{self.claim}: about {needed} at the present estimates"


@dataclass(frozen=True)
class Verdict:
    """The status of one arm and the reason, in the user's names, units and signs.

    `low` and `high` are confidence limits of the means. `margins` is how much better than this arm the arm `by` is in
    each objective; if it takes several arms to be certain that one of them dominates, `by_one_of` names them. `slack`
    is how much room the tightest constraint leaves (negative: by how much it fails). `lead` says in which objective,
    and by how much, an optimal arm is ahead of `rival`, the arm that comes closest to dominating it.
    """

    arm: str
    status: str
    reason: str
    guarantee: str
    pulls: int
    mean: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    by: str | None = None
    by_one_of: tuple[str, ...] = ()
    margins: dict[str, float] = field(default_factory=dict)
    margins_low: dict[str, float] = field(default_factory=dict)
    margins_high: dict[str, float] = field(default_factory=dict)
    constraint: str | None = None
    slack: float | None = None
    slack_low: float | None = None
    slack_high: float | None = None
    rival: str | None = None
    lead: dict[str, float] = field(default_factory=dict)
    lead_low: dict[str, float] = field(default_factory=dict)
    missing: Missing | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; unknown limits, and means without a result, are null."""
        content = {item.name: _plain(getattr(self, item.name)) for item in fields(self)}
        return content if self.pulls else content | {"mean": dict.fromkeys(self.mean)}


@dataclass(frozen=True, repr=False)
class Result:
    """The answer: which arms are the best trade-offs, and why every other one is out.

    Attributes
    ----------
    problem
        The name of the problem.
    pareto
        The best arms, in the problem's order.
    verdicts
        arm -> `Verdict`: its status and the reason.
    samples, pulls
        How many results count, in all and of each arm.
    stopped
        "answered", "budget" if samples ran out first, or "open" before the end: certified verdicts hold all the same.
    algorithm, evidence, delta
        The settings that led to the answer.
    guarantee, basis, assumptions
        The label of the verdicts ("finite-sample", "asymptotic" or "heuristic"), what it rests on, and what it assumes.
    notes
        What else should be known, in sentences.
    simulated
        True if the results were simulated.
    stated
        The problem itself, for `plot`; it is no part of `to_dict` nor of equality.
    """

    problem: str
    pareto: tuple[str, ...]
    verdicts: dict[str, Verdict]
    samples: int
    pulls: dict[str, int]
    stopped: str
    algorithm: str
    evidence: str
    delta: float
    guarantee: str
    basis: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    simulated: bool = False
    stated: Problem | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self) if item.compare}

    def plot(
        self, target: "str | PathLike[str] | Figure | None" = None, *, objectives: Sequence[str] | None = None
    ) -> "Figure":
        """Return a picture: arms at their means, where the constraints hold, and where the samples went.

        Raise ProblemError if the result does not hold its problem.

        Parameters
        ----------
        target
            A file to write (.png, .svg, .pdf), or a figure to draw on; None draws on a new one.
        objectives
            The objectives to draw; None draws the first five.
        """
        from paretoguard.pictures.front import draw_result

        if self.stated is None:
            raise ProblemError("this result does not hold its problem; use pictures.front.draw_result(result, problem)")
        return draw_result(self, self.stated, target, objectives=objectives)

    def rows(self) -> list[dict[str, str]]:
        """Return one row of texts per arm, for tables."""
        return [_row(verdict) for verdict in self.verdicts.values()]

    def headline(self) -> str:
        """Return the answer in one sentence."""
        found = ", ".join(self.pareto) or "no arm"
        open_arms = [verdict.arm for verdict in self.verdicts.values() if verdict.status == "undecided"]
        if self.stopped == ANSWER_FOUND or not open_arms:
            return f"Best trade-offs: {found}"
        out = [verdict.arm for verdict in self.verdicts.values() if verdict.status in ("dominated", "infeasible")]
        ruled_out = f"; out: {', '.join(out)}" if out else ""
        return f"Certain so far: {found}{ruled_out}; undecided: {', '.join(open_arms)}"

    def footer(self) -> str:
        """Return how much was measured, and what the answer guarantees."""
        ends = {ANSWER_FOUND: "until the answer was found", BUDGET_SPENT: "until the budget ran out"}
        how = ends.get(self.stopped, "so far")
        made_up = "simulated " if self.simulated else ""
        promise = "P(any wrong claim) <=" if self.guarantee == FINITE_SAMPLE else "delta ="
        return (
            f"{self.samples:,} {made_up}sample{'' if self.samples == 1 else 's'} {how}; "
            f"{self.algorithm} with {self.evidence} evidence. "
            f"Guarantee: {self.guarantee} ({promise} {self.delta:g}; {self.basis})."
        )

    def across(self) -> str:
        """Return why limits reach across a constraint against what a verdict says; "" if none do."""
        return ACROSS if self.stated is not None and crossed(self.stated, self.verdicts.values()) else ""

    def remarks(self, said: Sequence[str] = ()) -> list[str]:
        """Return what the guarantee assumes, and the notes, as sentences to stand below a table.

        Parameters
        ----------
        said
            Notes that were said before, and are left out.
        """
        assumed = "; ".join(line for line in self.assumptions if not line.startswith("evidence: "))
        return [f"Assumed: {assumed}.", *(f"Note: {note}." for note in self.notes if note not in said)]

    def table(self) -> "Table":
        """Return a rich table: status, pulls, means with limits, and the reason for each arm."""
        styles = [COLOURS[verdict.status] for verdict in self.verdicts.values()]
        footer = "\n".join([*filter(None, [self.across()]), self.footer(), *self.remarks()])
        return tables.table(self.headline(), self.rows(), footer, styles, right=("pulls",))

    def __rich__(self) -> "Table":
        return self.table()

    def __repr__(self) -> str:
        return tables.as_text(self.table())

    def _repr_html_(self) -> str:
        return tables.as_html(self.headline(), self.rows(), " ".join(filter(None, [self.across(), self.footer()])))


def _row(verdict: Verdict) -> dict[str, str]:
    cells = {"arm": verdict.arm, "status": f"{MARKS[verdict.status]} {verdict.status}", "pulls": f"{verdict.pulls:,}"}
    for name, mean in verdict.mean.items():
        column = f"mean {name}" if name in _COLUMNS else name
        cells[column] = tables.show_interval(mean, verdict.low[name], verdict.high[name]) if verdict.pulls else "–"
    cells["why"] = verdict.reason
    return cells


def _plain(value: Any) -> Any:
    if isinstance(value, Verdict):
        return value.to_dict()
    if isinstance(value, Missing):
        return {"claim": value.claim, "pulls": dict(value.pulls)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# --- limits that reach across a constraint ----------------------------------------------------------------------------


def crossed(problem: Problem, verdicts: Iterable[Verdict]) -> list[Constraint]:
    """Return the constraints across which limits reach, against what a verdict says."""
    found = [row for verdict in verdicts for row in _crossed(problem, verdict)]
    return [row for row in problem.constraints if row in found]


def _crossed(problem: Problem, verdict: Verdict) -> list[Constraint]:
    """Return the rows that an optimal arm's limits leave by more than the tolerance, or that an infeasible arm fails.

    An infeasible arm has none if its limits as a whole lie beyond some row.
    """
    reaches = [(row, *_reach(row, verdict)) for row in problem.constraints]
    if verdict.status == STATUSES[OPTIMAL]:
        return [row for row, _, most in reaches if row.bound + problem.tolerance[row.label] < most < math.inf]
    if verdict.status != STATUSES[INFEASIBLE] or any(row.bound < least for row, least, _ in reaches):
        return []
    return [row for row, least, _ in reaches if -math.inf < least and row.bound < _side(row, verdict.mean)]


def _side(row: Constraint, point: Mapping[str, float]) -> float:
    return sum(a * x for a, x in zip(row.coefficients, point.values(), strict=True) if a)


def _reach(row: Constraint, verdict: Verdict) -> tuple[float, float]:
    """Return the least and the greatest left-hand side within the limits."""
    ends = zip(row.coefficients, verdict.low.values(), verdict.high.values(), strict=True)
    pairs = [sorted((a * low, a * high)) for a, low, high in ends if a]
    return sum(least for least, _ in pairs), sum(most for _, most in pairs)
