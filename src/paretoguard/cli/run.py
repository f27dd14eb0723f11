"""`paretoguard run`: one adaptive run on the problem of a file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.console import INTERRUPTED, LEFT_UNDECIDED, answers, fail, on_stderr, print_json
from paretoguard.cli.inputs import Given, check_pictures, find
from paretoguard.cli.options import AlgorithmName, Budget, Delta, EvidenceName, Json, Plot, Seed, option
from paretoguard.vocabulary import STILL_OPEN

if TYPE_CHECKING:
    from paretoguard.files.problem_file import ProblemFile
    from paretoguard.verdict import Result

EXAMPLES = """[bold]Examples[/bold]
  paretoguard run examples/dose-finding.toml
  paretoguard run examples/dose-finding.toml --delta 0.01 --plot doses.png
  paretoguard run examples/dose-finding.toml --budget 20000 --json
  paretoguard run examples/compression/levels.toml --jobs 2

Exit codes: 0 answered, 1 undecided when the budget ran out or a metric never varied, 2 wrong input,
130 Ctrl-C (which shows what is known)."""


def run(
    problem: Annotated[str, typer.Argument(metavar="FILE", help="A problem file, or the name of an instance.")],
    algorithm: AlgorithmName = None,
    evidence: EvidenceName = None,
    delta: Delta = None,
    budget: Budget = None,
    seed: Seed = None,
    jobs: Annotated[int, option("N", "Measurements at once.", min=1, max=1000)] = 1,
    batch: Annotated[
        int | None, option("N", "Measurements before the next decision, in random order.", min=1, max=10_000)
    ] = None,
    name: Annotated[str | None, option("NAME", "The race's name on the ledger.", "the problem's")] = None,
    storage: Annotated[str | None, option("URL", "Where the ledger is.", "FILE with .db")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Answer a problem with one adaptive run, and give a reason for every arm.

    Arms are [bold]measured[/bold] where the file says how: by commands, Python functions or a table of recorded
    results. Each result is kept on a ledger beside the file: Ctrl-C loses nothing, and running it again goes on. Else
    they are [bold]simulated[/bold] from the means in the file. Settings in the file (delta, algorithm, evidence,
    budget, seed) hold unless an option says otherwise.
    """
    check_pictures(plot)
    options = {"algorithm": algorithm, "evidence": evidence, "delta": delta, "budget": budget, "seed": seed}
    more: dict[str, Any] | None = None
    path = Path(problem)
    if (file := _measured(path)) is not None:
        from paretoguard.cli.race import drive_race

        result, interrupted, more = drive_race(file, path, options, jobs=jobs, batch=batch, name=name, storage=storage)
        first, said = "", _said(path, result, more, name, storage)
    else:
        if (jobs, batch, name, storage) != (1, None, None, None):
            raise fail("--jobs, --batch, --name and --storage are for arms that are measured; these are simulated")
        given = find(problem)
        result, interrupted = _simulated(given, options)
        first, said = f"Simulated: measurements are drawn from the means in {given.origin}.", []
    if json:
        print_json(result.to_dict() | ({"race": more} if more is not None else {}))
    else:
        _print(result, first, said)
    if plot is not None:
        result.plot(plot)
        on_stderr().print(f"picture: {plot}", soft_wrap=True)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(verdict.status == "undecided" for verdict in result.verdicts.values()):
        raise typer.Exit(LEFT_UNDECIDED)


def _measured(path: Path) -> "ProblemFile | None":
    """Return the problem file at this path if it says how arms are measured, else None."""
    from paretoguard.files import problem_file

    file = problem_file.load(path) if path.is_file() else None
    return file if file is not None and file.is_measured else None


def _simulated(given: Given, options: dict[str, Any]) -> "tuple[Result, bool]":
    """Drive one trial to its end, or until Ctrl-C; return its result, and whether it was interrupted."""
    import paretoguard as pg
    from paretoguard.cli.live import drive

    chosen = {**given.settings, **{name: value for name, value in options.items() if value is not None}}
    trial = pg.Trial(given.instance.problem, **chosen)
    sample = pg.sampler(given.instance, seed=chosen.get("seed", 0))
    console, interrupted = on_stderr(), False
    for note in given.instance.problem.notes:
        console.print(f"note: {note}")
    try:
        drive(trial, sample, console)
    except KeyboardInterrupt:
        interrupted = True
    return trial.result(simulated=True), interrupted


def _said(path: Path, result: "Result", more: dict[str, Any], name: str | None, storage: str | None) -> list[str]:
    """Return what there is to say of a race beside its result."""
    said = []
    if "rows" in more:
        share = more["drawn"] / more["rows"]
        many = ", all of them" if share == 1 else ": more draws than rows, as arms are close"
        saved = f", {1 - share:.0%} less than all" if share < 1 else many
        said.append(f"rows drawn: {more['drawn']:,} of {more['rows']:,}{saved}")
    if more["ledger"] is not None:
        said.append(f"ledger: {more['ledger']} (experiment {more['name']})")
        if result.stopped == STILL_OPEN and not more.get("exhausted") and not more["stuck"]:
            said.append("what was measured is saved: run it again to go on")
        else:
            words = [str(path)] + ([] if name is None else ["--name", name])
            words = words if storage is None else [more["name"], "--storage", storage]
            said.append(f"to hand over: paretoguard report {shlex.join(words)} -o report.html")
    return said


def _print(result: "Result", first: str, said: list[str]) -> None:
    from paretoguard.cli.layout import print_result

    console = answers()
    if first:
        console.print(first)
    print_result(console, result)
    for line in said:
        console.print(line, soft_wrap=True)
