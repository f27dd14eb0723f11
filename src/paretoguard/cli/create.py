"""`paretoguard create`: begin a live experiment."""

from pathlib import Path
from typing import Annotated

import typer

from paretoguard.cli.options import ORDERS, Algorithm, Budget, Delta, Evidence, Json, Seed, completing
from paretoguard.cli.storage import Place, ledgers

EXAMPLES = """[bold]Examples[/bold]
  paretoguard create examples/dose-finding.toml
  paretoguard create doses.toml --name phase-2 --delta 0.05 --ticket-seconds 86400
  paretoguard create doses.toml --order asked --storage postgresql://me@server/trials

What is set here is fixed for good. Means in the file are not used: results come by `tell`."""


def create(
    problem: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file.")],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The experiment's name. \\[default: the problem's, else the file's]"),
    ] = None,
    algorithm: Algorithm = None,
    evidence: Evidence = None,
    delta: Delta = None,
    budget: Budget = None,
    seed: Seed = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER",
            help="How results count: by arrival, or as asked where slow results may be other than quick ones. "
            "\\[default: arrival]",
            autocompletion=completing(ORDERS),
        ),
    ] = None,
    ticket_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S", help="After so many seconds a ticket is given up and its arm may be asked for again."
        ),
    ] = None,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Begin a live experiment on the problem of a file; then `ask` what to measure, and `tell` the results."""
    from paretoguard.cli.console import answers, print_json, remarks
    from paretoguard.cli.live import compiling
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.files import problem_file

    file = problem_file.load(problem)
    options = {"algorithm": algorithm, "evidence": evidence, "delta": delta, "budget": budget, "seed": seed}
    chosen = {**file.settings, **{key: value for key, value in options.items() if value is not None}}
    called = name if name is not None else file.problem.name or problem.stem
    with compiling(remarks()), ledgers(storage) as place:
        how = {"order": order, "ticket_seconds": ticket_seconds, **chosen}
        made = Experiment.create(called, file.problem, storage=place, **how)
        settings, status = made.settings, made.status()
    for note in file.problem.notes:
        remarks().print(f"note: {note}")
    if json:
        print_json({"name": called, "settings": settings, "guarantee": status.guarantee, "hash": status.hash})
        return
    answers().print(f"created {called}: {len(file.problem.arms)} arms, {status.guarantee} guarantee")
    remarks().print(f"next: paretoguard ask {called}", soft_wrap=True)
