"""One tree of errors. Each message says what was got, what was expected and how to mend it."""

from typing import Any


class ParetoguardError(Exception):
    """Anything that paretoguard refuses; the command line prints it in one paragraph."""


class ProblemError(ParetoguardError, ValueError):
    """The problem as stated cannot be used."""


class ConstraintError(ProblemError):
    """A constraint cannot be read.

    `message` says why; `text` is the constraint and `position` the place in it (from 0), if known.
    """

    def __init__(self, message: str, text: str = "", position: int | None = None) -> None:
        super().__init__(message)
        self.text = text
        self.position = position


class SettingsError(ParetoguardError, ValueError):
    """A setting (delta, algorithm, evidence, budget, runs …) cannot be used."""


class NotCompiledError(SettingsError):
    """An algorithm, evidence or noise of the user's own does not compile; `__cause__` is what the compiler says."""


class FileError(ParetoguardError, ValueError):
    """A file cannot be read, or does not hold what it should."""


class StorageError(ParetoguardError):
    """The database of an experiment cannot be used, or lacks what is asked for."""


class LedgerError(StorageError):
    """A ledger does not hold what it should."""


class SampleError(ParetoguardError, ValueError):
    """A measurement is not usable. `message` says why; `arm` and `values` say which; `result` is the result so far."""

    def __init__(self, message: str, *, arm: str, values: Any, result: Any = None) -> None:
        super().__init__(message)
        self.arm = arm
        self.values = values
        self.result = result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. What was known by then: the runs that had finished (`study`), the `result` of an identification, or the
    `scenarios` of a plan.
    """

    def __init__(self, study: Any = None, result: Any = None, scenarios: Any = None) -> None:
        super().__init__("interrupted")
        self.study = study
        self.result = result
        self.scenarios = scenarios
