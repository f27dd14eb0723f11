"""Verdicts: what is said of each arm, why, and how it is shown."""

from paretoguard.verdict.crossing import ACROSS, crossed
from paretoguard.verdict.result import (
    COLOURS,
    MARKS,
    Missing,
    Result,
    Verdict,
    show,
    show_interval,
    show_least,
)

__all__ = [
    "ACROSS",
    "COLOURS",
    "MARKS",
    "Missing",
    "Result",
    "Verdict",
    "crossed",
    "show",
    "show_interval",
    "show_least",
]
