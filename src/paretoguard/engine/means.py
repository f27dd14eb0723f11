"""Where the means lie: on which side of the constraints, which dominate which, and the Pareto set of the feasible arms.

For the Pareto set each feasible arm keeps one *witness*, a feasible arm that dominates it. A new result of arm p can
only break the witness p, or make p a witness: the set is kept up to date in O(K d) a result and O(K) memory.
"""

import math

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.state import State
from paretoguard.geometry.active_set import Workspace
from paretoguard.geometry.polyhedron import Polyhedron, distance, within
from paretoguard.numeric import Floats

# --- the constraints --------------------------------------------------------------------------------------------------


@inner
def locate(problem: ProblemArrays, state: State, arm: int) -> None:
    """Find on which side of the constraints the mean of `arm` lies, and, inside, how far from the border.

    Inside means slack_l >= -tolerance_l / 2 for every row. There eta = min_l (slack_l + tolerance_l); outside, eta is
    the distance to P, left to `eta_of`: not all evidence asks for it. Rows over exact coordinates are certain: they
    give eta = +inf or are left out; what they leave of P may be empty, so that with them eta is worked out at once.
    """
    x = state.means[arm]
    for row in range(problem.exact_b.shape[0]):
        used = 0.0
        for c in range(problem.objectives - problem.noisy):
            used += problem.exact_A[row, c] * x[problem.noisy + c]
        if used - problem.exact_b[row] > 0.5 * problem.exact_row_tolerance[row]:
            state.inside[arm] = 0
            state.lazy_eta[arm] = math.inf
            return
    for row in range(problem.region.A.shape[0]):
        state.rhs[row] = problem.region.b[row]
        for c in range(problem.objectives - problem.noisy):
            state.rhs[row] -= problem.exact_part[row, c] * x[problem.noisy + c]
    inside, eta = within(problem.region, state.rhs, problem.row_tolerance, x)
    state.inside[arm] = 1 if inside else 0
    state.lazy_eta[arm] = eta if inside else math.nan
    if not inside and problem.noisy < problem.objectives:
        state.lazy_eta[arm] = distance(problem.region, state.rhs, x, state.work)


@inner
def called_eta(problem: ProblemArrays, state: State, i: int) -> float:
    """As `eta_of`, where it is mostly known: if it is not, the distance is called, which compiles sooner."""
    if state.lazy_eta[i] != state.lazy_eta[i]:
        state.lazy_eta[i] = _away(problem.region, state.means[i], state.work)
    return float(state.lazy_eta[i])


@aside
def _away(region: Polyhedron, x: Floats, work: Workspace) -> float:
    return distance(region, region.b, x, work)


@inner
def eta_of(problem: ProblemArrays, state: State, i: int) -> float:
    """Return the distance to the border of P; of an arm outside P it is worked out when first asked for."""
    if state.lazy_eta[i] != state.lazy_eta[i]:
        state.lazy_eta[i] = distance(problem.region, problem.region.b, state.means[i], state.work)
    return float(state.lazy_eta[i])


# --- dominance --------------------------------------------------------------------------------------------------------


@inner
def beats(problem: ProblemArrays, state: State, j: int, i: int) -> bool:
    """True if j dominates i: its mean is at least that of i, plus half the tolerance, in every objective."""
    for c in range(problem.compared):
        if state.means[i, c] + 0.5 * problem.tolerance[c] > state.means[j, c]:
            return False
    for c in range(problem.noisy, problem.noisy + problem.compared_exact):
        if state.means[i, c] + 0.5 * problem.tolerance[c] > state.means[j, c]:
            return False
    return True


@inner
def least_gain(problem: ProblemArrays, state: State, i: int, j: int) -> float:
    """Return m(i,j) = min_c (mean_j - mean_i) over noisy coordinates; -inf if an exact one says i is above j."""
    for c in range(problem.noisy, problem.noisy + problem.compared_exact):
        if state.means[i, c] > state.means[j, c]:
            return -math.inf
    gain = math.inf
    for c in range(problem.compared):
        gain = min(gain, state.means[j, c] - state.means[i, c])
    return gain


@inner
def best_lead(problem: ProblemArrays, state: State, i: int, j: int) -> float:
    """Return M(i,j) = max_c (mean_i - mean_j + tolerance_c); +inf if an exact coordinate says that i leads."""
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
