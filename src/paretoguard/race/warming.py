"""Kernels that verdicts need, compiled before anything is measured: nobody should wait for them at Ctrl-C."""

import numpy as np
from numpy import float64, int64, uint8

from paretoguard.engine.draws import key
from paretoguard.engine.explain import FEASIBILITY, claim, closest_rival, difference_limit, likeliest_dominator
from paretoguard.engine.loop import answer_now, decide_next, observe_result, settle_now
from paretoguard.engine.state import new_state
from paretoguard.experiment.experiment import Experiment
from paretoguard.trial import promises, registry
from paretoguard.trial.build import fit
from paretoguard.verdict.reasons import dominators
from paretoguard.verdict.snapshot import snapshot


def compile_verdicts(experiment: Experiment) -> None:
    """Ask each kernel once, about two results of every arm that nobody measured."""
    chosen, problem = experiment.settings, experiment.problem
    algorithm = registry.algorithm(chosen["algorithm"])
    evidence = promises.in_order(registry.evidence_for(algorithm, chosen["evidence"]), chosen["order"])
    space = problem.space()
    policy, levels = fit(algorithm, evidence, chosen["delta"], space)
    state = new_state(space, key(0, 0))
    for arm in range(space.arms):
        for _ in range(2):
            observe_result(space, state, arm, np.zeros(space.objectives, dtype=float64))
    statuses, via = np.zeros(space.arms, dtype=uint8), np.zeros(space.arms, dtype=int64)
    decide_next(policy, levels, space, state)
    settle_now(levels, space, state, statuses, via)
    answer_now(policy, levels, space, state, statuses)
    dominators(snapshot(problem, levels, space, state), 0, np.full(space.arms, -1))
    closest_rival(levels, space, state, 0)
    likeliest_dominator(levels, space, state, 0)
    claim(levels, space, state, FEASIBILITY, 0, 0, 2, 2)
    if space.noisy:
        difference_limit(levels, space, state, 0, space.arms - 1, 0)
