"""What laws are tried on: small instances, recorded rewards, and runs whose every decision is seen."""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from paretoguard.algorithms import Algorithm, ECape
from paretoguard.engine.draws import key
from paretoguard.engine.loop import answer_now, decide_next, draw_reward, observe_result, settle_now
from paretoguard.engine.view import View
from paretoguard.evidence import Evidence, Practical
from paretoguard.numeric import Floats
from paretoguard.problem import Instance, Problem
from paretoguard.problem.noise import Gaussian, Noise
from paretoguard.simulation.rewards import source
from paretoguard.trial import registry
from paretoguard.trial.setup import engine_for
from paretoguard.vocabulary import STATUSES

Rewards = Callable[[str, int], Floats]  # of an arm: number n, from 0
Tried = TypeVar("Tried")  # what a law is tried on
OBJECTIVES = ("x", "y", "z")
SEED = 20
DELTA = 0.1
PLACES = np.array(
    [[1.7, -0.4, 0.6], [0.2, 1.6, -0.7], [-0.9, 0.3, 1.1], [3.1, 1.2, 0.1], [0.9, -1.5, -1.9], [-1.4, -2.9, 0.8]]
)


class BrokenLawError(AssertionError):
    """A part does not do what every part does."""


class _BreakError(Exception):
    """The details of how a law is broken."""


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
    """Return the law in words."""
    return (law.__doc__ or law.__name__).partition("\n")[0]


class Laws(list[Callable[[Tried], None]]):
    """Laws about one kind of things, in the order in which they are stated."""

    def state(self, check: Callable[[Tried], None]) -> Callable[[Tried], None]:
        """Add a check as a law: if `demand` fails in it, the error has the law in words and what breaks it."""

        @functools.wraps(check)
        def law(tried: Tried) -> None:
            try:
                check(tried)
            except _BreakError as found:
                raise BrokenLawError(f"{sentence(check)} Broken by {tried}: {found}") from found

        self.append(law)
        return law


def demand(holds: bool, details: str) -> None:
    """Break the law that is tried unless this holds."""
    if not holds:
        raise _BreakError(details)


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
        noise = (self.case.noise, Gaussian(0.5 * abs(self.factors[1])), Gaussian(4.0 * abs(self.factors[2])))
        problem = Problem(
            {name: "max" if factor > 0 else "min" for name, factor in zip(names, factors, strict=True)},
            arms=[f"arm{i}" for i in self.order],
            noise=dict(zip(names, noise, strict=False)),
            constraints=(in_unit / factors, b + in_unit @ centres),
            dependence="independent",
        )
        means = factors * (centres + units * PLACES[list(self.order), :d])
        return Instance(problem, means, name=f"six arms, {d} objectives")


def _scale(noise: Noise, spread: float) -> tuple[float, float]:
    """Return a mean in the middle of those possible, and the unit in which means are spread around it."""
    low, high = noise.support
    unit = spread * (float(noise.sigma) or 1.0)
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2, (high - low) / 8
    return (low + 4 * unit if math.isfinite(low) else high - 4 * unit if math.isfinite(high) else 0.0), unit


def settings_of(case: Case) -> Iterator[Setting]:
    """Yield the same arms in two objectives, where a run soon stops, and in three, where it is long."""
    yield Setting(case, 2, spread=4.0)
    yield Setting(case, 3, spread=1.0)


def recorded(instance: Instance, run: int = 0, factors: Sequence[float] | None = None) -> Rewards:
    """Return rewards by the name of the arm, as run number `run` of a simulation draws them, times the factors."""
    drawn_from, stream = source(instance), key(SEED, run)
    arms, d = instance.problem.arms, len(instance.problem.objectives)

    @functools.cache
    def reward(arm: str, n: int) -> Floats:
        row = np.zeros(d)
        draw_reward(drawn_from, stream, arms.index(arm), n, row)
        return row if factors is None else row * np.array(factors)[:d]

    return reward


class Step(NamedTuple):
    """One decision: the arms queued (none: stopped), and the state in which it was made."""

    queued: tuple[str, ...]
    counts: dict[str, int]
    statuses: dict[str, str] | None  # once stopped
    view: View


def decisions(
    case: Case, problem: Problem, rewards: Rewards, given: Mapping[str, int], most: int = 100
) -> Iterator[Step]:
    """Run on recorded rewards, after `given` results of each arm, for at most so many decisions."""
    engine = engine_for(problem, case.algorithm, case.evidence, DELTA, seed=SEED)
    arrays, state, K = engine.seen.problem, engine.seen.state, len(problem.arms)
    place = {arm: i for i, arm in enumerate(problem.arms)}

    def observe(arm: str) -> None:
        observe_result(arrays, state, place[arm], rewards(arm, int(state.counts[place[arm]])))

    for arm in problem.arms:
        for _ in range(given[arm]):
            observe(arm)
    for _ in range(most):
        queued = decide_next(engine)
        if queued < 0:
            raise BrokenLawError(f"{case} queued other places than those of arms: {state.queue.tolist()} of {K}")
        names = tuple(problem.arms[i] for i in state.queue[:queued])
        counts = dict(zip(problem.arms, state.counts.tolist(), strict=True))
        if not names:
            codes = np.zeros(K, dtype=np.uint8)
            answer_now(engine, codes)
            statuses = {arm: STATUSES[code] for arm, code in zip(problem.arms, codes, strict=True)}
            yield Step(names, counts, statuses, engine.seen)
            return
        yield Step(names, counts, None, engine.seen)
        for arm in names:
            observe(arm)


def work_in(view: View) -> None:
    """Work in every result observed so far."""
    K = view.problem.arms
    settle_now(view, np.zeros(K, dtype=np.uint8), np.zeros(K, dtype=np.int64))
