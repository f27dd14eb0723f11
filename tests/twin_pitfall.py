"""The slow twin of `pitfall`: every way to be wrong and its cost, by trying all maps, from the definitions."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin import INF, Twin

SAME = 1e-9  # costs that differ by less, relatively, tie
NOTHING = 1e-20  # a cost that is 0 but for rounding


class Way(NamedTuple):
    """One way to be wrong about an arm: its cost, and each arm's share of the information about it."""

    arm: int
    kind: str
    cost: float
    shares: dict[int, float]


def rise(
    points: list[list[float]], counts: Sequence[float], i: int, members: list[int]
) -> Iterator[tuple[float, dict[int, float]]]:
    """For each map of the members to coordinates: what it costs that i is above every member there."""
    d = len(points[i])
    for chosen in itertools.product(range(d), repeat=len(members)):
        parts = {i: 0.0}
        for c in range(d):
            rivals = [j for j, place in zip(members, chosen, strict=True) if place == c]
            x = _meeting_point(points, counts, i, rivals, c)
            parts[i] += 0.5 * counts[i] * (points[i][c] - x) ** 2
            for j in rivals:
                parts[j] = 0.5 * counts[j] * max(0.0, points[j][c] - x) ** 2
        yield sum(parts.values()), parts


def _meeting_point(points: list[list[float]], counts: Sequence[float], i: int, rivals: list[int], c: int) -> float:
    """The x that minimises N_i (mean_i - x)^2 + sum_j N_j (mean_j - x)_+^2: the best mean of i and the k highest."""
    highest = sorted(rivals, key=lambda j: -points[j][c])
    tried = []
    for k in range(len(highest) + 1):
        taken = [i, *highest[:k]]
        x = sum(counts[a] * points[a][c] for a in taken) / sum(counts[a] for a in taken)
        cost = counts[i] * (points[i][c] - x) ** 2
        tried.append((cost + sum(counts[j] * max(0.0, points[j][c] - x) ** 2 for j in rivals), x))
    return min(tried)[1]


def join(
    A: list[list[float]], b: list[float], points: list[list[float]], counts: Sequence[float], i: int, members: list[int]
) -> Iterator[tuple[float, dict[int, float]]]:
    """For each map of the members to coordinates: what it costs that i is in P and above every member there.

    Tried is every set of tight rows, together with every number of highest members to be moved in each coordinate: the
    cost of any point of P is too large at most, and that of the nearest one is among them.
    """
    d, matrix, bound = len(points[i]), np.array(A).reshape(len(A), len(points[i])), np.array(b)
    tights = [rows for size in range(min(d, len(A)) + 1) for rows in itertools.combinations(range(len(A)), size)]
    for chosen in itertools.product(range(d), repeat=len(members)):
        rivals = [[j for j, place in zip(members, chosen, strict=True) if place == c] for c in range(d)]
        ordered = [sorted(some, key=lambda j: -points[j][c]) for c, some in enumerate(rivals)]
        best: tuple[float, dict[int, float]] = (INF, {i: 0.0})
        for taken in itertools.product(*(range(len(some) + 1) for some in ordered)):
            moved = [[i, *some[:k]] for some, k in zip(ordered, taken, strict=True)]
            weights = np.array([sum(counts[a] for a in arms) for arms in moved])
            sums = np.array([sum(counts[a] * points[a][c] for a in arms) for c, arms in enumerate(moved)])
            for rows in tights:
                x = _nearest(weights, sums / weights, matrix[list(rows)], bound[list(rows)])
                if x is None or np.any(matrix @ x > bound + 1e-9):
                    continue
                parts = {i: sum(0.5 * counts[i] * (points[i][c] - x[c]) ** 2 for c in range(d))}
                for j, c in zip(members, chosen, strict=True):
                    parts[j] = 0.5 * counts[j] * max(0.0, points[j][c] - x[c]) ** 2
                best = min(best, (sum(parts.values()), parts), key=lambda one: one[0])
        yield best


def _nearest(
    weights: NDArray[Any], point: NDArray[Any], tight: NDArray[Any], bound: NDArray[Any]
) -> NDArray[Any] | None:
    """The point with these rows tight that is nearest, with these weights; None where the rows depend on each other."""
    if len(tight) == 0:
        return point
    if np.linalg.matrix_rank(tight, tol=1e-9) < len(tight):
        return None
    spread = tight / weights
    return np.asarray(point - spread.T @ np.linalg.solve(spread @ tight.T, tight @ point - bound))


def _shares(parts: dict[int, float], alone: int) -> dict[int, float]:
    total = sum(parts.values())
    return {a: part / total for a, part in parts.items() if part > 0.0} if total > NOTHING else {alone: 1.0}


class Pitfall:
    """`pitfall` on top of a twin that keeps the results, the evidence and the answer."""

    def __init__(self, twin: Twin, level: float) -> None:
        self.twin = twin
        self.level = level  # what a feasibility weight must reach
        problem = twin.problem
        units = [self._unit(c) for c in problem.compared_noisy_places]
        self.points = [
            [twin.means[i][c] / units[c] for c in problem.compared_noisy_places] for i in range(problem.arms)
        ]
        self.slop = [problem.tolerance[c] / units[c] for c in problem.compared_noisy_places]
        by_ratio = twin.evidence == "practical" and (problem.independent or problem.noisy < 2)
        self.bar = level if by_ratio else INF

    def _unit(self, c: int) -> float:
        twin = self.twin
        if not twin.problem.learnt[c]:
            return 1.0
        total = 0.0
        for rows in twin.results:
            mean = sum(row[c] for row in rows) / len(rows)
            total += sum((row[c] - mean) ** 2 for row in rows) / max(1, len(rows) - 1)
        return math.sqrt(total / twin.problem.arms) if total > 0.0 else 1.0

    # --- costs ---
    def crossing(self, i: int) -> float:
        if any(self.twin.problem.learnt):
            is_never = -2e-9 <= self.twin.gamma[i] < 0.0
            return 1e300 if is_never else max(0.0, self.twin.gamma[i] + self.level)
        return 0.5 * self.twin.counts[i] * self.twin.eta[i] ** 2

    def falling(self, i: int, j: int) -> float:
        if self.twin.leads(i, j) == [INF] and self.twin.problem.compared_exact:
            return INF
        n, m = float(self.twin.counts[i]), float(self.twin.counts[j])
        leads = (max(0.0, a - b + s) for a, b, s in zip(self.points[i], self.points[j], self.slop, strict=True))
        return 0.5 * (n * m / (n + m)) * sum(lead * lead for lead in leads)

    def rising(self, i: int) -> tuple[float, list[dict[int, float]]]:
        """The least cost that i is undominated by O, and the shares of each map that has it."""
        exact = self.twin.problem.compared_exact_places
        x = self.twin.means[i]
        members = [j for j in sorted(self.twin.O) if not any(x[c] > self.twin.means[j][c] for c in exact)]
        if not self.points[i] and members:
            return INF, []
        found = list(rise(self.points, self.twin.counts, i, members))
        least = min(cost for cost, _ in found)
        return least, [_shares(parts, i) for cost, parts in found if cost <= least * (1.0 + SAME) + NOTHING]

    # --- ways ---
    def ways(self) -> Iterator[Way]:
        """Those that are open."""
        twin, by_claim = self.twin, self.bar == INF
        for i in sorted(twin.O):
            if self.is_open(self.crossing(i)) and not (by_claim and twin.gamma[i] >= 0.0):
                yield Way(i, "leaves", self.crossing(i), {i: 1.0})
        for i, j in itertools.permutations(sorted(twin.O), 2):
            if self.is_open(self.falling(i, j)) and not (by_claim and twin.M_minus(i, j) >= 0.0):
                total = twin.counts[i] + twin.counts[j]
                shares = {i: twin.counts[j] / total, j: twin.counts[i] / total}
                yield Way(i, "falls", self.falling(i, j), shares)
        for i in set(range(twin.problem.arms)) - twin.O:
            if by_claim and i not in twin.F and twin.gamma[i] >= 0.0:
                continue
            exact = twin.problem.compared_exact_places
            if not self.points[i] and any(
                all(twin.means[i][c] <= twin.means[j][c] for c in exact) for j in twin.C if j != i
            ):
                continue  # what is compared is exact: any candidate will do, as equal arms are both outside O
            if by_claim and (any(twin.m_minus(i, j) >= 0.0 for j in twin.O) or self.is_below_some(i)):
                continue
            own = 0.0 if i in twin.F else self.crossing(i)
            rising, maps = self.rising(i)
            if own >= rising * (1.0 - SAME) - NOTHING and self.is_open(own):
                yield Way(i, "enters", own, {i: 1.0})
            if rising >= own * (1.0 - SAME) - NOTHING and self.is_open(rising):
                for one in maps:
                    yield Way(i, "rises", rising, one)

    def is_below_some(self, i: int) -> bool:
        """By at least one of two, three or four arms of O: those with most evidence alone."""
        twin: Any = self.twin
        bars = getattr(twin, "together_bars", {})
        weights = [1.0 / q for q in getattr(twin, "q", [])]

        def cost(few: list[int]) -> float:
            return min(cost for cost, _ in rise(self.points, weights, i, few))

        exact = twin.problem.compared_exact_places
        allowed = [j for j in sorted(twin.O) if not any(twin.means[i][c] > twin.means[j][c] for c in exact)]
        above = [j for j in allowed if all(x < y for x, y in zip(self.points[i], self.points[j], strict=True))]
        above.sort(key=lambda j: -cost([j]) if bars else 0.0)
        for size in range(2, min(len(above), max(bars, default=0)) + 1):
            penalties = min(size, len(self.points[i])) * twin.p[i] + sum(twin.p[j] for j in above[:size])
            if cost(above[:size]) >= bars[size] + penalties:
                return True
        return False

    def is_open(self, cost: float) -> bool:
        return cost < self.bar

    # --- the decision ---
    def decisions(self, u: float) -> list[list[int]]:
        """What may be decided with this random number: one decision, or several where ways tie."""
        twin = self.twin
        ways = list(self.ways())
        if not ways:
            return [[]]
        fewest = min(twin.counts)
        if any(twin.problem.learnt) and fewest < 30:
            return [[twin.counts.index(fewest)]]
        if fewest * fewest * twin.problem.arms < twin.t:
            return [[twin.counts.index(fewest)]]
        least = min(way.cost for way in ways)
        return [self.pulled(way, u) for way in ways if way.cost <= least * (1.0 + SAME) + NOTHING]

    def pulled(self, way: Way, u: float) -> list[int]:
        if way.kind == "rises" and self.is_dearer(way):
            way = Way(way.arm, "enters", way.cost, {way.arm: 1.0})
        if way.kind == "enters":
            better = self.better_reason(way.arm)
            if better is not None:
                return [better]
        if way.kind != "rises":
            doubted = self.doubted(way.arm)
            if doubted is not None:
                return [doubted]
        return self.drawn(way, u)

    @staticmethod
    def drawn(way: Way, u: float) -> list[int]:
        """The arm that a random number gives, by its share."""
        reached, arm = 0.0, -1
        for arm in sorted(way.shares):
            reached += way.shares[arm]
            if u < reached:
                break
        return [arm]

    def own_pulls(self, j: int) -> float:
        """How many pulls an arm of O takes for each unit of evidence that it is feasible."""
        cost = self.crossing(j)
        return self.twin.counts[j] / cost if cost > 0.0 else 0.0

    def is_dearer(self, way: Way) -> bool:
        """Would the arm be ruled out with fewer pulls as infeasible, unless others above it are pulled anyway?"""
        twin, i = self.twin, way.arm
        own = 0.0 if i in twin.F else self.crossing(i)
        others = [j for j in sorted(way.shares) if j != i]
        if own <= 0.0 or any(twin.counts[j] > 1.2 * twin.counts[i] for j in others):
            return False
        rising = sum(twin.counts[a] / way.cost for a in [i, *others])
        return rising > twin.counts[i] / own + sum(self.own_pulls(j) for j in others)

    def better_reason(self, i: int) -> int | None:
        """The arm of O that would rule i out with fewest pulls more, fewer than as infeasible, and has fewer than i."""
        twin, exact = self.twin, self.twin.problem.compared_exact_places
        own = 0.0 if i in twin.F else self.crossing(i)
        found = []
        for j in sorted(twin.O):
            allowed = not any(twin.means[i][c] > twin.means[j][c] for c in exact)
            gaps = [y - x for x, y in zip(self.points[i], self.points[j], strict=True)]
            if own > 0.0 and twin.counts[j] < twin.counts[i] and allowed and gaps and min(gaps) > 0.0:
                m, least = self.own_pulls(j), 2.0 / (min(gaps) * min(gaps))
                more = least * m / (m - least) if m >= 2.0 * least else 4.0 * least - m
                if more < twin.counts[i] / own:
                    found.append((more, j))
        return min(found)[1] if found else None

    def answer(self) -> list[int]:
        """Codes 1 optimal, 2 dominated, 3 infeasible."""
        twin = self.twin
        if self.bar == INF:
            return twin.answer()
        outside = [i not in twin.F and self.crossing(i) >= self.bar for i in range(twin.problem.arms)]
        return [1 if i in twin.O else 3 if outside[i] else 2 for i in range(twin.problem.arms)]

    def doubted(self, i: int) -> int | None:
        twin = self.twin
        others = [j for j in sorted(twin.C) if j != i and twin.counts[j] < (1 - 1e-12) * twin.counts[i] ** 0.8]
        costs = [(self.falling(i, j), j) for j in others if self.falling(i, j) < math.log(twin.t)]
        return min(costs)[1] if costs else None


class PlainPitfall(Pitfall):
    """`pitfall:task=cpsi`: an arm outside O must be in P and undominated at once; why it is outside does not matter."""

    def ways(self) -> Iterator[Way]:
        twin, by_claim = self.twin, self.bar == INF
        for way in super().ways():
            if way.kind in ("leaves", "falls"):
                yield way
        members = sorted(twin.O)
        for i in set(range(twin.problem.arms)) - twin.O:
            if by_claim and i not in twin.F and twin.gamma[i] >= 0.0:
                continue
            if by_claim and (any(twin.m_minus(i, j) >= 0.0 for j in twin.O) or self.is_below_some(i)):
                continue
            found = list(join(twin.problem.A, twin.problem.b, self.points, twin.counts, i, members))
            least = min(cost for cost, _ in found)
            if self.is_open(least):
                for cost, parts in found:
                    if cost <= least * (1.0 + SAME) + NOTHING:
                        yield Way(i, "rises", least, _shares(parts, i))

    def pulled(self, way: Way, u: float) -> list[int]:
        i = way.arm
        above = (zip(self.points[i], self.points[j], strict=True) for j in self.twin.O)
        from_below = way.kind == "rises" and any(all(x < y for x, y in pairs) for pairs in above)
        doubted = None if from_below else self.doubted(i)
        return [doubted] if doubted is not None else self.drawn(way, u)

    def answer(self) -> list[int]:
        twin = self.twin
        return [1 if i in twin.O else 2 if i in twin.F else 3 for i in range(twin.problem.arms)]
