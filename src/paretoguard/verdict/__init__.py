"""Verdicts: what is said of each arm, why, and how it is shown."""

from paretoguard.verdict.result import ACROSS, COLOURS, MARKS, Missing, Result, Verdict, crossed
from paretoguard.verdict.tables import show, show_interval, show_least

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
