"""Tables of plain rows, for terminals, text and notebooks."""

import html
import io
import shutil
from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

Rows = Sequence[Mapping[str, str]]


def table(title: str, rows: Rows, caption: str = "", styles: Sequence[str] = (), right: Sequence[str] = ()) -> Table:
    """A rich table of rows with the same columns; `styles` colours each row's first cells, `right` is aligned so."""
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
    """The rows without those of the movable columns that are the same in all of them, and what these say."""
    same = {name: rows[0][name] for name in movable if len({row[name] for row in rows}) == 1}
    return [{name: cell for name, cell in row.items() if name not in same} for row in rows], same


def render(item: RenderableType, width: int | None = None) -> str:
    """A rich renderable as plain text, as wide as the terminal (120 columns where there is none)."""
    columns = width or max(60, shutil.get_terminal_size((120, 40)).columns)
    console = Console(file=io.StringIO(), width=columns, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(item)
    return capture.get().rstrip("\n")


def as_html(title: str, rows: Rows, caption: str = "") -> str:
    """The same table for a notebook."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row.values()) + "</tr>"
        for row in rows
    )
    return f"<p><b>{html.escape(title)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
        f"<p>{html.escape(caption)}</p>" if caption else ""
    )
