"""A plan before the first sample: what a design would cost and how often it would be wrong, for assumed means."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paretoguard.errors import Interrupted, ProblemError
from paretoguard.problem import Instance
from paretoguard.simulation.progress import progress
from paretoguard.simulation.study import Study, simulate
from paretoguard.theory.bounds import LowerBound, lower_bound
from paretoguard.theory.truth import uncovered

STEP = 0.01  # standard deviations by which a mean is moved to see what that does to the cost
QUANTILES, NAMES = (0.05, 0.5, 0.95), ("q05", "median", "q95")


@dataclass(frozen=True)
class Scenario:
    """One set of assumed means: the answer, what makes it hard, and what each algorithm would do."""

    instance: Instance
    bound: LowerBound | None  # of problems that theory covers
    delta: float
    sensitivity: dict[str, float]  # of each arm: the factor by which the bound changes if its mean moves by STEP
    designs: tuple[dict[str, Any], ...]  # of each algorithm: samples, errors, undecided; returned and pulls of each arm

    @property
    def samples(self) -> float | None:
        """The lower bound in samples, at this delta."""
        return None if self.bound is None else self.bound.samples(self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "instance": self.instance.name,
            "delta": self.delta,
            "pareto": list(self.instance.truth().pareto),
            "lower_bound": None if self.bound is None else {**asdict(self.bound), "samples": self.samples},
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
    """For each set of assumed means: the lower bound, its difficulties, and operating characteristics by simulation.

    Ctrl-C raises `Interrupted`, whose `scenarios` hold what was known by then.
    """
    bounds: list[LowerBound | None] = []
    with progress(len(instances), "lower bounds") as report:
        for one in instances:  # first: means without a unique answer are refused here
            bounds.append(None if uncovered(one) else lower_bound(one))
            report(1)
    scenarios, interrupted = [], False
    try:
        study = simulate(
            list(instances), algorithms=algorithms, evidence=evidence, delta=delta, runs=runs, budget=budget,
            batch=batch, seed=seed,
        )  # fmt: skip
    except Interrupted as interruption:
        study, interrupted = interruption.study, True
    for one, bound in zip(instances, bounds, strict=True):
        scenarios.append(Scenario(one, bound, delta, {}, _designs(study, one)))
    if interrupted or not _move_means(scenarios):
        raise Interrupted(scenarios=scenarios)
    return scenarios


def _move_means(scenarios: Sequence[Scenario]) -> bool:
    """Find how sensitive each bound is; False on Ctrl-C, with the arms done by then."""
    bounded = [(one, one.bound) for one in scenarios if one.bound is not None]
    with progress(sum(len(one.instance.problem.arms) for one, _ in bounded), "moving each mean") as report:
        try:
            for one, bound in bounded:
                for i, arm in enumerate(one.instance.problem.arms):
                    one.sensitivity[arm] = _sensitivity(one.instance, bound, i)
                    report(1)
        except KeyboardInterrupt:
            return False
    return True


def _sensitivity(instance: Instance, bound: LowerBound, i: int) -> float:
    """By which factor the bound changes, at most, if this arm's mean moves by STEP; infinite where the answer does."""
    space, most = instance.problem.space(), 1.0
    for c, objective in enumerate(space.order):
        for sign in (-1.0, 1.0):
            means = instance.means.copy()
            means[i, objective] += sign * STEP / abs(space.scale[c])
            try:
                moved = Instance(instance.problem, means, instance.name)
            except ProblemError:  # no such mean, as a rate above 1
                continue
            most = max(most, _factor(bound, moved))
    return most


def _factor(bound: LowerBound, instance: Instance) -> float:
    try:
        moved = lower_bound(instance)
    except ProblemError:  # on a border, or tied
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
        if not mine.any():  # interrupted before the first had finished
            continue
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
