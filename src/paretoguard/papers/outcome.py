"""What reproducing one result gives: data, times, our numbers beside the paper's, and a picture."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoguard.errors import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
YES, NO, OPEN = "yes", "no", "–"
SMOKE = {"most_runs": 4, "most_items": 2}  # just enough to see that it works


@dataclass(frozen=True)
class Effort:
    """How much to simulate: everything, or no more than so many runs and items; threads change no number."""

    most_runs: int | None = None
    most_items: int | None = None
    threads: int | None = None
    say: Callable[[str], None] = lambda what: None  # told what is simulated next, where that takes long

    def runs(self, full: int) -> int:
        """So many runs of each kind."""
        return full if self.most_runs is None else min(full, self.most_runs)

    def first(self, items: Sequence[str]) -> Sequence[str]:
        """All of them, or just the first few."""
        return items[: self.most_items]


@dataclass(frozen=True)
class Line:
    """One number or claim of the paper beside ours; `why` where they do not agree, or what was decided."""

    what: str
    paper: str
    ours: str
    agrees: str = OPEN
    why: str = ""


@dataclass(frozen=True)
class Outcome:
    """All there is to say of one result."""

    rows: Rows  # the data: the same on every machine
    lines: Sequence[Line]
    draw: "Callable[[Path], Figure]"
    timing: Rows  # what differs from run to run


def as_written(rows: Rows) -> list[dict[str, Any]]:
    """The rows with numbers as exact as the file has them: what is said and drawn can be had from the file alone."""
    return [
        {name: float(f"{cell:.6g}") if isinstance(cell, float) else cell for name, cell in row.items()} for row in rows
    ]


def agrees(holds: bool) -> str:
    """Whether a claim of the paper holds in our numbers."""
    return YES if holds else NO


def write(rows: Rows, path: Path) -> None:
    """A CSV file: numbers to six digits, so that it changes only if a result does."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            for row in rows:
                writer.writerow(
                    {name: f"{cell:.6g}" if isinstance(cell, float) else cell for name, cell in row.items()}
                )
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error


def read(path: Path) -> list[dict[str, str]]:
    """What `write` wrote, every cell a text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
