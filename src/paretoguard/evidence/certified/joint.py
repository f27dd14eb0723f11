"""Several arms at once, for `certified`: that an arm is dominated by at least one of them, whichever it is.

If none of them dominates i, each arm j is no better than i in some coordinate c(j). The product of the normal mixtures
of i, in every coordinate that c uses, and of each j in its own is then at least exp(cost - penalties), where the cost
is least over all maps c: that of rising (`cheapest_entry`) with q for the counts. docs/guarantees.md proves it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import int64

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import least_gain
from paretoguard.engine.view import View
from paretoguard.evidence.certified.normal_mixture import SURELY
from paretoguard.geometry.cheapest_entry import Walk, enter, prepare_walk, walk_memory
from paretoguard.geometry.polyhedron import Polyhedron, polyhedron
from paretoguard.numeric import Bytes, Floats, Integers

MOST = 4  # arms in a set


class Several(NamedTuple):
    """What sets of arms must reach, and memory to look at them with; without room for arms where they are not used."""

    bars: Floats  # [MOST + 1] log(1/level) of a set of so many arms
    region: Polyhedron  # all of space
    points: Floats  # [K, compared]
    weights: Floats  # [K] q
    order: Integers  # [K] the arms above the one at hand, that with most evidence alone first
    alone: Floats  # [K] what each costs alone
    walk: Walk


def new_several(problem: ProblemArrays, bar: float, share: float) -> Several:
    """Each set of s arms out of the K - 1 others, s from 2 to MOST, has its part of `share` (K - 1) exp(-bar)."""
    others = problem.arms - 1
    sizes = range(2, min(MOST, others) + 1) if share > 0.0 else range(0)
    bars = np.full(MOST + 1, math.inf)
    for size in sizes:
        bars[size] = bar + math.log(math.comb(others, size) * len(sizes) / (share * others))
    K, d = (problem.arms, problem.compared) if share > 0.0 else (0, 1)
    region = polyhedron(np.zeros((0, d)), np.zeros(0))
    order = np.zeros(K, dtype=int64)
    return Several(bars, region, np.zeros((K, d)), np.zeros(K), order, np.zeros(K), walk_memory(K, d, 0))


@inner
def is_below_some(view: View, i: int, members: Bytes) -> bool:
    """Of the arms marked, two, three or more with most evidence alone; those not needed are unmarked."""
    evidence, problem = view.evidence, view.problem
    several = evidence.several
    if several.order.shape[0] == 0 or problem.compared == 0:
        return False
    size = min(MOST, _line_up(view, i, members))
    if size < 2:
        return False
    _look(view, i, size)
    own = evidence.penalty[several.order[0]]
    members[several.order[0]] = 1
    for k in range(1, size):
        own += evidence.penalty[several.order[k]]
        members[several.order[k]] = 1
        needed = several.bars[k + 1] + own + min(problem.compared, k + 1) * evidence.penalty[i]
        if _most(several, i, k + 1) >= needed:
            prepare_walk(several.region, several.points, members, several.walk)
            if enter(several.region, several.points, several.weights, i, needed, several.walk) == math.inf:
                return True
    return False


@inner
def _line_up(view: View, i: int, members: Bytes) -> int:
    """Sort the marked arms that are above i, unmark all, and return how many there are."""
    evidence, problem, state = view.evidence, view.problem, view.state
    several, size = evidence.several, 0
    for j in range(problem.arms):
        gain = least_gain(problem, state, i, j) if members[j] == 1 and j != i and state.counts[j] > 0 else 0.0
        members[j] = 0
        if gain > 0.0:
            several.alone[j] = gain * gain / (evidence.inverse[i] + evidence.inverse[j])
            place = size
            while place > 0 and several.alone[several.order[place - 1]] < several.alone[j]:
                several.order[place] = several.order[place - 1]
                place -= 1
            several.order[place] = j
            size += 1
    return size


@inner
def _look(view: View, i: int, size: int) -> None:
    """Copy what the cost depends on."""
    evidence = view.evidence
    several = evidence.several
    for k in range(-1, size):
        a = i if k < 0 else several.order[k]
        several.weights[a] = 1.0 / evidence.inverse[a]
        for c in range(view.problem.compared):
            several.points[a, c] = view.state.means[a, c]


@inner
def _most(several: Several, i: int, size: int) -> float:
    """No less than the cost: i rises alone, in the one coordinate where it is easiest."""
    least = math.inf
    for c in range(several.points.shape[1]):
        highest = 0.0
        for k in range(size):
            highest = max(highest, several.points[several.order[k], c] - several.points[i, c])
        least = min(least, highest)
    return 0.5 * several.weights[i] * least * least * SURELY
