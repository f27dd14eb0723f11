"""Problems as users state them: objectives, constraints, arms, noise; checked once, here, and judged."""

from paretoguard.problem.problem import Instance, Problem
from paretoguard.problem.truth import STATUSES, TASKS, Truth
from paretoguard.problem.units import EngineRow

__all__ = ["STATUSES", "TASKS", "EngineRow", "Instance", "Problem", "Truth"]
