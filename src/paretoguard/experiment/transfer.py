"""Ledgers as files: JSON lines, one an event, with its hash at the end. What is read back is what was written."""

import re
from collections.abc import Iterable, Iterator

from paretoguard.errors import LedgerError
from paretoguard.experiment.events import CREATED, LONGEST_EVENT, Event, first_break
from paretoguard.experiment.storage import Storage, checked_name

_SEALED = re.compile(r'(.*),"hash":"([0-9a-f]{64})"\}')
MOST_LINES = 50_000_000
LONGEST_LINE = LONGEST_EVENT + 100  # characters, with the hash


def lines(storage: Storage, name: str) -> Iterator[str]:
    """Yield the lines of a ledger's file, without line feeds."""
    for event in storage.events(name):
        yield f'{event.line[:-1]},"hash":"{event.hash}"}}'


def seal_of(line: str) -> str:
    """Return the hash at the end of a line."""
    found = _SEALED.fullmatch(line)
    return found[2] if found else ""


def take_in(storage: Storage, given: Iterable[str], name: str | None = None, *, expected: str | None = None) -> str:
    """Begin a ledger from the lines of a file; return its name: the one in the file, unless another is given.

    Raise LedgerError if the file was changed or does not end with the `expected` hash.
    """
    events = []
    for number, line in enumerate(given, start=1):
        if number > MOST_LINES:
            raise LedgerError(f"there are more than {MOST_LINES:,} lines; nothing was imported")
        if len(line) > LONGEST_LINE:
            raise LedgerError(f"line {number} is no event of a ledger: it has more than {LONGEST_LINE:,} characters")
        found = _SEALED.fullmatch(line.rstrip("\r\n"))
        if found is None:
            raise LedgerError(f"line {number} is no event of a ledger: {line.rstrip()[:80]!r}")
        events.append(Event(number, found[1] + "}", found[2]))
    if broken := first_break(events):
        raise LedgerError(f"this ledger was changed or cut: {broken}; nothing was imported")
    if expected is not None and events[-1].hash != expected:
        raise LedgerError(
            f"this ledger ends with event {len(events):,}, whose hash is {events[-1].hash}, not {expected}: it was "
            "cut, written anew, or is of another moment; nothing was imported"
        )
    first = events[0].read()
    if first.kind != CREATED:
        raise LedgerError(f"a ledger begins with an event {CREATED!r}, this one with {first.kind!r}")
    chosen = checked_name(name if name is not None else first.data.get("name"))
    storage.restore(chosen, events)
    return chosen
