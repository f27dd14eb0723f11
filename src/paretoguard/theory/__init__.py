"""How hard an instance is for any algorithm, what the analysis of e-cAPE promises for it, and what a trial will cost.

`plan` simulates, and stands here all the same: beside what it simulates it quotes the lower bound.
"""

from paretoguard.theory.bounds import LowerBound, lower_bound
from paretoguard.theory.gaps import Complexity, complexity
from paretoguard.theory.plan import Scenario, plan

__all__ = ["Complexity", "LowerBound", "Scenario", "complexity", "lower_bound", "plan"]
