"""APE (Kone, Kaufmann, Richert 2023): who leads, who challenges, and when to stop, among the arms found feasible.

With A those arms, OPT = {i : M^-(i,j) > 0 for every other j of A} and xi_i = max_j m^-(i,j), in the form of 2023 the
leader is the arm outside OPT that is likeliest to be optimal, argmax min_j M^+(i,j), or the one with the least
min_j M^-(i,j) when OPT is everything; the challenger is argmin_j M^-(b,j). Since M^+(i,j) = -m^-(i,j), the leader is
the arm outside OPT with the least xi. All is settled when M^-(i,j) >= 0 between all arms of the empirical Pareto set
and xi_i >= 0 for every other one: e-cAPE's rule by pairs alone.

Each arm remembers an arm that shows it to be outside OPT, so that only the arms of OPT need a look at every other.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import int64, uint8

from paretoguard.algorithms.ecape.stopping import Rivals, new_rivals, weakest_excluded, weakest_pair
from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.dominance import beats
from paretoguard.engine.questions import undominated
from paretoguard.engine.state import State
from paretoguard.engine.view import View
from paretoguard.numeric import Bytes, Integers


class Ape(NamedTuple):
    """APE at work on the arms marked in `rivals.members`."""

    rivals: Rivals
    front: Bytes  # [K] 1 for the Pareto set of their means
    beaten_by: Integers  # [K] an arm whose mean dominated that of i, or -1
    certain: Bytes  # [K] 1 for OPT
    closest: Integers  # [K] an arm j with a small M^-(i,j), or -1


def new_ape(problem: ProblemArrays) -> Ape:
    """Return memory in which nobody takes part."""
    K = problem.arms
    return Ape(
        rivals=new_rivals(problem, by_pairs=True),
        front=np.zeros(K, dtype=uint8),
        beaten_by=np.full(K, -1, dtype=int64),
        certain=np.zeros(K, dtype=uint8),
        closest=np.full(K, -1, dtype=int64),
    )


@inner
def find_front(ape: Ape, problem: ProblemArrays, state: State) -> None:
    """Write the empirical Pareto set."""
    members = ape.rivals.members
    for i in range(problem.arms):
        ape.front[i] = members[i]
        if members[i] == 0:
            continue
        known = ape.beaten_by[i]
        if known >= 0 and beats(problem, state, known, i):
            ape.front[i] = 0
            continue
        for j in range(problem.arms):
            if j != i and members[j] == 1 and beats(problem, state, j, i):
                ape.front[i] = 0
                ape.beaten_by[i] = j
                break


@inner
def lead(ape: Ape, view: View, both: bool) -> int:
    """Return the leader, or -1 where all is settled; in e-cAPE's form (`both`) it is what holds up the rule."""
    if both:
        return _held_up_by(ape, view)
    least, leader = _likeliest(ape, view)
    is_surely_open = least < 0.0 and ape.front[leader] == 0
    return leader if is_surely_open or _held_up_by(ape, view) >= 0 else -1


@inner
def _held_up_by(ape: Ape, view: View) -> int:
    """Return the arm that holds up the rule, or -1."""
    least, arm = _weakest(ape, view, ape.front)
    if not least < 0.0:
        least, arm = _closest_pair(ape, view, ape.front)
    return arm if least < 0.0 else -1


@inner
def _likeliest(ape: Ape, view: View) -> tuple[float, int]:
    """Return the arm outside OPT with the least xi, and that; +inf and an arm of the closest pair if OPT is all."""
    for i in range(view.problem.arms):
        if ape.certain[i] == 1 and not _is_certain(ape, view, i):
            ape.certain[i] = 0
    while True:
        least, arm = _weakest(ape, view, ape.certain)
        if arm < 0:
            return math.inf, _closest_pair(ape, view, ape.rivals.members)[1]
        if not _is_certain(ape, view, arm):
            return least, arm
        ape.certain[arm] = 1  # the others of OPT are found when they come into question


@aside
def _weakest(ape: Ape, view: View, front: Bytes) -> tuple[float, int]:
    return weakest_excluded(view, ape.rivals, front)


@aside
def _closest_pair(ape: Ape, view: View, front: Bytes) -> tuple[float, int]:
    return weakest_pair(view, ape.rivals, front)


@aside
def _is_certain(ape: Ape, view: View, i: int) -> bool:
    """True if i is in OPT: M^-(i,j) > 0 for every other arm. The arm remembered comes first: it may be enough."""
    first = ape.closest[i]
    for k in range(-1, view.problem.arms):
        j = first if k < 0 else k
        if j < 0 or j == i or (k >= 0 and j == first) or ape.rivals.members[j] == 0:
            continue
        if undominated(view, i, j) <= 0.0:
            ape.closest[i] = j
            return False
    return True
