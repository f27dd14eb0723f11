"""Beyond the paper: do its open points matter? Each decided otherwise, and what that does to e-cAPE against two-stage.

- split: each stage of two-stage at delta/2;
- fresh: stage 2 does not use the samples of stage 1 (what stage 1 takes, plus APE alone on the feasible arms);
- ties: the arms in reverse order, so that ties go to the highest index;
- g = 4f and g = 4(f + d log 5): the threshold for feasibility larger than that for pairs, as in the Theorem.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from paretoguard.engine.evidence.parts import Moment, moment
from paretoguard.engine.evidence.practical import Practical
from paretoguard.engine.evidence.widths import spread, use_widths
from paretoguard.engine.policies.parts import answer, decide, restart, select
from paretoguard.engine.policies.two_stage import TwoStage
from paretoguard.engine.space import Space
from paretoguard.engine.state import QUEUED
from paretoguard.papers.outcome import Effort, Line, Outcome
from paretoguard.papers.pictures import draw_choices
from paretoguard.problem import Instance, Problem
from paretoguard.simulation.instances import load
from paretoguard.simulation.study import simulate

TITLE = "The paper's open points: which change the conclusions?"
INSTANCES = ["secukinumab", "covboost", "simplex", "cube", "ordered", "explainability", "racing-5", "two-stage-gap"]
DELTA, RUNS = 0.1, 200
AS_DECIDED = "as decided"


class RowLevels(NamedTuple):
    """`practical` with another threshold for feasibility."""

    delta: float
    factor: float
    shift: float
    sigma_u: float


@dataclass(frozen=True)
class Wider(Practical):
    """`practical`, with g = factor (f + shift d log 5) for feasibility."""

    factor: float = 1.0
    shift: float = 0.0
    name: ClassVar[str] = "practical-g"

    def fit(self, delta: float, space: Space) -> Any:
        """The thresholds for one problem and one delta."""
        return RowLevels(delta, self.factor, self.shift * space.objectives * math.log(5.0), 1.0)


@moment.register(RowLevels)
def _moment(evidence: RowLevels, t: int) -> Moment:
    level = math.log(max(1.0, math.log(max(t, 1))) / evidence.delta)
    return Moment(math.sqrt(2.0 * level), evidence.factor * (level + evidence.shift))


spread.register(RowLevels, lambda evidence, state, i, j: math.sqrt(state.inverse[i] + state.inverse[j]))
use_widths(RowLevels)


class StageMemory(NamedTuple):
    """Two-stage, of which only the first stage is of interest."""

    two_stage: Any


@dataclass(frozen=True)
class FirstStage:
    """Two-stage until it knows which arms are feasible."""

    name: ClassVar[str] = "first-stage"

    def fit(self, space: Space) -> StageMemory:
        """Room for what was found."""
        return StageMemory(TwoStage().fit(space))


@decide.register(StageMemory)
def _decide(policy: Any, evidence: Any, space: Any, state: Any) -> int:
    queued = decide(policy.two_stage, evidence, space, state)
    if policy.two_stage.stage[0] == 2:
        state.tally[QUEUED] = 0
        queued = 0
    return queued


restart.register(StageMemory, lambda policy: restart(policy.two_stage))
select.register(StageMemory, lambda policy, *rest: select(policy.two_stage, *rest))
answer.register(StageMemory, lambda policy, *rest: answer(policy.two_stage, *rest))


def reproduce(effort: Effort) -> Outcome:
    """e-cAPE and two-stage for every choice on every instance."""
    rows = [row for name in INSTANCES for row in _rows(load(name), effort)]
    return Outcome(rows, _lines(rows), partial(draw_choices, rows))


def _rows(instance: Instance, effort: Effort) -> list[dict[str, Any]]:
    def mean(algorithm: Any, on: Instance = instance, delta: float = DELTA, evidence: Any = "practical") -> float:
        study = simulate(
            on, algorithms=algorithm, evidence=evidence, delta=delta, runs=effort.runs(RUNS), threads=effort.threads
        )  # fmt: skip
        return float(study.summary()[0]["mean"])

    e_cape, two_stage, backwards = mean("e-cape"), mean("two-stage"), _reversed(instance)
    wide, wider = Wider(factor=4.0), Wider(factor=4.0, shift=1.0)
    found = {
        AS_DECIDED: (e_cape, two_stage),
        "split": (e_cape, mean("two-stage", delta=DELTA / 2)),
        "fresh": (e_cape, mean(FirstStage()) + mean("two-stage", on=_feasible_alone(instance))),
        "ties": (mean("e-cape", on=backwards), mean("two-stage", on=backwards)),
        "g = 4f": (mean("e-cape", evidence=wide), mean("two-stage", evidence=wide)),
        "g = 4(f + d log 5)": (mean("e-cape", evidence=wider), mean("two-stage", evidence=wider)),
    }
    return [
        {"instance": instance.name, "choice": choice, "e-cape": first, "two-stage": second, "ratio": second / first}
        for choice, (first, second) in found.items()
    ]


def _changed(instance: Instance, arms: list[int], name: str, **fields: Any) -> Instance:
    """The same problem with these arms, in this order."""
    problem = instance.problem
    settings: dict[str, Any] = {
        "noise": problem.noise, "constraints": problem.constraint_texts, "dependence": problem.dependence, **fields
    }  # fmt: skip
    changed = Problem(problem.objectives, arms=[problem.arms[i] for i in arms], name=name, **settings)
    return Instance(changed, instance.means[arms])


def _reversed(instance: Instance) -> Instance:
    return _changed(instance, list(range(len(instance.problem.arms)))[::-1], f"{instance.name}, reversed")


def _feasible_alone(instance: Instance) -> Instance:
    feasible = np.flatnonzero(instance.truth().is_feasible).tolist()
    return _changed(instance, feasible, f"{instance.name}, feasible arms", constraints=())


def _lines(rows: list[dict[str, Any]]) -> list[Line]:
    decided = {row["instance"]: row["ratio"] for row in rows if row["choice"] == AS_DECIDED}
    lines = []
    for choice in dict.fromkeys(row["choice"] for row in rows):
        here = {row["instance"]: row["ratio"] for row in rows if row["choice"] == choice}
        turned = [name for name, ratio in here.items() if (ratio > 1) != (decided[name] > 1)]
        ours = f"two-stage over e-cAPE {min(here.values()):.2f} to {max(here.values()):.2f}"
        why = "" if choice == AS_DECIDED else f"turns the order on {', '.join(turned)}" if turned else "no order turns"
        lines.append(Line(choice, "open", ours, why=why))
    return lines
