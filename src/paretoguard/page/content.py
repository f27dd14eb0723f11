"""What a report on a live experiment says, whatever it looks like: the facts of its ledger."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paretoguard.errors import LedgerError
from paretoguard.experiment.audit import counted
from paretoguard.experiment.events import CREATED, KINDS, RETRACTED, Entry, first_break, utc_text
from paretoguard.experiment.experiment import Experiment, Status
from paretoguard.experiment.ledger_state import CHANGED
from paretoguard.experiment.storage import Storage
from paretoguard.pictures.palette import ORDER
from paretoguard.pictures.regions import pretty
from paretoguard.problem import Problem
from paretoguard.problem.noise import Noise
from paretoguard.race.ledger import Failures, Run, read_failures, read_runs
from paretoguard.simulation.trace import Growth, growth
from paretoguard.trial.setup import Setup
from paretoguard.verdict import Result, Verdict, show
from paretoguard.version import __version__
from paretoguard.vocabulary import ANSWER_FOUND, ASYMPTOTIC, BUDGET_SPENT, FINITE_SAMPLE, HEURISTIC, STILL_OPEN

GOALS = {"max": "more is better", "min": "less is better", "guard": "only its constraints count"}
PROMISES = {
    FINITE_SAMPLE: "If the assumptions hold, the probability that any claim is wrong, however often one looks, is at "
    "most {delta:g}.",
    ASYMPTOTIC: "If the assumptions hold, the probability that any claim is wrong, however often one looks, is about "
    "{delta:g} at most once there are many results of each arm; for few results nothing is proven.",
    HEURISTIC: "No theorem stands behind this answer: {delta:g} is the error that was aimed at, not one that is "
    "proven.",
    CHANGED: "What the results were is not known for sure, and so nothing is promised.",
}
STATES = {ANSWER_FOUND: "answered", BUDGET_SPENT: "budget spent", STILL_OPEN: "still open"}
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
        """Return the verdicts, best arms first."""
        return sorted(self.result.verdicts.values(), key=lambda verdict: -ORDER[verdict.status])

    @property
    def protocol(self) -> str:
        """Return the text that was kept from the beginning, beside the problem and the settings."""
        return str(self.settings.get("protocol") or "")

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        result, grown = self.result, self.grown
        return {
            "name": self.name,
            "question": {
                "asked": asked(self),
                "objectives": objectives(self),
                "constraints": constraints(self),
                "arms": list(self.problem.arms),
                "delta": result.delta,
            },
            "answer": {
                "headline": result.headline(),
                "state": STATES[result.stopped],
                "certain_since": self.since,
                "result": result.to_dict(),
            },
            "guarantee": {
                "label": result.guarantee,
                "promise": promise(self),
                "basis": result.basis,
                "assumptions": assumed(self),
                "notes": list(result.notes),
            },
            "growth": {
                "samples": grown.samples.tolist(),
                "pulls": dict(zip(grown.arms, grown.pulls.T.tolist(), strict=True)),
                "evidence": dict(zip(grown.arms, grown.progress.T.tolist(), strict=True)),
            },
            "retractions": [{**row._asdict(), "time": utc_text(row.time)} for row in self.retractions],
            "failures": {arm: failures._asdict() for arm, failures in self.failures.items()},
            "protocol": {
                "text": self.protocol,
                "settings": {key: self.settings[key] for key in _CHOSEN},
                "runs": [run._asdict() for run in self.runs],
                "problem": self.settings["problem"],
                "ledger": dict(ledger(self)),
                "status": self.status._asdict(),
            },
        }


def read_facts(name: str, storage: Storage) -> Facts:
    """Return the facts of an experiment, as its ledger stands at this moment."""
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
    setup = Setup.of(problem, **{key: settings[key] for key in ("delta", "algorithm", "evidence", "order")})
    numbers = Counter(entry.kind for entry in entries)
    return Facts(
        name=name,
        problem=problem,
        result=result,
        status=experiment.status(),
        since=since,
        grown=growth(setup, results, result, since),
        settings=settings,
        retractions=tuple(_retraction(entry) for entry in entries if entry.kind == RETRACTED),
        failures=read_failures(entries),
        runs=read_runs(entries),
        events={kind: numbers[kind] for kind in KINDS if numbers[kind]},
        first=entries[0].time,
        last=entries[-1].time,
        broken=broken,
    )


def _retraction(entry: Entry) -> Retraction:
    data = entry.data
    return Retraction(data["id"], data["arm"], data["reason"], data["blind"], entry.time)


# --- in words ---------------------------------------------------------------------------------------------------------


def asked(facts: Facts) -> str:
    """Return what is asked, in one sentence."""
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


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def objectives(facts: Facts) -> list[dict[str, str]]:
    """Return a row for each objective."""
    problem = facts.problem
    return [
        {"objective": name, "direction": GOALS[direction], "noise": _noise(problem.noise[name])}
        | _tolerance(facts, name)
        for name, direction in problem.objectives.items()
    ]


def constraints(facts: Facts) -> list[dict[str, str]]:
    """Return a row for each constraint."""
    texts = facts.problem.constraint_texts
    named = any(label != text for label, text in texts.items())
    return [
        ({"name": label} if named else {}) | {"constraint": pretty(text)} | _tolerance(facts, label)
        for label, text in texts.items()
    ]


def _noise(model: Noise) -> str:
    """Return the noise as a problem file has it."""
    kind, *options = model.to_dict().items()
    return ", ".join([str(kind[1]), *(f"{key} {_value(value)}" for key, value in options)])


def _value(value: Any) -> str:
    return show(value) if isinstance(value, float | int) and not isinstance(value, bool) else str(value)


def _tolerance(facts: Facts, name: str) -> dict[str, str]:
    """Return a cell with the tolerance of an objective or a constraint, if the problem has any tolerance."""
    tolerance = facts.problem.tolerance
    if not any(tolerance.values()):
        return {}
    allowed = tolerance.get(name)
    return {"tolerance": "–" if allowed is None else show(allowed)}


def promise(facts: Facts) -> str:
    """Return what the guarantee says, in one sentence."""
    return PROMISES[facts.result.guarantee].format(delta=facts.result.delta)


def assumed(facts: Facts) -> list[str]:
    """Return what is assumed, beside the basis."""
    return [line for line in facts.result.assumptions if not line.startswith("evidence: ")]


def ledger(facts: Facts) -> list[tuple[str, str]]:
    """Return where the ledger stands."""
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in facts.events.items())
    versions = {"paretoguard": facts.settings["program"], **facts.settings.get("versions", {})}
    return [
        ("experiment", facts.name),
        ("events", f"{facts.status.sequence:,} ({kinds})"),
        ("first event", utc_text(facts.first)),
        ("last event", utc_text(facts.last)),
        ("hash of the last event", facts.status.hash),
        ("chain of hashes", f"BROKEN: {facts.broken}" if facts.broken else "whole"),
        ("begun with", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ("reported with", f"paretoguard {__version__}"),
    ]
