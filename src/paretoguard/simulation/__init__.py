"""Simulation: named instances, and studies of many runs."""

from paretoguard.simulation import instances

__all__ = ["instances"]
