"""A progress bar on a terminal's stderr, for anything that takes more than two seconds; silent elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int], None]
QUIET_SECONDS = 2.0


@contextmanager
def progress(total: int, title: str) -> Iterator[Report]:
    """Give a function that is told how much more is done; the bar appears after two seconds, on a terminal only."""
    if not sys.stderr.isatty() or total == 0:
        yield lambda finished: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=total)
    begun, lock = time.monotonic(), threading.Lock()

    def report(finished: int) -> None:
        with lock:
            bar.advance(task, finished)
            if not bar.live.is_started and time.monotonic() - begun > QUIET_SECONDS:
                bar.start()

    try:
        yield report
    finally:
        bar.stop()
