"""Results as CSV files: written and read in one way."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """One line a row; numbers to six digits, so that a file changes only if a result does."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})


def read(path: Path) -> list[dict[str, str]]:
    """What `write` wrote, every cell a text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
