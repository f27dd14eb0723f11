"""The public names; `__init__.py` loads each when it is first used."""

from . import algorithms as algorithms, evidence as evidence, theory as theory
from .errors import (
    ConstraintError as ConstraintError,
    FileError as FileError,
    Interrupted as Interrupted,
    LedgerError as LedgerError,
    ParetoguardError as ParetoguardError,
    ProblemError as ProblemError,
    SampleError as SampleError,
    SettingsError as SettingsError,
    StorageError as StorageError,
)
from .experiment.events import Entry as Entry, Event as Event
from .experiment.experiment import Experiment as Experiment, Status as Status
from .experiment.memory import MemoryStorage as MemoryStorage
from .experiment.recording import Told as Told
from .experiment.storage import Storage as Storage
from .files.problem_file import ProblemFile as ProblemFile, load as load
from .problem import Instance as Instance, Problem as Problem, Truth as Truth
from .problem.constraints import Constraint as Constraint
from .problem.noise import (
    Bernoulli as Bernoulli,
    Bounded as Bounded,
    Exact as Exact,
    Gaussian as Gaussian,
    Noise as Noise,
    SubGaussian as SubGaussian,
    Unknown as Unknown,
)
from .simulation import instances as instances
from .simulation.rewards import sampler as sampler
from .simulation.runner import Cell as Cell, Design as Design
from .simulation.study import Study as Study, simulate as simulate
from .simulation.trace import Trace as Trace
from .trial.setup import Setup as Setup
from .trial.tickets import Ticket as Ticket
from .trial.trial import Trial as Trial, identify as identify
from .verdict import Missing as Missing, Result as Result, Verdict as Verdict
from .version import __version__ as __version__
