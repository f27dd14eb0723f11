"""The straightforward compiled e-cAPE: a K x K table of margins, and a look at every pair before every pull.

This is what the engine is measured against. It is written as one would write it without the ideas of
`algorithms/stopping.py`: M(i,j) is kept in a table, the rows and columns of the arms just pulled are worked out
anew, and then every pair is looked at for the Pareto set, Z1 and Z2. O(K^2) a decision, O(K^2) memory. It draws the
same rewards (the generator is the engine's) and makes the same pulls, which `steady.py` checks on the runs it times.
`forceinline` spares it the price of calls, which would be most of its time at K = 5. It knows `practical` evidence,
noisy objectives without tolerance, and no constraints, a half-space or a box.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy import float64, int64, uint8
from numpy.typing import NDArray

import paretoguard as pg
from paretoguard.compiler.machine_code import tell_numba
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.draws import draw, key
from paretoguard.engine.loop import NO_BUDGET
from paretoguard.geometry.polyhedron import GENERAL
from paretoguard.simulation.rewards import source

tell_numba()  # of the functions of the engine that are used here
RUN, CLOCK = 0, 1  # entries of Table.tally
Floats = NDArray[float64]


class Table(NamedTuple):
    """One run in progress, and the counts with which the runs before it ended."""

    tally: NDArray[int64]  # [2] run at work, its samples so far
    key: NDArray[np.uint64]  # [2] (seed, run)
    counts: NDArray[int64]  # [K]
    sums: Floats  # [K, d]
    means: Floats  # [K, d]
    inverse: Floats  # [K] 1 / N_i
    weight: Floats  # [K] N_i eta_i^2 / 2
    inside: NDArray[uint8]  # [K]
    candidate: NDArray[uint8]  # [K]
    optimal: NDArray[uint8]  # [K]
    lead: Floats  # [K, K] M(i,j) = max_c (mean_i - mean_j); m(i,j) = -M(i,j)
    row: Floats  # [d]
    ended: NDArray[int64]  # [runs, K]


def refuse_unknown(space: ProblemArrays) -> None:
    """Raise ValueError for a problem that the alternatives here do not know."""
    rows = space.region.A.tolist()
    exact = space.noisy < space.objectives or len(space.exact_b) > 0
    repeated = any(row in rows[:place] for place, row in enumerate(rows))
    if exact or repeated or space.region.shape == GENERAL or space.tolerance.any() or space.row_tolerance.any():
        raise ValueError(
            "only noisy objectives, no tolerance, and no constraints, a half-space or a box are known here"
        )


def new_table(space: ProblemArrays, seed: int, runs: int) -> Table:
    K, d = space.arms, space.objectives
    refuse_unknown(space)
    return Table(
        np.zeros(2, dtype=int64),
        key(seed, 0),
        np.zeros(K, dtype=int64),
        np.zeros((K, d)),
        np.zeros((K, d)),
        np.zeros(K),
        np.zeros(K),
        np.zeros(K, dtype=uint8),
        np.zeros(K, dtype=uint8),
        np.zeros(K, dtype=uint8),
        np.zeros((K, K)),
        np.zeros(d),
        np.zeros((runs, K), dtype=int64),
    )


@njit(nogil=True, error_model="numpy", forceinline=True)  # type: ignore[untyped-decorator]
def locate(A: Floats, b: Floats, x: Floats) -> tuple[bool, float]:
    """Whether x is inside {A x <= b} (unit rows, each along an axis, or a single one), and how far from its border."""
    least, square = math.inf, 0.0
    for row in range(A.shape[0]):
        slack = b[row]
        for c in range(A.shape[1]):
            slack -= A[row, c] * x[c]
        least = min(least, slack)
        if slack < 0.0:
            square += slack * slack
    if least >= 0.0:
        return True, least
    return False, math.sqrt(square)


@njit(nogil=True, error_model="numpy", forceinline=True)  # type: ignore[untyped-decorator]
def pull(space: ProblemArrays, drawn_from: Any, table: Table, arm: int) -> None:
    draw(drawn_from, table.key, arm, table.counts[arm], table.row)
    table.tally[CLOCK] += 1
    table.counts[arm] += 1
    n = table.counts[arm]
    for c in range(space.objectives):
        table.sums[arm, c] += table.row[space.order[c]] * space.scale[c]
        table.means[arm, c] = table.sums[arm, c] / n
    table.inverse[arm] = 1.0 / n
    inside, eta = locate(space.region.A, space.region.b, table.means[arm])
    table.inside[arm] = inside
    table.weight[arm] = n * eta * eta / 2.0


@njit(nogil=True, error_model="numpy", forceinline=True)  # type: ignore[untyped-decorator]
def compare(space: ProblemArrays, table: Table, arm: int) -> None:
    """Work out the row and the column of `arm` in the table of margins."""
    for j in range(space.arms):
        ahead, behind = -math.inf, -math.inf
        for c in range(space.objectives):
            difference = table.means[arm, c] - table.means[j, c]
            ahead = max(ahead, difference)
            behind = max(behind, -difference)
        table.lead[arm, j] = ahead
        table.lead[j, arm] = behind


@njit(nogil=True, error_model="numpy", forceinline=True)  # type: ignore[untyped-decorator]
def decide(space: ProblemArrays, table: Table, delta: float) -> tuple[int, int]:
    """Leader and challenger (-1: none); the leader is -1 when the rule stops."""
    K = space.arms
    bar = math.log(max(1.0, math.log(max(table.tally[CLOCK], 1))) / delta)
    scale = math.sqrt(2.0 * bar)
    inverse, lead, candidate, optimal = table.inverse, table.lead, table.candidate, table.optimal
    for i in range(K):
        candidate[i] = table.inside[i] == 1 or table.weight[i] < bar
        optimal[i] = table.inside[i]
        for j in range(K):
            if table.inside[i] == 1 and j != i and table.inside[j] == 1 and lead[i, j] <= 0.0:
                optimal[i] = 0
                break
    z2, excluded = math.inf, -1
    z1_feasible, feasible = math.inf, -1
    z1_pair, first = math.inf, -1
    for i in range(K):
        if optimal[i] == 1:
            if table.weight[i] - bar < z1_feasible:
                z1_feasible, feasible = table.weight[i] - bar, i
            for j in range(K):
                if j != i and optimal[j] == 1:
                    value = lead[i, j] - scale * math.sqrt(inverse[i] + inverse[j])
                    if value < z1_pair:
                        z1_pair, first = value, i
        else:
            xi = -math.inf
            for j in range(K):
                if j != i and candidate[j] == 1:
                    xi = max(xi, -lead[i, j] - scale * math.sqrt(inverse[i] + inverse[j]))
            if table.inside[i] == 0:
                xi = max(xi, table.weight[i] - bar)
            if xi < z2:
                z2, excluded = xi, i
    if z2 >= 0.0 and min(z1_feasible, z1_pair) >= 0.0:
        return -1, -1
    leader = first
    if z2 < 0.0:
        leader = excluded
    elif z1_pair >= z1_feasible:
        leader = feasible
    least, challenger = math.inf, -1
    for j in range(K):
        if j != leader and candidate[j] == 1:
            value = lead[leader, j] - scale * math.sqrt(inverse[leader] + inverse[j])
            if value < least or challenger < 0:
                least, challenger = value, j
    return leader, challenger


@njit(nogil=True, error_model="numpy", forceinline=True)  # type: ignore[untyped-decorator]
def begin(space: ProblemArrays, drawn_from: Any, table: Table) -> None:
    """Pull every arm once."""
    table.tally[CLOCK] = 0
    table.key[1] = table.tally[RUN]
    for i in range(space.arms):
        table.counts[i] = 0
        for c in range(space.objectives):
            table.sums[i, c] = 0.0
    for i in range(space.arms):
        pull(space, drawn_from, table, i)
    for i in range(space.arms):
        compare(space, table, i)


@njit(nogil=True, error_model="numpy", forceinline=True)  # type: ignore[untyped-decorator]
def advance(space: ProblemArrays, drawn_from: Any, table: Table, delta: float, steps: int, budget: int) -> int:
    """Take about `steps` samples, run after run; return how many (0 when every run has ended)."""
    taken = 0
    while taken < steps and table.tally[RUN] < table.ended.shape[0]:
        before = table.tally[CLOCK]
        if before == 0:
            begin(space, drawn_from, table)
            taken += table.tally[CLOCK]
            continue
        leader, challenger = decide(space, table, delta)
        if leader < 0 or before >= budget:
            for i in range(space.arms):
                table.ended[table.tally[RUN], i] = table.counts[i]
            table.tally[RUN] += 1
            table.tally[CLOCK] = 0
            continue
        pull(space, drawn_from, table, leader)
        compare(space, table, leader)
        if challenger >= 0 and table.tally[CLOCK] < budget:
            pull(space, drawn_from, table, challenger)
            compare(space, table, challenger)
        taken += table.tally[CLOCK] - before
    return taken


def simulate(
    instance: pg.Instance, *, delta: float = 0.1, runs: int = 1, seed: int = 0, budget: int | None = None
) -> NDArray[int64]:
    """How often each arm was pulled in each run: [runs, K]. A budget must be enough for one pull of each arm."""
    space = instance.problem.space()
    table, limit = new_table(space, seed, runs), NO_BUDGET if budget is None else budget
    while advance(space, source(instance), table, delta, 10**6, limit) > 0:
        pass
    return table.ended
