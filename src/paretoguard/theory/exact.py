"""An instance in engine units, with its true answer; instances without a unique answer are refused."""

import math
from typing import NamedTuple

import numpy as np
from numpy import uint8

from paretoguard.errors import ProblemError
from paretoguard.geometry.polyhedron import Polyhedron, project
from paretoguard.numeric import Bytes, Floats
from paretoguard.problem import Instance
from paretoguard.problem.truth import Booleans
from paretoguard.simulation.study import Simulated, instances_of

_CLEAR = 1e-9  # standard deviations; nearer than this is a tie


class Solved(NamedTuple):
    """Means in standard deviations, larger being better, and what is true of each arm."""

    instance: Instance
    region: Polyhedron
    means: Floats  # [K, d]
    inside: Booleans  # [K]
    optimal: Booleans  # [K] O*: the Pareto set of the arms inside
    dominated: Booleans  # [K] by an arm of O*
    eta: Floats  # [K] distance to the border of P

    @property
    def answer(self) -> Bytes:
        return self.optimal.astype(uint8)

    @property
    def either(self) -> Booleans:
        """Arms that are both dominated and infeasible, so that either reason is right."""
        return self.dominated & ~self.inside


def uncovered(instance: Instance) -> str | None:
    """Return the features of the instance that the theory does not cover, None if there are none."""
    problem, space = instance.problem, instance.problem.space()
    has = {
        "exact objectives": space.noisy < space.objectives,
        "objectives that only guard": len(problem.compared) < len(problem.objectives),
        "noise of unknown scale": problem.learnt,
        "tolerances": any(problem.tolerance.values()),
        "a declared covariance": not isinstance(problem.dependence, str),
    }
    return " and ".join(name for name, present in has.items() if present) or None


def truth(given: Simulated) -> Solved:
    """Return the true answer. Raise ProblemError if theory does not cover the instance, or if it has several."""
    (instance,) = instances_of(given)
    space = instance.problem.space()
    if (what := uncovered(instance)) is not None:
        raise ProblemError(f"lower bounds and complexities do not cover {what}; state the instance without")
    means = instance.means[:, space.order] * space.scale
    slack = space.region.b - means @ space.region.A.T
    inside = np.all(slack >= 0, axis=1)
    beaten = np.all(means[:, None] <= means[None], axis=2) & inside  # [i, j]: i is dominated by j, which is inside
    np.fill_diagonal(beaten, False)
    optimal = inside & ~beaten.any(axis=1)
    eta = np.where(inside, slack.min(axis=1, initial=math.inf), 0.0)
    for i in np.flatnonzero(~inside):
        eta[i] = project(space.region, means[i]).distance
    found = Solved(instance, space.region, means, inside, optimal, beaten[:, optimal].any(axis=1), eta)
    _refuse_ties(found)
    return found


def _refuse_ties(found: Solved) -> None:
    """Raise ProblemError if an arm is on a border, or two tie: no number of samples is enough."""
    arms, unclear = found.instance.problem.arms, []
    ahead = (found.means[:, None] - found.means[None]).max(axis=2)  # [i, j] M(i, j)
    for i, arm in enumerate(arms):
        needed = found.optimal[i] or not (found.dominated[i] or found.inside[i])
        if needed and found.eta[i] < _CLEAR:
            unclear.append(f"{arm} lies on the border of the constraints")
        for j in np.flatnonzero(found.optimal):
            if found.optimal[i] and i < j and min(ahead[i, j], ahead[j, i]) < _CLEAR:
                unclear.append(f"{arm} and {arms[j]} tie")
        if found.inside[i] and not found.optimal[i] and ahead[i, found.optimal].min(initial=math.inf) > -_CLEAR:
            by = int(np.where(found.inside & (np.arange(len(arms)) != i), ahead[i], math.inf).argmin())
            if np.array_equal(found.means[i], found.means[by]):
                unclear += [f"{arm} and {arms[by]} have the same means"] * (i < by)
            else:
                unclear.append(f"{arm} is dominated, but not in every objective: it equals {arms[by]} in one")
        if found.either[i] and found.eta[i] < _CLEAR and ahead[i, found.optimal].min() > -_CLEAR:
            unclear.append(f"{arm} is infeasible and dominated, but lies on both borders")
    if unclear:
        name = f"{found.instance.name}: " if found.instance.name else ""
        raise ProblemError(
            f"{name}no number of samples is enough: {'; '.join(unclear)}. Its complexity is infinite; state other "
            "means, or a tolerance, with which a plan goes by simulation alone"
        )
