"""The sections of a report as blocks, which the page and Markdown write in their own ways."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paretoguard.experiment.events import utc_text
from paretoguard.experiment.ledger_state import CHANGED
from paretoguard.page.content import Facts, asked, assumed, constraints, ledger, objectives, promise
from paretoguard.verdict import MARKS, show, show_interval
from paretoguard.vocabulary import AS_ASKED, BY_ARRIVAL, HEURISTIC

ARROWS = {"max": "↑", "min": "↓", "guard": "(guard)"}
PROBLEM = "The question alone, without settings and how arms are measured, and with all that is assumed of noise"
MADE_AGAIN = "Attempts that failed, count for nothing and were made again, or are when the race goes on"
MEASURED = "How it was measured, which may change when a race goes on"


class Text(NamedTuple):
    """A paragraph."""

    words: str
    has_arms: bool = False  # their names are not broken on the page


class Headline(NamedTuple):
    """The answer, and how much was measured; Markdown has the answer at its top."""

    answer: str
    measured: str


class Promise(NamedTuple):
    """What the guarantee says, and what it rests on."""

    label: str
    promise: str
    basis: str


class Reasons(NamedTuple):
    """For each arm its name, its status, and why it has that."""

    rows: Sequence[tuple[str, str, str]]


class Table(NamedTuple):
    """A row for each mapping from columns to cells; the notes are part of the caption on the page."""

    caption: str
    rows: Sequence[Mapping[str, str]]
    right: tuple[str, ...] = ()  # columns of numbers
    notes: tuple[str, ...] = ()
    is_titled: bool = False  # has it its caption in Markdown, too?
    has_limits: bool = False  # are there means with limits, and statuses, to set off on the page?


class Pairs(NamedTuple):
    """Words and what they stand for; Markdown has a table with these heads in place of the title."""

    title: str
    heads: tuple[str, str]
    rows: Sequence[tuple[str, str]]


class Items(NamedTuple):
    """A list of sentences, without their full stops."""

    title: str
    sentences: Sequence[str]


class Code(NamedTuple):
    """A text exactly as it is."""

    title: str
    text: str
    language: str = ""


ReportBlock = Text | Headline | Promise | Reasons | Table | Pairs | Items | Code


class Section(NamedTuple):
    """A part of the report with a heading."""

    title: str
    blocks: Sequence[ReportBlock]


def shared(facts: Facts) -> dict[str, Section]:
    """Return the sections that every report has, by name."""
    return {
        "question": Section("The question", _question(facts)),
        "answer": Section("The answer", _answer(facts)),
        "guarantee": Section("What it is worth", _guarantee(facts)),
        "whys": Section("Why each arm is in or out", [Reasons(_reasons(facts))]),
        "protocol": Section("Protocol", _protocol(facts)),
    }


def _question(facts: Facts) -> list[ReportBlock]:
    blocks: list[ReportBlock] = [Text(asked(facts)), Table("Objectives", objectives(facts))]
    if facts.problem.constraint_texts:
        blocks.append(Table("Constraints on the means", constraints(facts)))
    arms = " · ".join(facts.problem.arms)  # their names may hold commas
    accepted = f"The probability of any wrong claim that is accepted: δ = {facts.result.delta:g}."
    return [*blocks, Text(f"Arms: {arms}", has_arms=True), Text(accepted)]


def _answer(facts: Facts) -> list[ReportBlock]:
    caption = "Arms, the best ones first: since which sample their status is certain, and means with confidence limits"
    notes = tuple(filter(None, [facts.result.across(), _unfixed(facts)]))
    right = ("since sample", "pulls")
    blocks: list[ReportBlock] = [Headline(facts.result.headline(), _measured(facts))]
    blocks.append(Table(caption, _answers(facts), right=right, notes=notes, has_limits=True))
    if facts.retractions:
        blocks.append(Table("Results that were left out", _left_out(facts), is_titled=True))
    if facts.failures:
        failed = [
            {"arm": arm, "attempts": f"{one.attempts:,}", "the last": one.why} for arm, one in facts.failures.items()
        ]
        blocks.append(Table(MADE_AGAIN, failed, right=("attempts",), is_titled=True))
    return blocks


def _measured(facts: Facts) -> str:
    """Return how much was measured, and what is waited for."""
    status = facts.status
    counts = {"waited for": status.pending, "expired without a result": status.expired, "retracted": status.retracted}
    others = "".join(f"; {number:,} {what}" for what, number in counts.items() if number)
    count = "1 result counts" if status.samples == 1 else f"{status.samples:,} results count"
    return f"{count}{others}."


def _answers(facts: Facts) -> list[dict[str, str]]:
    """Return a row for each arm, best ones first: status, since when that is certain, pulls, means with limits."""
    rows = []
    for verdict in facts.verdicts:
        first = facts.since.get(verdict.arm)
        row = {"arm": verdict.arm, "status": f"{MARKS[verdict.status]} {verdict.status}"}
        row |= {"since sample": "–" if first is None else f"{first:,}", "pulls": f"{verdict.pulls:,}"}
        for name, direction in facts.problem.objectives.items():
            limits = verdict.mean[name], verdict.low[name], verdict.high[name]
            row[f"{name} {ARROWS[direction]}"] = show_interval(*limits) if verdict.pulls else "–"
        rows.append(row)
    return rows


def _unfixed(facts: Facts) -> str:
    """Return what a dash means under "since sample", if an arm that is not undecided has one."""
    if all(verdict.status == "undecided" or verdict.arm in facts.since for verdict in facts.verdicts):
        return ""
    if facts.result.guarantee in (HEURISTIC, CHANGED):
        return "A dash: without a guarantee nothing is certain for good; the status is that of all results together."
    return (
        "A dash: the status holds by all results together, but is not fixed from some sample on; with a tolerance on "
        "constraints, an arm may be feasible up to the tolerance and infeasible as well, so that only optimal arms are."
    )


def _left_out(facts: Facts) -> list[dict[str, str]]:
    return [
        {"result": f"{row.number}", "arm": row.arm, "reason": row.reason}
        | {"blind to values": "declared" if row.blind else "not declared", "when": utc_text(row.time)}
        for row in facts.retractions
    ]


def _guarantee(facts: Facts) -> list[ReportBlock]:
    result = facts.result
    blocks: list[ReportBlock] = [Promise(f"{result.guarantee.capitalize()}.", promise(facts), result.basis)]
    blocks.append(Items("Assumed", assumed(facts)))
    return [*blocks, Items("Notes", result.notes)] if result.notes else blocks


def _reasons(facts: Facts) -> list[tuple[str, str, str]]:
    """Return why each arm has its status, and what that is worth if it is less than the rest."""
    rows = []
    for verdict in facts.verdicts:
        less = "" if verdict.guarantee == facts.result.guarantee else f" ({verdict.guarantee})"
        rows.append((verdict.arm, f"{MARKS[verdict.status]} {verdict.status}", f"{verdict.reason}{less}."))
    return rows


def _protocol(facts: Facts) -> list[ReportBlock]:
    blocks: list[ReportBlock] = []
    if facts.protocol:
        understood = "The problem file as it was understood at the beginning, rewritten"
        blocks.append(Code(understood if facts.runs else "As written down at the beginning", facts.protocol))
    blocks.append(Pairs("Settings, fixed at the beginning", ("setting", "value"), _settings(facts)))
    if facts.runs:
        runs = []
        for run in facts.runs:
            how = f"--jobs {run.jobs} (at once), --batch {run.batch} (asked for at a time)"
            runs.append((f"from result {run.results + 1:,} on", how))
        blocks.append(Pairs(MEASURED, ("how it was measured", ""), runs))
    blocks.append(Pairs("The ledger", ("ledger", ""), ledger(facts)))
    return [*blocks, Code(PROBLEM, facts.settings["problem"], "toml")]


def _settings(facts: Facts) -> list[tuple[str, str]]:
    """Return what was fixed at the beginning."""
    chosen = facts.settings
    seconds = chosen["ticket_seconds"]
    return [
        ("delta", f"{chosen['delta']:g}"),
        ("algorithm", str(chosen["algorithm"])),
        ("evidence", str(chosen["evidence"])),
        ("budget", "none" if chosen["budget"] is None else f"{chosen['budget']:,} samples"),
        ("results count", {BY_ARRIVAL: "as they arrive", AS_ASKED: "in the order asked"}[chosen["order"]]),
        ("tickets expire", "never" if seconds is None else f"after {duration(seconds)}"),
        ("seed", str(chosen["seed"])),
    ]


def duration(seconds: float) -> str:
    """Return a time in the largest unit of which there are two or more.

    >>> duration(7_776_000), duration(90), duration(5400)
    ('90 days', '90 seconds', '90 minutes')
    """
    units = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
    name, size = next((unit for unit in units if seconds >= 2 * unit[1]), units[-1])
    return f"{show(seconds / size)} {name}"
