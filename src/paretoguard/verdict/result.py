"""What paretoguard says of each arm, and of a whole problem: verdicts, results, and their plain rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any

from paretoguard.errors import ProblemError
from paretoguard.problem import Problem
from paretoguard.verdict import tables
from paretoguard.verdict.crossing import ACROSS, crossed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

MARKS = {"optimal": "★", "dominated": "▽", "infeasible": "✕", "undecided": "?"}
_HOW = {"answered": "until the answer was found", "budget": "until the budget ran out"}
_COLUMNS = ("arm", "status", "pulls", "why")
COLOURS = {"optimal": "green", "dominated": "blue", "infeasible": "red", "undecided": "yellow"}


@dataclass(frozen=True)
class Missing:
    """What an undecided arm still lacks: a claim, and about how many more pulls of which arms it would take.

    `pulls` is empty when no number of pulls would do at the present estimates (a tie, or an arm on a boundary), or when
    it rests on what has not varied, which `still` names.
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

    `low` and `high` are confidence limits of the means. `margins` says how much better than this arm the arm `by` is in
    each objective; where it takes several arms to be certain that one of them dominates, `by_one_of` names them.
    `slack` is how much room the tightest constraint leaves (negative: by how much it fails). `lead` says in which
    objective, and by how much, an optimal arm is ahead of `rival`, which comes closest to dominating it.
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
        """Ready for JSON: numbers, texts, lists and mappings only; unknown limits, and means of no result, are null."""
        content = {item.name: _plain(getattr(self, item.name)) for item in fields(self)}
        return content if self.pulls else content | {"mean": dict.fromkeys(self.mean)}


@dataclass(frozen=True, repr=False)
class Result:
    """The answer: which arms are the best trade-offs, and why every other one is out.

    `stopped` is "answered", "budget" when samples ran out first, or "open" when looked at before the end: certified
    verdicts hold all the same. `stated` is the problem itself, for `plot`; it is no part of `to_dict` nor of equality.
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
        """Ready for JSON."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self) if item.compare}

    def plot(
        self, target: "str | PathLike[str] | Figure | None" = None, *, objectives: Sequence[str] | None = None
    ) -> "Figure":
        """Draw it: arms at their means, where the constraints hold, and where the samples went.

        `target` is a file to write (.png, .svg, .pdf) or a figure to draw on; `objectives` are those to draw.
        """
        from paretoguard.pictures.front import draw_result

        if self.stated is None:
            raise ProblemError("this result does not hold its problem; use report.front.draw_result(result, problem)")
        return draw_result(self, self.stated, target, objectives=objectives)

    def rows(self) -> list[dict[str, str]]:
        """One plain row per arm, every cell a text: what tables are made from."""
        return [_row(verdict) for verdict in self.verdicts.values()]

    def headline(self) -> str:
        """The answer in one sentence."""
        found = ", ".join(self.pareto) or "no arm"
        if self.stopped == "answered":
            return f"Best trade-offs: {found}"
        open_arms = [verdict.arm for verdict in self.verdicts.values() if verdict.status == "undecided"]
        if not open_arms:
            return f"Best trade-offs: {found}"
        out = [verdict.arm for verdict in self.verdicts.values() if verdict.status in ("dominated", "infeasible")]
        ruled_out = f"; out: {', '.join(out)}" if out else ""
        return f"Certain so far: {found}{ruled_out}; undecided: {', '.join(open_arms)}"

    def footer(self) -> str:
        """How much was measured, and what the answer is worth."""
        how = _HOW.get(self.stopped, "so far")
        made_up = "simulated " if self.simulated else ""
        error = (
            f"P(any wrong claim) <= {self.delta:g}" if self.guarantee == "finite-sample" else f"delta = {self.delta:g}"
        )
        return (
            f"{self.samples:,} {made_up}sample{'' if self.samples == 1 else 's'} {how}; "
            f"{self.algorithm} with {self.evidence} evidence. "
            f"Guarantee: {self.guarantee} ({error}; {self.basis})."
        )

    def across(self) -> str:
        """Why limits reach across a constraint against what a verdict says; nothing where none do."""
        return ACROSS if self.stated is not None and crossed(self.stated, self.verdicts.values()) else ""

    def remarks(self, said: Sequence[str] = ()) -> list[str]:
        """What the guarantee assumes, and the notes that were not said before: to stand below a table."""
        assumed = "; ".join(line for line in self.assumptions if not line.startswith("evidence: "))
        return [f"Assumed: {assumed}.", *(f"Note: {note}." for note in self.notes if note not in said)]

    def table(self) -> "Table":
        """A rich table: status, pulls, means with limits, and the reason for each arm."""
        styles = [COLOURS[verdict.status] for verdict in self.verdicts.values()]
        footer = "\n".join([*filter(None, [self.across()]), self.footer(), *self.remarks()])
        return tables.table(self.headline(), self.rows(), footer, styles, right=("pulls",))

    def __rich__(self) -> "Table":
        return self.table()

    def __repr__(self) -> str:
        return tables.render(self.table())

    def _repr_html_(self) -> str:
        return tables.as_html(self.headline(), self.rows(), " ".join(filter(None, [self.across(), self.footer()])))


def _row(verdict: Verdict) -> dict[str, str]:
    cells = {"arm": verdict.arm, "status": f"{MARKS[verdict.status]} {verdict.status}", "pulls": f"{verdict.pulls:,}"}
    for name, mean in verdict.mean.items():
        column = f"mean {name}" if name in _COLUMNS else name
        cells[column] = show_interval(mean, verdict.low[name], verdict.high[name]) if verdict.pulls else "–"
    cells["why"] = verdict.reason
    return cells


def show(value: float) -> str:
    """A number as people write it: three significant digits, no exponent where that is readable.

    >>> show(0.06512), show(1234567.0), show(-0.00001234)
    ('0.0651', '1,234,567', '-1.23e-05')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def show_least(value: float) -> str:
    """As `show`, but never more than the number itself: what is "at least" stays true when rounded.

    >>> show_least(0.06519), show_least(1999.7)
    ('0.0651', '1,999')
    """
    if 1000 <= abs(value) < 1e15:
        return f"{math.floor(value):,}"
    digits = f"{value:.3g}"
    if float(digits) > value:
        digits = f"{value - 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - 2):.3g}"
    return digits


def show_interval(mean: float, low: float, high: float) -> str:
    """A mean with its limits, to two digits of the half-width; without limits where there are none.

    >>> show_interval(0.38708, 0.37416, 0.40001), show_interval(12.0, 12.0, 12.0)
    ('0.387 [0.374, 0.400]', '12')
    """
    half = (high - low) / 2
    if half <= 0 or math.isinf(half):
        return show(mean)
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:,.{decimals}f} [{low:,.{decimals}f}, {high:,.{decimals}f}]"


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
