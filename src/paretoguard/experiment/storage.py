"""Storages: where ledgers live. `open_storage` gives one for a URL; `paretoguard.testing.check_storage` tests one."""

import re
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from paretoguard.errors import StorageError
from paretoguard.experiment.events import Draft, Event

DEFAULT = "sqlite:///paretoguard.db"
_LONGEST_NAME = 200
Make = Callable[[list[Event]], list[Draft]]


@runtime_checkable
class Storage(Protocol):
    """Ledgers by name. Events are only ever added, whole, in order, and for good: what a call returns is on disk."""

    def create(self, name: str, first: Draft) -> Event:
        """Begin the ledger `name` with the event `first`, and return that. Raise StorageError if the name is taken."""

    def names(self) -> list[str]:
        """Return the names of all ledgers, in alphabetical order."""

    def head(self, name: str) -> tuple[int, str]:
        """Return the number and the hash of the last event, as the ledger `name` says.

        Raise StorageError if there is no such ledger.
        """

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Return the events of the ledger `name` that follow event `after`, in order.

        Raise StorageError if there is no such ledger.
        """

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        """Add events to the ledger `name`, which nobody else changes meanwhile, and return them.

        `make` is called once with the events that follow event `after`, and gives the drafts to add: all of them are
        added, or none if anything fails.
        """

    def restore(self, name: str, events: list[Event]) -> None:
        """Begin the ledger `name` with these `events`, one or more, unchanged.

        Raise StorageError if the name is taken.
        """

    def close(self) -> None:
        """Let go of files and connections."""


def open_storage(url: str | Storage) -> Storage:
    """Return the storage at a URL, such as sqlite:///paretoguard.db or postgresql://user@host/database."""
    if not isinstance(url, str):
        if isinstance(url, Storage):
            return url
        raise StorageError(f"storage is {url!r}, expected a URL such as {DEFAULT!r}, or a storage")
    from paretoguard.experiment.sql import SqlStorage  # imports SQLAlchemy

    return SqlStorage(url)


def hidden(url: str) -> str:
    """Return a URL without what may be a password.

    >>> hidden("postgresql://me:secret@host/trials?password=secret")
    'postgresql://me:***@host/trials?***'
    """
    return re.sub(r"(?s)\?.*", "?***", re.sub(r"(?s)^([^:/@]*://)?([^:/@]*):.*@", r"\1\2:***@", url))


def unknown(name: str, names: list[str]) -> StorageError:
    known = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return StorageError(f"there is no experiment {name!r} here; there are: {known or 'none'}")


def taken(name: str) -> StorageError:
    return StorageError(f"there is an experiment {name!r} already; choose another name, or go on with that one")


def last_of(name: str, events: list[Event]) -> tuple[int, str]:
    """Return the number and the hash of the last event; raise StorageError if there is none."""
    if not events:
        raise StorageError(f"the experiment {name!r} cannot begin without events; expected at least the first")
    return events[-1].sequence, events[-1].hash


def checked_name(name: object) -> str:
    """Return the name; raise StorageError if a ledger may not have it."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise StorageError(f"the name is {name!r}, expected a text of 1 to {_LONGEST_NAME} characters on one line")
    return name
