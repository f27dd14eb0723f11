"""A result on a screen of any width: a table, with the reasons in it or below it."""

from typing import TYPE_CHECKING

from paretoguard.cli.layout import Rows, needed, slim, without
from paretoguard.verdict import COLOURS, MARKS, Result

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WHY = "why"
ROOM_FOR_WHY = 60  # columns; with less, reasons stand below the table
FIXED = ("arm", "status", "pulls")


def print_result(console: "Console", result: Result) -> None:
    """The answer, the verdict of each arm with its reason, and what it is worth."""
    rows: Rows = result.rows()
    longest = max(len(row[WHY]) for row in rows)
    beside = needed(without(rows, WHY)) + 3 + min(ROOM_FOR_WHY, longest) <= console.width
    shown = rows if beside else narrowed(rows, console.width)
    styles = [COLOURS[verdict.status] for verdict in result.verdicts.values()]
    console.print(slim(result.headline(), shown, styles, right=("pulls",)))
    if len(shown[0]) == len(FIXED):
        console.print("(too narrow for the estimates: widen the terminal, or use --json)", style="dim")
    elif result.across() and any("[" in row[name] for row in shown for name in row if name not in (*FIXED, WHY)):
        console.print(result.across(), style="dim")
    if not beside:
        console.print()
        console.print(_reasons(result))
    console.print()
    console.print(result.footer())
    said = result.stated.notes if result.stated is not None else ()  # before the run
    for remark in result.remarks(said):
        console.print(remark)


def narrowed(rows: Rows, width: int) -> Rows:
    """The rows without reasons; without limits if that is too wide; without estimates if that is still too wide."""
    full = without(rows, WHY)
    estimates = [
        {name: cell if name in FIXED else cell.partition(" [")[0] for name, cell in row.items()} for row in full
    ]
    fixed = [{name: row[name] for name in FIXED} for row in rows]
    return next((choice for choice in (full, estimates) if needed(choice) <= width), fixed)


def _reasons(result: Result) -> "Table":
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(overflow="fold", max_width=28)
    grid.add_column(overflow="fold")
    for verdict in result.verdicts.values():
        name = Text(f"{MARKS[verdict.status]} {verdict.arm}", style=COLOURS[verdict.status])
        grid.add_row(name, Text(verdict.reason))
    return grid
