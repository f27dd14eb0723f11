"""Which arms to pull next, and when to stop; one file or folder per algorithm.

An *option record* (`ECape`, …) is what users pass; its `fit(problem)` gives the *kernel record*, with the arrays that
the algorithm remembers, for which `choose` and others are registered (`engine/questions.py`).
"""

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.ecape import ECape
from paretoguard.algorithms.game import Game
from paretoguard.algorithms.pitfall.pitfall import Pitfall
from paretoguard.algorithms.racing import Racing
from paretoguard.algorithms.two_stage import TwoStage
from paretoguard.algorithms.uniform import Uniform

__all__ = ["Algorithm", "ECape", "Game", "Pitfall", "Racing", "TwoStage", "Uniform"]
