"""Where the mean of an arm is: on which side of the constraints, and how far from their border."""

import math

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.state import State
from paretoguard.geometry.active_set import Workspace
from paretoguard.geometry.polyhedron import Polyhedron, distance, within
from paretoguard.numeric import Floats


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
    """As `eta_of`, where it is mostly known: called, not inlined; quicker to compile, and slower where it is not."""
    if state.lazy_eta[i] != state.lazy_eta[i]:
        state.lazy_eta[i] = _away(problem.region, state.means[i], state.work)
    return float(state.lazy_eta[i])


@aside
def _away(region: Polyhedron, x: Floats, work: Workspace) -> float:
    return distance(region, region.b, x, work)


@inner
def eta_of(problem: ProblemArrays, state: State, i: int) -> float:
    """The distance to the border of P: of an arm outside P worked out when first asked for."""
    if state.lazy_eta[i] != state.lazy_eta[i]:
        state.lazy_eta[i] = distance(problem.region, problem.region.b, state.means[i], state.work)
    return float(state.lazy_eta[i])
