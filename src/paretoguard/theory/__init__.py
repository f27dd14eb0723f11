"""How hard an instance is for any algorithm, and what the analysis of e-cAPE promises for it."""

from paretoguard.theory.bounds import LowerBound, lower_bound
from paretoguard.theory.gaps import Complexity, complexity
from paretoguard.theory.plan import Scenario, plan

__all__ = ["Complexity", "LowerBound", "Scenario", "complexity", "lower_bound", "plan"]
