"""A plan before the first sample: what a design would cost and how often it would be wrong, for assumed means."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from paretoguard.algorithms import Algorithm
from paretoguard.errors import Interrupted, ProblemError
from paretoguard.evidence import Evidence
from paretoguard.problem import Instance
from paretoguard.simulation.runner import progress_bar
from paretoguard.simulation.study import Simulated, Study, instances_of, simulate
from paretoguard.theory.bounds import LowerBound, lower_bound
from paretoguard.theory.exact import uncovered
from paretoguard.trial import registry
from paretoguard.vocabulary import OPTIMAL, TASKS

_STEP = 0.01  # standard deviations by which a mean is moved to see what that does to the cost
SECONDS, CLOSE = 5.0, 0.01  # for the bound of a moved mean, and how exact it is to be
QUANTILES, _NAMES = (0.05, 0.5, 0.95), ("q05", "median", "q95")


@dataclass(frozen=True)
class Scenario:
    """One set of assumed means: the answer, what makes it hard, and what each algorithm would do."""

    instance: Instance
    delta: float
    bound: LowerBound | None  # of problems that theory covers
    plain: LowerBound | None  # the same if nothing need be said of the arms that are out (cPSI)
    sensitivity: dict[str, float] = field(default_factory=dict)  # factor by which the bound changes if a mean moves
    designs: list[dict[str, Any]] = field(default_factory=list)  # of each algorithm: samples, errors, and of each arm

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "instance": self.instance.name,
            "delta": self.delta,
            "means": {
                arm: dict(zip(self.instance.problem.objectives, row, strict=True))
                for arm, row in zip(self.instance.problem.arms, self.instance.means.tolist(), strict=True)
            },
            "pareto": list(self.instance.truth().pareto),
            "lower_bound": self._plain(self.bound),
            "lower_bound_cpsi": self._plain(self.plain),
            "sensitivity": self.sensitivity,
            "designs": self.designs,
        }

    def _plain(self, bound: LowerBound | None) -> dict[str, Any] | None:
        return None if bound is None else {**asdict(bound), "samples": bound.samples(self.delta)}


def plan(
    instances: Simulated | Sequence[Simulated],
    *,
    algorithms: str | Algorithm | Sequence[str | Algorithm] = registry.DEFAULT_ALGORITHM,
    evidence: str | Evidence | Sequence[str | Evidence] = registry.DEFAULT_EVIDENCE,
    delta: float = registry.DEFAULT_DELTA,
    runs: int = 200,
    budget: int | None = None,
    batch: int = 1,
    seed: int = 0,
) -> list[Scenario]:
    """Plan a design for assumed means: lower bounds, what makes them large, and operating characteristics.

    Raise ProblemError if means have no unique answer. Raise Interrupted at Ctrl-C: its `scenarios` hold what was known
    by then.

    Parameters
    ----------
    instances
        Assumed means: an `Instance`, the name of one, `pg.load(path)` of a file with means, or a list of these.
    algorithms, evidence, budget, batch, seed
        As for `simulate`; the defaults are those of `identify`, `Trial` and `Experiment`.
    delta
        The accepted error probability, between 0 and 1.
    runs
        How many runs are simulated for each scenario and algorithm. Fewer than `simulate` makes by default: a plan is
        looked at, changed, and made again.

    Returns
    -------
    list of Scenario
        One for each set of assumed means.
    """
    scenarios: list[Scenario] = []
    found = instances_of(instances)
    try:
        with progress_bar(len(found), "lower bounds") as report:
            for one in found:  # first: means without a unique answer are refused here
                bound, plain = (None if uncovered(one) else lower_bound(one, task) for task in TASKS)
                scenarios.append(Scenario(one, delta, bound, plain))
                report(1)
        study = simulate(
            found, algorithms=algorithms, evidence=evidence, delta=delta, runs=runs, budget=budget,
            batch=batch, seed=seed,
        )  # fmt: skip
        _add_designs(scenarios, study)
        _move_means(scenarios)
    except KeyboardInterrupt as interruption:
        if isinstance(interruption, Interrupted):
            _add_designs(scenarios, interruption.study)
        raise Interrupted(scenarios=scenarios) from None
    return scenarios


def _move_means(scenarios: Sequence[Scenario]) -> None:
    arms = [(one, one.bound, i) for one in scenarios for i in range(len(one.instance.means)) if one.bound is not None]
    with progress_bar(len(arms), "moving each mean") as report:
        for one, bound, i in arms:
            factor = _sensitivity(one.instance, bound, i)
            if factor is not None:
                one.sensitivity[one.instance.problem.arms[i]] = factor
            report(1)


def _sensitivity(instance: Instance, bound: LowerBound, i: int) -> float | None:
    """Return the largest factor by which the bound changes if this arm's mean moves by _STEP; inf if the answer does.

    None if a bound was not found exactly enough in time.
    """
    space, factors = instance.problem.space(), [1.0]
    for c, objective in enumerate(space.order):
        for sign in (-1.0, 1.0):
            means = instance.means.copy()
            means[i, objective] += sign * _STEP / abs(space.scale[c])
            try:
                moved = Instance(instance.problem, means, instance.name)
            except ProblemError:  # no such mean, as a rate above 1
                continue
            factors.append(_factor(bound, moved))
    return None if np.isnan(factors).any() else max(factors)


def _factor(bound: LowerBound, instance: Instance) -> float:
    try:
        moved = lower_bound(instance, time_limit=SECONDS)
    except ProblemError:  # on a border, or tied
        return np.inf
    best, then = ({arm for arm, why in one.answer.items() if why == "optimal"} for one in (bound, moved))
    if best != then:
        return np.inf
    if max(bound.gap, moved.gap) > CLOSE:
        return np.nan
    factor = moved.value / bound.value if bound.value > 0 else 1.0
    return max(factor, 1.0 / factor)


def _add_designs(scenarios: Sequence[Scenario], study: Study) -> None:
    designs = {one.instance: one.designs for one in scenarios}
    for row, cell in zip(study.summary(), study.cells, strict=True):
        mine, arms = study.of(cell), cell.instance.problem.arms
        if not mine.any():  # interrupted before the first had finished
            continue
        pulls, returned = study.pulls[mine][:, : len(arms)], study.statuses[mine][:, : len(arms)] == OPTIMAL
        quantiles = np.quantile(pulls, QUANTILES, axis=0)
        each = {
            arm: {"mean": float(pulls[:, i].mean()), **dict(zip(_NAMES, quantiles[:, i].tolist(), strict=True))}
            for i, arm in enumerate(arms)
        }
        shares = dict(zip(arms, returned.mean(axis=0).tolist(), strict=True))
        designs[cell.instance].append({**row, "returned": shares, "pulls": each})
