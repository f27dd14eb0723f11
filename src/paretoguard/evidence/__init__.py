"""What the results so far allow to claim, one file per kind.

An *option record* (`Certified`, `Practical` …) is what users pass; its `fit(delta, problem)` gives the *kernel record*
for which the questions of evidence are registered (`engine/questions.py`).
"""

from paretoguard.evidence.certified.certified import Certified
from paretoguard.evidence.glr import Glr
from paretoguard.evidence.hanson_wright import HansonWright
from paretoguard.evidence.kind import Evidence
from paretoguard.evidence.lil import Lil
from paretoguard.evidence.practical import Practical
from paretoguard.evidence.theorem import Theorem

__all__ = ["Certified", "Evidence", "Glr", "HansonWright", "Lil", "Practical", "Theorem"]
