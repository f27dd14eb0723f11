"""Where the mean of an arm is: on which side of the constraints, and how far from their border."""

import math
from typing import TYPE_CHECKING

from numpy import float64
from numpy.typing import NDArray

from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import Space
from paretoguard.geometry.active_set import Workspace
from paretoguard.geometry.polyhedron import Polyhedron, distance, within

if TYPE_CHECKING:
    from paretoguard.engine.state import State


@inner
def locate(space: Space, state: "State", arm: int) -> None:
    """Find on which side of the constraints the mean of `arm` lies, and, inside, how far from the border.

    Inside means slack_l >= -tolerance_l / 2 for every row. There eta = min_l (slack_l + tolerance_l); outside, eta is
    the distance to P, left to `eta_of`: not all evidence asks for it. Rows over exact coordinates are certain: they
    give eta = +inf or are left out; what they leave of P may be empty, so that with them eta is worked out at once.
    """
    x = state.means[arm]
    for row in range(space.exact_b.shape[0]):
        used = 0.0
        for c in range(space.objectives - space.noisy):
            used += space.exact_A[row, c] * x[space.noisy + c]
        if used - space.exact_b[row] > 0.5 * space.exact_row_tolerance[row]:
            state.inside[arm] = 0
            state.lazy_eta[arm] = math.inf
            return
    for row in range(space.region.A.shape[0]):
        state.rhs[row] = space.region.b[row]
        for c in range(space.objectives - space.noisy):
            state.rhs[row] -= space.exact_part[row, c] * x[space.noisy + c]
    inside, eta = within(space.region, state.rhs, space.row_tolerance, x)
    state.inside[arm] = 1 if inside else 0
    state.lazy_eta[arm] = eta if inside else math.nan
    if not inside and space.noisy < space.objectives:
        state.lazy_eta[arm] = distance(space.region, state.rhs, x, state.work)


@inner
def called_eta(space: Space, state: "State", i: int) -> float:
    """As `eta_of`, where it is mostly known: called, not inlined; quicker to compile, and slower where it is not."""
    if state.lazy_eta[i] != state.lazy_eta[i]:
        state.lazy_eta[i] = _away(space.region, state.means[i], state.work)
    return float(state.lazy_eta[i])


@aside
def _away(region: Polyhedron, x: NDArray[float64], work: Workspace) -> float:
    return distance(region, region.b, x, work)


@inner
def eta_of(space: Space, state: "State", i: int) -> float:
    """The distance to the border of P: of an arm outside P worked out when first asked for."""
    if state.lazy_eta[i] != state.lazy_eta[i]:
        state.lazy_eta[i] = distance(space.region, space.region.b, state.means[i], state.work)
    return float(state.lazy_eta[i])
