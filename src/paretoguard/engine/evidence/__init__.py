"""Confidence parts: what the results so far allow to claim, one file per kind.

An *option record* (`Certified`, `Practical` …) is what users pass; its `fit(delta, space)` gives the *kernel record*
for which the functions of `parts` are registered.
"""

from paretoguard.engine.evidence.certified import Certified
from paretoguard.engine.evidence.glr import Glr
from paretoguard.engine.evidence.hanson_wright import HansonWright
from paretoguard.engine.evidence.lil import Lil
from paretoguard.engine.evidence.practical import Practical
from paretoguard.engine.evidence.theorem import Theorem

__all__ = ["Certified", "Glr", "HansonWright", "Lil", "Practical", "Theorem"]
