"""AdaHedge (de Rooij, van Erven, Grünwald, Koolen 2014): weights of arms that follow what each arm has gained."""

import math
from typing import NamedTuple

import numpy as np

from paretoguard.compiler.jit import inner
from paretoguard.numeric import Floats


class AdaHedge(NamedTuple):
    """The learner's memory; its loss is -gain."""

    weights: Floats  # [K] w
    gains: Floats  # [K] of this step
    total: Floats  # [K] gains so far
    gap: Floats  # [1] mixability gaps so far


def new_adahedge(arms: int) -> AdaHedge:
    return AdaHedge(np.full(arms, 1.0 / arms), np.zeros(arms), np.zeros(arms), np.zeros(1))


@inner
def weigh_arms(learner: AdaHedge) -> None:
    """Set the weights proportional to exp(eta total), eta = log K / gap; before any gap, to the best so far alike."""
    K = learner.total.shape[0]
    best, whole = -math.inf, 0.0
    for i in range(K):
        best = max(best, learner.total[i])
    for i in range(K):
        if learner.gap[0] > 0.0:
            learner.weights[i] = math.exp(math.log(float(K)) / learner.gap[0] * (learner.total[i] - best))
        else:
            learner.weights[i] = 1.0 if learner.total[i] == best else 0.0
        whole += learner.weights[i]
    for i in range(K):
        learner.weights[i] /= whole


@inner
def take_gains(learner: AdaHedge) -> None:
    """Add the gains, and the gap between the mean gain and its exponential mean."""
    K = learner.total.shape[0]
    most, mean, mixed = -math.inf, 0.0, 0.0
    for i in range(K):
        if learner.weights[i] > 0.0:
            most = max(most, learner.gains[i])
    for i in range(K):
        mean += learner.weights[i] * learner.gains[i]
        learner.total[i] += learner.gains[i]
    if learner.gap[0] > 0.0 and K > 1:
        rate = math.log(float(K)) / learner.gap[0]
        for i in range(K):
            mixed += learner.weights[i] * math.exp(rate * (learner.gains[i] - most))
        most += math.log(mixed) / rate
    learner.gap[0] += max(0.0, most - mean)
