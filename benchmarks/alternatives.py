"""The nearest alternative of an answer: time against the size p of the Pareto set, and against NumPy.

    python benchmarks/alternatives.py    writes benchmarks/results/alternatives.csv and the table of docs/theory.md

NumPy lists the valid maps of the means, as the engine's walk defines them, and then works out all of them for every arm
outside, in whole arrays; also timed with the maps known. Unconstrained, p arms on a sphere and 8 inside it, with equal
weights.
"""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rows
from table import put

from paretoguard.compiler.tiers import COMPILED, forced
from paretoguard.geometry.nearest_alternative import alternative, nearest_alternative
from paretoguard.geometry.polyhedron import polyhedron

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "alternatives.csv", ROOT / "docs" / "theory.md"
SIZES = {2: [4, 8, 16, 32, 64], 3: [4, 8, 16, 32], 4: [4, 8, 16]}
INSIDE = 8


def case(p: int, d: int) -> tuple[Any, Any]:
    """Means, and which arms are the answer."""
    rng = np.random.default_rng([p, d])
    front = np.abs(rng.normal(size=(p, d)))
    front /= np.linalg.norm(front, axis=1, keepdims=True)
    below = 0.8 * front[rng.integers(p, size=INSIDE)] - 0.05 * rng.random((INSIDE, d))
    return np.vstack([front, below]), np.array([1] * p + [0] * INSIDE, dtype=np.uint8)


def valid_maps(front: Any) -> Any:
    """Every map from the p arms to objectives whose cell has an inside, one arm after the other."""
    p, d = front.shape
    found = [((), np.where(np.eye(d) > 0, 0.0, np.inf))]
    for j in range(p):
        following = []
        for choice, cell in found:
            for c in range(d):
                bound = np.minimum(cell[c], front[j] - front[j, c])
                bound[c] = 0.0
                row = np.min(bound[:, None] + cell, axis=0)
                others = np.arange(d) != c
                if np.all(row[others] + cell[others, c] > 0):
                    new = np.minimum(cell, cell[:, [c]] + row)
                    new[c] = row
                    following.append(((*choice, c), new))
        found = following
    return np.array([choice for choice, _ in found])


def by_numpy(means: Any, optimal: Any, w: Any, maps: Any = None) -> float:
    front, members = means[optimal == 1], np.flatnonzero(optimal)
    squares = np.sum(np.maximum(front[:, None] - front[None], 0.0) ** 2, axis=2)
    shares = w[members][:, None] * w[members] / (w[members][:, None] + w[members])
    best = 0.5 * np.min((shares * squares)[~np.eye(len(members), dtype=bool)])
    if maps is None:
        maps = valid_maps(front)
    for i in np.flatnonzero(optimal == 0):
        cost = np.zeros(len(maps))
        for c in range(means.shape[1]):
            order = np.argsort(-front[:, c])
            chosen, level = (maps[:, order] == c) * w[members[order]], front[order, c]
            weight = np.cumsum(np.hstack([np.full((len(maps), 1), w[i]), chosen]), axis=1)
            moment = np.cumsum(np.hstack([np.full((len(maps), 1), w[i] * means[i, c]), chosen * level]), axis=1)
            x = np.max(moment / weight, axis=1)
            cost += w[i] * (means[i, c] - x) ** 2 + np.sum(chosen * np.maximum(level - x[:, None], 0.0) ** 2, axis=1)
        best = min(best, 0.5 * cost.min())
    return float(best)


def least_time(work: Callable[[], float], seconds: float) -> float:
    """Of several calls, as many as fit into so many seconds."""
    times: list[float] = []
    while sum(times) < seconds or len(times) < 3:
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def measure() -> list[dict[str, Any]]:
    rows = []
    for d, sizes in SIZES.items():
        for p in sizes:
            means, optimal = case(p, d)
            w = np.full(len(means), 1.0 / len(means))
            free, found = polyhedron(np.zeros((0, d)), np.zeros(0)), alternative(len(means), d, 0)
            ours = nearest_alternative(free, means, optimal, w, found)
            theirs = by_numpy(means, optimal, w)
            assert math.isclose(ours, theirs, rel_tol=1e-9), (p, d, ours, theirs)

            def engine(
                means: Any = means, optimal: Any = optimal, w: Any = w, free: Any = free, at: Any = found
            ) -> float:
                return nearest_alternative(free, means, optimal, w, at)

            def numpy(means: Any = means, optimal: Any = optimal, w: Any = w) -> float:
                return by_numpy(means, optimal, w)

            maps = valid_maps(means[:p])

            def knowing(means: Any = means, optimal: Any = optimal, w: Any = w, maps: Any = maps) -> float:
                return by_numpy(means, optimal, w, maps)

            times = {"engine": least_time(engine, 0.2), "numpy": least_time(numpy, 0.5)}
            times["maps_known"] = least_time(knowing, 0.5)
            rows.append({"d": d, "p": p, "maps": len(maps), **times})
            print(rows[-1], flush=True)
    return rows


def fill(page: str, rows: list[dict[str, str]]) -> str:
    heads = ["d", "p", "valid maps", "engine", "NumPy", "ratio", "maps known", "ratio"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---:|" * len(heads)]
    for row in rows:
        engine, numpy, known = (float(row[name]) for name in ("engine", "numpy", "maps_known"))
        times = f"{1e6 * engine:,.1f} µs | {1e3 * numpy:,.2f} ms | {numpy / engine:,.0f}"
        times += f" | {1e3 * known:,.2f} ms | {known / engine:,.0f}"
        lines.append(f"| {row['d']} | {row['p']} | {int(row['maps']):,} | {times} |")
    return put(page, {"alternatives": "\n".join(lines)})


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


def main() -> int:
    with forced(COMPILED):
        found = measure()
    rows.write(found, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return sum(float(row["numpy"]) < 50 * float(row["engine"]) for row in read())


if __name__ == "__main__":
    sys.exit(main())
