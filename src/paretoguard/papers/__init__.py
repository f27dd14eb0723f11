"""The results of Kone, Kaufmann and Richert (2025) and some beyond: a script for each, named as its data."""

from importlib import import_module
from types import ModuleType

from paretoguard.errors import SettingsError
from paretoguard.problem.names import suggestion

NAMES = (
    "secukinumab", "covboost", "polyhedra", "explainability", "racing", "two_stage_gap", "bounds", "errors", "choices",
)  # fmt: skip


def script(name: str) -> ModuleType:
    """The script of a result: its TITLE and `reproduce`."""
    if name not in NAMES:
        near = suggestion(name, NAMES)
        expected = near if near.startswith("did you mean") else f"expected one of {', '.join(NAMES)}"
        raise SettingsError(f"there is no result {name!r} to reproduce; {expected}")
    return import_module(f"paretoguard.papers.{name}")
