"""A blank figure that looks the same for everybody, and files that come out the same every time.

Nothing global is touched: figures are made without pyplot, and the user's backend and settings stay as they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from paretoguard.errors import FileError
from paretoguard.pictures.palette import QUIET

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure

Target: TypeAlias = "str | PathLike[str] | Figure | None"  # a file to write, a figure to draw on, or neither

METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
SUFFIXES = tuple(METADATA)
DPI = 160
WIDE = 8.0  # a ratio of samples beyond which an axis is logarithmic
_SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8A8A8A",
    "axes.labelcolor": "#222222",
    "axes.linewidth": 0.8,
    "xtick.color": "#5F5F5F",
    "ytick.color": "#5F5F5F",
    "axes.formatter.useoffset": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "paretoguard",
    "path.simplify": False,
}


@contextmanager
def look() -> Iterator[None]:
    """Draw with the project's settings; the user's are back afterwards."""
    import matplotlib.style

    with matplotlib.style.context(["default", _SETTINGS]):
        yield


def figure_for(target: Target, width: float, height: float) -> "Figure":
    """Return the figure to draw on: the one given, emptied, or a new one of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if isinstance(target, Figure):
        target.clear()
        target.set_layout_engine("constrained")
        return target
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def write_around(figure: "Figure", title: str, caption: str) -> None:
    """Write a title above everything and a caption below."""
    figure.suptitle(title, x=0.012, ha="left", weight="bold", size=13, parse_math=False)
    figure.supxlabel(caption, x=0.012, ha="left", size=7.5, color=QUIET, parse_math=False)


def settled(figure: "Figure") -> "RendererAgg":
    """Lay the figure out, keep that layout, and return a renderer that measures its texts."""
    from matplotlib.backends.backend_agg import RendererAgg

    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return RendererAgg(*figure.bbox.size, figure.dpi)  # type: ignore[no-untyped-call]


def save(figure: "Figure", target: Target) -> None:
    """Write the figure if the target is a path; its suffix names the format."""
    from matplotlib.figure import Figure

    if target is None or isinstance(target, Figure):
        return
    path = picture_path(target)
    suffix = path.suffix.lower()
    try:
        figure.savefig(path, format=suffix[1:], dpi=DPI, metadata=METADATA[suffix])
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error


def picture_path(path: str | PathLike[str]) -> Path:
    """Return the path; raise FileError if nothing can be drawn into a file with its suffix."""
    checked = Path(path)
    if checked.suffix.lower() not in SUFFIXES:
        raise FileError(f"cannot draw into '{checked}': its name should end in {', '.join(SUFFIXES[:-1])} or .pdf")
    return checked
