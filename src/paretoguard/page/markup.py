"""HTML from parts, escaped unless they are markup already, so that names may hold anything; pictures as SVG."""

import colorsys
import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from paretoguard.pictures.canvas import METADATA, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Html(str):
    """Text that is markup; made by the functions here only."""

    __slots__ = ()


_MOST_IN_LINE = 30  # letters of a name that is kept in one line: a phone has room for as many


def tag(name: str, /, *parts: str, **attributes: str) -> Html:
    """Return an element; a trailing _ of an attribute falls away, others are dashes.

    >>> tag("p", "a < b", tag("b", "!"), class_="note")
    '<p class="note">a &lt; b<b>!</b></p>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}>" if name == "meta" else f"<{name}{given}>{joined(parts)}</{name}>")


def joined(parts: Iterable[str]) -> Html:
    return Html("".join(part if isinstance(part, Html) else html.escape(part, quote=False) for part in parts))


def unbroken(text: str, names: Iterable[str]) -> Html:
    """Return text in which names such as `zstd-19` are not broken at their hyphens.

    >>> unbroken("a-1 beats a-12", ["a-1", "a-12"])
    '<span class="name">a-1</span> beats <span class="name">a-12</span>'
    """
    kept = [re.escape(name) for name in names if "-" in name and re.fullmatch(rf"[\w.+-]{{1,{_MOST_IN_LINE}}}", name)]
    if not kept:
        return joined([text])
    parts = re.split(rf"(?<![\w-])({'|'.join(sorted(kept, key=len, reverse=True))})(?![\w-])", text)
    return joined(tag("span", part, class_="name") if place % 2 else part for place, part in enumerate(parts))


def scrolling(part: Html, label: str) -> Html:
    """Return a part that may be wider than the screen."""
    return tag("div", part, class_="scroll", tabindex="0", role="region", aria_label=label)


def table_of(caption: str, rows: Sequence[Mapping[str, str]], right: Sequence[str]) -> Html:
    """Return a table with a header for each column and each row; on narrow screens each row is a card."""
    kinds = {name: "number" if name in right else "words" for name in rows[0]}
    heads = (tag("th", name, scope="col", role="columnheader", class_=kind) for name, kind in kinds.items())
    lines = []
    for row in rows:
        (_, name), *others = row.items()
        width = "short" if len(name) <= _MOST_IN_LINE else "long"
        cells = (tag("td", cell, role="cell", class_=kinds[column], data_label=column) for column, cell in others)
        lines.append(tag("tr", tag("th", name, scope="row", role="rowheader", class_=width), *cells, role="row"))
    head, body = tag("thead", tag("tr", *heads, role="row"), role="rowgroup"), tag("tbody", *lines, role="rowgroup")
    return scrolling(tag("table", tag("caption", caption), head, body, role="table"), caption)


def pairs_of(rows: Iterable[tuple[str, str]], kind: str) -> Html:
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", said)) for word, said in rows), class_=kind)


# --- pictures, in colours that the page may change for readers in the dark --------------------------------------------

# A colour that is not named here has its lightness turned round.
_DARK = {
    "#ffffff": "#15191c",
    "#009e73": "#2fc79a",
    "#0072b2": "#62b6ee",
    "#d55e00": "#ff8a3d",
    "#4d4d4d": "#c4c4c4",
    "#e3eee8": "#1f322a",
    "#b9ccc1": "#3f5a4d",
    "#3c4a43": "#a9bdb3",
}
_READABLE = 0.95  # CSS pixels for a point, at least: on narrow screens a picture scrolls
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


class Picture(NamedTuple):
    """A picture for a page, and its colours."""

    markup: Html
    colours: frozenset[str]


def inline(figure: "Figure", name: str, title: str, description: str) -> Picture:
    """Return the figure as SVG; `name` keeps its ids apart from others, the texts are for readers who cannot see."""
    written = io.StringIO()
    with look():
        figure.savefig(written, format="svg", metadata=METADATA[".svg"])
    text = written.getvalue()
    body = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    for unwanted in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<style.*?</style>"):
        body = re.sub(unwanted, "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(?:xlink:)?href="#', f'href="#{name}-', body)
    body = body.replace("url(#", f"url(#{name}-")
    body = re.sub(r"\s*\n\s*", "\n", body)
    colours = frozenset(_COLOUR.findall(body))
    body = _COLOUR.sub(lambda found: f"var({_variable(found[0])})", body)
    width, height = (72 * inches for inches in figure.get_size_inches())
    label = {"aria_labelledby": f"{name}-title", "aria_describedby": f"{name}-description"}
    markup = tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-description"),
        Html(body),
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        style=f"min-width:{_READABLE * width:.0f}px",
        **label,
    )
    return Picture(markup, colours)


def rules(colours: Iterable[str], *, dark: bool) -> str:
    """Return the colours as CSS variables."""
    return "".join(f"{_variable(one)}:{_darkened(one) if dark else one};" for one in sorted(colours))


def _variable(colour: str) -> str:
    return f"--c{colour[1:]}"


def _darkened(colour: str) -> str:
    """Return the colour for dark pages; greys stay greys, from nearly black to nearly white.

    >>> _darkened("#222222"), _darkened("#f4f4f4")
    ('#d5d5d5', '#232323')
    """
    if colour in _DARK:
        return _DARK[colour]
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, light, strength = colorsys.rgb_to_hls(red, green, blue)
    turned = colorsys.hls_to_rgb(hue, 0.1 + 0.85 * (1 - light), strength)
    return "#" + "".join(f"{round(255 * part):02x}" for part in turned)
