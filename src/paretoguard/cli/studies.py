"""The summary of a study on a screen of any width: what is the same everywhere goes below the table."""

from typing import TYPE_CHECKING

from paretoguard.cli.layout import Rows, needed, slim, without
from paretoguard.simulation.study import ERROR, MOVABLE, Study
from paretoguard.verdict import tables

if TYPE_CHECKING:
    from rich.console import Console

DROPPABLE = ("std", "median", "q95", "guarantee")  # where it is narrow, the first to go
LEFT = ("instance", "algorithm", "evidence", "guarantee")
ASSUMED = "guarantees assume independent draws, steady means, and noise and dependence as declared; --json lists them"
HEURISTIC = (
    "heuristic: no guarantee. `run` and pg.identify take 'certified' unless told otherwise, which costs more samples"
)


def print_study(console: "Console", study: Study) -> None:
    """One row for each instance × algorithm × evidence × delta."""
    rows: Rows
    rows, same = tables.apart(study.rows(), MOVABLE)
    for name in DROPPABLE:
        if name in rows[0] and needed(rows) > console.width:
            rows = without(rows, name)
    right = [name for name in rows[0] if name not in LEFT]
    console.print(slim(study.headline(), rows, right=right))
    if "guarantee" not in rows[0] and "guarantee" not in same:
        same["guarantee"] = ", ".join(dict.fromkeys(f"{row['evidence']} {row['guarantee']}" for row in study.rows()))
    if same:
        console.print(" · ".join(f"{key}: {cell}" for key, cell in same.items()))
    console.print(ERROR)
    console.print(ASSUMED)
    if any(row["guarantee"] == "heuristic" for row in study.summary()):
        console.print(HEURISTIC)
