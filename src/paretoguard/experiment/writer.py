"""Drafts of events, each worked into the fold as it is drafted."""

import time
from typing import Any

from paretoguard.experiment.events import ASKED, RETRACTED, START, STOPPED, Draft, Entry
from paretoguard.experiment.ledger_state import Fold
from paretoguard.version import __version__


class Writer:
    """Drafts events and works each into the fold at once. Their times never go back, whatever clocks do."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self.now = time.time()  # by this machine's clock: one that was wrong once must not count for ever
        self._time = max(self.now, fold.time)
        self.drafts: list[Draft] = []

    def __call__(self, kind: str, data: dict[str, Any]) -> int:
        """Draft an event; return its number. Who decides, names the program if it is another than before."""
        if kind in (ASKED, STOPPED) and self._fold.program != __version__:
            data = {**data, "program": __version__}
        draft = Draft(kind, data, self._time)
        if kind != RETRACTED:  # that needs a new fold
            self._fold.apply(Entry(self._fold.sequence + 1, round(self._time, 6), kind, data), START)
        else:
            self._fold.sequence += 1
        self.drafts.append(draft)
        return self._fold.sequence


def note_end(fold: Fold, write: Writer) -> None:
    """Record that the answer was found, or the budget spent; and again where late results made it another."""
    trial = fold.trial
    trial.look()
    if not (trial.answered or trial.samples >= trial.budget):
        return
    why, statuses = "answered" if trial.answered else "budget", trial.statuses()
    if fold.stopped is None or (fold.stopped["why"], fold.stopped["statuses"]) != (why, statuses):
        write(STOPPED, {"why": why, "samples": trial.samples, "statuses": statuses})
