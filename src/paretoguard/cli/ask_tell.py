"""`paretoguard create`, `ask`, `tell` and `retract`: a live experiment."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.console import WRONG_INPUT, answers, fail, on_stderr, plural, print_json
from paretoguard.cli.inputs import as_values, ledgers, opened, time_text
from paretoguard.cli.options import AlgorithmName, Budget, Delta, EvidenceName, Json, Name, Seed, StorageUrl, option
from paretoguard.cli.stdin import pairs, results, stdin, ticket_number
from paretoguard.vocabulary import ANSWER_FOUND, BUDGET_SPENT, BY_ARRIVAL, ORDERS, STILL_OPEN

if TYPE_CHECKING:
    from paretoguard.errors import ParetoguardError
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.experiment.recording import Told

CREATE_EXAMPLES = """[bold]Examples[/bold]
  paretoguard create examples/dose-finding.toml
  paretoguard create doses.toml --name phase-2 --delta 0.05 --ticket-seconds 86400
  paretoguard create doses.toml --order asked --storage postgresql://me@server/trials

What is set here is fixed for good. Means in the file are not used: results come by `tell`."""
ASK_EXAMPLES = """[bold]Examples[/bold]
  paretoguard ask phase-2
  paretoguard ask phase-2 -n 4
  paretoguard ask phase-2 | while read -r ticket arm; do …; done

A line a ticket: its number, the arm and, where tickets run out, until when, with tabs between. No line: nothing is left
to ask for; `status` says why."""
TELL_EXAMPLES = """[bold]Examples[/bold]
  paretoguard tell phase-2 7 efficacy=1 safety=0
  paretoguard tell phase-2 7 efficacy=1                       (and safety=0 in six weeks)
  paretoguard tell phase-2 --arm 75mg efficacy=1 safety=0     (measured elsewhere)
  paretoguard tell phase-2 --arm 75mg --key site2-17 efficacy=1 safety=0
  paretoguard tell phase-2 < results.csv                      (columns: ticket, or arm and key, and objectives)
  paretoguard tell phase-2 < results.jsonl                    ({"ticket": 7, "efficacy": 1, "safety": 0})

Telling the same twice changes nothing if there is a ticket or a key. Exit code 2 if a line was refused; the others are
recorded unless --atomic. With --json `numbers` are those of results without a ticket, by line: `retract` takes them."""
RETRACT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard retract phase-2 7 --reason "wrong patient" --blind

The ledger keeps the result and the reason. Without --blind answers lose their guarantee from then on."""


def create(
    problem: Annotated[Path, typer.Argument(metavar="FILE", help="A problem file.")],
    name: Annotated[str | None, option("NAME", "The experiment's name.", "the problem's, else the file's")] = None,
    algorithm: AlgorithmName = None,
    evidence: EvidenceName = None,
    delta: Delta = None,
    budget: Budget = None,
    seed: Seed = None,
    order: Annotated[
        str | None,
        option(
            "ORDER",
            "How results count: by arrival, or as asked where slow results may be other than quick ones.",
            BY_ARRIVAL,
            words=ORDERS,
        ),
    ] = None,
    ticket_seconds: Annotated[
        float | None, option("S", "After so many seconds a ticket is given up and its arm may be asked for again.")
    ] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Begin a live experiment on the problem of a file; then `ask` what to measure, and `tell` the results."""
    from paretoguard.cli.live import compiling
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.files import problem_file

    file = problem_file.load(problem)
    options = {"algorithm": algorithm, "evidence": evidence, "delta": delta, "budget": budget, "seed": seed}
    chosen = {**file.settings, **{key: value for key, value in options.items() if value is not None}}
    called = name if name is not None else file.problem.name or problem.stem
    with compiling(on_stderr()), ledgers(storage) as place:
        how: dict[str, Any] = {"order": order, "ticket_seconds": ticket_seconds, **chosen}
        made = Experiment.create(called, file.problem, storage=place, **how)
        settings, status = made.settings, made.status()
    for note in file.problem.notes:
        on_stderr().print(f"note: {note}")
    if json:
        print_json({"name": called, "settings": settings, "guarantee": status.guarantee, "hash": status.hash})
        return
    answers().print(f"created {called}: {len(file.problem.arms)} arms, {status.guarantee} guarantee")
    on_stderr().print(f"next: paretoguard ask {called}", soft_wrap=True)


def ask(
    name: Name,
    n: Annotated[int, option("N", "How many measurements to ask for.", "", "-n")] = 1,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Ask which arms to measure next; each ticket is for one result.

    Tickets without a result count in the choice of further arms, so that several people can ask at once.
    """
    with opened(name, storage) as experiment:
        tickets = experiment.ask(n)
        stopped = experiment.status().stopped if not tickets else STILL_OPEN
    if json:
        print_json({"tickets": [as_values(ticket) for ticket in tickets], "stopped": stopped})
        return
    for ticket in tickets:
        until = time_text(ticket.expires)
        typer.echo("\t".join([str(ticket.id), ticket.arm] + ([until] if until else [])))
    if not tickets:
        why = {ANSWER_FOUND: "the answer is found", BUDGET_SPENT: "the budget is spent"}.get(stopped)
        on_stderr().print(f"nothing to ask for: {why or 'all that the budget allows is asked for'}")


def tell(
    name: Name,
    ticket: Annotated[
        str | None, typer.Argument(metavar="[TICKET]", help="The ticket's number; without one, lines on stdin.")
    ] = None,
    values: Annotated[list[str] | None, typer.Argument(metavar="[OBJECTIVE=VALUE]…", help="The result.")] = None,
    arm: Annotated[str | None, option("ARM", "Of a result that was not asked for: its arm.")] = None,
    key: Annotated[
        str | None, option("TEXT", "Of such a result: a name of your own, so that it is not counted twice.")
    ] = None,
    atomic: Annotated[
        bool, typer.Option("--atomic", help="Of lines on stdin: record all of them, or none if one is refused.")
    ] = False,
    storage: StorageUrl = None,
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
    number = ticket_number(texts.pop(0)) if texts and "=" not in texts[0] else None
    if not texts:
        raise fail("no values were given; expected OBJECTIVE=VALUE, such as efficacy=1")
    told = experiment.tell(number, pairs(texts), arm=arm, key=key)
    if json:
        print_json(told._asdict())
    elif told.duplicate:
        left_out = ", and was retracted" if told.retracted else ""
        on_stderr().print(f"result {told.id} was known already{left_out}; nothing changed")
    else:
        partly = "" if told.complete else "; it counts when the rest has come"
        on_stderr().print(f"result {told.id} recorded{partly}")


def _many(experiment: "Experiment", atomic: bool, json: bool) -> None:
    lines = list(results(stdin()))
    if not lines:
        raise fail("no results on stdin")
    wrong: dict[int, ParetoguardError] = {line.number: line.error for line in lines if line.error is not None}
    good = [line for line in lines if line.error is None]
    told: list[Told] = []
    if good and not (atomic and wrong):
        refused: dict[int, ParetoguardError] = {}
        rows = ((line.ticket, line.arm, line.values, line.key) for line in good)
        told = experiment.tell_all(rows, refused, atomic=atomic)
        wrong |= {good[place].number: error for place, error in refused.items()}
    taken = [line for line in good if line.number not in wrong] if told else []
    numbers = {line.number: one.id for line, one in zip(taken, told, strict=True) if line.ticket is None}
    duplicates, partial = sum(one.duplicate for one in told), sum(not (one.duplicate or one.complete) for one in told)
    recorded = len(told) - duplicates
    if json:
        counts = {"recorded": recorded, "partial": partial, "duplicates": duplicates}
        errors = {str(at): str(error) for at, error in sorted(wrong.items())}
        print_json({**counts, "numbers": {str(at): number for at, number in numbers.items()}, "refused": errors})
    else:
        in_part = f" ({partial:,} in part)" if partial else ""
        known = f", {duplicates:,} known already" if duplicates else ""
        left_out = sum(one.retracted for one in told)
        known += f" ({left_out:,} of them retracted)" if left_out else ""
        on_stderr().print(f"{plural(recorded, 'result')} recorded{in_part}{known}")
        if numbers:
            on_stderr().print(f"numbers of those without a ticket: {_ranges(numbers.values())}", soft_wrap=True)
        for at, error in sorted(wrong.items()):
            on_stderr().print(f"line {at}: {error}", soft_wrap=True)
        if wrong and atomic:
            on_stderr().print("nothing was recorded, as --atomic asks")
    if wrong:
        raise typer.Exit(WRONG_INPUT)


def _ranges(numbers: Iterable[int]) -> str:
    """Return the numbers, those in a row as one range.

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


def retract(
    name: Name,
    ticket: Annotated[int, typer.Argument(metavar="TICKET", help="The number of the result.")],
    reason: Annotated[str, option("TEXT", "Why.")],
    blind: Annotated[
        bool, typer.Option("--blind", help="Declare: this was decided without regard to any measured value.")
    ] = False,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Leave a result out, as if it had never come; honest only if its value plays no role."""
    with opened(name, storage) as experiment:
        experiment.retract(ticket, reason, blind=blind)
        guarantee = experiment.status().guarantee
    if json:
        print_json({"retracted": ticket, "guarantee": guarantee})
    else:
        on_stderr().print(f"result {ticket} is left out; guarantee from now on: {guarantee}")
