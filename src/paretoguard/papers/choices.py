"""Beyond the paper: do its open points matter? Each decided otherwise, and who then needs fewer samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.evidence.practical import Practical, PracticalLevels
from paretoguard.papers.outcome import Effort, Line, Outcome, Rows, as_written, summary_rows, timing_rows
from paretoguard.papers.pictures import draw_choices
from paretoguard.problem import Instance, Problem
from paretoguard.problem.noise import Gaussian
from paretoguard.simulation.instances import load
from paretoguard.simulation.study import Study, simulate

INSTANCES = ["two-stage-gap", "racing-5", "simplex", "ordered", "cube", "covboost", "secukinumab"]
DELTA, RUNS, BUDGET = 0.1, 60, 10_000_000
AS_DECIDED = "as decided"
MEANING = {
    AS_DECIDED: "as decided",
    "split": "split: each stage of two-stage at δ/2",
    "fresh": "fresh: stage 2 does not use the samples of stage 1",
    "form": "form: stage 2 with e-cAPE's leader and challenger, not APE's of 2023",
    "ties": "ties: to the highest index (the arms in reverse order)",
    "g = 4f": "g = 4f: four times the evidence for feasibility, as in the Theorem",
    "g = 10f": "g = 10f: ten times the evidence for feasibility",
}
FAR = 1000.0  # standard deviations


@dataclass(frozen=True)
class Wider(Practical):
    """`practical` with g = factor f, which is the same as sigma_u^2 = factor."""

    factor: float = 1.0
    name: ClassVar[str] = "practical-wider"

    def fit(self, delta: float, problem: ProblemArrays) -> PracticalLevels:
        return super().fit(delta, problem)._replace(sigma_u=math.sqrt(self.factor))


def choices(effort: Effort) -> Outcome:
    """Return the samples of e-cAPE and of two-stage for every choice on every instance."""
    rows: list[dict[str, Any]] = []
    timing: list[dict[str, Any]] = []
    for name in effort.first(INSTANCES):
        effort.say(name)
        instance = load(name)
        done: dict[Any, Study] = {}
        for choice, settings in _simulations(instance).items():
            for one in settings:
                if _kind(one) not in done:  # most choices leave e-cAPE as it is
                    study = simulate(**one, runs=effort.runs(RUNS), budget=BUDGET, threads=effort.threads)
                    done[_kind(one)] = study
                    timing += [{"choice": choice, **row} for row in timing_rows(study)]
            found = [summary_rows(done[_kind(one)])[0] for one in settings]
            rows.append({"instance": name, "choice": choice, **_costs(found)})
    rows = as_written(rows)
    return Outcome(rows, lines(rows), partial(draw_choices, rows), timing)


def _simulations(instance: Instance) -> dict[str, list[dict[str, Any]]]:
    """Return what to simulate for each choice: e-cAPE first, then two-stage in one or two parts."""

    def both(on: Instance = instance, **more: Any) -> list[dict[str, Any]]:
        return [{"instance": on, "algorithms": name, "delta": DELTA, **more} for name in ("e-cape", "two-stage")]

    first, second = both()
    reversed_arms = _with_arms(instance, range(len(instance.means))[::-1], f"{instance.name}, reversed")
    alone = [{**second, "instance": part} for part in (incomparable(instance), feasible_alone(instance))]
    return {
        AS_DECIDED: [first, second],
        "split": [first, {**second, "delta": DELTA / 2}],
        "fresh": [first, *alone],
        "form": [first, {**second, "algorithms": "two-stage:form=e-cape"}],
        "ties": both(reversed_arms),
        "g = 4f": both(evidence=Wider(factor=4.0)),
        "g = 10f": both(evidence=Wider(factor=10.0)),
    }


def _kind(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells a simulation from the others."""
    return settings["instance"].name, settings["algorithms"], settings["delta"], settings.get("evidence")


def _costs(found: Rows) -> dict[str, float]:
    """Return the mean samples of both, their ratio, and twice its standard error."""
    e_cape, *stages = found
    two_stage = sum(row["mean"] for row in stages)
    ratio = two_stage / e_cape["mean"]
    variances = [row["std"] ** 2 / row["runs"] for row in (e_cape, *stages)]
    relative = math.sqrt(variances[0] / e_cape["mean"] ** 2 + sum(variances[1:]) / two_stage**2)
    costs = {"e-cape": e_cape["mean"], "two-stage": two_stage, "ratio": ratio, "error": 2.0 * ratio * relative}
    return {"runs": e_cape["runs"], **costs, "undecided": max(row["undecided"] for row in found)}


def _with_arms(instance: Instance, arms: Sequence[int], name: str, **fields: Any) -> Instance:
    """Return the same problem with these arms, in this order."""
    problem = instance.problem
    settings: dict[str, Any] = {"constraints": problem.constraint_texts, "dependence": problem.dependence, **fields}
    chosen = [problem.arms[i] for i in arms]
    changed = Problem(problem.objectives, arms=chosen, name=name, noise=problem.noise, **settings)
    return Instance(changed, instance.means[list(arms)])


def feasible_alone(instance: Instance) -> Instance:
    """Return what stage 2 has to do, without the samples of stage 1."""
    feasible = np.flatnonzero(instance.truth().is_feasible).tolist()
    return _with_arms(instance, feasible, f"{instance.name}, feasible arms", constraints=())


def incomparable(instance: Instance) -> Instance:
    """Return what stage 1 has to do: two more objectives, in which all arms are far apart, leave stage 2 nothing."""
    problem = instance.problem
    places = FAR * np.arange(len(problem.arms))
    changed = Problem(
        {**problem.objectives, "forth": "max", "back": "max"},
        arms=problem.arms,
        noise={**problem.noise, "forth": Gaussian(1.0), "back": Gaussian(1.0)},
        constraints=problem.constraint_texts,
        dependence=problem.dependence,
        name=f"{instance.name}, incomparable",
    )
    return Instance(changed, np.column_stack([instance.means, places, -places]))


def lines(rows: Rows) -> list[Line]:
    """Return for each choice the range of the ratio and the instances on which it turns the order."""
    side = {(row["instance"], row["choice"]): _side(row) for row in rows}
    found = []
    for choice in dict.fromkeys(row["choice"] for row in rows):
        here = [row for row in rows if row["choice"] == choice]
        names = [row["instance"] for row in here]
        turned = [name for name in names if side[name, choice] * side[name, AS_DECIDED] < 0]
        ratios = [row["ratio"] for row in here]
        ours = f"two-stage over e-cAPE {min(ratios):.2f} to {max(ratios):.2f}"
        changes = f"turns the order on {', '.join(turned)}" if turned else "turns no order of the two"
        found.append(Line(MEANING[choice], "open", ours, why="" if choice == AS_DECIDED else changes))
    return found


def _side(row: Mapping[str, Any]) -> int:
    """Return 1 where e-cAPE needs fewer, -1 where two-stage does, 0 where that is not clear."""
    return int(np.sign(row["ratio"] - 1.0)) if abs(row["ratio"] - 1.0) > row["error"] else 0
