"""Problems as users state them: objectives, constraints, arms, noise; checked once, here, and judged."""

from paretoguard.problem.problem import Instance, Problem
from paretoguard.problem.truth import Truth

__all__ = ["Instance", "Problem", "Truth"]
