"""`paretoguard run` on a file that says how arms are measured: the race, watched, on a ledger beside the file."""

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from paretoguard.cli.console import Screen, on_stderr, plural
from paretoguard.cli.inputs import beside
from paretoguard.cli.live import compiling, live_table, status_line, watching
from paretoguard.errors import StorageError
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.files.problem_file import ProblemFile
from paretoguard.pictures.text_placement import short
from paretoguard.race.ledger import begin
from paretoguard.race.race import Failed, Race, Resumed, Unvarying, Written
from paretoguard.race.race_plan import plan_race, without_end
from paretoguard.verdict import Result
from paretoguard.verdict.reasons import SCALE

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOOK_SECONDS = 0.25  # between two looks
LINES_SECONDS = 10.0  # between two lines, where the screen is no terminal
SPREAD = 3  # a guess of what remains is right up to this factor in most looks (docs/race.md)
FIRST_FAILURES, EVERY_FAILURES = 3, 10  # of an arm: those that are told one by one; then a line for so many
MOST_NAMES = 4  # of what is measured at once

_TO_END = "run it again with --budget N to end that, or begin another race with a [tolerance]: --name NEW"


def drive_race(
    file: ProblemFile,
    path: Path,
    options: dict[str, Any],
    *,
    jobs: int,
    batch: int | None,
    name: str | None,
    storage: str | None,
) -> tuple[Result, bool, dict[str, Any]]:
    """Race to the end, or until Ctrl-C; return the result, if it was interrupted, and what else there is to say."""
    console = on_stderr()
    plan = plan_race(file, path, jobs=jobs, **options)
    place = storage if storage is not None else None if plan.recorded is not None else beside(path)
    for note in plan.problem.notes:
        console.print(f"note: {note}")
    with closing(plan.source), _alone(path if plan.recorded is None else None):
        experiment = begin(plan, place, name=name, jobs=jobs)
        if experiment.name != (name or plan.name):
            console.print(f"the first attempts have no result, and bind nobody: this race is {experiment.name!r}")
        race, interrupted = Race(plan, experiment, jobs=jobs, batch=batch), False
        ties = without_end(plan, race.budget)
        if ties and not experiment.status().samples:
            console.print(f"note: {ties}; a [tolerance] or a --budget ends that", soft_wrap=True)
        with compiling(console):
            try:
                _watch(race, console)
            except KeyboardInterrupt:
                interrupted = True
            result = race.result()
        experiment.close()
    if interrupted and ties and any(verdict.status == "undecided" for verdict in result.verdicts.values()):
        console.print(f"note: {ties}; {_TO_END}", soft_wrap=True)
    more: dict[str, Any] = {"name": experiment.name, "ledger": place, "jobs": race.jobs, "stuck": race.stuck or None}
    if plan.recorded is not None:
        more |= {"rows": plan.recorded.size, "drawn": result.samples, "exhausted": sorted(race.exhausted)}
    return result, interrupted, more


@contextmanager
def _alone(path: Path | None) -> Iterator[None]:
    """Refuse to race a file that another process is racing: each would disturb what the other measures."""
    if path is None or fcntl is None:
        yield
        return
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another process is racing {path}: each would disturb the other; wait for it, or stop it"
            raise StorageError(message) from None
        yield


def _watch(race: Race, console: Screen) -> None:
    pause = LOOK_SECONDS if console.is_terminal else LINES_SECONDS
    due = time.monotonic() + (0 if console.is_terminal else pause)
    still, failures = dict[str, None](), FailureLines()
    with watching(console) as show:
        for event in race.events():
            if isinstance(event, Resumed):
                console.print(f"going on with {plural(event.samples, 'result')} on the ledger")
            elif isinstance(event, Failed):
                if said_now := failures.said(event):
                    console.print(said_now, soft_wrap=True)
            elif isinstance(event, Unvarying):
                still[event.name] = None
                console.print(_unvarying(event), soft_wrap=True)
            elif isinstance(event, Written):
                console.print(
                    f"note: {', '.join(event.files)} changed during a run: taken for what a command writes, so that "
                    "the race goes on whatever is in there",
                    soft_wrap=True,
                )
            now = time.monotonic()
            if now < due:
                continue
            result = race.result()
            said = f"{remaining(result, race.budget)}{_measuring([ticket.arm for ticket in race.running.values()])}"
            said += f"; {' and '.join(still)} has not varied" if still else ""
            if console.is_terminal:
                show(live_table(result, console, f"{said}; Ctrl-C saves, and shows what is known"))
            elif result.samples > 0:
                console.print(f"{status_line(result)}; {said}", soft_wrap=True)
            due = time.monotonic() + pause


class FailureLines:
    """What is said of failures: of each arm the first few, then only how many there were."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def said(self, event: Failed) -> str:
        self._counts[event.arm] += 1
        count = self._counts[event.arm]
        if count <= FIRST_FAILURES:
            return f"{event.arm!r} failed, {event.then}: {event.why}"
        return f"{event.arm!r}: {count} failures so far" if count % EVERY_FAILURES == 0 else ""


def _unvarying(event: Unvarying) -> str:
    names = [short(arm) for arm in event.arms[:MOST_NAMES]]
    more = f" and {len(event.arms) - MOST_NAMES} others" if len(event.arms) > MOST_NAMES else ""
    return (
        f"note: {event.name} has not varied in {LEAST_PULLS} results or more of {', '.join(names)}{more}: its scale is "
        f"not known, and nothing is claimed that rests on it; {event.advice}"
    )


def remaining(result: Result, budget: int | None) -> str:
    """Return a guess of how many samples it still takes: the pulls that undecided arms lack at their present means."""
    until = "" if budget is None else f"; the budget ends in {plural(budget - result.samples, 'sample')}"
    lacking: dict[str, int] = {}
    for verdict in result.verdicts.values():
        if verdict.missing is None:
            continue
        if not verdict.missing.pulls:
            return f"how much more cannot be guessed ({verdict.arm}: {verdict.reason}){until}"
        for arm, pulls in verdict.missing.pulls.items():
            lacking[arm] = max(pulls, lacking.get(arm, 0))
    if not lacking:
        return "nothing is open"
    guess = sum(lacking.values())
    if any(verdict.missing is not None and verdict.missing.claim == SCALE for verdict in result.verdicts.values()):
        if budget is not None and budget - result.samples < guess:
            return f"the budget ends in {plural(budget - result.samples, 'sample')}, before scales are known"
        return f"at least {plural(guess, 'sample')} more, until scales are known{until}"
    low, high = math.ceil(guess / SPREAD), guess * SPREAD
    left = high if budget is None else budget - result.samples
    if left <= low:
        return f"the budget ends in {plural(left, 'sample')}, before the answer as things look"
    end = "then the budget ends" if left < high else "as things look"
    return f"about {_round(low)} to {_round(min(high, left))} samples more, {end}"


def _measuring(arms: Sequence[str]) -> str:
    """Return what is measured now; of many runs at once, how many."""
    if len(arms) > MOST_NAMES:
        return f"; {len(arms)} are measured now"
    names = [short(arm) for arm in dict.fromkeys(arms)]
    return f"; measuring {', '.join(names)}" if names else ""


def _round(number: int) -> str:
    """Return the number to two digits, as it is a guess.

    >>> _round(1234)
    '1,200'
    """
    size = 10 ** max(0, len(str(number)) - 2)
    return f"{round(number / size) * size:,}"
