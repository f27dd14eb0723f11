"""Studies as data: a line for each run or kind of run, means by instance and algorithm, and the time they took."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy import float64

from paretoguard.papers.outcome import Line, agrees
from paretoguard.simulation.study import Study

KIND = ("instance", "algorithm", "evidence", "delta")


def run_rows(study: Study) -> list[dict[str, Any]]:
    """One line for each run, in the order of the study's kinds."""
    return [
        {
            "instance": str(run["instance"]),
            "algorithm": str(run["algorithm"]),
            "evidence": str(run["evidence"]),
            "delta": float(run["delta"]),
            "run": int(run["run"]),
            "samples": int(run["samples"]),
            "wrong_cpsi": int(run["wrong_cpsi"]),
            "wrong_ecpsi": int(run["wrong_ecpsi"]),
        }
        for cell in study.cells
        for run in study.records[study.of(cell)]
    ]


def summary_rows(study: Study) -> list[dict[str, Any]]:
    """One line for each kind of run: samples, and both error rates with their limits."""
    samples = ("guarantee", "runs", "mean", "std", "q05", "median", "q95")
    errors = ("error_cpsi", "error_cpsi_upper", "error_ecpsi", "error_ecpsi_upper", "undecided")
    return [{name: row[name] for name in (*KIND, *samples, *errors)} for row in study.summary()]


def timing_rows(study: Study, paper_ms: Mapping[tuple[str, str], float] | None = None) -> list[dict[str, Any]]:
    """CPU time of a run and of a sample, beside the paper's milliseconds where it gives them."""
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
    """Milliseconds of a run beside the paper's where it gives them, and both over those of e-cAPE, as texts."""
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
    """Mean samples, or another column of the summary, by instance and algorithm."""
    found: dict[str, dict[str, float]] = {}
    for row in study.summary():
        found.setdefault(row["instance"], {})[row["algorithm"]] = row[what]
    return found


def same_mean(study: Study, instance: str, first: str, second: str) -> bool:
    """Are two means of samples closer than twice the standard error of their difference, run by run?"""
    runs = study.records[study.records["instance"] == instance]
    one, other = (np.sort(runs[runs["algorithm"] == name], order="run")["samples"] for name in (first, second))
    difference = one.astype(float64) - other
    return bool(abs(difference.mean()) < 2.0 * difference.std(ddof=1) / math.sqrt(len(difference)))


def listed(by_algorithm: Mapping[str, float]) -> str:
    """All of them in words.

    >>> listed({"e-cape": 54263.2, "uniform": 128538.0})
    'e-cape 54,263; uniform 128,538'
    """
    return "; ".join(f"{name} {value:,.0f}" for name, value in by_algorithm.items())


def not_beaten(study: Study, instance: str, ours: str) -> str:
    """The rivals that do not clearly need more samples, in words; none if all do.

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
    """The largest share of runs with a false claim beside what the paper says of it."""
    rows = study.summary()
    delta = min(row["delta"] for row in rows)
    share, limit = (max(row[name] for row in rows) for name in ("error_ecpsi", "error_ecpsi_upper"))
    ours = f"at most {share:.1%} of runs (95% limit {limit:.1%})"
    why = "" if limit <= delta else "more than δ cannot be excluded by so few runs"
    return Line("errors", told, ours, agrees(share <= delta), why)
