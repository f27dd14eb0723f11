"""What measures arms: one protocol for commands, functions and recorded data."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from paretoguard.errors import ParetoguardError


class RunFailedError(Exception):
    """A measurement did not end well; `measured` has what is known of it all the same.

    It is `lasting` where it looks like a mistake in the file or in what it measures: it would come again in each run.
    """

    def __init__(self, why: str, measured: Mapping[str, Any], *, lasting: bool = False) -> None:
        super().__init__(why)
        self.measured, self.lasting = dict(measured), lasting


class Findings(dict[str, Any]):
    """What one run gave, by name; `said` is the end of what it printed."""

    said = ""
    has_brace = False  # is there one anywhere in what it printed?


class ExhaustedError(Exception):
    """Recorded data holds no more rows of this arm."""


class RaceError(ParetoguardError):
    """A race cannot begin or go on."""


class GivenUpError(RaceError):
    """A measurement failed as often as is allowed, so that the race stops."""

    def __init__(self, pull: "Pull", failures: Sequence[str], *, lasting: bool) -> None:
        times = f" {len(failures)} times" if len(failures) > 1 else ""
        super().__init__(f"measuring {pull.arm!r} failed{times}: {failures[-1]}")
        self.pull, self.failures, self.lasting = pull, tuple(failures), lasting


class Pull(NamedTuple):
    """One measurement to make."""

    arm: str
    number: int  # of its ticket: with the seed, what is drawn for it


class Source(Protocol):
    """Measures arms; several threads may ask at once."""

    def measure(self, pull: Pull) -> dict[str, Any]:
        """One result: what is measured and printed, by name; RunFailedError where it did not end well."""

    def described(self) -> list[str]:
        """What the results depend on besides the problem file: one line for each, with a digest of its content."""

    def close(self) -> None:
        """Stop whatever runs."""


def digest_line(*paths: Path) -> str:
    """Files, by name and by a digest of all their contents."""
    state = hashlib.sha256()
    for path in paths:
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    shown = paths[0].name if len(paths) == 1 else f"{len(paths)} files, {paths[0].name} to {paths[-1].name}"
    return f"{shown}: sha256 {state.hexdigest()}"
