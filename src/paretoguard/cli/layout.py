"""Results and studies on a screen of any width: tables without a frame; reasons, limits and columns give way."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from paretoguard.verdict import COLOURS, MARKS, Result, tables
from paretoguard.verdict.tables import Rows

if TYPE_CHECKING:
    from rich.console import Console

    from paretoguard.simulation.study import Study

WHY = "why"
ROOM_FOR_WHY = 60  # columns; with less, reasons stand below the table
FIXED = ("arm", "status", "pulls")
LABELS = ("instance", "algorithm", "evidence", "guarantee")
ASSUMED = "guarantees assume independent draws, steady means, and noise and dependence as declared; --json lists them"
HEURISTIC_MEANS = (
    "heuristic: no guarantee. `run` and pg.identify take 'certified' unless told otherwise, which costs more samples"
)


def slim(title: str, rows: Rows, styles: Sequence[str] = (), right: Sequence[str] = (), caption: str = "") -> Table:
    """Return a table with lines between its columns but none around it: four columns narrower."""
    made = tables.table(title, rows, caption, styles, right)
    made.show_edge = made.pad_edge = False
    return made


def width_of(rows: Rows) -> int:
    """Return the columns that a table of these rows takes when nothing wraps."""
    widths = [max(cell_len(text) for text in (name, *(row[name] for row in rows))) for name in rows[0]]
    return sum(widths) + 3 * (len(widths) - 1)


def without(rows: Rows, *names: str) -> Rows:
    return [{key: cell for key, cell in row.items() if key not in names} for row in rows]


def dropped(rows: Rows, names: Sequence[str], width: int) -> Rows:
    """Return the rows without as many of these columns, the first ones first, as make them too wide."""
    for name in names:
        if name in rows[0] and width_of(rows) > width:
            rows = without(rows, name)
    return rows


def print_result(console: "Console", result: Result) -> None:
    """Print the answer, the verdict of each arm with its reason, and what it is worth."""
    rows: Rows = result.rows()
    longest = max(len(row[WHY]) for row in rows)
    beside = width_of(without(rows, WHY)) + 3 + min(ROOM_FOR_WHY, longest) <= console.width
    shown = rows if beside else narrowed(rows, console.width)
    styles = [COLOURS[verdict.status] for verdict in result.verdicts.values()]
    console.print(slim(result.headline(), shown, styles, right=("pulls",)))
    if len(shown[0]) == len(FIXED):
        console.print("(too narrow for the estimates: widen the terminal, or use --json)", style="dim")
    elif result.across() and any("[" in row[name] for row in shown for name in row if name not in (*FIXED, WHY)):
        console.print(result.across(), style="dim")
    if not beside:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(overflow="fold", max_width=28)
        grid.add_column(overflow="fold")
        for verdict, style in zip(result.verdicts.values(), styles, strict=True):
            grid.add_row(Text(f"{MARKS[verdict.status]} {verdict.arm}", style=style), Text(verdict.reason))
        console.print()
        console.print(grid)
    console.print()
    console.print(result.footer())
    said = result.stated.notes if result.stated is not None else ()  # before the run
    for remark in result.remarks(said):
        console.print(remark)


def narrowed(rows: Rows, width: int) -> Rows:
    """Return the rows without reasons; where that is too wide also without limits, or even without estimates."""
    full = without(rows, WHY)
    estimates = [
        {name: cell if name in FIXED else cell.partition(" [")[0] for name, cell in row.items()} for row in full
    ]
    fixed = [{name: row[name] for name in FIXED} for row in rows]
    return next((choice for choice in (full, estimates) if width_of(choice) <= width), fixed)


def print_study(console: "Console", study: "Study") -> None:
    """Print a row for each instance × algorithm × evidence × delta; below it what is the same in all."""
    from paretoguard.simulation.study import ERROR, MOVABLE

    every = study.rows()
    apart, same = tables.apart(every, MOVABLE)
    rows = dropped(apart, ("std", "median", "q95", "guarantee"), console.width)
    console.print(slim(study.headline(), rows, right=[name for name in rows[0] if name not in LABELS]))
    if "guarantee" not in rows[0] and "guarantee" not in same:
        same["guarantee"] = ", ".join(dict.fromkeys(f"{row['evidence']} {row['guarantee']}" for row in every))
    if same:
        console.print(" · ".join(f"{key}: {cell}" for key, cell in same.items()))
    console.print(ERROR)
    console.print(ASSUMED)
    if any(row["guarantee"] == "heuristic" for row in study.summary()):
        console.print(HEURISTIC_MEANS)
