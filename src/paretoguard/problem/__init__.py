"""Problems as users state them: objectives, constraints, arms, noise; checked once, here, and judged."""

from paretoguard.problem.problem import Instance, Problem
from paretoguard.problem.truth import Truth
from paretoguard.problem.units import EngineRow

__all__ = ["EngineRow", "Instance", "Problem", "Truth"]
