"""HTML from parts: whatever is not markup already is escaped, so that names may hold anything."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence


class Html(str):
    """Text that is markup; made by the functions here only."""

    __slots__ = ()


VOID = ("meta", "br")
MOST_IN_LINE = 30  # letters of a name that is kept in one line: a phone has room for as many


def tag(name: str, /, *parts: str, **attributes: str) -> Html:
    """An element; a trailing _ of an attribute falls away, others are dashes.

    >>> tag("p", "a < b", tag("b", "!"), class_="note")
    '<p class="note">a &lt; b<b>!</b></p>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items())
    inside = joined(parts)
    return Html(f"<{name}{given}>" if name in VOID else f"<{name}{given}>{inside}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Parts one after the other."""
    return Html(between.join(part if isinstance(part, Html) else html.escape(part, quote=False) for part in parts))


def whole_names(text: str, names: Iterable[str]) -> Html:
    """Text in which names such as `zstd-19` are not broken at their hyphens.

    >>> whole_names("a-1 beats a-12", ["a-1", "a-12"])
    '<span class="name">a-1</span> beats <span class="name">a-12</span>'
    """
    kept = [re.escape(name) for name in names if "-" in name and re.fullmatch(rf"[\w.+-]{{1,{MOST_IN_LINE}}}", name)]
    if not kept:
        return joined([text])
    parts = re.split(rf"(?<![\w-])({'|'.join(sorted(kept, key=len, reverse=True))})(?![\w-])", text)
    return joined(tag("span", part, class_="name") if place % 2 else part for place, part in enumerate(parts))


def table(caption: str, rows: Sequence[Mapping[str, str]], *, right: Sequence[str] = ()) -> Html:
    """A table with a header for each column and each row; on narrow screens each row is a card."""
    columns = list(rows[0])
    kinds = ["number" if name in right else "words" for name in columns]
    heads = (
        tag("th", name, scope="col", role="columnheader", class_=kind)
        for name, kind in zip(columns, kinds, strict=True)
    )
    head = tag("tr", *heads, role="row")
    body = [_row(row, columns, kinds) for row in rows]
    parts = tag("caption", caption), tag("thead", head, role="rowgroup"), tag("tbody", *body, role="rowgroup")
    return scrolling(tag("table", *parts, role="table"), caption)


def scrolling(part: Html, label: str) -> Html:
    """A part that may be wider than the screen."""
    return tag("div", part, class_="scroll", tabindex="0", role="region", aria_label=label)


def _row(row: Mapping[str, str], columns: Sequence[str], kinds: Sequence[str]) -> Html:
    name = row[columns[0]]
    cells = [tag("th", name, scope="row", role="rowheader", class_="short" if len(name) <= MOST_IN_LINE else "long")]
    for name, kind in zip(columns[1:], kinds[1:], strict=True):
        cells.append(tag("td", row[name], role="cell", class_=kind, data_label=name))
    return tag("tr", *cells, role="row")


def pairs(rows: Iterable[tuple[str, str]], kind: str) -> Html:
    """Words and what they stand for."""
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", said)) for word, said in rows), class_=kind)


def listed(items: Iterable[str]) -> Html:
    """A list."""
    return tag("ul", *(tag("li", item) for item in items))
