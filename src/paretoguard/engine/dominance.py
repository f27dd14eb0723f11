"""Which empirical means dominate which: margins between two arms, and the Pareto set of the feasible arms.

For the Pareto set each feasible arm keeps one *witness*, a feasible arm that dominates it. A new result of arm p can
only break the witness p, or make p a witness: the set is kept up to date in O(K d) a result and O(K) memory.
"""

import math

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.state import State


@inner
def beats(problem: ProblemArrays, state: State, j: int, i: int) -> bool:
    """Is the mean of j at least that of i, plus half the tolerance, in every objective?  (j dominates i)"""
    for c in range(problem.compared):
        if state.means[i, c] + 0.5 * problem.tolerance[c] > state.means[j, c]:
            return False
    for c in range(problem.noisy, problem.noisy + problem.compared_exact):
        if state.means[i, c] + 0.5 * problem.tolerance[c] > state.means[j, c]:
            return False
    return True


@inner
def least_gain(problem: ProblemArrays, state: State, i: int, j: int) -> float:
    """m(i,j) = min_c (mean_j - mean_i) over the noisy coordinates; -inf if an exact coordinate says i is above j."""
    for c in range(problem.noisy, problem.noisy + problem.compared_exact):
        if state.means[i, c] > state.means[j, c]:
            return -math.inf
    gain = math.inf
    for c in range(problem.compared):
        gain = min(gain, state.means[j, c] - state.means[i, c])
    return gain


@inner
def best_lead(problem: ProblemArrays, state: State, i: int, j: int) -> float:
    """M(i,j) = max_c (mean_i - mean_j + tolerance_c); +inf if an exact coordinate says that i leads."""
    for c in range(problem.noisy, problem.noisy + problem.compared_exact):
        if state.means[i, c] + problem.tolerance[c] > state.means[j, c]:
            return math.inf
    lead = -math.inf
    for c in range(problem.compared):
        lead = max(lead, state.means[i, c] - state.means[j, c] + problem.tolerance[c])
    return lead


@inner
def find_witness(problem: ProblemArrays, state: State, i: int) -> None:
    """Set the witness of the feasible arm i, and whether it belongs to the Pareto set."""
    for j in range(problem.arms):
        if j != i and state.inside[j] == 1 and beats(problem, state, j, i):
            state.witness[i] = j
            state.optimal[i] = 0
            return
    state.witness[i] = -1
    state.optimal[i] = 1


@aside
def rebuild_front(problem: ProblemArrays, state: State) -> None:
    """Work out every witness from scratch."""
    for i in range(problem.arms):
        state.optimal[i] = 0
        if state.inside[i] == 1:
            find_witness(problem, state, i)


@inner
def update_front(problem: ProblemArrays, state: State, p: int) -> None:
    """Mend witnesses after the mean of p has changed.

    Whatever else changed at the same time is mended by its own call: afterwards each feasible arm either has a valid
    witness or was compared with every arm that changed.
    """
    p_inside = state.inside[p] == 1
    state.optimal[p] = 0
    for i in range(problem.arms):
        if state.inside[i] == 0:
            continue
        keeper = state.witness[i]
        if i == p:
            is_lost = keeper < 0 or state.inside[keeper] == 0 or not beats(problem, state, keeper, p)
        else:
            is_beaten = p_inside and (keeper == p or state.optimal[i] == 1) and beats(problem, state, p, i)
            if is_beaten:
                state.witness[i] = p
                state.optimal[i] = 0
            is_lost = keeper == p and not is_beaten
        if is_lost:
            find_witness(problem, state, i)
