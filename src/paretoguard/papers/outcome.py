"""What reproducing a result gives: data, times, a picture, and our numbers beside the paper's."""

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64

from paretoguard.errors import FileError
from paretoguard.simulation.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
YES, NO, OPEN = "yes", "no", "–"
SMOKE = {"most_runs": 4, "most_items": 2}  # just enough to see that it works
KIND = ("instance", "algorithm", "evidence", "delta")
COSTS = ("guarantee", "runs", "mean", "std", "q05", "median", "q95")
ERRORS = ("error_cpsi", "error_cpsi_upper", "error_ecpsi", "error_ecpsi_upper", "undecided")


@dataclass(frozen=True)
class Effort:
    """How much to simulate: everything, or a limited number of runs and items. Threads change no number."""

    most_runs: int | None = None
    most_items: int | None = None
    threads: int | None = None
    say: Callable[[str], None] = lambda what: None  # told what is simulated next, where that takes long

    def runs(self, full: int) -> int:
        """Return how many of the full number of runs to make."""
        return full if self.most_runs is None else min(full, self.most_runs)

    def first(self, items: Sequence[str]) -> Sequence[str]:
        """Return all items, or the first few."""
        return items[: self.most_items]


@dataclass(frozen=True)
class Line:
    """A number or claim of the paper beside ours; `why` says why they disagree, or what was decided."""

    what: str
    paper: str
    ours: str
    agrees: str = OPEN
    why: str = ""


@dataclass(frozen=True)
class Outcome:
    """Everything there is to say of a result."""

    rows: Rows  # the data: the same on every machine
    lines: Sequence[Line]
    draw: "Callable[[Path], Figure]"
    timing: Rows  # what differs from run to run


def agrees(holds: bool) -> str:
    return YES if holds else NO


# --- files ------------------------------------------------------------------------------------------------------------


def as_written(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows with numbers as exact as in the file, so that the file alone gives all that is said and drawn."""
    return [
        {name: float(f"{cell:.6g}") if isinstance(cell, float) else cell for name, cell in row.items()} for row in rows
    ]


def write(rows: Rows, path: Path) -> None:
    """Write a CSV file: numbers to six digits, so that it changes only if a result does."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            for row in rows:
                cells = {name: f"{cell:.6g}" if isinstance(cell, float) else cell for name, cell in row.items()}
                writer.writerow(cells)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file, every cell a text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- studies as data --------------------------------------------------------------------------------------------------


def run_rows(study: Study) -> list[dict[str, Any]]:
    """Return a row for each run, in the order of the study's kinds."""
    kinds = {"instance": str, "algorithm": str, "evidence": str, "delta": float}
    kinds |= {"run": int, "samples": int, "wrong_cpsi": int, "wrong_ecpsi": int}
    return [
        {name: kind(run[name]) for name, kind in kinds.items()}
        for cell in study.cells
        for run in study.records[study.of(cell)]
    ]


def summary_rows(study: Study) -> list[dict[str, Any]]:
    """Return a row for each kind of run: samples, and both error rates with their limits."""
    return [{name: row[name] for name in (*KIND, *COSTS, *ERRORS)} for row in study.summary()]


def timing_rows(study: Study, paper_ms: Mapping[tuple[str, str], float] | None = None) -> list[dict[str, Any]]:
    """Return for each kind of run the CPU time of a run and of a sample, and the paper's milliseconds if given."""
    theirs = paper_ms or {}
    return [
        {
            **{name: row[name] for name in KIND},
            "ms_per_run": 1e-6 * row["ns_per_sample"] * row["mean"],
            "ns_per_sample": row["ns_per_sample"],
            "paper_ms_per_run": theirs.get((row["instance"], row["algorithm"]), ""),
        }
        for row in study.summary()
    ]


def runtimes(timing: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return as texts the milliseconds of a run that the paper gives, ours, and both over those of e-cAPE."""
    timed = [row for row in timing if row["paper_ms_per_run"] not in ("", None)]
    found = []
    for row in timed:
        first = next(one for one in timed if one["instance"] == row["instance"] and one["algorithm"] == "e-cape")
        theirs, ours = (float(row[column]) for column in ("paper_ms_per_run", "ms_per_run"))
        found.append(
            {
                "instance": row["instance"],
                "algorithm": row["algorithm"],
                "the paper, ms": f"{theirs:,.0f}",
                "ours, ms": f"{ours:.2f}",
                "the paper, over e-cape": f"{theirs / float(first['paper_ms_per_run']):.2f}",
                "ours, over e-cape": f"{ours / float(first['ms_per_run']):.2f}",
            }
        )
    return found


def by_kind(study: Study, what: str = "mean") -> dict[str, dict[str, float]]:
    """Return a column of the summary by instance and algorithm."""
    found: dict[str, dict[str, float]] = {}
    for row in study.summary():
        found.setdefault(row["instance"], {})[row["algorithm"]] = row[what]
    return found


# --- what is said of a study ------------------------------------------------------------------------------------------


def listed(by_algorithm: Mapping[str, float]) -> str:
    """Return the numbers with their names.

    >>> listed({"e-cape": 54263.2, "uniform": 128538.0})
    'e-cape 54,263; uniform 128,538'
    """
    return "; ".join(f"{name} {value:,.0f}" for name, value in by_algorithm.items())


def same_mean(study: Study, instance: str, first: str, second: str) -> bool:
    """True if two means of samples are closer than twice the standard error of their difference, run by run."""
    runs = study.records[study.records["instance"] == instance]
    one, other = (np.sort(runs[runs["algorithm"] == name], order="run")["samples"] for name in (first, second))
    difference = one.astype(float64) - other
    return bool(abs(difference.mean()) < 2.0 * difference.std(ddof=1) / math.sqrt(len(difference)))


def not_beaten(study: Study, instance: str, ours: str) -> str:
    """Return in words the rivals that do not clearly need more samples, "" if all do.

    >>> from paretoguard.simulation.study import simulate
    >>> not_beaten(simulate("two-stage-gap", algorithms=["e-cape", "two-stage"], runs=20), "two-stage-gap", "two-stage")
    'e-cape needs fewer'
    """
    mean = by_kind(study)[instance]
    words = []
    for rival in mean:
        if rival != ours and same_mean(study, instance, ours, rival):
            words.append(f"{rival} cannot be told apart")
        elif mean[rival] < mean[ours]:
            words.append(f"{rival} needs fewer")
    return "; ".join(words)


def errors_line(study: Study, told: str) -> Line:
    """Return the largest share of runs with a false claim, beside what the paper says of it."""
    rows = study.summary()
    delta = min(row["delta"] for row in rows)
    share, limit = (max(row[name] for row in rows) for name in ("error_ecpsi", "error_ecpsi_upper"))
    ours = f"at most {share:.1%} of runs (95% limit {limit:.1%})"
    why = "" if limit <= delta else "more than δ cannot be excluded by so few runs"
    return Line("errors", told, ours, agrees(share <= delta), why)
