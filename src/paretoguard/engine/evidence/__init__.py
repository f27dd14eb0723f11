"""Confidence parts: what the results so far allow to claim, one file per kind.

An *option record* (`Practical`, `Theorem`) is what users pass; its `fit(delta, space)` gives the *kernel record* for
which the functions of `parts` are registered.
"""

from paretoguard.engine.evidence.practical import Practical
from paretoguard.engine.evidence.theorem import Theorem

__all__ = ["Practical", "Theorem"]
