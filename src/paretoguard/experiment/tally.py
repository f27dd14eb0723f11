"""How many results a ledger holds, and of which kind: counted from its events alone, without working them in."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from paretoguard.experiment.audit import counted
from paretoguard.experiment.events import ASKED, EXPIRED, RETRACTED, STOPPED, TOLD, Entry

OPEN = "open"


class Tally(NamedTuple):
    """Where a ledger stands."""

    state: str  # "answered", "budget" or "open", as recorded
    results: int  # that count
    waiting: int  # tickets without their whole result
    retracted: int


def tally(entries: Sequence[Entry], objectives: int) -> Tally:
    """Count the results in the events of a ledger."""
    state, issued, waiting, known = OPEN, 0, set[int](), defaultdict[int, set[str]](set)
    for entry in entries:
        data = entry.data
        if entry.kind == ASKED:
            state = OPEN
            waiting.update(range(issued, issued + len(data["arms"])))
            issued += len(data["arms"])
        elif entry.kind == TOLD:
            if data["id"] == issued:  # not asked for
                waiting.add(issued)
                issued += 1
            known[data["id"]].update(data["values"])
            if len(known[data["id"]]) == objectives:
                waiting.discard(data["id"])
        elif entry.kind == EXPIRED:
            waiting.difference_update(data["ids"])
        elif entry.kind == RETRACTED:
            state = OPEN
            waiting.discard(data["id"])
        elif entry.kind == STOPPED:
            state = str(data["why"])
    retracted = {entry.data["id"] for entry in entries if entry.kind == RETRACTED}
    return Tally(state, sum(1 for _ in counted(entries, objectives)), len(waiting), len(retracted))
