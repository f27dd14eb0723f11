"""The next steps of an experiment, written down to be followed at once."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import float64, int64

from paretoguard.engine.asktell import ASK, ASKED_ARM, CHOOSE, COUNT, DECIDE, DROP, LAST, SETTLE, UNASK, Tape
from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats


class Steps:
    """Steps, in order (engine/asktell.py)."""

    def __init__(self) -> None:
        self._steps = array("q")  # pairs, one after the other
        self._rows: list[Any] = []
        self._longest = 0  # arms asked for at once

    def decide(self) -> None:
        self._steps.extend((DECIDE, 0))

    def choose(self, wanted: int) -> None:
        self._steps.extend((CHOOSE, wanted))
        self._longest = max(self._longest, wanted)

    def asked(self, places: Sequence[int]) -> None:
        self._steps.extend((ASK, len(places), *(step for place in places for step in (ASKED_ARM, place))))
        self._longest = max(self._longest, len(places))

    def drop(self, place: int) -> None:
        self._steps.extend((DROP, place))

    def unasked(self, place: int) -> None:
        self._steps.extend((UNASK, place))

    def count(self, place: int, rows: Sequence[Any]) -> None:
        """Add results of an arm that count now."""
        if rows:
            self._steps.extend((COUNT, place) * (len(rows) - 1) + (LAST, place))
            self._rows.extend(rows)

    def settle(self) -> None:
        self._steps.extend((SETTLE, 0))

    def tape(self, objectives: int) -> Tape:
        """Return the steps for the engine, and forget them."""
        given = np.array(self._rows) if self._rows else np.zeros((0, objectives))
        if given.dtype.kind not in "fiu":  # a text such as "1" would become a number
            raise ProblemError("a result is not a row of numbers")
        rows: Floats = given.astype(float64).reshape(-1, objectives)
        steps, longest = np.array(self._steps, dtype=int64).reshape(-1, 2), self._longest
        self.__init__()  # type: ignore[misc]
        return Tape(steps, rows, np.zeros(3, dtype=int64), np.zeros(longest + 2, dtype=int64))
