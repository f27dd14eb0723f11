"""A plan before the first sample: what a design would cost and how often it would be wrong, for assumed means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoguard.errors import ProblemError
from paretoguard.problem import Instance
from paretoguard.simulation.study import Study, simulate
from paretoguard.theory.bounds import LowerBound, lower_bound

STEP = 0.01  # standard deviations by which a mean is moved to see what that does to the cost
QUANTILES, NAMES = (0.05, 0.5, 0.95), ("q05", "median", "q95")


@dataclass(frozen=True)
class Scenario:
    """One set of assumed means: the answer, what makes it hard, and what each algorithm would do."""

    instance: Instance
    bound: LowerBound
    delta: float
    sensitivity: dict[str, float]  # of each arm: the factor by which the bound changes if its mean moves by STEP
    designs: tuple[dict[str, Any], ...]  # of each algorithm: samples, errors, undecided; returned and pulls of each arm

    @property
    def samples(self) -> float:
        """The lower bound in samples, at this delta."""
        return self.bound.samples(self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        kept = ("task", "value", "lower", "upper", "weights", "answer", "hard", "guarantee", "assumption")
        bound = {name: getattr(self.bound, name) for name in kept}
        return {
            "instance": self.instance.name,
            "delta": self.delta,
            "pareto": list(self.instance.truth().pareto),
            "lower_bound": {**bound, "samples": self.samples},
            "sensitivity": self.sensitivity,
            "designs": list(self.designs),
        }


def plan(
    instances: Sequence[Instance],
    *,
    algorithms: Sequence[Any] = ("e-cape",),
    evidence: Any = "certified",
    delta: float = 0.05,
    runs: int = 200,
    budget: int | None = None,
    batch: int = 1,
    seed: int = 0,
) -> list[Scenario]:
    """For each set of assumed means: the lower bound, its difficulties, and operating characteristics by simulation."""
    bounds = [lower_bound(one) for one in instances]  # first: means without a unique answer are refused here
    study = simulate(
        list(instances), algorithms=algorithms, evidence=evidence, delta=delta, runs=runs, budget=budget, batch=batch,
        seed=seed,
    )  # fmt: skip
    return [
        Scenario(one, bound, delta, _sensitivity(one, bound), _designs(study, one))
        for one, bound in zip(instances, bounds, strict=True)
    ]


def _sensitivity(instance: Instance, bound: LowerBound) -> dict[str, float]:
    """By which factor the bound changes, at most, if one mean moves by STEP; infinite where the answer does."""
    space, factors = instance.problem.space(), {}
    for i, arm in enumerate(instance.problem.arms):
        most = 1.0
        for c, objective in enumerate(space.order):
            for sign in (-1.0, 1.0):
                means = instance.means.copy()
                means[i, objective] += sign * STEP / abs(space.scale[c])
                most = max(most, _factor(instance, means, bound))
        factors[arm] = most
    return factors


def _factor(instance: Instance, means: Any, bound: LowerBound) -> float:
    try:
        moved = lower_bound(Instance(instance.problem, means, instance.name))
    except ProblemError:  # outside what the noise allows, on a border, or tied
        return np.inf
    best, then = ({arm for arm, why in one.answer.items() if why == "optimal"} for one in (bound, moved))
    return max(moved.value / bound.value, bound.value / moved.value) if best == then else np.inf


def _designs(study: Study, instance: Instance) -> tuple[dict[str, Any], ...]:
    designs = []
    arms = instance.problem.arms
    for row, cell in zip(study.summary(), study.cells, strict=True):
        if cell.instance is not instance:
            continue
        mine = study.of(cell)
        pulls, returned = study.pulls[mine][:, : len(arms)], study.statuses[mine][:, : len(arms)] == 1
        quantiles = np.quantile(pulls, QUANTILES, axis=0)
        designs.append(
            {
                **row,
                "returned": dict(zip(arms, returned.mean(axis=0).tolist(), strict=True)),
                "pulls": {
                    arm: {"mean": float(pulls[:, i].mean()), **dict(zip(NAMES, quantiles[:, i].tolist(), strict=True))}
                    for i, arm in enumerate(arms)
                },
            }
        )
    return tuple(designs)
