"""What the results so far allow to claim.

An *option record* (`Certified`, `Practical` …) is what users pass; its `fit(delta, problem)` gives the *kernel record*
for which the questions of evidence are registered (`engine/questions.py`).
"""

from paretoguard.evidence.certified.certified import Certified
from paretoguard.evidence.kaufmann_koolen import Glr, Lil
from paretoguard.evidence.kind import Evidence
from paretoguard.evidence.practical import Practical
from paretoguard.evidence.theorem import HansonWright, Theorem

__all__ = ["Certified", "Evidence", "Glr", "HansonWright", "Lil", "Practical", "Theorem"]
