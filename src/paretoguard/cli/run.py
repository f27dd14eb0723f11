"""`paretoguard run`: one adaptive run on the problem of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.failures import INTERRUPTED, UNDECIDED
from paretoguard.cli.given import Given, check_picture, find
from paretoguard.cli.options import Algorithm, Budget, Delta, Evidence, Json, Plot, Seed

if TYPE_CHECKING:
    from paretoguard.verdict import Result

EXAMPLES = """[bold]Examples[/bold]
  paretoguard run examples/dose-finding.toml
  paretoguard run examples/dose-finding.toml --delta 0.01 --plot doses.png
  paretoguard run examples/dose-finding.toml --budget 20000 --json

Exit codes: 0 answered, 1 undecided when the budget ran out, 2 wrong input, 130 Ctrl-C (which shows what is known)."""


def run(
    problem: Annotated[str, typer.Argument(metavar="FILE", help="A problem file, or the name of an instance.")],
    algorithm: Algorithm = None,
    evidence: Evidence = None,
    delta: Delta = None,
    budget: Budget = None,
    seed: Seed = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Answer a problem with one adaptive run, and give a reason for every arm.

    The arms are [bold]simulated[/bold] from the means in the file. Settings in the file (delta, algorithm, evidence,
    budget, seed) hold unless an option says otherwise.
    """
    check_picture(plot)
    given = find(problem, to_run=True)
    options = {"algorithm": algorithm, "evidence": evidence, "delta": delta, "budget": budget, "seed": seed}
    result, interrupted = _run(given, options)
    _show(result, given, plot, json)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(verdict.status == "undecided" for verdict in result.verdicts.values()):
        raise typer.Exit(UNDECIDED)


def _run(given: Given, options: dict[str, Any]) -> "tuple[Result, bool]":
    """Drive one trial to its end, or until Ctrl-C."""
    import paretoguard as pg
    from paretoguard.cli.live import drive
    from paretoguard.cli.screen import remarks

    chosen = {**given.settings, **{name: value for name, value in options.items() if value is not None}}
    trial = pg.Trial(given.instance.problem, **chosen)
    sample = pg.sampler(given.instance, seed=chosen.get("seed", 0))
    console = remarks()
    for note in given.instance.problem.notes:
        console.print(f"note: {note}")
    try:
        drive(trial, sample, console)
    except KeyboardInterrupt:
        return trial.result(simulated=True), True
    return trial.result(simulated=True), False


def _show(result: "Result", given: Given, plot: Path | None, json: bool) -> None:
    from paretoguard.cli.screen import answers, print_json, remarks
    from paretoguard.cli.verdicts import print_result

    if json:
        print_json(result.to_dict())
    else:
        console = answers()
        console.print(f"Simulated: measurements are drawn from the means in {given.origin}.")
        print_result(console, result)
    if plot is not None:
        result.plot(plot)
        remarks().print(f"picture: {plot}", soft_wrap=True)
