"""From a problem file to a race: everything that can be checked is, before anything is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from paretoguard.errors import FileError, ProblemError
from paretoguard.experiment.ledger_state import NOT_REPLACED
from paretoguard.files import problem_file
from paretoguard.files.formulas import Formula
from paretoguard.files.metrics import FAILED, MEASURES, read_formulas
from paretoguard.files.problem_file import SOURCES, ProblemFile
from paretoguard.problem import Problem
from paretoguard.problem.noise import Exact
from paretoguard.race.commands import Commands
from paretoguard.race.functions import Functions
from paretoguard.race.measure_table import How, check_keys, read_how
from paretoguard.race.output import as_number
from paretoguard.race.recorded import Recorded
from paretoguard.race.sources import Findings, RunFailedError, Source
from paretoguard.race.unvarying import check_peaks

OF_FUNCTIONS = ("wall_ms", "wall_s", FAILED)  # what is measured of them


@dataclass(frozen=True)
class Plan:
    """A race that can begin."""

    path: Path
    problem: Problem
    settings: Mapping[str, Any]
    how: How
    kind: str  # "command", "callable" or "data"
    source: Source
    formulas: Mapping[str, Formula]
    protocol: str  # the file, as it was read
    taken_exact: tuple[str, ...] = ()  # objectives that should be the same each time, though the file does not say so

    @property
    def name(self) -> str:
        """Of the experiment."""
        return self.problem.name or self.path.stem

    @property
    def recorded(self) -> Recorded | None:
        """The table, where results are recorded."""
        return self.source if isinstance(self.source, Recorded) else None

    @property
    def least_peak(self) -> float | None:
        """The least peak memory of a command that is told apart from less, in MB, where that is known."""
        return self.source.least_peak if isinstance(self.source, Commands) else None

    @property
    def written(self) -> frozenset[str]:
        """The files named by commands, as they are quoted, that runs have changed."""
        return frozenset(self.source.written) if isinstance(self.source, Commands) else frozenset()

    def values(self, measured: Mapping[str, Any]) -> dict[str, float]:
        """The objectives of one result."""
        known: dict[str, Any] = dict(measured)
        for name, formula in self.formulas.items():
            if name not in known and formula.names <= known.keys():
                parts = {part: as_number(part, known[part], measured) for part in formula.names}
                try:
                    known[name] = formula.value(parts)
                except ProblemError as error:
                    raise RunFailedError(str(error), measured) from None
        for name in self.problem.objectives:
            if name not in known:
                missing = next((part for part in self._parts(name) if part not in known), name)
                raise RunFailedError(self._lacks(missing, measured), measured, lasting=True)
        return {name: as_number(name, known[name], measured) for name in self.problem.objectives}

    def _lacks(self, name: str, measured: Mapping[str, Any]) -> str:
        """That a run gave no such number, and what it gave."""
        found = ", ".join(str(key) for key in measured if key not in MEASURES)
        near = "".join(f" (did you mean {one!r}?)" for one in get_close_matches(name, map(str, measured), n=1))
        if self.kind == "callable":
            return f"there is no {name!r}{near} in the mapping that it returned, which has: {found or 'nothing'}"
        said = measured.said if isinstance(measured, Findings) else ""
        end = f"its output, which ends: {said!r}" if said else "its output, which is empty (stderr is not read)"
        if name in self.how.metrics:
            return f"the pattern {self.how.metrics[name]!r} of measure.metrics.{name} matched nothing in {end}"
        is_spread = isinstance(measured, Findings) and measured.has_brace and not found
        line = "a line (JSON must be on one line)" if is_spread else "a line"
        return (
            f"there is no {name!r}{near} in what it gave, which was: {found or 'nothing that has a name'}; expected "
            f'{line} such as {{"{name}": 0.5}}, or a regular expression for it in measure.metrics, in {end}'
        )

    def _parts(self, name: str) -> list[str]:
        if name not in self.formulas:
            return [name]
        return [part for used in sorted(self.formulas[name].names) for part in self._parts(used)]

    def failed_values(self, failure: RunFailedError) -> dict[str, float]:
        """What a failed run counts as, where failures count."""
        built_in = {name: value for name, value in failure.measured.items() if name in MEASURES}
        return self.values({**failure.measured, **self.how.counts_as, **built_in, FAILED: 1.0})

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted besides what every answer says."""
        if self.kind == "data":
            ranges = "the noise of an objective that states none has the range of its column in the table"
            return ("results are rows of the table, and claims are about its means", ranges)
        if self.how.on_failure == "infeasible":
            return ()
        if self.how.on_failure == "fail":
            return (
                "a run that fails stops the race; if it went on after one, that failure had nothing to do with what is "
                "measured",
            )
        return ("runs that fail are made again, and fail for reasons that have nothing to do with what is measured",)

    @property
    def doubt(self) -> str | None:
        """Why no guarantee can be given, if so."""
        drawn = self.kind == "data" and not self.how.replacement
        return NOT_REPLACED if drawn else None


def read_plan(path: Path, *, jobs: int = 1, seed: int | None = None) -> Plan:
    """The race of a file."""
    file = problem_file.load(path)
    try:
        return _plan(file, path, jobs, seed)
    except ProblemError as error:
        raise FileError(f"{path}: {error}") from error


def _plan(file: ProblemFile, path: Path, jobs: int, seed: int | None) -> Plan:
    how, formulas = read_how(file.measure), read_formulas(file.derived)
    sources = {arm: file.sources.get(arm, {}) for arm in file.problem.arms}
    kind = _kind(sources, how)
    check_keys(file.measure, kind)
    _check_times(file.problem, how, formulas)
    chosen = seed if seed is not None else int(file.settings.get("seed", 0))
    problem = file.problem
    _check_failures(problem, how, formulas, kind)
    source: Source
    if kind == "command":
        source = Commands(sources, how, path.parent, chosen, jobs)
        try:
            check_peaks(problem, formulas, source.least_peak)
        except ProblemError:
            source.close()
            raise
    elif kind == "callable":
        source = Functions(sources, how, path.parent)
    else:
        source = _recorded(problem, how, formulas, path, chosen)
        problem = _with_noise(file, source)
    protocol = "\n".join([problem_file.dumps(file), *(f"# {line}" for line in source.described())])
    exact = tuple(name for name in file.assumed if kind != "data" and isinstance(problem.noise[name], Exact))
    return Plan(path, problem, file.settings, how, kind, source, formulas, protocol, exact)


def _kind(sources: Mapping[str, Mapping[str, Any]], how: How) -> str:
    shared = [key for key in SOURCES if getattr(how, key) is not None]
    own = {arm: [key for key in SOURCES if key in source] or shared for arm, source in sources.items()}
    for arm, kinds in own.items():
        if len(kinds) != 1:
            got = f"has {' and '.join(kinds)}" if kinds else "says nothing"
            raise ProblemError(f"arms.{arm} {got}; expected one of {', '.join(SOURCES)}, here or for all in [measure]")
    found = {kind for (kind,) in own.values()}
    if len(found) > 1:
        raise ProblemError(f"some arms are measured by {' and others by '.join(sorted(found))}; expected one for all")
    return found.pop()


def _recorded(problem: Problem, how: How, formulas: Mapping[str, Formula], path: Path, seed: int) -> Recorded:
    if how.data is None:
        raise ProblemError("recorded data is one table for all arms: give it as measure.data, with a column of arms")
    return Recorded(
        path.parent / how.data,
        how.arm,
        problem.arms,
        list(problem.objectives),
        formulas,
        seed=seed,
        replacement=how.replacement,
    )


def _with_noise(file: ProblemFile, source: Recorded) -> Problem:
    """The problem with the noise that the table has, where the file states none."""
    given = file.problem.to_arguments()
    return Problem(**{**given, "noise": {**given["noise"], **{name: source.noise(name) for name in file.assumed}}})


def _check_times(problem: Problem, how: How, formulas: Mapping[str, Formula]) -> None:
    """A run that takes too long must not be left out of a mean of times."""
    used = set(problem.objectives)
    for name in reversed(list(formulas)):
        used |= formulas[name].names if name in used else set()
    if how.on_failure == "retry" and how.timeout is not None and used & {"wall_ms", "wall_s", "user_ms"}:
        raise ProblemError(
            'measure.on_failure = "retry" with a timeout would leave the slowest runs out of what is measured; use '
            '"infeasible", which counts them, or no timeout'
        )


def _check_failures(problem: Problem, how: How, formulas: Mapping[str, Formula], kind: str) -> None:
    """Where failures count, they need a limit, and a failed run a value for every objective."""
    if how.on_failure != "infeasible" or kind == "data":
        return
    bounded = {
        name for row in problem.constraints for name, a in zip(problem.objectives, row.coefficients, strict=True) if a
    }
    if FAILED not in bounded:
        raise ProblemError(
            'measure.on_failure is "infeasible", which needs a limit on failures: write failed = "guard" under '
            '[objectives], and a constraint such as "failed <= 0.05"'
        )
    known = {*(MEASURES if kind == "command" else OF_FUNCTIONS), *how.counts_as}
    for name, formula in formulas.items():
        known |= {name} if formula.names <= known else set()
    for name in problem.objectives:
        if name not in known:
            raise ProblemError(
                f"{name!r} is not known of a run that failed; say what it counts as: measure.counts_as = "
                f"{{ {name} = 0.0 }}"
            )


def as_stated(plan: Plan, **given: Any) -> Plan:
    """The same plan with settings from the command line."""
    return replace(
        plan, settings={**plan.settings, **{key: value for key, value in given.items() if value is not None}}
    )
