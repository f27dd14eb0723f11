"""`paretoguard tell`: record results."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from paretoguard.cli.exits import WRONG_INPUT, fail
from paretoguard.cli.options import Json
from paretoguard.cli.storage import Name, Place, opened

if TYPE_CHECKING:
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.experiment.recording import Told

EXAMPLES = """[bold]Examples[/bold]
  paretoguard tell phase-2 7 efficacy=1 safety=0
  paretoguard tell phase-2 7 efficacy=1                       (and safety=0 in six weeks)
  paretoguard tell phase-2 --arm 75mg efficacy=1 safety=0     (measured elsewhere)
  paretoguard tell phase-2 --arm 75mg --key site2-17 efficacy=1 safety=0
  paretoguard tell phase-2 < results.csv                      (columns: ticket, or arm and key, and objectives)
  paretoguard tell phase-2 < results.jsonl                    ({"ticket": 7, "efficacy": 1, "safety": 0})

Telling the same twice changes nothing if there is a ticket or a key. Exit code 2 if a line was refused; the others are
recorded unless --atomic. With --json `numbers` are those of results without a ticket, by line: `retract` takes them."""


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
    from paretoguard.cli.console import print_json, remarks
    from paretoguard.cli.result_lines import pairs, ticket_number

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
        left_out = ", and was retracted" if told.retracted else ""
        return f"result {told.id} was known already{left_out}; nothing changed"
    return f"result {told.id} recorded" + ("" if told.complete else "; it counts when the rest has come")


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers, those in a row as one.

    >>> _ranges([3, 4, 5, 9])
    '3 to 5, 9'
    """
    rows: list[list[int]] = []
    for number in sorted(set(numbers)):
        if rows and rows[-1][-1] == number - 1:
            rows[-1] = [rows[-1][0], number]
        else:
            rows.append([number])
    return ", ".join(" to ".join(map(str, row)) for row in rows)


def _many(experiment: "Experiment", atomic: bool, json: bool) -> None:
    from paretoguard.cli.console import print_json, remarks
    from paretoguard.cli.result_lines import read
    from paretoguard.cli.stdin import stdin
    from paretoguard.errors import ParetoguardError

    lines = list(read(stdin()))
    if not lines:
        raise fail("no results on stdin")
    wrong: dict[int, ParetoguardError] = {line.number: line.error for line in lines if line.error is not None}
    good = [line for line in lines if line.error is None]
    told: list[Told] = []
    refused: dict[int, ParetoguardError] = {}
    if good and not (atomic and wrong):
        rows = ((line.ticket, line.arm, line.values, line.key) for line in good)
        told = experiment.tell_all(rows, refused, atomic=atomic)
    wrong |= {good[place].number: error for place, error in refused.items()}
    taken = [line for line in good if line.number not in wrong] if told else []
    numbers = {line.number: one.id for line, one in zip(taken, told, strict=True) if line.ticket is None}
    duplicates, partial = sum(one.duplicate for one in told), sum(not (one.duplicate or one.complete) for one in told)
    if json:
        errors = {str(at): str(error) for at, error in sorted(wrong.items())}
        counts = {"recorded": len(told) - duplicates, "partial": partial, "duplicates": duplicates}
        print_json({**counts, "numbers": {str(at): number for at, number in numbers.items()}, "refused": errors})
    else:
        in_part = f" ({partial:,} in part)" if partial else ""
        left_out = sum(one.retracted for one in told)
        known = f", {duplicates:,} known already" if duplicates else ""
        known += f" ({left_out:,} of them retracted)" if left_out else ""
        new = len(told) - duplicates
        remarks().print(f"{new:,} result{'' if new == 1 else 's'} recorded{in_part}{known}")
        if numbers:
            remarks().print(f"numbers of those without a ticket: {_ranges(numbers.values())}", soft_wrap=True)
        for at, error in sorted(wrong.items()):
            remarks().print(f"line {at}: {error}", soft_wrap=True)
        if wrong and atomic:
            remarks().print("nothing was recorded, as --atomic asks")
    if wrong:
        raise typer.Exit(WRONG_INPUT)
