"""The results of Kone, Kaufmann and Richert (2025) and some beyond: a function for each, named as its data."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from paretoguard.errors import SettingsError

if TYPE_CHECKING:
    from paretoguard.papers.outcome import Effort, Outcome

TITLES = {
    "secukinumab": "Secukinumab: samples needed for dose finding",
    "covboost": "COV-BOOST: samples needed for twenty vaccination strategies",
    "polyhedra": "Complex polyhedra: samples (Table 1) and runtimes (Table 2)",
    "explainability": "The cost of explainability: e-cAPE against Game-cPSI",
    "racing": "Hard for racing: five and ten arms",
    "two_stage_gap": "The two-stage gap: cost as eps goes to 0",
    "bounds": "Every algorithm and evidence, against the lower bound",
    "errors": "Error rates of e-cAPE at δ = 0.1, 0.01 and 0.001",
    "choices": "The paper's open points: which change the conclusions?",
}
NAMES = tuple(TITLES)
BEYOND = ("bounds", "errors", "choices")  # the paper, each in a module of its own


def script(name: str) -> "Callable[[Effort], Outcome]":
    """Return the function that reproduces a result."""
    if name not in NAMES:
        from paretoguard.problem.names import suggestion

        near = suggestion(name, NAMES)
        expected = near if near.startswith("did you mean") else f"expected one of {', '.join(NAMES)}"
        raise SettingsError(f"there is no result {name!r} to reproduce; {expected}")
    module = import_module(f"paretoguard.papers.{name if name in BEYOND else 'published'}")
    found: Callable[[Effort], Outcome] = getattr(module, name)
    return found
