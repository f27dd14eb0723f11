"""Concave functions of the sampling weights, known by their cuts: linear functions above them, exact where made.

Each is one way to be wrong, worth its weighted distance. Maximising the least of several over the simplex of weights:
a linear program over the cuts so far gives an upper bound and weights, where new cuts are made; the value at the best
weights is a lower bound.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[float64]
Gradient = Callable[[Floats], Floats]  # at weights w: g with value g · w


@dataclass
class Way:
    """One way to be wrong: its gradient at given weights, and the cuts made so far."""

    gradient: Gradient
    what: tuple[int, int, int] = (-1, -1, -1)  # which: a kind and up to two arms (or an arm and a row)
    is_linear: bool = False
    cuts: list[Floats] = field(default_factory=list)

    def value(self, w: Floats) -> float:
        """Its worth at these weights, remembering the cut."""
        if self.is_linear and self.cuts:
            return float(self.cuts[0] @ w)
        cut = self.gradient(w)
        self.cuts.append(cut)
        return float(cut @ w)


@dataclass(frozen=True)
class Best:
    """The weights found: lower <= maximum <= upper; and which ways hold it down, by shares that add up to 1."""

    weights: Floats
    lower: float
    upper: float
    shares: dict[tuple[int, int, int], float] = field(default_factory=dict)


def maximise(
    ways: Iterable[Way],
    arms: int,
    gap: float,
    *,
    enough: float = -np.inf,
    start: Floats | None = None,
    rounds: int = 400,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Best:
    """The largest least value over the simplex, to a relative gap; given up once the upper bound is below `enough`."""
    ways = list(ways)
    best = np.full(arms, 1.0 / arms) if start is None else start
    lower = min((way.value(best) for way in ways), default=np.inf)
    upper = np.inf
    if not ways:
        return Best(best, np.inf, np.inf)
    for _ in range(rounds):
        w, upper, prices = _solve([cut for way in ways for cut in way.cuts], arms, upper)
        owners = [way.what for way in ways for _ in way.cuts]
        if upper <= enough or upper - lower <= gap * lower or out_of_time():
            break
        for point in (w, 0.5 * (w + best)):
            value = min(way.value(point) for way in ways)
            if value > lower:
                lower, best = value, point
        for way in ways:
            if len(way.cuts) > 60:
                way.cuts[:] = way.cuts[:1] + way.cuts[-40:]  # older ones, made at far weights, bind no more
    shares: dict[tuple[int, int, int], float] = {}
    for what, price in zip(owners, prices, strict=True):
        shares[what] = shares.get(what, 0.0) + float(price)
    return Best(best, lower, upper, {what: share for what, share in shares.items() if share > 1e-3})


def _solve(cuts: list[Floats], arms: int, known: float) -> tuple[Floats, float, Floats]:
    """The linear program over these cuts: weights, an upper bound (never above one known before), each cut's price."""
    G = np.array(cuts)
    scale = np.median(G.max(axis=1))
    rows = np.hstack([-G / scale, np.ones((len(G), 1))])
    cost = np.zeros(arms + 1)
    cost[-1] = -1.0
    total: Any = np.append(np.ones(arms), 0.0)[None]
    found = linprog(
        cost, A_ub=rows, b_ub=np.zeros(len(G)), A_eq=total, b_eq=[1.0], bounds=[(0, None)] * arms + [(None, None)],
        method="highs",
    )  # fmt: skip
    w = np.maximum(found.x[:-1], 0.0)
    return w / w.sum(), min(known, float(-found.fun * scale)), -found.ineqlin.marginals
