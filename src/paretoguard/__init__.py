"""Which of these options are the best trade-offs within my guardrails, and why is every other one out?

    import paretoguard as pg

`Problem` states the question, `identify` answers it by measuring, `simulate` tells what that would cost. Names are
loaded when first used, so that importing the package is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from paretoguard.version import __version__

if TYPE_CHECKING:
    from paretoguard import algorithms, evidence, theory
    from paretoguard.errors import (
        ConstraintError,
        FileError,
        Interrupted,
        LedgerError,
        ParetoguardError,
        ProblemError,
        SampleError,
        SettingsError,
        StorageError,
    )
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.files.problem_file import load
    from paretoguard.problem import Instance, Problem
    from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Gaussian, Noise, SubGaussian, Unknown
    from paretoguard.simulation import instances
    from paretoguard.simulation.rewards import sampler
    from paretoguard.simulation.study import Study, simulate
    from paretoguard.trial.tickets import Ticket
    from paretoguard.trial.trial import Trial, identify
    from paretoguard.verdict import Result, Verdict

_HOMES = {
    "paretoguard.errors": (
        "ConstraintError",
        "FileError",
        "Interrupted",
        "LedgerError",
        "ParetoguardError",
        "ProblemError",
        "SampleError",
        "SettingsError",
        "StorageError",
    ),
    "paretoguard.experiment.experiment": ("Experiment",),
    "paretoguard.files.problem_file": ("load",),
    "paretoguard.problem.noise": ("Bernoulli", "Bounded", "Exact", "Gaussian", "Noise", "SubGaussian", "Unknown"),
    "paretoguard.problem": ("Instance", "Problem"),
    "paretoguard.simulation": ("instances",),
    "paretoguard.simulation.rewards": ("sampler",),
    "paretoguard.simulation.study": ("Study", "simulate"),
    "paretoguard": ("algorithms", "evidence", "theory"),
    "paretoguard.trial.tickets": ("Ticket",),
    "paretoguard.trial.trial": ("Trial", "identify"),
    "paretoguard.verdict": ("Result", "Verdict"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Bernoulli",
    "Bounded",
    "ConstraintError",
    "Exact",
    "Experiment",
    "FileError",
    "Gaussian",
    "Instance",
    "Interrupted",
    "LedgerError",
    "Noise",
    "ParetoguardError",
    "Problem",
    "ProblemError",
    "Result",
    "SampleError",
    "SettingsError",
    "StorageError",
    "Study",
    "SubGaussian",
    "Ticket",
    "Trial",
    "Unknown",
    "Verdict",
    "__version__",
    "algorithms",
    "evidence",
    "identify",
    "instances",
    "load",
    "sampler",
    "simulate",
    "theory",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'paretoguard' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name, None) if home != __name__ else None
    if value is None:
        value = importlib.import_module(f"{home}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
