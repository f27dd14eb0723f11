"""Drafts of events, each worked into the fold as it is drafted."""

import time
from typing import Any

from paretoguard.experiment.events import RETRACTED, START, STOPPED, Draft, Entry
from paretoguard.experiment.fold import Fold


class Writer:
    """Drafts events and works each into the fold at once. Time never goes back."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self.time = max(time.time(), fold.time)
        self.drafts: list[Draft] = []

    def __call__(self, kind: str, data: dict[str, Any]) -> int:
        """Draft an event; return its number."""
        draft = Draft(kind, data, self.time)
        if kind != RETRACTED:  # that needs a new fold
            self._fold.apply(Entry(self._fold.sequence + 1, round(self.time, 6), kind, data), START)
        else:
            self._fold.sequence += 1
        self.drafts.append(draft)
        return self._fold.sequence


def note_end(fold: Fold, write: Writer) -> None:
    """Record that the answer was found, or the budget spent, once."""
    trial = fold.trial
    if fold.stopped is not None or not (trial.answered or trial.samples >= trial.budget):
        return
    statuses = trial.statuses()
    write(STOPPED, {"why": "answered" if trial.answered else "budget", "samples": trial.samples, "statuses": statuses})
