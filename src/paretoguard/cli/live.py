"""Watching a trial while it runs: a live table on a terminal, a few lines elsewhere; always on stderr."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table

from paretoguard.cli.console import plural
from paretoguard.cli.layout import WHY, narrowed, slim, width_of, without
from paretoguard.compiler import tiers
from paretoguard.pictures.text_placement import short
from paretoguard.trial.trial import Trial
from paretoguard.verdict import COLOURS, Result

if TYPE_CHECKING:
    from rich.console import Console

STRIDE = 64  # samples between two looks at the clock
PICTURE_SECONDS = 0.25  # between two pictures of the live table
FIRST_LINE = 1000  # samples; later lines come at four times the samples of the one before


def drive(trial: Trial, sample: Callable[[str], Mapping[str, float]], console: "Console") -> None:
    """Run a trial until it stops, showing on the console where it stands."""
    due, line = 0.0, FIRST_LINE
    with compiling(console), watching(console) as show:
        while (arm := trial.next_arm()) is not None:
            trial.tell(arm, sample(arm))
            if trial.samples % STRIDE:
                continue
            if console.is_terminal and time.monotonic() >= due:
                show(live_table(trial.result(), console, "Ctrl-C stops and shows what is known"))
                due = time.monotonic() + PICTURE_SECONDS
            elif not console.is_terminal and trial.samples >= line:
                console.print(status_line(trial.result()))
                line *= 4


@contextmanager
def compiling(console: "Console") -> Iterator[None]:
    """Say so if kernels have to be compiled, which takes a while the first time."""
    said: list[int] = []

    def say(kernels: int) -> None:
        if not said:
            what = "kernels" if kernels == 1 else plural(kernels, "kernel")
            console.print(f"compiling {what} (first run only)…")
        said.append(kernels)

    with tiers.announcing(say):
        yield


@contextmanager
def watching(console: "Console") -> Iterator[Callable[[Table], None]]:
    """Yield a function that shows a table in the place of the one before."""
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda table: live.update(table, refresh=True)


def status_line(result: Result) -> str:
    """Return how many arms have which status."""
    statuses = [verdict.status for verdict in result.verdicts.values()]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in COLOURS if status in statuses)
    return f"{plural(result.samples, 'sample')}: {counts}"


def live_table(result: Result, console: "Console", caption: str) -> Table:
    """Return where every arm stands, as far as the screen has room; where it has not, undecided arms come first."""
    full = result.rows()
    if width_of(without(full, WHY)) > console.width:  # names that wrap would push the caption off the screen
        full = [row | {"arm": short(row["arm"])} for row in full]
    rows = narrowed(full, console.width)
    verdicts = list(result.verdicts.values())
    below = math.ceil(1.2 * len(caption) / min(width_of(rows), console.width))  # lines: words do not fill them
    order, room = list(range(len(rows))), max(console.height - 5 - below, 3)
    if len(rows) > room:
        order.sort(key=lambda place: verdicts[place].status != "undecided")
    shown, left = order[:room], max(len(rows) - room, 0)
    more = f"; {left} more arm{'' if left == 1 else 's'}" if left else ""
    title = f"{plural(result.samples, 'sample')} so far{more}"
    styles = [COLOURS[verdicts[place].status] for place in shown]
    made = slim(title, [rows[place] for place in shown], styles, right=("pulls",), caption=caption)
    names = made.columns[0]
    names.no_wrap, names.overflow = True, "ellipsis"
    names.max_width = max(console.width - width_of(without(rows, "arm")) - 3, 5)
    return made
