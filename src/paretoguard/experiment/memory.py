"""A storage in memory: what the others are compared with."""

import threading
from collections.abc import Iterator

from paretoguard.experiment.events import START, Draft, Event, chain
from paretoguard.experiment.storage import Make, last_of, taken, unknown


class MemoryStorage:
    """Ledgers that last as long as the process; the methods are those of `Storage`."""

    def __init__(self) -> None:
        self._ledgers: dict[str, list[Event]] = {}
        self._lock = threading.Lock()

    def create(self, name: str, first: Draft) -> Event:
        """Begin the ledger `name` with the event `first`, and return that."""
        self.restore(name, chain([first], 0, START))
        return self._ledgers[name][0]

    def restore(self, name: str, events: list[Event]) -> None:
        """Begin the ledger `name` with these `events`, unchanged."""
        last_of(name, events)
        with self._lock:
            if name in self._ledgers:
                raise taken(name)
            self._ledgers[name] = list(events)

    def names(self) -> list[str]:
        """Return the names of all ledgers, in alphabetical order."""
        return sorted(self._ledgers)

    def head(self, name: str) -> tuple[int, str]:
        """Return the number and the hash of the last event."""
        return last_of(name, self._ledger(name))

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Return the events of the ledger `name` that follow event `after`, in order."""
        return iter(self._ledger(name)[after:])

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        """Return the events added to the ledger `name`: what `make` drafts from those that follow event `after`."""
        with self._lock:
            ledger = self._ledger(name)
            added = chain(make(ledger[after:]), len(ledger), ledger[-1].hash)
            ledger += added
            return added

    def close(self) -> None:
        """Nothing to let go of."""

    def _ledger(self, name: str) -> list[Event]:
        if name not in self._ledgers:
            raise unknown(name, self.names())
        return self._ledgers[name]
