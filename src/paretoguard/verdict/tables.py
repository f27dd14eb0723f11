"""Tables of plain rows, for terminals, text and notebooks; and numbers as people write them."""

import html
import io
import math
import shutil
from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

Rows = Sequence[Mapping[str, str]]


def table(title: str, rows: Rows, caption: str = "", styles: Sequence[str] = (), right: Sequence[str] = ()) -> Table:
    """Return a rich table; `styles` colours the first cells of each row, the columns in `right` are aligned right."""
    made = Table(
        title=Text(title, style="bold"),
        caption=Text(caption) if caption else None,
        title_justify="left",
        caption_justify="left",
        show_lines=any(len(cell) > 60 for row in rows for cell in row.values()),
    )
    for name in rows[0]:
        made.add_column(escape(name), justify="right" if name in right else "left", overflow="fold")
    for place, row in enumerate(rows):
        style = styles[place] if place < len(styles) else ""
        made.add_row(*(Text(cell, style=style if column < 2 else "") for column, cell in enumerate(row.values())))
    return made


def apart(rows: Rows, movable: Sequence[str]) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Return the rows without the movable columns that are the same in all rows, and those columns' cells."""
    same = {name: rows[0][name] for name in movable if len({row[name] for row in rows}) == 1}
    return [{name: cell for name, cell in row.items() if name not in same} for row in rows], same


def as_text(item: RenderableType, width: int | None = None) -> str:
    """Return a rich renderable as plain text, as wide as the terminal (120 columns if there is none)."""
    columns = width or max(60, shutil.get_terminal_size((120, 40)).columns)
    console = Console(file=io.StringIO(), width=columns, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(item)
    return capture.get().rstrip("\n")


def as_html(title: str, rows: Rows, caption: str = "") -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row.values()) + "</tr>"
        for row in rows
    )
    return f"<p><b>{html.escape(title)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
        f"<p>{html.escape(caption)}</p>" if caption else ""
    )


# --- numbers as people write them -------------------------------------------------------------------------------------


def show(value: float) -> str:
    """Return a number with three significant digits, without an exponent if that is readable.

    >>> show(0.06512), show(1234567.0), show(-0.00001234)
    ('0.0651', '1,234,567', '-1.23e-05')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def show_least(value: float) -> str:
    """Return a number as `show` does, but rounded down, so that "at least" stays true.

    >>> show_least(0.06519), show_least(1999.7)
    ('0.0651', '1,999')
    """
    if 1000 <= abs(value) < 1e15:
        return f"{math.floor(value):,}"
    digits = f"{value:.3g}"
    if float(digits) > value:
        digits = f"{value - 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - 2):.3g}"
    return digits


def show_interval(mean: float, low: float, high: float) -> str:
    """Return a mean with its limits, if it has any, to two digits of the half-width.

    >>> show_interval(0.38708, 0.37416, 0.40001), show_interval(12.0, 12.0, 12.0)
    ('0.387 [0.374, 0.400]', '12')
    """
    half = (high - low) / 2
    if half <= 0 or math.isinf(half):
        return show(mean)
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:,.{decimals}f} [{low:,.{decimals}f}, {high:,.{decimals}f}]"
