"""Tickets: measurements that were asked for, and when their results may be counted.

In the order of arrival each result is counted at once. In the order asked an arm's result waits until all that were
asked of that arm before it have come: then it does not matter which results are slow.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from numpy import float64
from numpy.typing import NDArray

Values = NDArray[float64] | Sequence[float]


class Ticket(NamedTuple):
    """One measurement asked for; of a live experiment, until when (seconds since 1970) if there is a limit."""

    id: int
    arm: str
    expires: float | None = None


class Tickets:
    """The tickets of one experiment."""

    def __init__(self, *, as_asked: bool) -> None:
        self._as_asked = as_asked
        self._issued = 0
        self._open: dict[int, str] = {}  # without a result
        self._due: dict[str, deque[int]] = {}  # of each arm: not counted yet, in the order asked
        self._held: dict[int, Values] = {}  # results that wait for earlier ones

    def issue(self, arm: str) -> Ticket:
        """Ask for a result of this arm."""
        ticket = Ticket(self._issued, arm)
        self._issued += 1
        self._open[ticket.id] = arm
        if self._as_asked:
            self._due.setdefault(arm, deque()).append(ticket.id)
        return ticket

    def check(self, ticket: Ticket) -> None:
        """Raise ValueError if this ticket does not wait for a result."""
        if self._open.get(ticket.id) == ticket.arm:
            return
        if 0 <= ticket.id < self._issued and ticket.id not in self._open:
            raise ValueError(f"ticket {ticket.id} has its result already; a ticket is for one")
        waiting = ", ".join(f"{number} ({arm})" for number, arm in self._open.items())
        raise ValueError(
            f"Ticket(id={ticket.id}, arm={ticket.arm!r}) was not asked for; "
            f"waiting for a result are: {waiting or 'none'}"
        )

    @property
    def open(self) -> list[Ticket]:
        """The tickets without a result, in the order asked."""
        return [Ticket(number, arm) for number, arm in self._open.items()]

    def drop(self, ticket: Ticket, *, for_good: bool = False) -> list[Values]:
        """Forget a ticket whose result will not come; return the results that waited for it alone.

        Raise ValueError in the order asked, unless it is known not to depend on the value (`for_good`).
        """
        self.check(ticket)
        if self._as_asked and not for_good:
            raise ValueError(
                f"ticket {ticket.id} cannot be dropped: in the order asked, later results of {ticket.arm} wait for it; "
                "whether it is lost might depend on its value"
            )
        del self._open[ticket.id]
        if not self._as_asked:
            return []
        self._due[ticket.arm].remove(ticket.id)
        return self._ready(ticket.arm)

    def receive(self, ticket: Ticket, row: Values) -> list[Values]:
        """Take the result of a ticket, once checked; return the results of its arm that may be counted now."""
        del self._open[ticket.id]
        if not self._as_asked:
            return [row]
        self._held[ticket.id] = row
        return self._ready(ticket.arm)

    def _ready(self, arm: str) -> list[Values]:
        due, ready = self._due[arm], []
        while due and due[0] in self._held:
            ready.append(self._held.pop(due.popleft()))
        return ready

    @property
    def outstanding(self) -> int:
        """Results asked for and not counted yet."""
        return len(self._open) + len(self._held)

    @property
    def held(self) -> int:
        """Results that wait for earlier ones of their arm."""
        return len(self._held)
