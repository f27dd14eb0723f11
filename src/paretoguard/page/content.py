"""What a report on a live experiment says, whatever it looks like."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paretoguard.errors import LedgerError
from paretoguard.experiment.audit import counted
from paretoguard.experiment.events import CREATED, KINDS, RETRACTED, Entry, first_break, moment
from paretoguard.experiment.experiment import Experiment, Status
from paretoguard.experiment.ledger_state import CHANGED
from paretoguard.experiment.storage import Storage
from paretoguard.pictures.constraint_lines import pretty
from paretoguard.pictures.palette import ORDER
from paretoguard.problem import Problem
from paretoguard.problem.noise import Noise
from paretoguard.race.ledger_notes import Failures, Run, read_failures, read_runs
from paretoguard.simulation.trace import Growth, growth
from paretoguard.trial.setup import Setup
from paretoguard.verdict import MARKS, Result, Verdict, show, show_interval
from paretoguard.version import __version__
from paretoguard.vocabulary import ASYMPTOTIC, FINITE_SAMPLE, HEURISTIC

GOALS = {"max": "more is better", "min": "less is better", "guard": "only its constraints count"}
ARROWS = {"max": "↑", "min": "↓", "guard": "(guard)"}
PROMISES = {
    FINITE_SAMPLE: "If the assumptions hold, the probability that any claim is wrong, however often one looks, is at "
    "most {delta:g}.",
    ASYMPTOTIC: "If the assumptions hold, the probability that any claim is wrong, however often one looks, is about "
    "{delta:g} at most once there are many results of each arm; for few results nothing is proven.",
    HEURISTIC: "No theorem stands behind this answer: {delta:g} is the error that was aimed at, not one that is "
    "proven.",
    CHANGED: "What the results were is not known for sure, and so nothing is promised.",
}
STATES = {"answered": "answered", "budget": "budget spent", "open": "still open"}
PROBLEM = "The question alone, without settings and how arms are measured, and with all that is assumed of noise"
FEW = 6  # looks, where they stand in a table
_CHOSEN = ("delta", "algorithm", "evidence", "budget", "seed", "order", "ticket_seconds")


class Retraction(NamedTuple):
    """A result that was left out."""

    number: int
    arm: str
    reason: str
    blind: bool
    time: float


@dataclass(frozen=True, eq=False)
class Facts:
    """One ledger, read once: the question, the answer, how it came about."""

    name: str
    problem: Problem
    result: Result
    status: Status
    since: dict[str, int]  # the samples after which verdicts were certain for good
    grown: Growth
    settings: dict[str, Any]
    retractions: tuple[Retraction, ...]
    failures: dict[str, Failures]  # of a race: by arm
    runs: tuple[Run, ...]
    events: dict[str, int]  # how many of each kind
    first: float  # times of events
    last: float
    broken: str  # what is wrong with the chain of hashes; "" if nothing is

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts, best arms first."""
        return sorted(self.result.verdicts.values(), key=lambda verdict: -ORDER[verdict.status])

    @property
    def protocol(self) -> str:
        """What was written down at the beginning, beside the problem and the settings."""
        return str(self.settings.get("protocol") or "")

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        grown = self.grown
        return {
            "name": self.name,
            "question": {"asked": question(self), "objectives": objectives(self), "constraints": constraints(self)}
            | {"arms": list(self.problem.arms), "delta": self.result.delta},
            "answer": {"headline": self.result.headline(), "state": STATES[self.result.stopped]}
            | {"certain_since": self.since, "result": self.result.to_dict()},
            "guarantee": {"label": self.result.guarantee, "promise": promise(self), "basis": self.result.basis}
            | {"assumptions": assumptions(self), "notes": list(self.result.notes)},
            "growth": {
                "samples": grown.samples.tolist(),
                "pulls": dict(zip(grown.arms, grown.pulls.T.tolist(), strict=True)),
                "evidence": dict(zip(grown.arms, grown.progress.T.tolist(), strict=True)),
            },
            "retractions": [{**row._asdict(), "time": moment(row.time)} for row in self.retractions],
            "failures": {arm: failures._asdict() for arm, failures in self.failures.items()},
            "protocol": {"text": self.protocol, "settings": {key: self.settings[key] for key in _CHOSEN}}
            | {"runs": [run._asdict() for run in self.runs], "problem": self.settings["problem"]}
            | {"ledger": dict(ledger(self)), "status": self.status._asdict()},
        }


def read(name: str, storage: Storage) -> Facts:
    """The facts of an experiment, as its ledger stands at this moment."""
    head = storage.head(name)  # before the events: more may come meanwhile
    events = list(storage.events(name))
    entries = [event.read() for event in events]
    if not entries or entries[0].kind != CREATED:
        raise LedgerError(f"the ledger of {name!r} does not begin with an event 'created'; there is nothing to report")
    broken = first_break(events, head)
    experiment = Experiment.at(name, events, broken)
    problem, result = experiment.problem, experiment.result()
    since, settings = experiment.since(), experiment.settings
    results = list(counted(entries, len(problem.objectives)))
    how = {key: settings[key] for key in ("delta", "algorithm", "evidence", "order")}
    return Facts(
        name=name,
        problem=problem,
        result=result,
        status=experiment.status(),
        since=since,
        grown=growth(Setup.of(problem, **how), results, result, since),
        settings=settings,
        retractions=_retractions(entries),
        failures=read_failures(entries),
        runs=read_runs(entries),
        events=_numbers(entries),
        first=entries[0].time,
        last=entries[-1].time,
        broken=broken,
    )


def _retractions(entries: Sequence[Entry]) -> tuple[Retraction, ...]:
    found = [(entry.data, entry.time) for entry in entries if entry.kind == RETRACTED]
    return tuple(Retraction(data["id"], data["arm"], data["reason"], data["blind"], time) for data, time in found)


def _numbers(entries: Sequence[Entry]) -> dict[str, int]:
    numbers = Counter(entry.kind for entry in entries)
    return {kind: numbers[kind] for kind in KINDS if numbers[kind]}


# --- in words ---------------------------------------------------------------------------------------------------------


def kind(facts: Facts) -> str:
    """What this is a report on."""
    return "Report on a race" if facts.runs else "Report on a live experiment"


def written(facts: Facts) -> str:
    """What the text is that was kept from the beginning."""
    understood = "The problem file as it was understood at the beginning, rewritten"
    return understood if facts.runs else "As written down at the beginning"


def question(facts: Facts) -> str:
    """What is asked, in one sentence."""
    problem = facts.problem
    compared = _listed(problem.compared)
    which = f"Which of {len(problem.arms):,} arms have the best {compared}"
    if len(problem.compared) > 1:
        which = f"Which of {len(problem.arms):,} arms are the best trade-offs between {compared}"
    if not problem.constraint_texts:
        return f"{which}?"
    number = len(problem.constraint_texts)
    all_of_them = {1: "the constraint", 2: "both constraints"}.get(number, f"all {number} constraints")
    return f"{which}, among those that satisfy {all_of_them}?"


def arms(facts: Facts) -> str:
    """The arms in one line; their names may hold commas."""
    return " · ".join(facts.problem.arms)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def objectives(facts: Facts) -> list[dict[str, str]]:
    """A row for each objective."""
    problem = facts.problem
    return [
        {"objective": name, "direction": GOALS[direction], "noise": _noise(problem.noise[name])}
        | ({"tolerance": _tolerance(facts, name)} if any(problem.tolerance.values()) else {})
        for name, direction in problem.objectives.items()
    ]


def constraints(facts: Facts) -> list[dict[str, str]]:
    """A row for each constraint."""
    problem = facts.problem
    named = any(label != text for label, text in problem.constraint_texts.items())
    return [
        ({"name": label} if named else {})
        | {"constraint": pretty(text)}
        | ({"tolerance": _tolerance(facts, label)} if any(problem.tolerance.values()) else {})
        for label, text in problem.constraint_texts.items()
    ]


def _noise(model: Noise) -> str:
    """The noise as a problem file has it."""
    kind, *options = model.to_dict().items()
    return ", ".join([str(kind[1]), *(f"{key} {_value(value)}" for key, value in options)])


def _value(value: Any) -> str:
    return show(value) if isinstance(value, float | int) and not isinstance(value, bool) else str(value)


def _tolerance(facts: Facts, name: str) -> str:
    allowed = facts.problem.tolerance.get(name)
    return "–" if allowed is None else show(allowed)


def answers(facts: Facts) -> list[dict[str, str]]:
    """A row for each arm, best ones first: status, since when that is certain, pulls, means with limits."""
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


def unfixed(facts: Facts) -> str:
    """What a dash means under "since sample", where an arm that is not undecided has one; else nothing."""
    decided = [
        verdict for verdict in facts.verdicts if verdict.status != "undecided" and verdict.arm not in facts.since
    ]
    if not decided:
        return ""
    if facts.result.guarantee in (HEURISTIC, CHANGED):
        return "A dash: without a guarantee nothing is certain for good; the status is that of all results together."
    return (
        "A dash: the status holds by all results together, but is not fixed from some sample on; with a tolerance on "
        "constraints, an arm may be feasible up to the tolerance and infeasible as well, so that only optimal arms are."
    )


def left_out(facts: Facts) -> list[dict[str, str]]:
    """A row for each retraction."""
    return [
        {"result": f"{row.number}", "arm": row.arm, "reason": row.reason}
        | {"blind to values": "declared" if row.blind else "not declared", "when": moment(row.time)}
        for row in facts.retractions
    ]


def growth_rows(facts: Facts) -> list[dict[str, str]]:
    """A row for each arm, best ones first: its evidence over what is required, at a few of the looks."""
    grown = facts.grown
    if len(grown.samples) == 0:
        return []
    few = sorted({round(place * (len(grown.samples) - 1) / (FEW - 1)) for place in range(FEW)})
    places, certain = {arm: place for place, arm in enumerate(grown.arms)}, grown.statuses == grown.answer
    rows = []
    for arm in (verdict.arm for verdict in facts.verdicts):
        place = places[arm]
        shares = [f"{min(0.99, grown.progress[look, place]):.0%}" for look in few]
        done = [grown.answer[place] > 0 and certain[look, place] for look in few]
        cells = ["certain" if is_done else share for is_done, share in zip(done, shares, strict=True)]
        rows.append({"arm": arm} | dict(zip([f"{grown.samples[look]:,}" for look in few], cells, strict=True)))
    return rows


def reason(facts: Facts, verdict: Verdict) -> str:
    """Why an arm has its status; and what that is worth where it is less than the rest."""
    less = "" if verdict.guarantee == facts.result.guarantee else f" ({verdict.guarantee})"
    return f"{verdict.reason}{less}."


def promise(facts: Facts) -> str:
    """What the guarantee says, in one sentence."""
    return PROMISES[facts.result.guarantee].format(delta=facts.result.delta)


def assumptions(facts: Facts) -> list[str]:
    """What is assumed, beside the basis."""
    return [line for line in facts.result.assumptions if not line.startswith("evidence: ")]


def measured(facts: Facts) -> str:
    """How much was measured, and what is waited for."""
    status = facts.status
    counts = {"waited for": status.pending, "expired without a result": status.expired, "retracted": status.retracted}
    others = "".join(f"; {number:,} {what}" for what, number in counts.items() if number)
    count = "1 result counts" if status.samples == 1 else f"{status.samples:,} results count"
    return f"{count}{others}."


def settings(facts: Facts) -> list[tuple[str, str]]:
    """What was fixed at the beginning."""
    chosen = facts.settings
    seconds = chosen["ticket_seconds"]
    return [
        ("delta", f"{chosen['delta']:g}"),
        ("algorithm", str(chosen["algorithm"])),
        ("evidence", str(chosen["evidence"])),
        ("budget", "none" if chosen["budget"] is None else f"{chosen['budget']:,} samples"),
        ("results count", {"arrival": "as they arrive", "asked": "in the order asked"}[chosen["order"]]),
        ("tickets expire", "never" if seconds is None else f"after {duration(seconds)}"),
        ("seed", str(chosen["seed"])),
    ]


def duration(seconds: float) -> str:
    """A time in the largest unit of which there are two or more.

    >>> duration(7_776_000), duration(90), duration(5400)
    ('90 days', '90 seconds', '90 minutes')
    """
    units = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
    name, size = next((unit for unit in units if seconds >= 2 * unit[1]), units[-1])
    return f"{show(seconds / size)} {name}"


def ledger(facts: Facts) -> list[tuple[str, str]]:
    """Where the ledger stands."""
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in facts.events.items())
    return [
        ("experiment", facts.name),
        ("events", f"{facts.status.sequence:,} ({kinds})"),
        ("first event", moment(facts.first)),
        ("last event", moment(facts.last)),
        ("hash of the last event", facts.status.hash),
        ("chain of hashes", f"BROKEN: {facts.broken}" if facts.broken else "whole"),
        ("begun with", _programs(facts.settings)),
        ("reported with", f"paretoguard {__version__}"),
    ]


def _programs(chosen: dict[str, Any]) -> str:
    """The versions of what an experiment was begun with, as far as they are on the ledger."""
    versions = {"paretoguard": chosen["program"], **chosen.get("versions", {})}
    return ", ".join(f"{name} {version}" for name, version in versions.items())
