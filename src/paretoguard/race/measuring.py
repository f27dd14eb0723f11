"""How arms are measured: the table [measure], and what commands, functions and recorded data have in common."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paretoguard.errors import ParetoguardError, ProblemError
from paretoguard.problem.names import suggestion
from paretoguard.trial.tickets import Ticket

POLICIES = ("fail", "retry", "infeasible")
MOST_SECONDS = 1e7


@dataclass(frozen=True)
class How:
    """The table [measure], with defaults."""

    command: str | list[str] | None = None
    callable: str | None = None
    data: str | None = None
    shell: bool = False
    timeout: float | None = None  # seconds
    warmup: int = 0  # runs of each arm whose results are thrown away
    prepare: str | list[str] | None = None  # before each run, not measured
    cleanup: str | list[str] | None = None  # after it
    inputs: Mapping[str, str | list[str]] = field(default_factory=dict)  # word -> files, one of them drawn for each run
    metrics: Mapping[str, str] = field(default_factory=dict)  # name -> regular expression with one group
    on_failure: str = "fail"
    retries: int = 2
    counts_as: Mapping[str, float] = field(default_factory=dict)  # what a failed run counts as, where it prints nothing
    arm: str = "arm"  # the column of recorded data that names the arm
    replacement: bool = True


EXPECTED: dict[str, tuple[tuple[type, ...], str]] = {
    "command": ((str, list), "a command, or a list of its words"),
    "callable": ((str,), "a function, as 'module:function'"),
    "data": ((str,), "a file, .csv or .parquet"),
    "shell": ((bool,), "true or false"),
    "timeout": ((int, float), "a number of seconds above 0"),
    "warmup": ((int,), "a number of runs"),
    "prepare": ((str, list), "a command, or a list of its words"),
    "cleanup": ((str, list), "a command, or a list of its words"),
    "inputs": ((dict,), "a table word = 'files/*.txt'"),
    "metrics": ((dict,), "a table name = 'regular expression with one (group)'"),
    "on_failure": ((str,), f"one of {', '.join(POLICIES)}"),
    "retries": ((int,), "a number of attempts"),
    "counts_as": ((dict,), "a table name = number"),
    "arm": ((str,), "the name of a column"),
    "replacement": ((bool,), "true or false"),
}
_OF_RUNS = ("timeout", "warmup", "on_failure", "retries", "counts_as")
OF_KIND: dict[str, tuple[str, ...]] = {
    "command": ("command", "shell", "prepare", "cleanup", "inputs", "metrics", *_OF_RUNS),
    "callable": ("callable", *_OF_RUNS),
    "data": ("data", "arm", "replacement"),
}


def read_how(table: Mapping[str, Any]) -> How:
    """Read the table [measure]; refuse unknown keys and impossible values."""
    for key, value in table.items():
        if key not in EXPECTED:
            raise ProblemError(f"measure.{key} is not known; {suggestion(key, EXPECTED)}")
        kinds = EXPECTED[key][0]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise _wrong(key, value)
        if isinstance(value, list) and not (value and all(isinstance(word, str) for word in value)):
            raise _wrong(key, value)
    how = How(**table)
    if how.timeout is not None and not 0 < how.timeout <= MOST_SECONDS:
        raise _wrong("timeout", how.timeout)
    for key in ("warmup", "retries"):
        if not 0 <= getattr(how, key) <= 1_000_000:
            raise _wrong(key, getattr(how, key), ", 0 or more")
    if how.on_failure not in POLICIES:
        raise _wrong("on_failure", how.on_failure)
    for name, value in how.counts_as.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ProblemError(f"measure.counts_as.{name} is {value!r}, expected a number")
    return how


def _wrong(key: str, value: Any, more: str = "") -> ProblemError:
    return ProblemError(f"measure.{key} is {value!r}, expected {EXPECTED[key][1]}{more}")


class Source(ABC):
    """Measures arms; several threads may call `measure` at once."""

    least_peak: float | None = None  # MB: less peak memory of a command cannot be told apart; None where not known
    in_process = False  # does it measure in this process, whose other work would disturb it?
    written: AbstractSet[str] = frozenset()  # files that commands name, as they are quoted, changed by runs

    @abstractmethod
    def measure(self, ticket: Ticket) -> dict[str, Any]:
        """Return one result: what is measured and printed, by name; raise RunFailedError if the run failed.

        The number of the ticket decides, with the seed, what is drawn for it.
        """

    @abstractmethod
    def described(self) -> list[str]:
        """Return what results depend on besides the problem file: a line for each, with a digest of its content."""

    def close(self) -> None:  # noqa: B027
        """Stop whatever runs."""


class Findings(dict[str, Any]):
    """The results of one run, by name; `said` is the end of its output."""

    said = ""
    has_brace = False  # anywhere in the output


class RunFailedError(Exception):
    """A measurement failed; `measured` has what is known of it all the same.

    It is `lasting` if it looks like a mistake in the file or in what it measures: each run would fail again.
    """

    def __init__(self, why: str, measured: Mapping[str, Any], *, lasting: bool = False) -> None:
        super().__init__(why)
        self.measured, self.lasting = dict(measured), lasting


class ExhaustedError(Exception):
    """Recorded data holds no more rows of this arm."""


class RaceError(ParetoguardError):
    """A race cannot begin or go on."""


class GivenUpError(RaceError):
    """A measurement failed as often as is allowed, so that the race stops."""

    def __init__(self, ticket: Ticket, failures: Sequence[str], *, lasting: bool) -> None:
        times = f" {len(failures)} times" if len(failures) > 1 else ""
        super().__init__(f"measuring {ticket.arm!r} failed{times}: {failures[-1]}")
        self.ticket, self.failures, self.lasting = ticket, tuple(failures), lasting


def digest_line(*paths: Path) -> str:
    """Return the names of files and a digest of all their contents."""
    state = hashlib.sha256()
    for path in paths:
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    shown = paths[0].name if len(paths) == 1 else f"{len(paths)} files, {paths[0].name} to {paths[-1].name}"
    return f"{shown}: sha256 {state.hexdigest()}"
