"""Verdicts recomputed from raw results in plain Python, from the definitions alone: to audit what the engine claims.

Nothing here is compiled or shared with the engine. docs/guarantees.md states what is computed, section by section.
"""

from paretoguard.reference.audit import audit, statuses

__all__ = ["audit", "statuses"]
