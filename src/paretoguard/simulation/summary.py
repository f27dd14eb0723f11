"""What the runs of one cell add up to, with exact binomial limits for error rates."""

from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import NDArray
from scipy.special import betaincinv

from paretoguard.simulation.runner import Cell
from paretoguard.trial import promises
from paretoguard.verdict import show


def summarise(cell: Cell, rows: NDArray[Any]) -> dict[str, Any]:
    """Return samples, both error rates with their limits, and CPU time, of the runs of one cell."""
    samples, runs = rows["samples"].astype(float64), len(rows)
    q05, median, q95 = np.quantile(samples, [0.05, 0.5, 0.95]) if runs else (np.nan,) * 3
    errors = {task: int(rows[f"wrong_{task}"].sum()) for task in ("cpsi", "ecpsi")}
    instance, algorithm, evidence, delta = cell.labels
    return {
        "instance": instance,
        "algorithm": algorithm,
        "evidence": evidence,
        "delta": delta,
        "guarantee": promises.guarantee(cell.evidence, cell.instance.problem),
        "runs": runs,
        "mean": float(samples.mean()) if runs else np.nan,
        "std": float(samples.std(ddof=1)) if runs > 1 else np.nan,
        "median": float(median),
        "q05": float(q05),
        "q95": float(q95),
        "error_cpsi": errors["cpsi"] / runs if runs else np.nan,
        "error_cpsi_upper": upper_limit(errors["cpsi"], runs),
        "error_ecpsi": errors["ecpsi"] / runs if runs else np.nan,
        "error_ecpsi_upper": upper_limit(errors["ecpsi"], runs),
        "undecided": float(rows["undecided"].mean()) if runs else np.nan,
        "ns_per_sample": float(rows["ns"].sum() / samples.sum()) if runs else np.nan,
        "task": cell.algorithm.task,
    }


def as_texts(row: dict[str, Any]) -> dict[str, str]:
    cells = {name: str(row[name]) for name in ("instance", "algorithm", "evidence")}
    cells |= {"delta": f"{row['delta']:g}", "guarantee": row["guarantee"], "runs": f"{row['runs']:,}"}
    for name, label in (("mean", "mean samples"), ("std", "std"), ("median", "median"), ("q95", "q95")):
        cells[label] = "–" if np.isnan(row[name]) else show(row[name])
    cells["error"] = error(row, 2) if row["runs"] else "–"
    cells["undecided"] = f"{row['undecided']:.0%}" if row["runs"] else "–"
    return cells


def error(row: dict[str, Any], digits: int) -> str:
    """Return the error rate of what the algorithm promises, and its limit."""
    task = row["task"].replace("-", "")
    return f"{row[f'error_{task}']:.{digits}%} (≤ {row[f'error_{task}_upper']:.{digits}%})"


def upper_limit(errors: int, runs: int, confidence: float = 0.95) -> float:
    """Return the one-sided Clopper–Pearson upper limit: with this confidence the true rate is not above it.

    >>> round(upper_limit(0, 500), 5)
    0.00597
    """
    if runs == 0 or errors >= runs:
        return 1.0
    return float(betaincinv(errors + 1, runs - errors, confidence))
