"""The steps of a recorded trial, collected to be done at once (`engine.replay`)."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.errors import ProblemError
from paretoguard.trial.bulk import ASK, COUNT, DROP, LAST, PULL, UNASKED, Tape


class Steps:
    """Steps, in the order of the record."""

    def __init__(self) -> None:
        self._steps = array("q")  # pairs, one after the other
        self._rows: list[Any] = []
        self._longest = 2

    def ask(self, places: Sequence[int]) -> None:
        """These arms were asked for."""
        pulls = [step for place in places for step in (PULL, place)]
        self._steps.extend((ASK, len(places), *pulls))
        self._longest = max(self._longest, len(places))

    def drop(self, place: int) -> None:
        """A pending result of this arm will not come."""
        self._steps.extend((DROP, place))

    def unasked(self, place: int) -> None:
        """The next result of this arm was not asked for."""
        self._steps.extend((UNASKED, place))

    def count(self, place: int, rows: Sequence[Any]) -> None:
        """These results of an arm count now."""
        if rows:
            self._steps.extend((COUNT, place) * (len(rows) - 1) + (LAST, place))
            self._rows.extend(rows)

    def tape(self, arms: int, objectives: int, queue: Sequence[int], answered: bool) -> Tape:
        """All of them, for the engine."""
        room = np.zeros(max(2, arms) + 2 * self._longest + 2, dtype=int64)
        room[: len(queue)] = queue
        steps = np.frombuffer(self._steps, dtype=int64).reshape(-1, 2).copy()
        given = np.array(self._rows)
        if given.dtype.kind not in "fiu":  # a text such as "1" would become a number
            raise ProblemError("a result is not a row of numbers")
        rows: NDArray[float64] = given.astype(float64).reshape(-1, objectives)
        return Tape(
            steps=steps,
            rows=rows,
            cursor=np.array([0, 0, len(queue), int(answered), 0], dtype=int64),
            queue=room,
            batch=np.zeros(self._longest + 2, dtype=int64),
            before=np.zeros(arms, dtype=int64),
            kept=np.zeros(arms, dtype=np.uint8),
            contradicted=np.zeros(arms, dtype=np.bool_),
            statuses=np.zeros(arms, dtype=np.uint8),
            via=np.zeros(arms, dtype=int64),
        )
