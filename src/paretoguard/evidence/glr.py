"""`glr`: all means at once, by likelihood ratio; the evidence of Game-cPSI (finite-sample, independent objectives).

With probability >= 1 - delta, at all times: sum_i N_i/2 |mean_i - truth_i|^2 <= h(t), where

    h(t) = 2 K d log(4 + log(t/K)) + K d C_G(log(1/delta)/(K d)).

So whatever holds for all means within that distance may be claimed. Stopping uses the distance to the nearest means
with another answer, and the sharper sum over arms of 2 d log(4 + log N_i) for the first term.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import Moment, moment, ratio_bar
from paretoguard.engine.view import View
from paretoguard.evidence.kind import Evidence
from paretoguard.evidence.lil import threshold
from paretoguard.evidence.widths import spread, use_widths


class GlrLevels(NamedTuple):
    """`glr` for one problem and one delta."""

    constant: float  # K d C_G(log(1/delta)/(K d))
    arms: int
    noisy: int
    sigma_u: float


@dataclass(frozen=True)
class Glr(Evidence):
    """Kaufmann and Koolen's deviation inequality for all means at once (finite-sample, independent objectives only)."""

    name: ClassVar[str] = "glr"
    guarantee: ClassVar[str] = "finite-sample"
    if_independent: ClassVar[bool] = True
    basis: ClassVar[str] = "a deviation inequality of Kaufmann and Koolen (2021) for all means at once, at all times"

    def fit(self, delta: float, problem: ProblemArrays) -> GlrLevels:
        size = problem.arms * max(problem.noisy, 1)
        return GlrLevels(size * threshold(math.log(1.0 / delta) / size), problem.arms, max(problem.noisy, 1), 1.0)


@moment.register(GlrLevels)
def _moment(evidence: GlrLevels, t: int) -> Moment:
    size = evidence.arms * evidence.noisy
    level = evidence.constant + 2.0 * size * math.log(4.0 + math.log(max(1.0, t / evidence.arms)))
    return Moment(math.sqrt(2.0 * level), level)


@spread.register(GlrLevels)
def _spread(view: View, i: int, j: int) -> float:
    state = view.state
    return math.sqrt(state.inverse[i] + state.inverse[j])


use_widths(GlrLevels)


@inner
def needed(view: View) -> float:
    """What the weighted distance to another answer must exceed."""
    evidence = view.evidence
    growth = 0.0
    for i in range(evidence.arms):
        growth += math.log(4.0 + math.log(float(view.state.counts[i])))
    return evidence.constant + 2.0 * evidence.noisy * growth


@ratio_bar.register(GlrLevels)
def _ratio_bar(view: View) -> float:
    """As of `practical`: squares are added up over objectives that are independent."""
    problem = view.problem
    return needed(view) if problem.independent or problem.noisy < 2 else math.inf
