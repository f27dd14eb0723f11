"""Arms whose results are recorded in a table: rows drawn at random, so that claims are about the table's means."""

import csv
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paretoguard.errors import FileError, ProblemError
from paretoguard.files.metrics import Formula, metrics_of
from paretoguard.problem import Problem
from paretoguard.problem.names import listed, suggestion
from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Noise
from paretoguard.race.measuring import ExhaustedError, How, Source, digest_line
from paretoguard.trial.tickets import Ticket


class Recorded(Source):
    """The rows of each arm; the n-th draw of an arm depends on the seed alone."""

    def __init__(self, problem: Problem, how: How, formulas: Mapping[str, Formula], folder: Path, seed: int) -> None:
        if how.data is None:
            raise ProblemError(
                "recorded data is one table for all arms: give it as measure.data, with a column of arms"
            )
        self._seed, self._replacement, self._path = seed, how.replacement, folder / how.data
        self._rows: dict[str, list[dict[str, float]]] = {arm: [] for arm in problem.arms}
        for arm, row in _read(self._path, how.arm, list(problem.objectives), formulas):
            if arm in self._rows:
                self._rows[arm].append(row)
        empty = [arm for arm, rows in self._rows.items() if not rows]
        if empty:
            raise ProblemError(f"{self._path} has no row whose {how.arm!r} is {listed(empty)}")
        if not how.replacement:
            for arm, rows in self._rows.items():
                random.Random(f"{seed} {arm}").shuffle(rows)
        self._drawn = dict.fromkeys(problem.arms, 0)

    @property
    def size(self) -> int:
        return sum(map(len, self._rows.values()))

    def noise(self, objective: str) -> Noise:
        """Return the noise by the values in the table: 0 and 1, in a range, or the same in all rows of an arm."""
        columns = [[row[objective] for row in rows] for rows in self._rows.values()]
        values = {value for column in columns for value in column}
        if values <= {0.0, 1.0}:
            return Bernoulli()
        if all(len(set(column)) == 1 for column in columns):
            return Exact()
        return Bounded(min(values), max(values))

    def measure(self, ticket: Ticket) -> dict[str, Any]:
        rows, number = self._rows[ticket.arm], self._drawn[ticket.arm]
        self._drawn[ticket.arm] += 1
        if self._replacement:
            number = random.Random(f"{self._seed} {ticket.arm} {number}").randrange(len(rows))
        elif number >= len(rows):
            raise ExhaustedError
        return dict(rows[number])

    def skip(self, pulls: Mapping[str, int]) -> None:
        """Go on after so many draws of each arm."""
        self._drawn.update(pulls)

    def described(self) -> list[str]:
        return [digest_line(self._path)]


def _read(
    path: Path, column: str, objectives: Sequence[str], formulas: Mapping[str, Formula]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the arm and the objectives of each row."""
    needed = metrics_of(objectives, formulas)
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
