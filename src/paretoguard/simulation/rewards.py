"""Rewards of an instance: the record that the engine draws from, and the same draws as a Python callable.

A user's own noise model says how it is simulated: its method `law()` returns a NamedTuple for which `reward` is
registered. Such an objective is drawn after all others, so that laws and built-in noise mix freely.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import int64, uint64

from paretoguard.compiler.jit import part
from paretoguard.engine.draws import (
    BERNOULLI,
    CONSTANT,
    GAUSSIAN,
    TWO_POINT,
    Ahead,
    Mixed,
    Stretch,
    draw_some,
    drawn_ahead,
    key,
    uniforms,
)
from paretoguard.engine.loop import draw_reward
from paretoguard.errors import ProblemError
from paretoguard.numeric import Floats
from paretoguard.problem import Instance
from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Gaussian, SubGaussian
from paretoguard.problem.units import correlation
from paretoguard.trial.checks import check_seed

_MOST_OBJECTIVES = 256  # two in each of the generator's 128 blocks

_LAWS = uint64(2)  # the stream of users' laws, beside REWARDS and DECISIONS


@part
def reward(law: NamedTuple, mean: float, u: float, v: float) -> float:
    """Return a value of an objective with this mean, from two independent uniform numbers in [0, 1)."""
    raise TypeError(f"no `reward` is registered for the law {type(law).__name__}")


class WithLaw(NamedTuple):
    """Rewards of `base`, but for one objective, which has a law of its own."""

    base: Any  # Mixed, or WithLaw again
    law: Any
    means: Floats  # [K] of that objective
    objective: int


@draw_some.register(WithLaw)
def _draw_with_law(source: WithLaw, of: Stretch, columns: Floats) -> None:
    draw_some(source.base, of, columns)
    for k in range(of.size):
        u, v = uniforms(of.key, of.arm, of.n + k, source.objective, _LAWS)
        columns[source.objective, k] = reward(source.law, source.means[of.arm], u, v)


def source(instance: Instance) -> Ahead:
    """Return the record that the engine draws rewards from; for one thread.

    Bounded noise is simulated as two points, the ends of its range: no other law with that mean is noisier.
    Sub-Gaussian noise is simulated as Gaussian with that scale.
    """
    drawn_from: Mixed | WithLaw = _mixed(instance)
    for c, (name, model) in enumerate(instance.problem.noise.items()):
        if model.law is not None:
            if isinstance(model, Gaussian) and not isinstance(instance.problem.dependence, str):
                raise ProblemError(
                    f"objective {name!r} is part of the covariance but has a law of its own, {type(model).__name__}; "
                    "declare dependence 'unknown' or 'independent' to simulate it"
                )
            drawn_from = WithLaw(drawn_from, model.law(), np.ascontiguousarray(instance.means[:, c]), c)
    return drawn_ahead(drawn_from, *instance.means.shape)


def _mixed(instance: Instance) -> Mixed:
    """Return the built-in noise; objectives with a law of their own stay at their means."""
    problem, d = instance.problem, len(instance.problem.noise)
    rows = zip(problem.arms, instance.means.tolist(), strict=True)
    means = {arm: dict(zip(problem.objectives, row, strict=True)) for arm, row in rows}
    for arm, row in means.items():
        problem.check_apart(arm, row, means)
    if d > _MOST_OBJECTIVES:
        raise ProblemError(f"the problem has {d} objectives; at most {_MOST_OBJECTIVES} can be simulated")
    kinds, low, spread = np.zeros(d, dtype=int64), np.zeros(d), np.zeros(d)
    for c, (name, model) in enumerate(problem.noise.items()):
        if model.law is not None or isinstance(model, Exact):
            kinds[c] = CONSTANT
        elif isinstance(model, Bernoulli):
            kinds[c] = BERNOULLI
        elif isinstance(model, Bounded):
            kinds[c], (low[c], high) = TWO_POINT, model.support
            spread[c] = high - low[c]
        elif isinstance(model, Gaussian | SubGaussian):
            kinds[c], spread[c] = GAUSSIAN, model.sigma
        else:
            raise ProblemError(
                f"objective {name!r} has noise {model!r}, which says no scale to simulate with; "
                "use Gaussian(std), SubGaussian(sigma), Bounded(low, high) or Bernoulli(), or give it a method law()"
            )
    factor = np.zeros((0, 0))  # of the declared correlation, spread over all objectives; [0, 0] without one
    if not isinstance(problem.dependence, str):
        block = [c for c, model in enumerate(problem.noise.values()) if isinstance(model, Gaussian)]
        factor = np.eye(d)
        factor[np.ix_(block, block)] = np.linalg.cholesky(correlation(np.array(problem.dependence)))
    return Mixed(np.array(instance.means), kinds, low, spread, factor)


def sampler(instance: Instance, *, seed: int = 0, run: int = 0) -> Callable[[str], dict[str, float]]:
    """Return a `sample(arm)` for `identify`: it draws the rewards of one run of a study.

    Parameters
    ----------
    instance
        The means and the noise to draw from.
    seed, run
        The seed of the study, and the number of the run.

    Returns
    -------
    callable
        `sample(arm)` returns the next reward of an arm, as {objective: value}.
    """
    drawn_from, stream = source(instance), key(check_seed(seed), run)
    place = {arm: i for i, arm in enumerate(instance.problem.arms)}
    pulls = dict.fromkeys(instance.problem.arms, 0)
    names = list(instance.problem.objectives)
    row = np.zeros(len(names))

    def sample(arm: str) -> dict[str, float]:
        draw_reward(drawn_from, stream, place[arm], pulls[arm], row)
        pulls[arm] += 1
        return {name: float(value) for name, value in zip(names, row, strict=True)}

    return sample
