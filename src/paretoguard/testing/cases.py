"""What laws are tried on: small instances, recorded rewards, and runs whose every decision is seen."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.algorithms import Algorithm, ECape
from paretoguard.engine.draws import key
from paretoguard.engine.loop import answer_now, decide_next, draw_reward, observe_result, settle_now
from paretoguard.engine.view import View
from paretoguard.evidence import Evidence, Practical
from paretoguard.problem import Instance, Problem
from paretoguard.problem.noise import Gaussian, Noise
from paretoguard.simulation.rewards import source
from paretoguard.trial import registry
from paretoguard.trial.setup import engine_for
from paretoguard.vocabulary import STATUSES

Rewards = Callable[[str, int], NDArray[float64]]  # of an arm: number n, from 0
OBJECTIVES = ("x", "y", "z")
SEED = 20
DELTA = 0.1
PLACES = np.array(
    [[1.7, -0.4, 0.6], [0.2, 1.6, -0.7], [-0.9, 0.3, 1.1], [3.1, 1.2, 0.1], [0.9, -1.5, -1.9], [-1.4, -2.9, 0.8]]
)


class BrokenLawError(AssertionError):
    """A part does not do what every part does."""


@dataclass(frozen=True)
class Case:
    """An algorithm with evidence, on instances whose first objective has this noise (the others are Gaussian)."""

    algorithm: Algorithm = field(default_factory=ECape)
    evidence: Evidence = field(default_factory=Practical)
    noise: Noise = field(default_factory=lambda: Gaussian(1.0))

    def __str__(self) -> str:
        return f"{registry.label(self.algorithm)} with {registry.label(self.evidence)} and noise {self.noise!r}"


Law = Callable[[Case], None]


def sentence(law: Callable[..., None]) -> str:
    """The law in words."""
    return (law.__doc__ or law.__name__).partition("\n")[0]


def demand(holds: bool, law: Callable[..., None], case: object, details: str) -> None:
    """Raise BrokenLawError unless it holds."""
    if not holds:
        raise BrokenLawError(f"{sentence(law)} Broken by {case}: {details}")


class Setting(NamedTuple):
    """A problem that can be restated: in other units, with its arms in another order, with one more constraint."""

    case: Case
    objectives: int
    spread: float  # of the means, where their range has no limits: the larger, the easier
    order: tuple[int, ...] = (0, 1, 2, 3, 4, 5)  # of the arms
    factors: tuple[float, ...] = (1.0, 1.0, 1.0)  # new unit = old unit / factor; negative: minimised instead
    redundant: bool = False

    def instance(self) -> Instance:
        """Six arms around a box with one corner cut off; the table of means counts in units of the noise."""
        d, names = self.objectives, OBJECTIVES[: self.objectives]
        centre, unit = _scale(self.case.noise, self.spread)
        centres = np.array([centre, 1.0, -2.0])[:d]
        units = np.array([unit, 0.5 * self.spread, 4.0 * self.spread])[:d]
        factors = np.array(self.factors)[:d]
        A = np.vstack([np.eye(d), -np.eye(d), np.ones(d)])
        b = np.concatenate([np.full(d, 2.5), np.full(d, 2.25), [2.75]])
        if self.redundant:
            A, b = np.vstack([A, np.arange(1.0, d + 1.0)]), np.append(b, 1000.0)
        in_unit = A / units
        noise = {
            "x": self.case.noise,
            "y": Gaussian(0.5 * abs(self.factors[1])),
            "z": Gaussian(4.0 * abs(self.factors[2])),
        }
        problem = Problem(
            {name: "max" if factor > 0 else "min" for name, factor in zip(names, factors, strict=True)},
            arms=[f"arm{i}" for i in self.order],
            noise={name: noise[name] for name in names},
            constraints=(in_unit / factors, b + in_unit @ centres),
            dependence="independent",
        )
        means = factors * (centres + units * PLACES[list(self.order), :d])
        return Instance(problem, means, name=f"six arms, {d} objectives")


def _scale(noise: Noise, spread: float) -> tuple[float, float]:
    """A mean in the middle of those possible, and the unit in which means are spread around it."""
    low, high = noise.support
    unit = spread * (float(noise.sigma) or 1.0)
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2, (high - low) / 8
    return (low + 4 * unit if math.isfinite(low) else high - 4 * unit if math.isfinite(high) else 0.0), unit


def settings_of(case: Case) -> Iterator[Setting]:
    """The same arms in two objectives, where a run soon stops, and in three, where it is long."""
    yield Setting(case, 2, spread=4.0)
    yield Setting(case, 3, spread=1.0)


def recorded(instance: Instance, run: int = 0, factors: Sequence[float] | None = None) -> Rewards:
    """Rewards by the name of the arm, as run number `run` of a simulation draws them, times the factors."""
    drawn_from, stream = source(instance), key(SEED, run)
    arms, d = instance.problem.arms, len(instance.problem.objectives)
    known: dict[tuple[str, int], NDArray[float64]] = {}

    def reward(arm: str, n: int) -> NDArray[float64]:
        if (arm, n) not in known:
            row = np.zeros(d)
            draw_reward(drawn_from, stream, arms.index(arm), n, row)
            known[arm, n] = row
        return known[arm, n] if factors is None else known[arm, n] * np.array(factors)[:d]

    return reward


class Step(NamedTuple):
    """One decision: the arms queued (none: stopped), and the state in which it was made."""

    queued: tuple[str, ...]
    counts: dict[str, int]
    statuses: dict[str, str] | None  # once stopped
    view: View


def decisions(
    case: Case, problem: Problem, rewards: Rewards, given: Mapping[str, int] | None = None, most: int = 100
) -> Iterator[Step]:
    """Run on recorded rewards, after `given` results of each arm, for at most so many decisions."""
    engine = engine_for(problem, case.algorithm, case.evidence, DELTA, seed=SEED)
    arrays, state, K = engine.seen.problem, engine.seen.state, len(problem.arms)
    place = {arm: i for i, arm in enumerate(problem.arms)}

    def observe(arm: str) -> None:
        observe_result(arrays, state, place[arm], rewards(arm, int(state.counts[place[arm]])))

    for arm in problem.arms:
        for _ in range(given[arm] if given else 0):
            observe(arm)
    for _ in range(most):
        queued = decide_next(engine)
        if queued < 0:
            raise BrokenLawError(f"{case} queued other places than those of arms: {state.queue.tolist()} of {K}")
        names = tuple(problem.arms[i] for i in state.queue[:queued])
        counts = dict(zip(problem.arms, state.counts.tolist(), strict=True))
        if not names:
            codes = np.zeros(K, dtype=uint8)
            answer_now(engine, codes)
            yield Step(names, counts, _named(problem, codes), engine.seen)
            return
        yield Step(names, counts, None, engine.seen)
        for arm in names:
            observe(arm)


def _named(problem: Problem, codes: NDArray[uint8]) -> dict[str, str]:
    return {arm: STATUSES[code] for arm, code in zip(problem.arms, codes, strict=True)}


def work_in(problem: Problem, step: Step) -> None:
    """Work in every result observed so far."""
    K = len(problem.arms)
    settle_now(step.view, np.zeros(K, dtype=uint8), np.zeros(K, dtype=int64))
