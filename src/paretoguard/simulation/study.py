"""Studies: many simulated runs of instances × algorithms × evidence × delta, as flat records."""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard import vocabulary
from paretoguard.algorithms import Algorithm
from paretoguard.errors import FileError, Interrupted, SettingsError
from paretoguard.evidence import Evidence
from paretoguard.files.problem_file import ProblemFile, dumps, loads
from paretoguard.numeric import Bytes, Integers
from paretoguard.problem import Instance
from paretoguard.simulation.instances import load as load_instance
from paretoguard.simulation.runner import Block, Cell, Design, run_cells
from paretoguard.simulation.summary import as_texts, summarise
from paretoguard.simulation.trace import Done, Trace, trace
from paretoguard.trial import checks, promises, registry
from paretoguard.verdict import tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

Simulated = Instance | ProblemFile | str  # a name such as "covboost" stands for its instance

STUDIED_EVIDENCE, STUDIED_DELTA = "practical", 0.1  # of most published experiments
FORMAT = 1
MOST_RUNS = 10**8  # of each kind: their records fill the memory of a large machine
MOVABLE = ("instance", "evidence", "delta", "guarantee", "runs", "undecided")  # said once where they are the same
ERROR = (
    "error: share of runs with a false claim (game-cpsi, pitfall:task=cpsi: a wrong set), "
    "with its one-sided 95% limit (Clopper–Pearson)"
)
NO_ARM = 255  # pads `statuses` where an instance has fewer arms than the widest one
_NAMES = ("instance", "algorithm", "evidence", "delta")  # of a cell's labels
_COLUMNS: list[tuple[str, Any]] = [
    ("delta", float64),
    ("run", int64),
    ("samples", int64),
    ("stopped", "U8"),
    ("wrong_cpsi", bool),
    ("wrong_ecpsi", bool),
    ("undecided", bool),
    ("ns", int64),
]


@dataclass(frozen=True, repr=False)
class Study:
    """Finished runs, which `simulate` makes.

    Attributes
    ----------
    cells
        Every instance × algorithm × evidence × delta.
    design
        The seed, the budget and the batch, which all runs share.
    records
        One row per run, with named columns.
    pulls, statuses
        [rows, K] for the same runs: how often each arm was pulled, and what the answer says of it (0 undecided,
        1 optimal, 2 dominated, 3 infeasible). Instances with fewer arms than the widest leave their last columns at
        0 pulls and status 255.
    """

    cells: tuple[Cell, ...]
    design: Design
    records: NDArray[Any]
    pulls: Integers
    statuses: Bytes

    def summary(self) -> list[dict[str, Any]]:
        """Return one plain dict per instance × algorithm × evidence × delta."""
        return [summarise(cell, self.records[self.of(cell)]) for cell in self.cells]

    def of(self, cell: Cell) -> NDArray[np.bool_]:
        """Return the runs of one cell.

        Parameters
        ----------
        cell
            One of `cells`: an instance × algorithm × evidence × delta.

        Returns
        -------
        array of bool
            A mask of the rows of `records`, `pulls` and `statuses`.
        """
        mask = np.ones(len(self.records), dtype=bool)
        for name, label in zip(_NAMES, cell.labels, strict=True):
            mask &= self.records[name] == label
        return mask

    def extend(self, runs: int, *, threads: int | None = None) -> "Study":
        """Return the study with more runs; those that it has are kept. Raise Interrupted as `simulate` does.

        Parameters
        ----------
        runs
            How many runs of each cell there are to be in all.
        threads
            How many threads share the runs; None means one for each core.

        Returns
        -------
        Study
            A new study; this one stays as it is.
        """
        wanted = checks.check_count(runs, "runs", "the number of runs of each kind", MOST_RUNS)
        present = [self.records["run"][self.of(cell)] for cell in self.cells]
        absent = [np.setdiff1d(np.arange(wanted), known, assume_unique=True) for known in present]
        blocks, interrupted = run_cells(list(zip(self.cells, absent, strict=True)), self.design, threads)
        while True:
            try:
                extended = _with_blocks(self, blocks)
                break
            except KeyboardInterrupt:  # once more, while finished runs are put together: they are not to be lost
                interrupted = True
        if interrupted:
            raise Interrupted(study=extended)
        return extended

    def trace(self, run: int = 0) -> tuple[Trace, ...]:
        """Return one run of each cell that has it, simulated again with looks on its way.

        Parameters
        ----------
        run
            The number of the run, from 0.

        Returns
        -------
        tuple of Trace
            One for each cell with this run, in the order of `cells`.
        """
        if not isinstance(run, Integral) or isinstance(run, bool):
            raise SettingsError(f"run is {run!r}; expected the number of one run, such as 0")
        traces = []
        for cell in self.cells:
            for row in np.flatnonzero(self.of(cell) & (self.records["run"] == run)):
                record, K = self.records[row], len(cell.instance.problem.arms)
                pulls, answer = self.pulls[row, :K], self.statuses[row, :K].copy()
                done = Done(int(run), int(record["samples"]), str(record["stopped"]), pulls, answer)
                traces.append(trace(cell, self.design, done))
        if not traces:
            raise SettingsError(f"run {run!r} is not in the study{_known_runs(self.records['run'])}")
        return tuple(traces)

    def plot(self, target: "str | PathLike[str] | Figure | None" = None) -> "Figure":
        """Return a picture of the study.

        Parameters
        ----------
        target
            A file to write (.png, .svg, .pdf), or a figure to draw on; None draws on a new one.
        """
        from paretoguard.pictures.comparison import draw_comparison

        return draw_comparison(self, target)

    def to_csv(self, path: str | Path) -> None:
        """Write the records to a CSV file at `path`, one line per run."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.records.dtype.names or ())
            writer.writerows(self.records.tolist())

    def save(self, path: str | Path) -> None:
        """Write everything to one NPZ file at `path`, with a JSON header; `Study.load` reads it back."""
        buffer = io.BytesIO()
        header = json.dumps(_header(self))
        np.savez_compressed(
            buffer,
            header=np.frombuffer(header.encode(), dtype=uint8),
            records=self.records,
            pulls=self.pulls,
            statuses=self.statuses,
        )
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        try:
            partial.write_bytes(buffer.getvalue())
            partial.replace(target)
        except OSError as error:
            raise FileError(f"cannot write {target}: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: str | Path) -> "Study":
        """Return the study that `save` wrote to `path`. Raise FileError if there is no whole study in the file."""
        try:
            with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in ("header", "records", "pulls", "statuses")}
            header = json.loads(arrays["header"].tobytes().decode())
        except FileNotFoundError:
            raise FileError(f"there is no study at '{path}'") from None
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise FileError(f"'{path}' is not a study written by Study.save, or it is cut short ({error})") from None
        if header.get("format") != FORMAT:
            found = header.get("format")
            raise FileError(f"'{path}' has study format {found!r}; this version reads format {FORMAT}")
        tables_of_runs = (arrays[name] for name in ("records", "pulls", "statuses"))
        return cls(_cells_from(header), Design(**header["design"]), *tables_of_runs)

    def rows(self) -> list[dict[str, str]]:
        """Return the summary as texts, for a table."""
        return [as_texts(row) for row in self.summary()]

    def table(self) -> "Table":
        """Return the summary as a rich table."""
        rows, same = tables.apart(self.rows(), MOVABLE)
        right = [name for name in rows[0] if name not in ("instance", "algorithm", "evidence", "guarantee")]
        caption = " · ".join(f"{key}: {cell}" for key, cell in same.items())
        return tables.table(self.headline(), rows, "\n".join(filter(None, [caption, ERROR])), right=right)

    def headline(self) -> str:
        """Return the number of runs, and of arms pulled at once."""
        batches = f" in batches of {self.design.batch:,}" if self.design.batch > 1 else ""
        return f"{len(self.records):,} simulated runs{batches}"

    def __rich__(self) -> "Table":
        return self.table()

    def __repr__(self) -> str:
        return tables.as_text(self.table())

    def _repr_html_(self) -> str:
        return tables.as_html(self.headline(), self.rows(), ERROR)


def simulate(
    instance: Simulated | Sequence[Simulated],
    *,
    algorithms: str | Algorithm | Sequence[str | Algorithm] = registry.DEFAULT_ALGORITHM,
    evidence: str | Evidence | Sequence[str | Evidence] = STUDIED_EVIDENCE,
    delta: float | Sequence[float] = STUDIED_DELTA,
    runs: int = 500,
    seed: int = 0,
    budget: int | None = None,
    threads: int | None = None,
    batch: int = 1,
) -> Study:
    """Simulate every combination of the arguments, `runs` times each, on all cores.

    Run number r sees the same rewards whatever the algorithm and the number of threads. Raise Interrupted at Ctrl-C:
    its `study` holds the runs that had finished.

    Evidence and delta are by default those of published experiments, so that results compare with their tables.
    `identify`, `Trial`, `Experiment` and `theory.plan` have the defaults of real use: "certified" and 0.05.

    Parameters
    ----------
    instance
        What is measured: an `Instance`, the name of one ("covboost"), or `pg.load(path)` of a file with means; or a
        list of these.
    algorithms, evidence
        A name, with options if you like ("two-stage:form=2023"), or a record; or a list of these.
    delta
        The accepted error probability, between 0 and 1; or a list.
    runs
        How many runs of each combination.
    seed
        The seed of rewards and of arms drawn at random.
    budget
        The largest number of samples of a run; None means no limit.
    threads
        How many threads share the runs; None means one for each core.
    batch
        How many arms are pulled before the next decision, such as a cohort; 1 pulls each decision as it is made.

    Returns
    -------
    Study
        One record per run, with summaries, pictures and files.
    """
    cells = tuple(
        Cell(one, how, what, checks.check_delta(level))
        for one in instances_of(instance)
        for how in map(registry.algorithm, _listed(algorithms))
        for what in _evidence(how, _listed(evidence))
        for level in _listed(delta)
    )
    _refuse_repeats(cells)
    checks.check_budget(budget)
    checks.check_count(batch, "batch", "the number of arms pulled before the next decision", MOST_RUNS)
    empty = Study(cells, Design(checks.check_seed(seed), budget, batch), *_empty(cells))
    return empty.extend(runs, threads=threads)


def _evidence(how: Algorithm, given: Sequence[Any]) -> list[Evidence]:
    """Return every kind asked for; of an algorithm with evidence of its own, that one once."""
    kinds = [registry.evidence_for(how, what) for what in given]
    return kinds[:1] if how.evidence is not None else kinds


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def instances_of(given: Simulated | Sequence[Simulated]) -> list[Instance]:
    """Return instances given as such, by name, or as problem files with means."""
    found = [
        load_instance(one) if isinstance(one, str) else one.instance if isinstance(one, ProblemFile) else one
        for one in _listed(given)
    ]
    for one in found:
        if not isinstance(one, Instance):
            raise SettingsError(f"expected an Instance, the name of one, or pg.load(path); got {one!r}")
    if not found:
        raise SettingsError("no instance was given")
    return found


def _refuse_repeats(cells: Sequence[Cell]) -> None:
    seen = set()
    if not cells:
        raise SettingsError("nothing to simulate: give at least one algorithm, one evidence and one delta")
    for cell in cells:
        if cell.labels in seen:
            raise SettingsError(f"{cell} is asked for twice; give instances different names")
        seen.add(cell.labels)


def _empty(cells: Sequence[Cell]) -> tuple[NDArray[Any], Integers, Bytes]:
    widest = max(len(cell.instance.problem.arms) for cell in cells)
    sizes = [max(len(str(cell.labels[column])) for cell in cells) for column in range(3)]
    texts: list[tuple[str, Any]] = [(name, f"U{size}") for name, size in zip(_NAMES[:3], sizes, strict=True)]
    return np.zeros(0, dtype=texts + _COLUMNS), np.zeros((0, widest), dtype=int64), np.zeros((0, widest), dtype=uint8)


def _known_runs(runs: Integers) -> str:
    if len(runs) == 0:
        return ", which has no finished run"
    return f"; it has run {runs.min()}" if runs.min() == runs.max() else f"; it has runs {runs.min()} to {runs.max()}"


def _with_blocks(study: Study, blocks: Sequence[Block]) -> Study:
    """Return the study with the runs of these blocks added and judged, sorted by cell, then run."""
    records, pulls, statuses = [study.records], [study.pulls], [study.statuses]
    widest = study.pulls.shape[1]
    for block in blocks:
        if len(block.runs) == 0:
            continue
        rows = np.zeros(len(block.runs), dtype=study.records.dtype)
        for name, label in zip(_NAMES, block.cell.labels, strict=True):
            rows[name] = label
        rows["run"], rows["samples"], rows["ns"] = block.runs, block.samples, block.ns
        rows["stopped"] = np.array(vocabulary.STOP_REASONS)[block.stopped]
        rows["undecided"] = rows["stopped"] == vocabulary.BUDGET_SPENT
        problem, means = block.cell.instance.problem, block.cell.instance.means
        rows["wrong_cpsi"] = problem.wrong(block.statuses, means, vocabulary.CPSI)
        rows["wrong_ecpsi"] = problem.wrong(block.statuses, means, vocabulary.E_CPSI)
        room = ((0, 0), (0, widest - block.pulls.shape[1]))
        records.append(rows)
        pulls.append(np.pad(block.pulls, room))
        statuses.append(np.pad(block.statuses, room, constant_values=NO_ARM))
    found = Study(study.cells, study.design, *map(np.concatenate, (records, pulls, statuses)))
    place = np.zeros(len(found.records), dtype=int64)
    for number, cell in enumerate(study.cells):
        place[found.of(cell)] = number
    order = np.lexsort((found.records["run"], place))
    return Study(study.cells, study.design, found.records[order], found.pulls[order], found.statuses[order])


def _header(study: Study) -> dict[str, Any]:
    instances = {cell.instance.name: cell.instance for cell in study.cells}
    return {
        "format": FORMAT,
        "design": study.design._asdict(),
        "instances": {
            name: {"file": dumps(ProblemFile(one.problem, one.means)), "provenance": one.provenance}
            for name, one in instances.items()
        },
        "cells": [list(cell.labels) for cell in study.cells],
        "guarantees": {cell.labels[2]: promises.guarantee(cell.evidence) for cell in study.cells},
    }


def _cells_from(header: dict[str, Any]) -> tuple[Cell, ...]:
    instances = {}
    for name, kept in header["instances"].items():
        stored = loads(kept["file"], f"the instance {name!r} of a study")
        if stored.means is None:
            raise FileError(f"the instance {name!r} of this study has no means; it was not written by Study.save")
        instances[name] = Instance(stored.problem, stored.means, name, kept["provenance"])
    guarantees = header.get("guarantees", {})
    return tuple(
        Cell(
            instances[name],
            registry.stored_algorithm(how),
            registry.stored_evidence(what, guarantees.get(what, vocabulary.HEURISTIC)),
            float(delta),
        )
        for name, how, what, delta in header["cells"]
    )
