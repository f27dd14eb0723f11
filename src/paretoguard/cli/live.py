"""Watching a trial while it runs: a live table on a terminal, a few lines elsewhere; always on stderr."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from paretoguard.cli.layout import needed, slim, without
from paretoguard.cli.verdicts import WHY, narrowed
from paretoguard.trial.trial import Trial
from paretoguard.verdict import COLOURS, Result

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

STRIDE = 64  # samples between two looks at the clock
SECONDS = 0.25  # between two pictures of the live table
FIRST_LINE = 1000  # samples; later lines come at four times the samples of the one before


class Watch(Protocol):
    """What is told of a trial now and then."""

    def look(self, trial: Trial) -> None:
        """Show where the trial stands, if it is time to."""


def drive(trial: Trial, sample: Callable[[str], Mapping[str, float]], console: "Console") -> None:
    """Run a trial until it stops, showing on the console where it stands."""
    with compiling(console), _watch(console) as watch:
        while (arm := trial.next_arm()) is not None:
            trial.tell(arm, sample(arm))
            if trial.samples % STRIDE == 0:
                watch.look(trial)


@contextmanager
def compiling(console: "Console") -> Iterator[None]:
    """Say so if kernels have to be compiled, which takes a while the first time."""
    from paretoguard.compiler import jit

    before, done = jit.cache_hits()[1], threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            if jit.cache_hits()[1] > before:
                console.print("compiling kernels (first run only)…")
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def watching(console: "Console") -> Iterator[Callable[["Table"], None]]:
    """Something to show tables with, each in the place of the one before."""
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda table: live.update(table, refresh=True)


@contextmanager
def _watch(console: "Console") -> Iterator[Watch]:
    if not console.is_terminal:
        yield _Lines(console)
        return
    with watching(console) as show:
        yield _LiveTable(show, console)


class _Lines:
    """A line now and then, for logs and pipes."""

    def __init__(self, console: "Console") -> None:
        self._console, self._next = console, FIRST_LINE

    def look(self, trial: Trial) -> None:
        if trial.samples < self._next:
            return
        self._next *= 4
        self._console.print(counted(trial.samples, list(trial.statuses().values())))


class _LiveTable:
    """A table that is drawn again a few times a second."""

    def __init__(self, show: Callable[["Table"], None], console: "Console") -> None:
        self._show, self._console, self._due = show, console, 0.0

    def look(self, trial: Trial) -> None:
        if time.monotonic() < self._due:
            return
        self._show(table_of(trial.result(), self._console, "Ctrl-C stops and shows what is known"))
        self._due = time.monotonic() + SECONDS


def counted(samples: int, statuses: list[str]) -> str:
    """How many arms have which status."""
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in COLOURS if status in statuses)
    return f"{samples:,} sample{'' if samples == 1 else 's'}: {counts}"


def status_line(result: Result) -> str:
    """The same of a result."""
    return counted(result.samples, [verdict.status for verdict in result.verdicts.values()])


def table_of(result: Result, console: "Console", caption: str) -> "Table":
    """Where every arm stands, as far as the screen has room; undecided arms first where it has not."""
    from paretoguard.pictures.text_placement import short

    full = result.rows()
    if needed(without(full, WHY)) > console.width:  # names that wrap would push the caption off the screen
        full = [row | {"arm": short(row["arm"])} for row in full]
    rows = narrowed(full, console.width)
    verdicts = list(result.verdicts.values())
    below = math.ceil(1.2 * len(caption) / min(needed(rows), console.width))  # lines: words do not fill them
    order, room = list(range(len(rows))), max(console.height - 5 - below, 3)
    if len(rows) > room:
        order.sort(key=lambda place: verdicts[place].status != "undecided")
    shown = order[:room]
    more = (
        f"; {len(rows) - len(shown)} more arm{'' if len(rows) - len(shown) == 1 else 's'}"
        if len(shown) < len(rows)
        else ""
    )
    title = f"{result.samples:,} sample{'' if result.samples == 1 else 's'} so far{more}"
    styles = [COLOURS[verdicts[place].status] for place in shown]
    made = slim(title, [rows[place] for place in shown], styles, right=("pulls",), caption=caption)
    names = made.columns[0]
    names.no_wrap, names.overflow = True, "ellipsis"
    names.max_width = max(console.width - needed(without(rows, "arm")) - 3, 5)
    return made
