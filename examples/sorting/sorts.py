"""Ways to sort, each measured once on a list that is random anew."""

import heapq
import random
import time
from collections.abc import Callable
from typing import Any

SIZE = 400


def insertion(values: list[float]) -> list[float]:
    """One after the other into its place."""
    done: list[float] = []
    for value in values:
        place = len(done)
        while place > 0 and done[place - 1] > value:
            place -= 1
        done.insert(place, value)
    return done


def heap(values: list[float]) -> list[float]:
    """The least of a heap, again and again."""
    left = list(values)
    heapq.heapify(left)
    return [heapq.heappop(left) for _ in range(len(left))]


def merge(values: list[float]) -> list[float]:
    """Halves, sorted and merged."""
    if len(values) < 2:
        return values
    middle = len(values) // 2
    return list(heapq.merge(merge(values[:middle]), merge(values[middle:])))


def quick(values: list[float]) -> list[float]:
    """What is below the first, and what is not."""
    if len(values) < 2:
        return values
    first, *rest = values
    return [*quick([v for v in rest if v < first]), first, *quick([v for v in rest if v >= first])]


METHODS: dict[str, Callable[[list[float]], list[float]]] = {
    "insertion": insertion,
    "heap": heap,
    "merge": merge,
    "quick": quick,
    "built-in": sorted,
}


class Counted(float):
    """A number that counts how often it is compared."""

    count = 0

    def __lt__(self, other: Any) -> bool:
        Counted.count += 1
        return float.__lt__(self, other)

    def __gt__(self, other: Any) -> bool:
        Counted.count += 1
        return float.__gt__(self, other)

    def __ge__(self, other: Any) -> bool:
        Counted.count += 1
        return float.__ge__(self, other)


def measure(arm: str) -> dict[str, float]:
    """Time and comparisons of one sort of a new list, which is in part sorted already."""
    values = [random.random() for _ in range(SIZE)]
    values[: SIZE // 2] = sorted(values[: SIZE // 2])
    begin = time.perf_counter()
    METHODS[arm](values)
    microseconds = 1e6 * (time.perf_counter() - begin)
    Counted.count = 0
    METHODS[arm]([Counted(value) for value in values])
    return {"microseconds": microseconds, "comparisons": float(Counted.count)}
