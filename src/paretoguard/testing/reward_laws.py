"""The laws of noise alone: what a model says of its values is what it draws."""

import math

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.engine.draws import key
from paretoguard.engine.loop import draw_reward
from paretoguard.problem import Instance
from paretoguard.simulation.rewards import source
from paretoguard.testing.cases import SEED, Case, Law, demand, settings_of

DRAWS = 10_000
SURE = 5.5  # standard deviations: a right model is accused with probability below 1e-6


def draws(instance: Instance, arm: int, numbers: range, run: int = 0) -> NDArray[float64]:
    """The first objective of these rewards of an arm."""
    drawn_from, stream, row = source(instance), key(SEED, run), np.zeros(len(instance.problem.objectives))
    values = []
    for n in numbers:
        draw_reward(drawn_from, stream, arm, n, row)
        values.append(row[0])
    return np.array(values)


def values_are_allowed(case: Case) -> None:
    """Every value that is drawn is one that the noise model allows."""
    for setting in settings_of(case):
        instance = setting.instance()
        for arm in range(len(instance.problem.arms)):
            for value in draws(instance, arm, range(300)):
                demand(case.noise.allows(value), values_are_allowed, case, f"it drew {value!r}")


def the_mean_is_the_mean(case: Case) -> None:
    """The values of an arm scatter around its mean."""
    for setting in settings_of(case):
        instance = setting.instance()
        for arm in (0, 5):
            mean, average = instance.means[arm, 0], draws(instance, arm, range(DRAWS)).mean()
            limit = SURE * case.noise.sigma / math.sqrt(DRAWS) + 1e-12 * abs(mean)
            found = f"{DRAWS} values with mean {mean:g} have the average {average:g}, expected within {limit:g}"
            demand(abs(average - mean) <= limit, the_mean_is_the_mean, case, found)


def tails_are_as_sigma_says(case: Case) -> None:
    """E exp(l (x - mean)/sigma) is at most exp(l²/2), so that `sigma` is a sub-Gaussian scale."""
    if case.noise.sigma == 0:
        return
    for setting in settings_of(case):
        instance = setting.instance()
        for arm in (0, 5):
            z = (draws(instance, arm, range(DRAWS)) - instance.means[arm, 0]) / case.noise.sigma
            for exponent in (-1.0, -0.5, 0.5, 1.0):
                grown = np.exp(exponent * z)
                limit = math.exp(exponent**2 / 2) + SURE * grown.std() / math.sqrt(DRAWS)
                found = f"at l = {exponent:g} the average is {grown.mean():.4g}, expected at most {limit:.4g}"
                demand(grown.mean() <= limit, tails_are_as_sigma_says, case, found + f" (sigma = {case.noise.sigma:g})")


def rewards_depend_on_run_arm_and_number_alone(case: Case) -> None:
    """Reward n of an arm in a run is the same whatever was drawn before."""
    for setting in settings_of(case):
        instance = setting.instance()
        forwards = [draws(instance, arm, range(20), run) for run in range(2) for arm in range(3)]
        backwards = [draws(instance, arm, range(19, -1, -1), run)[::-1] for run in (1, 0) for arm in (2, 1, 0)]
        same = np.array_equal(forwards, backwards[::-1])
        demand(same, rewards_depend_on_run_arm_and_number_alone, case, "drawn in another order, values differ")


NOISE_LAWS: tuple[Law, ...] = (
    values_are_allowed,
    the_mean_is_the_mean,
    tails_are_as_sigma_says,
    rewards_depend_on_run_arm_and_number_alone,
)
