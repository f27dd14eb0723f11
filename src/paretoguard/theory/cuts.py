"""Concave functions of the sampling weights, known by their cuts: linear functions above them, exact where made.

Each is the weighted distance to one way to be wrong. Their minimum is maximised over the simplex of weights: a linear
program over the cuts so far gives weights, near which new cuts are made, and a price for each cut. Prices p with sum 1
bound the maximum from above by the largest entry of sum_k p_k cut_k, whatever the accuracy of the program; the value at
the best weights bounds it from below.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from paretoguard.numeric import Floats

Gradient = Callable[[Floats], Floats]  # at weights w: g with value g · w
_LARGEST = 1e4  # entry of a program
IDLE = 15  # programs in a row in which a cut has no price, after which it is forgotten
INWARDS = (0.0, 1e-4, 0.5)  # how far from the program's weights to the best ones new cuts are made


@dataclass
class Way:
    """One way to be wrong: its gradient at given weights, and the cuts made so far."""

    gradient: Gradient
    what: tuple[int, int, int] = (-1, -1, -1)  # which: a kind and up to two arms (or an arm and a row)
    is_linear: bool = False
    cuts: list[Floats] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)  # of each cut: for how many programs it had no price

    def value(self, w: Floats) -> float:
        return float(self.gradient(w) @ w)

    def add(self, cut: Floats) -> None:
        if not (self.is_linear and self.cuts):
            self.cuts.append(cut)
            self.idle.append(0)

    def priced(self, prices: Floats) -> None:
        """Forget cuts that have had no price for long; the last one stays."""
        self.idle = [0 if price > 0 else idle + 1 for price, idle in zip(prices, self.idle, strict=True)]
        kept = [k for k, idle in enumerate(self.idle) if idle < IDLE] or [len(self.cuts) - 1]
        self.cuts, self.idle = [self.cuts[k] for k in kept], [self.idle[k] for k in kept]


@dataclass(frozen=True)
class Best:
    """The weights found, lower <= maximum <= upper, and the shares (sum 1) of the ways that bind."""

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
    rounds: int = 1000,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Best:
    """Maximise the least way over the simplex, to a relative gap; stop once the upper bound is below `enough`."""
    ways = list(ways)
    best = np.full(arms, 1.0 / arms) if start is None else start
    if not ways:
        return Best(best, np.inf, np.inf)
    lower, upper = np.inf, np.inf
    for way in ways:
        cut = way.gradient(best)
        way.add(cut)
        lower = min(lower, float(cut @ best))
    shares: dict[tuple[int, int, int], float] = {}
    for _ in range(rounds):
        found = _solve([cut for way in ways for cut in way.cuts], best, lower)
        if found.upper < upper:
            upper, shares = found.upper, _shares(ways, found.prices)
        ends = np.cumsum([len(way.cuts) for way in ways])[:-1]
        for way, prices in zip(ways, np.split(found.prices, ends), strict=True):
            way.priced(prices)
        if upper <= enough or upper - lower <= gap * lower or out_of_time():
            break
        for share in INWARDS:
            point = (1.0 - share) * found.weights + share * best
            value = np.inf
            for way in ways:
                cut = way.gradient(point)
                value = min(value, float(cut @ point))
                if float(cut @ found.weights) < found.value:  # it cuts those weights off
                    way.add(cut)
            if value > lower:
                lower, best = value, point
    return Best(best, lower, upper, shares)


def _shares(ways: list[Way], prices: Floats) -> dict[tuple[int, int, int], float]:
    shares: dict[tuple[int, int, int], float] = {}
    owners = (way.what for way in ways for _ in way.cuts)
    for what, price in zip(owners, prices, strict=True):
        shares[what] = shares.get(what, 0.0) + float(price)
    return {what: share for what, share in shares.items() if share > 1e-3}


class _Program(NamedTuple):
    weights: Floats
    value: float  # of the program
    prices: Floats  # of its cuts, sum 1
    upper: float  # what the prices prove


def _solve(cuts: list[Floats], best: Floats, lower: float) -> _Program:
    """Solve the linear program over these cuts, in units of the best weights and value so far: these are about 1."""
    G = np.array(cuts)
    unit = lower if lower > 0 else float(np.median(G.max(axis=1)))
    scaled = G * (best / unit)
    size = np.maximum(scaled.max(axis=1) / _LARGEST, 1.0)[:, None]
    rows: Any = csr_array(np.hstack([-scaled / size, 1.0 / size]))
    cost = np.append(np.zeros(len(best)), -1.0)
    total: Any = np.append(best, 0.0)[None]
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(len(G)), A_eq=total, b_eq=[1.0], bounds=(0, None), method="highs")
    if found.x is None:
        raise RuntimeError(f"the linear program over {len(cuts)} cuts was not solved: {found.message}")
    w = best * np.maximum(found.x[:-1], 0.0)
    prices = np.maximum(-found.ineqlin.marginals, 0.0) / size[:, 0]
    prices /= prices.sum()
    return _Program(w / w.sum(), float(-found.fun * unit), prices, float((prices @ G).max()))
