"""The laws of noise alone: what a model says of its values is what it draws."""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from paretoguard.numeric import Floats
from paretoguard.problem import Instance
from paretoguard.testing.cases import Case, Laws, demand, recorded, settings_of

NOISE_LAWS = Laws[Case]()
DRAWS = 10_000
SURE = 5.5  # standard deviations: a right model is accused with probability below 1e-6


@NOISE_LAWS.state
def values_are_allowed(case: Case) -> None:
    """Every value that is drawn is one that the noise model allows."""
    for setting in settings_of(case):
        instance = setting.instance()
        for arm in instance.problem.arms:
            for value in _drawn(instance, arm, range(300)):
                demand(case.noise.allows(value), f"it drew {value!r}")


def _drawn(instance: Instance, arm: str, numbers: range, run: int = 0) -> Floats:
    """Return the first objective of these rewards of an arm."""
    reward = recorded(instance, run)
    return np.array([reward(arm, n)[0] for n in numbers])


@NOISE_LAWS.state
def the_mean_is_the_mean(case: Case) -> None:
    """The values of an arm scatter around its mean."""
    for mean, values in _many_values(case):
        average, limit = values.mean(), SURE * case.noise.sigma / math.sqrt(DRAWS) + 1e-12 * abs(mean)
        found = f"{DRAWS} values with mean {mean:g} have the average {average:g}, expected within {limit:g}"
        demand(abs(average - mean) <= limit, found)


def _many_values(case: Case) -> Iterator[tuple[float, Floats]]:
    """Yield the mean of an arm and many of its values."""
    for setting in settings_of(case):
        instance = setting.instance()
        for arm in (0, 5):
            yield instance.means[arm, 0], _drawn(instance, instance.problem.arms[arm], range(DRAWS))


@NOISE_LAWS.state
def tails_are_as_sigma_says(case: Case) -> None:
    """E exp(l (x - mean)/sigma) is at most exp(l²/2), so that `sigma` is a sub-Gaussian scale."""
    if case.noise.sigma == 0:
        return
    for mean, values in _many_values(case):
        z = (values - mean) / case.noise.sigma
        for exponent in (-1.0, -0.5, 0.5, 1.0):
            grown = np.exp(exponent * z)
            limit = math.exp(exponent**2 / 2) + SURE * grown.std() / math.sqrt(DRAWS)
            found = f"at l = {exponent:g} the average is {grown.mean():.4g}, expected at most {limit:.4g}"
            demand(grown.mean() <= limit, found + f" (sigma = {case.noise.sigma:g})")


@NOISE_LAWS.state
def rewards_depend_on_run_arm_and_number_alone(case: Case) -> None:
    """Reward n of an arm in a run is the same whatever was drawn before."""
    for setting in settings_of(case):
        instance = setting.instance()
        places = list(product(range(2), instance.problem.arms[:3]))
        forwards = [_drawn(instance, arm, range(20), run) for run, arm in places]
        backwards = [_drawn(instance, arm, range(19, -1, -1), run)[::-1] for run, arm in reversed(places)]
        same = np.array_equal(forwards, backwards[::-1])
        demand(same, "drawn in another order, values differ")
