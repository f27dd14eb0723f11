"""`practical`: the thresholds of the paper's experiments. No theorem gives them; their answers are heuristic.

f(t) = g(t) = log(max(1, log t) / delta), w_ij = sqrt(beta_i^2 + beta_j^2) with beta_i = sqrt(2 f / N_i), sigma_u = 1.
The paper writes log(log(t)/delta), which is not defined at t = 1 and can be negative before t = 3: hence the maximum.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import Moment, moment, ratio_bar
from paretoguard.engine.view import View
from paretoguard.evidence.kind import Evidence, spread, use_widths
from paretoguard.numeric import Floats

KEPT = 2**18  # thresholds; memory is taken only as far as they are asked for


class PracticalLevels(NamedTuple):
    """`practical` at one delta."""

    delta: float
    sigma_u: float
    kept: Floats  # f(t), once it was asked for; 0 before. Every run of a study asks for the same


@dataclass(frozen=True)
class Practical(Evidence):
    """The paper's experimental thresholds (heuristic: no theorem licenses them)."""

    name: ClassVar[str] = "practical"
    guarantee: ClassVar[str] = "heuristic"
    basis: ClassVar[str] = "the thresholds of the paper's experiments: no theorem bounds their error"

    def fit(self, delta: float, problem: ProblemArrays) -> PracticalLevels:
        return PracticalLevels(delta, 1.0, np.zeros(KEPT))


@moment.register(PracticalLevels)
def _moment(evidence: PracticalLevels, t: int) -> Moment:
    level = evidence.kept[t] if t < KEPT else 0.0
    if level == 0.0:
        level = math.log(max(1.0, math.log(max(t, 1))) / evidence.delta)
        if t < KEPT:
            evidence.kept[t] = level
    return Moment(math.sqrt(2.0 * level), level)


@ratio_bar.register(PracticalLevels)
def _ratio_bar(view: View) -> float:
    """Add up squares over objectives that are independent."""
    problem = view.problem
    return view.now.bar if problem.independent or problem.noisy < 2 else math.inf


spread.register(PracticalLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(PracticalLevels)
