"""Where the samples of a result went: one bar, cut into the arms' shares."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from paretoguard.pictures.palette import LOOKS, QUIET, small_marks
from paretoguard.pictures.text_placement import short
from paretoguard.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg

HEIGHT = 0.5  # inches, with the words above the bar
FONT = 7.5
SMALL = 0.03  # arms with less than this share have one piece together
REST = "#E6E6E6"
MARK, GAP = 13.0, 4.0  # points: room for a mark, and beside a name


class Piece(NamedTuple):
    """A part of the bar: from where, how many pulls, and whose; None stands for the rest."""

    left: int
    pulls: int
    verdict: Verdict | None


def draw_shares(axes: "Axes", verdicts: Sequence[Verdict]) -> None:
    """The bar, most pulled arms first; what is in it is written once the layout is settled."""
    pieces = _pieces(verdicts)
    total = max(sum(piece.pulls for piece in pieces), 1)
    axes.set(xlim=(0, total), ylim=(0, 1))
    axes.set_axis_off()
    for left, pulls, verdict in pieces:
        colour, alpha = (LOOKS[verdict.status].colour, 0.22) if verdict else (REST, 1.0)
        axes.barh(0.5, pulls, left=left, height=1, align="center", color=colour, alpha=alpha, linewidth=0)
        axes.plot([left + pulls] * 2, [0, 1], color="white", linewidth=1.2, clip_on=False)
    rest = sum(piece.pulls for piece in pieces if piece.verdict is None)
    number = len(verdicts) - sum(piece.verdict is not None for piece in pieces)
    words = f"; grey: the other {number} arms, {_percent(rest, total)}" if number else ""
    axes.set_title(f"where the samples went{words}", loc="left", fontsize=8, color=QUIET, pad=3)


def write_shares(axes: "Axes", verdicts: Sequence[Verdict], renderer: "RendererAgg") -> None:
    """Each arm's mark, name and pulls in its piece: as much of these as there is room for."""
    pieces = _pieces(verdicts)
    total = sum(piece.pulls for piece in pieces)
    point = renderer.dpi / 72
    for left, pulls, verdict in pieces:
        start, end = axes.transData.transform([(left, 0.5), (left + pulls, 0.5)])[:, 0]
        if verdict is None or end - start < MARK * point:
            continue
        share = _percent(pulls, total)
        name = short(verdict.arm)
        for words in (f"{verdict.arm}  {pulls:,} ({share})", f"{name}  {share}", name, share, ""):
            text = axes.annotate(words, (left, 0.47), (MARK + GAP, 0), textcoords="offset points", parse_math=False)
            text.set(fontsize=FONT, va="center", color="#222222", in_layout=False)
            text.set_fontweight("bold" if verdict.status == "optimal" else "normal")
            if not words or text.get_window_extent(renderer).width + (MARK + 2 * GAP) * point <= end - start:
                break
            text.remove()
        middle = start + (MARK / 2 + 2) * point if words else (start + end) / 2
        for style in small_marks(verdict.status):
            axes.plot(axes.transData.inverted().transform((middle, 0))[0], 0.5, **style)


def _pieces(verdicts: Sequence[Verdict]) -> list[Piece]:
    """The bar from left to right; small pieces are one, if there are several."""
    total = sum(verdict.pulls for verdict in verdicts)
    order = sorted(verdicts, key=lambda verdict: -verdict.pulls)
    large = [verdict for verdict in order if verdict.pulls >= SMALL * total]
    if len(order) - len(large) < 2:
        large = order
    found, left = [], 0
    for verdict in large:
        found.append(Piece(left, verdict.pulls, verdict))
        left += verdict.pulls
    return [*found, Piece(left, total - left, None)] if left < total else found


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if part >= 0.01 * whole else "<1%"
