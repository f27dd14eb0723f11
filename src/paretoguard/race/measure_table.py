"""How arms are measured: the table [measure] of a problem file, checked before anything is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.problem.names import suggestion

POLICIES = ("fail", "retry", "infeasible")
MOST_SECONDS = 1e7


@dataclass(frozen=True)
class How:
    """The table, with defaults."""

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


KINDS: dict[str, tuple[tuple[type, ...], str]] = {
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
    """The table of a file; anything unknown or impossible is refused."""
    for key, value in table.items():
        if key not in KINDS:
            raise ProblemError(f"measure.{key} is not known; {suggestion(key, KINDS)}")
        kinds, expected = KINDS[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ProblemError(f"measure.{key} is {value!r}, expected {expected}")
        if isinstance(value, list) and not (value and all(isinstance(word, str) for word in value)):
            raise ProblemError(f"measure.{key} is {value!r}, expected {expected}")
    how = How(**table)
    if how.timeout is not None and not 0 < how.timeout <= MOST_SECONDS:
        raise ProblemError(f"measure.timeout is {how.timeout!r}, expected {KINDS['timeout'][1]}")
    for key in ("warmup", "retries"):
        if not 0 <= getattr(how, key) <= 1_000_000:
            raise ProblemError(f"measure.{key} is {getattr(how, key)!r}, expected {KINDS[key][1]}, 0 or more")
    if how.on_failure not in POLICIES:
        raise ProblemError(f"measure.on_failure is {how.on_failure!r}, expected {KINDS['on_failure'][1]}")
    for name, value in how.counts_as.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ProblemError(f"measure.counts_as.{name} is {value!r}, expected a number")
    return how


def check_keys(table: Mapping[str, Any], kind: str) -> None:
    """Refuse what has no meaning for arms that are measured in this way."""
    for key in table:
        if key not in OF_KIND[kind]:
            raise ProblemError(f"measure.{key} has no meaning where arms are measured by a {kind}; leave it out")
