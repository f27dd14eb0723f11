"""From a problem file to a race: all that can be checked is checked before anything is measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite, nan
from pathlib import Path
from typing import Any

from paretoguard.errors import FileError, ProblemError
from paretoguard.experiment.ledger_state import NOT_REPLACED
from paretoguard.files.metrics import FAILED, MEASURES, Formula, metrics_of, read_formulas
from paretoguard.files.problem_file import SOURCES, ProblemFile, dumps
from paretoguard.problem import Problem
from paretoguard.problem.noise import Exact
from paretoguard.race.commands import Commands
from paretoguard.race.functions import Functions
from paretoguard.race.measuring import OF_KIND, Findings, How, RaceError, RunFailedError, Source, read_how
from paretoguard.race.recorded import Recorded
from paretoguard.race.unvarying import check_peaks

OF_FUNCTIONS = ("wall_ms", "wall_s", FAILED)  # what is measured of them


@dataclass(frozen=True)
class Plan:
    """A race that can begin."""

    path: Path  # of the problem file
    problem: Problem
    settings: Mapping[str, Any]  # those of the file, or from the command line
    how: How
    kind: str  # "command", "callable" or "data"
    source: Source
    formulas: Mapping[str, Formula]
    protocol: str  # the file, as it was read
    taken_exact: tuple[str, ...] = ()  # objectives that should be the same each time, though the file does not say so

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.problem.name or self.path.stem

    @property
    def recorded(self) -> Recorded | None:
        """The table, if results are recorded."""
        return self.source if isinstance(self.source, Recorded) else None

    def values(self, measured: Mapping[str, Any]) -> dict[str, float]:
        """Return the objectives of one result."""
        known: dict[str, Any] = dict(measured)
        for name, formula in self.formulas.items():
            if name not in known and formula.names <= known.keys():
                parts = {part: _number(part, known[part], measured) for part in formula.names}
                try:
                    known[name] = formula.value(parts)
                except ProblemError as error:
                    raise RunFailedError(str(error), measured) from None
        for name in self.problem.objectives:
            if name not in known:
                missing = next((part for part in metrics_of([name], self.formulas) if part not in known), name)
                raise RunFailedError(self._lacks(missing, measured), measured, lasting=True)
        return {name: _number(name, known[name], measured) for name in self.problem.objectives}

    def _lacks(self, name: str, measured: Mapping[str, Any]) -> str:
        """Say that a run gave no such number, and what it gave."""
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

    def failed_values(self, arm: str, failure: RunFailedError) -> dict[str, float]:
        """Return what a failed run counts as."""
        built_in = {name: value for name, value in failure.measured.items() if name in MEASURES}
        try:
            return self.values({**failure.measured, **self.how.counts_as, **built_in, FAILED: 1.0})
        except RunFailedError as error:
            raise RaceError(f"a failed run of {arm!r} has no value ({failure}): {error}; see counts_as") from None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed besides what every answer says."""
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
        """Why no guarantee can be given; None if one can."""
        return NOT_REPLACED if self.kind == "data" and not self.how.replacement else None


def plan_race(file: ProblemFile, path: Path, *, jobs: int = 1, **options: Any) -> Plan:
    """Return the race of a file, which was read from `path`; `options` that are not None replace its settings."""
    settings = {**file.settings, **{key: value for key, value in options.items() if value is not None}}
    try:
        return _plan(file, path, jobs, settings)
    except ProblemError as error:
        raise FileError(f"{path}: {error}") from error


def _plan(file: ProblemFile, path: Path, jobs: int, settings: Mapping[str, Any]) -> Plan:
    problem, how, formulas = file.problem, read_how(file.measure), read_formulas(file.derived)
    sources = {arm: file.sources.get(arm, {}) for arm in problem.arms}
    kind = _kind(sources, how)
    for key in file.measure:
        if key not in OF_KIND[kind]:
            raise ProblemError(f"measure.{key} has no meaning where arms are measured by a {kind}; leave it out")
    _check_times(problem, how, formulas)
    _check_failures(problem, how, formulas, kind)
    seed = int(settings.get("seed", 0))
    source: Source
    if kind == "command":
        source = Commands(sources, how, path.parent, seed, jobs)
        try:
            check_peaks(problem, formulas, source.least_peak)
        except ProblemError:
            source.close()
            raise
    elif kind == "callable":
        source = Functions(sources, how, path.parent)
    else:
        source = Recorded(problem, how, formulas, path.parent, seed)
        given = problem.to_arguments()
        found = {name: source.noise(name) for name in file.assumed}
        problem = Problem(**{**given, "noise": {**given["noise"], **found}})
    protocol = "\n".join([dumps(file), *(f"# {line}" for line in source.described())])
    exact = tuple(name for name in file.assumed if kind != "data" and isinstance(problem.noise[name], Exact))
    return Plan(path, problem, settings, how, kind, source, formulas, protocol, exact)


def _kind(sources: Mapping[str, Mapping[str, Any]], how: How) -> str:
    """Return "command", "callable" or "data": one for all arms."""
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


def _check_times(problem: Problem, how: How, formulas: Mapping[str, Formula]) -> None:
    """A run that takes too long must not be left out of a mean of times."""
    has_times = not {"wall_ms", "wall_s", "user_ms"}.isdisjoint(metrics_of(problem.objectives, formulas))
    if how.on_failure == "retry" and how.timeout is not None and has_times:
        raise ProblemError(
            'measure.on_failure = "retry" with a timeout would leave the slowest runs out of what is measured; use '
            '"infeasible", which counts them, or no timeout'
        )


def _check_failures(problem: Problem, how: How, formulas: Mapping[str, Formula], kind: str) -> None:
    """If failures count, they need a limit, and a failed run needs a value for every objective."""
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


def _number(name: str, value: Any, measured: Mapping[str, Any]) -> float:
    """Return a number that was printed, perhaps as a text; anything else is a failure of the run."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = nan
    if not isfinite(number):
        lasting = isinstance(value, list | dict) or value is None
        raise RunFailedError(f"{name} is {str(value)[:80]!r}, expected a number", measured, lasting=lasting)
    return number


def without_end(plan: Plan, budget: int | None) -> str:
    """Return a warning if exact ties would be measured without end, else an empty text.

    Without a tolerance no number of results shows of equal arms that neither is better.
    """
    problem = plan.problem
    rows_end = plan.recorded is not None and not plan.how.replacement
    if budget is not None or rows_end or len(problem.arms) == 1:
        return ""
    names = [name for name in problem.compared if not isinstance(problem.noise[name], Exact)]
    open_ = [name for name in names if problem.tolerance.get(name, 0.0) == 0.0]
    return f"arms that are equal in {' or '.join(open_)} would be measured without end" if open_ else ""
