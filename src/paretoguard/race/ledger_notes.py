"""What a race notes on its ledger besides results: how it was run, which attempts failed, which files it writes."""

from collections.abc import Iterable
from typing import NamedTuple

from paretoguard.experiment.events import NOTED, TOLD, Entry

RUN, FAILED, WRITTEN, STUCK = "run", "failed", "written", "stuck"


class Run(NamedTuple):
    """How a race was run from some result on."""

    results: int  # there were before
    jobs: int
    batch: int


class Failures(NamedTuple):
    """Attempts to measure an arm that failed, and count for nothing else."""

    attempts: int
    why: str  # of the last one


def read_runs(entries: Iterable[Entry]) -> tuple[Run, ...]:
    """How a race was begun, and how it went on where that was another way."""
    found, results = list[Run](), 0
    for entry in entries:
        results += entry.kind == TOLD
        if entry.kind == NOTED and entry.data["about"] == RUN:
            run = Run(results, entry.data["jobs"], entry.data["batch"])
            if not found or found[-1][1:] != run[1:]:
                found.append(run)
    return tuple(found)


def read_failures(entries: Iterable[Entry]) -> dict[str, Failures]:
    """The failed attempts of each arm that has any."""
    found: dict[str, Failures] = {}
    for entry in entries:
        if entry.kind == NOTED and entry.data["about"] == FAILED:
            before = found[entry.data["arm"]].attempts if entry.data["arm"] in found else 0
            found[entry.data["arm"]] = Failures(before + entry.data["attempts"], entry.data["why"])
    return found


def read_stuck(entries: Iterable[Entry]) -> int | None:
    """After how many results the race was stopped last as more would decide nothing."""
    noted = (entry.data for entry in entries if entry.kind == NOTED and entry.data["about"] == STUCK)
    return max((int(data["results"]) for data in noted), default=None)


def read_written(entries: Iterable[Entry]) -> set[str]:
    """The files, as they are quoted, that runs of the race write themselves."""
    noted = (entry.data for entry in entries if entry.kind == NOTED and entry.data["about"] == WRITTEN)
    return {name for data in noted for name in data["files"]}
