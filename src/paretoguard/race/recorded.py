"""Arms whose results are recorded in a table: rows drawn at random, so that claims are about the table's means."""

import csv
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paretoguard.errors import FileError, ProblemError
from paretoguard.files.formulas import Formula
from paretoguard.problem.names import listed, suggestion
from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Noise
from paretoguard.race.sources import ExhaustedError, Pull, digest_line


class Recorded:
    """The rows of each arm; the n-th draw of an arm depends on the seed alone."""

    def __init__(
        self,
        path: Path,
        column: str,
        arms: Sequence[str],
        objectives: Sequence[str],
        formulas: Mapping[str, Formula],
        *,
        seed: int,
        replacement: bool,
    ) -> None:
        self._seed, self._replacement, self._path = seed, replacement, path
        self.rows: dict[str, list[dict[str, float]]] = {arm: [] for arm in arms}
        for place, row in read_rows(path, column, objectives, formulas):
            if place in self.rows:
                self.rows[place].append(row)
        empty = [arm for arm, rows in self.rows.items() if not rows]
        if empty:
            raise ProblemError(f"{path} has no row whose {column!r} is {listed(empty)}")
        self._drawn = dict.fromkeys(arms, 0)
        self._shuffled: dict[str, list[int]] = {}

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(map(len, self.rows.values()))

    def noise(self, objective: str) -> Noise:
        """What the table itself says: of 0 and 1, in a range, or the same for each arm every time."""
        columns = [[row[objective] for row in rows] for rows in self.rows.values()]
        values = {value for column in columns for value in column}
        if values <= {0.0, 1.0}:
            return Bernoulli()
        if all(len(set(column)) == 1 for column in columns):
            return Exact()
        return Bounded(min(values), max(values))

    def measure(self, pull: Pull) -> dict[str, Any]:
        """A row of the arm."""
        rows, number = self.rows[pull.arm], self._drawn[pull.arm]
        self._drawn[pull.arm] += 1
        if self._replacement:
            return dict(rows[random.Random(f"{self._seed} {pull.arm} {number}").randrange(len(rows))])
        if pull.arm not in self._shuffled:
            order = list(range(len(rows)))
            random.Random(f"{self._seed} {pull.arm}").shuffle(order)
            self._shuffled[pull.arm] = order
        if number >= len(rows):
            raise ExhaustedError
        return dict(rows[self._shuffled[pull.arm][number]])

    def skip(self, pulls: Mapping[str, int]) -> None:
        """Go on after so many draws of each arm."""
        self._drawn.update(pulls)

    def described(self) -> list[str]:
        """The table."""
        return [digest_line(self._path)]

    def close(self) -> None:
        """Nothing is open."""


def read_rows(
    path: Path, column: str, objectives: Sequence[str], formulas: Mapping[str, Formula]
) -> Iterator[tuple[str, dict[str, float]]]:
    """The arm and the objectives of each row."""
    needed = _needed(objectives, formulas)
    reader = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    names = next(reader)[1]
    for name in (column, *needed):
        if name not in names:
            raise ProblemError(f"{path} has no column {name!r}; {suggestion(name, names)}")
    for at, cells in reader:
        row = dict(zip(names, cells, strict=True))
        values = {name: _number(path, at, name, row[name]) for name in needed}
        for name, formula in formulas.items():
            if formula.names <= values.keys():
                values[name] = formula.value(values)
        yield str(row[column]), {name: values[name] for name in objectives}


def _needed(objectives: Sequence[str], formulas: Mapping[str, Formula]) -> list[str]:
    found: dict[str, None] = {}
    waiting = list(objectives)
    while waiting:
        name = waiting.pop(0)
        if name in formulas:
            waiting += sorted(formulas[name].names)
        else:
            found[name] = None
    return list(found)


def _csv(path: Path) -> Iterator[tuple[int, list[Any]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            names = [name.strip() for name in next(reader, [])]
            yield 1, names
            for cells in reader:
                if len(cells) != len(names) and cells:
                    raise FileError(f"{path}, line {reader.line_num}: got {len(cells)} cells, expected {len(names)}")
                if cells:
                    yield reader.line_num, cells
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot read {path}: {error}") from error


def _parquet(path: Path) -> Iterator[tuple[int, list[Any]]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise FileError(f"{path} needs pyarrow: pip install 'paretoguard[parquet]', or save it as .csv") from None
    try:
        table = parquet.read_table(path)
    except Exception as error:
        raise FileError(f"cannot read {path}: {error}") from error
    yield 0, list(table.column_names)
    columns = [column.to_pylist() for column in table.columns]
    yield from enumerate((list(cells) for cells in zip(*columns, strict=True)), start=1)


def _number(path: Path, at: int, name: str, cell: Any) -> float:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise FileError(
            f"{path}, line {at}: {name} is {cell!r}, expected a number; leave rows without one out"
        ) from None
    return value
