"""What every algorithm is: an option record that users pass, and what answers rest on beside the evidence."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from paretoguard.engine.arrays import ProblemArrays
from paretoguard.vocabulary import E_CPSI


class Algorithm(ABC):
    """An algorithm's options: a frozen dataclass whose fields users set by name.

    `fit` gives the kernel record, for which the questions `choose` and, if the defaults do not do, `select` and
    `answer` are registered (`engine/questions.py`).
    """

    name: ClassVar[str] = ""  # of a built-in part; others are called by their place, "module:Class"
    task: str = E_CPSI  # "cpsi": only the best arms are promised, not the reasons for the others; may be an option
    evidence: ClassVar[type | None] = None  # the only evidence that it works with
    by_position: ClassVar[bool] = False  # True if its decisions depend on the order in which arms are listed
    in_rounds: ClassVar[bool] = False  # True if it pulls arms in rounds, so that pulls and evidence may lag

    @abstractmethod
    def fit(self, problem: ProblemArrays) -> NamedTuple:
        """Return the kernel record: what the algorithm remembers of one run of this `problem`, in arrays made here."""
