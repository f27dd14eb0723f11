"""`paretoguard tell`: record results."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paretoguard.cli.failures import WRONG_INPUT, fail
from paretoguard.cli.ledgers import Name, Place, opened
from paretoguard.cli.options import Json

if TYPE_CHECKING:
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.experiment.telling import Told

EXAMPLES = """[bold]Examples[/bold]
  paretoguard tell phase-2 7 efficacy=1 safety=0
  paretoguard tell phase-2 7 efficacy=1                       (and safety=0 in six weeks)
  paretoguard tell phase-2 --arm 75mg efficacy=1 safety=0     (measured elsewhere)
  paretoguard tell phase-2 --arm 75mg --key site2-17 efficacy=1 safety=0
  paretoguard tell phase-2 < results.csv                      (columns: ticket, or arm and key, and objectives)
  paretoguard tell phase-2 < results.jsonl                    ({"ticket": 7, "efficacy": 1, "safety": 0})

Telling the same twice changes nothing if there is a ticket or a key. Exit code 2 if a line was refused; the others are
recorded unless --atomic."""


def tell(
    name: Name,
    ticket: Annotated[
        str | None, typer.Argument(metavar="[TICKET]", help="The ticket's number; without one, lines on stdin.")
    ] = None,
    values: Annotated[list[str] | None, typer.Argument(metavar="[OBJECTIVE=VALUE]…", help="The result.")] = None,
    arm: Annotated[str | None, typer.Option(metavar="ARM", help="Of a result that was not asked for: its arm.")] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Of such a result: a name of your own, so that it is not counted twice."),
    ] = None,
    atomic: Annotated[
        bool, typer.Option("--atomic", help="Of lines on stdin: record all of them, or none if one is refused.")
    ] = False,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Record the result of a ticket, in one go or in parts; or many results, from stdin."""
    texts = ([ticket] if ticket is not None else []) + (values or [])
    with opened(name, storage) as experiment:
        if texts or arm is not None or key is not None:
            _one(experiment, texts, arm, key, json)
        elif sys.stdin is not None and sys.stdin.isatty():
            raise fail("give a ticket and its values, or results on stdin: paretoguard tell NAME < results.csv")
        else:
            _many(experiment, atomic, json)


def _one(experiment: "Experiment", texts: list[str], arm: str | None, key: str | None, json: bool) -> None:
    from paretoguard.cli.results import pairs, ticket_number
    from paretoguard.cli.screen import print_json, remarks

    number = ticket_number(texts.pop(0)) if texts and "=" not in texts[0] else None
    if not texts:
        raise fail("no values were given; expected OBJECTIVE=VALUE, such as efficacy=1")
    told = experiment.tell(number, pairs(texts), arm=arm, key=key)
    if json:
        print_json(told._asdict())
    else:
        remarks().print(_said(told))


def _said(told: "Told") -> str:
    if told.duplicate:
        return f"result {told.id} was known already; nothing changed"
    return f"result {told.id} recorded" + ("" if told.complete else "; it counts when the rest has come")


def _many(experiment: "Experiment", atomic: bool, json: bool) -> None:
    from paretoguard.cli.lines import stdin
    from paretoguard.cli.results import read
    from paretoguard.cli.screen import print_json, remarks
    from paretoguard.errors import ParetoguardError

    lines = list(read(stdin()))
    wrong: dict[int, ParetoguardError] = {line.number: line.error for line in lines if line.error is not None}
    good = [line for line in lines if line.error is None]
    told: list[Told] = []
    refused: dict[int, ParetoguardError] = {}
    if good and not (atomic and wrong):
        rows = ((line.ticket, line.arm, line.values, line.key) for line in good)
        told = experiment.tell_all(rows, refused, atomic=atomic)
    wrong |= {good[place].number: error for place, error in refused.items()}
    duplicates = sum(one.duplicate for one in told)
    if json:
        errors = {str(at): str(error) for at, error in sorted(wrong.items())}
        print_json({"recorded": len(told) - duplicates, "duplicates": duplicates, "refused": errors})
    else:
        known = f", {duplicates:,} known already" if duplicates else ""
        new = len(told) - duplicates
        remarks().print(f"{new:,} result{'' if new == 1 else 's'} recorded{known}")
        for at, error in sorted(wrong.items()):
            remarks().print(f"line {at}: {error}", soft_wrap=True)
        if wrong and atomic:
            remarks().print("nothing was recorded, as --atomic asks")
    if wrong:
        raise typer.Exit(WRONG_INPUT)
