"""Pictures inside a page: SVG without a file, in colours that the page may change for readers in the dark."""

import colorsys
import io
import re
from typing import TYPE_CHECKING, NamedTuple

from paretoguard.page.markup import Html, tag
from paretoguard.pictures.canvas import METADATA, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = {"light": "#ffffff", "dark": "#15191c"}
# What is not named here has its lightness turned round.
_DARK = {
    "#ffffff": PAPER["dark"],
    "#009e73": "#2fc79a",
    "#0072b2": "#62b6ee",
    "#d55e00": "#ff8a3d",
    "#4d4d4d": "#c4c4c4",
    "#e3eee8": "#1f322a",
    "#b9ccc1": "#3f5a4d",
    "#3c4a43": "#a9bdb3",
}
READABLE = 0.95  # CSS pixels for a point, at least: on narrow screens a picture scrolls
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


class Picture(NamedTuple):
    """A picture for a page, and its colours."""

    markup: Html
    colours: frozenset[str]


def inline(figure: "Figure", name: str, title: str, description: str) -> Picture:
    """The figure as SVG; `name` keeps its ids apart from those of other pictures, the texts are for who cannot see."""
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
    return Picture(
        tag(
            "svg",
            tag("title", title, id=f"{name}-title"),
            tag("desc", description, id=f"{name}-description"),
            Html(body),
            viewBox=f"0 0 {width:g} {height:g}",
            role="img",
            style=f"min-width:{READABLE * width:.0f}px",
            **label,
        ),
        colours,
    )


def rules(colours: frozenset[str], *, dark: bool) -> str:
    """What the colours are, as CSS."""
    return "".join(f"{_variable(one)}:{_darkened(one) if dark else one};" for one in sorted(colours))


def _variable(colour: str) -> str:
    return f"--c{colour[1:]}"


def _darkened(colour: str) -> str:
    """The colour for dark pages; greys stay greys, from nearly black to nearly white.

    >>> _darkened("#222222"), _darkened("#f4f4f4")
    ('#d5d5d5', '#232323')
    """
    if colour in _DARK:
        return _DARK[colour]
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, light, strength = colorsys.rgb_to_hls(red, green, blue)
    turned = colorsys.hls_to_rgb(hue, 0.1 + 0.85 * (1 - light), strength)
    return "#" + "".join(f"{round(255 * part):02x}" for part in turned)
