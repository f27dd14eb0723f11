"""What every kind of evidence is: an option record that users pass, and what it promises."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.vocabulary import HEURISTIC


class Evidence(ABC):
    """Options of a kind of evidence: a frozen dataclass whose fields users set by name.

    `fit` gives the kernel record, for which the questions of evidence are registered (`engine/questions.py`); evidence
    in the form of widths registers two of them (`evidence/widths.py`).
    """

    name: ClassVar[str] = ""  # of a built-in part; others are called by their place, "module:Class"
    guarantee: ClassVar[str] = HEURISTIC  # the label of its claims: one of vocabulary.GUARANTEES
    basis: ClassVar[str] = "no theorem was stated for this evidence"  # what the label rests on, in one sentence
    learns: ClassVar[bool] = False  # True if it estimates scales of the noise that are not declared
    if_independent: ClassVar[bool] = False  # True if the label holds for independent objectives only
    any_order: ClassVar[bool] = False  # True if the label holds also for results counted in the order asked
    takes_order: ClassVar[bool] = False  # True if it has an option `order` for that

    @abstractmethod
    def fit(self, delta: float, problem: ProblemArrays) -> NamedTuple:
        """Return the kernel record: thresholds for one problem and one delta."""
