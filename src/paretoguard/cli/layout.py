"""Tables without a frame, and how wide they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paretoguard.verdict import tables

if TYPE_CHECKING:
    from rich.table import Table

Rows = Sequence[dict[str, str]]


def slim(title: str, rows: Rows, styles: Sequence[str] = (), right: Sequence[str] = (), caption: str = "") -> "Table":
    """A table of rows with lines between its columns but none around it: four columns narrower."""
    made = tables.table(title, rows, caption, styles, right)
    made.show_edge = made.pad_edge = False
    return made


def needed(rows: Rows) -> int:
    """Columns that a table of these rows takes when nothing wraps."""
    from rich.cells import cell_len

    widths = [max(cell_len(text) for text in (name, *(row[name] for row in rows))) for name in rows[0]]
    return sum(widths) + 3 * (len(widths) - 1)


def without(rows: Rows, *names: str) -> Rows:
    """The rows without these columns."""
    return [{key: cell for key, cell in row.items() if key not in names} for row in rows]
