"""Events: what a ledger consists of. Each is one line of JSON, chained to the one before by its hash.

A line holds `version`, `sequence` (1, 2, 3, …), `time` (seconds since 1970, UTC; never less than the event before),
`kind` and `data`. Its hash is SHA-256 over the hash before it, a line feed and the line itself: whoever changes, adds
or takes away an event later must change every hash after it, up to the one that others may have written down.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple

from paretoguard.errors import LedgerError
from paretoguard.version import __version__

VERSION = 1
CREATED, ASKED, TOLD, RETRACTED, EXPIRED, STOPPED = "created", "asked", "told", "retracted", "expired", "stopped"
NOTED = "noted"  # changes no answer
KINDS = (CREATED, ASKED, TOLD, RETRACTED, EXPIRED, NOTED, STOPPED)
NEEDED = {  # keys of the data of each kind
    CREATED: {
        *("name", "problem", "delta", "algorithm", "evidence", "budget", "seed", "order", "ticket_seconds", "program")
    },
    ASKED: {"arms"},
    TOLD: {"id", "arm", "values"},
    RETRACTED: {"id", "arm", "reason", "blind"},
    EXPIRED: {"ids"},
    STOPPED: {"why", "samples", "statuses"},
}
_ALLOWED = {
    CREATED: {"versions", "protocol", "assumptions", "doubt"},
    ASKED: {"expires", "program"},
    TOLD: {"key"},
    STOPPED: {"program"},
}
START = ""  # the hash before the first event
LONGEST_EVENT = 1_000_000  # characters of a line
_AT_ONCE = 200  # lines that are read together; with more, what is read is no longer near when it is used


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


_decode = json.JSONDecoder(parse_constant=_no_number).decode
_contents = itemgetter("version", "sequence", "time", "kind", "data")
_NUMBERS = (float, int)
_LAST = 2.5e11  # seconds: until the year 9892, so that every time can be shown


class Draft(NamedTuple):
    """An event that is not in a ledger yet."""

    kind: str
    data: dict[str, Any]
    time: float


class Event(NamedTuple):
    """An event of a ledger."""

    sequence: int
    line: str
    hash: str

    def read(self) -> "Entry":
        """Return what the line says; raise LedgerError if it is no event of this version."""
        try:
            found = _decode(self.line)
        except (ValueError, RecursionError) as error:
            raise LedgerError(f"event {self.sequence} cannot be read ({error}): {self.line[:80]!r}") from None
        return _entry(found, self)


class Entry(NamedTuple):
    """What an event says."""

    sequence: int
    time: float
    kind: str
    data: dict[str, Any]


def chain(drafts: Iterable[Draft], sequence: int, last: str) -> list[Event]:
    """Return the events for drafts that follow event `sequence`, whose hash is `last`."""
    events = []
    for draft in drafts:
        sequence += 1
        line = write(sequence, draft)
        last = seal(last, line)
        events.append(Event(sequence, line, last))
    return events


def write(sequence: int, draft: Draft) -> str:
    """Return the line of an event; equal content gives an equal line."""
    content = {
        "version": VERSION, "sequence": sequence, "time": round(draft.time, 6), "kind": draft.kind, "data": draft.data
    }  # fmt: skip
    try:
        line = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        line.encode()
    except (TypeError, ValueError) as error:
        raise LedgerError(f"event {sequence} ({draft.kind}) cannot be written as JSON: {error}") from None
    if len(line) > LONGEST_EVENT:
        raise LedgerError(f"event {sequence} ({draft.kind}) has {len(line):,} characters, more than {LONGEST_EVENT:,}")
    return line


def seal(last: str, line: str) -> str:
    """Return the hash of a line that follows the event with the hash `last`."""
    return hashlib.sha256(f"{last}\n{line}".encode()).hexdigest()


def read_all(events: Sequence[Event]) -> Iterator[Entry]:
    """Yield what the lines of many events say: as `read`, in half the time."""
    for first in range(0, len(events), _AT_ONCE):
        part = events[first : first + _AT_ONCE]
        lines = [event.line for event in part]
        whole = all(line[:1] == "{" and line[-1:] == "}" for line in lines)
        try:
            found = _decode(f"[{','.join(lines)}]") if whole else []
        except (ValueError, RecursionError):
            found = []
        if len(found) != len(part):  # one of them is no event: reading line by line finds it
            yield from (event.read() for event in part)
            continue
        for content, event in zip(found, part, strict=True):
            yield _entry(content, event)


def _entry(found: Any, event: Event) -> Entry:
    sequence, line, _ = event
    try:
        version, number, time, kind, data = _contents(found)
    except (KeyError, TypeError) as error:
        raise LedgerError(f"event {sequence} cannot be read ({error}): {line[:80]!r}") from None
    if version != VERSION:
        raise LedgerError(
            f"event {sequence} has version {version!r}, this program knows {VERSION}: it was written by another "
            "version of paretoguard; use that one, or a newer one"
        )
    if kind not in KINDS:
        raise LedgerError(f"event {sequence} is of the unknown kind {kind!r}; expected one of {', '.join(KINDS)}")
    if type(data) is not dict or type(number) is not int or type(time) not in _NUMBERS or not 0 <= time < _LAST:
        raise LedgerError(f"event {sequence} cannot be read (it lacks a number, a time or its data): {line[:80]!r}")
    return Entry(number, time, kind, data)


def check_entry(entry: Entry) -> None:
    """Refuse an event that lacks a key, or has one that is not known: that may change what the other keys mean."""
    needed = NEEDED.get(entry.kind, entry.data.keys())
    named = f"event {entry.sequence} ({entry.kind})"
    missing = sorted(set(needed) - entry.data.keys())
    if missing:
        raise LedgerError(f"{named} does not say {', '.join(missing)}")
    unknown = sorted(entry.data.keys() - set(needed) - _ALLOWED.get(entry.kind, set()))
    if unknown:
        raise LedgerError(
            f"{named} says {', '.join(map(repr, unknown))}, which paretoguard {__version__} does not know: a newer one "
            "wrote it; use that one"
        )


def utc_text(seconds: float) -> str:
    """Return the time of an event in ISO format.

    >>> utc_text(0.0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def first_break(
    events: Iterable[Event],
    head: tuple[int, str] | None = None,
    *,
    before: tuple[int, str] = (0, START),
    reads: bool = True,
) -> str:
    """Return what is wrong with a chain of events, which begins after event `before`; empty if nothing is.

    `head` is the number and the hash of an event that must be among them: without it, missing last events go unnoticed.
    With `reads` the numbers inside the lines are compared too; a caller who reads all lines anyway can leave that out.
    """
    expected, last = before[0] + 1, before[1]
    for event in events:
        sequence, line, stated = event
        if sequence != expected:
            return f"event {expected} is missing: event {sequence} follows event {expected - 1}"
        if seal(last, line) != stated:
            return f"event {event.sequence} does not have the hash that its content and the events before it give"
        if reads and event.read().sequence != event.sequence:
            return f"event {event.sequence} says of itself that it is event {event.read().sequence}"
        if head is not None and event.sequence == head[0] and event.hash != head[1]:
            return f"event {event.sequence} has the hash {event.hash}, but {head[1]} was recorded for it"
        last, expected = event.hash, expected + 1
    if head is not None and expected <= head[0]:
        return f"event {expected} is missing: event {head[0]} was recorded, but the last one is event {expected - 1}"
    return "" if expected > 1 else "there are no events"
