"""Algorithms: which arms to pull next, and when to stop; one file per algorithm.

An *option record* (`ECape`, …) is what users pass; its `fit(space)` gives the *kernel record*, with the arrays
that the algorithm remembers, for which the functions of `parts` are registered.
"""

from paretoguard.engine.policies.ecape import ECape
from paretoguard.engine.policies.game import Game
from paretoguard.engine.policies.pitfall import Pitfall
from paretoguard.engine.policies.racing import Racing
from paretoguard.engine.policies.two_stage import TwoStage
from paretoguard.engine.policies.uniform import Uniform

__all__ = ["ECape", "Game", "Pitfall", "Racing", "TwoStage", "Uniform"]
