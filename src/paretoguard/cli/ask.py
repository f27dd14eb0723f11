"""`paretoguard ask`: what to measure next."""

from typing import Annotated

import typer

from paretoguard.cli.options import Json
from paretoguard.cli.storage import Name, Place, moment, opened, shown

EXAMPLES = """[bold]Examples[/bold]
  paretoguard ask phase-2
  paretoguard ask phase-2 -n 4
  paretoguard ask phase-2 | while read -r ticket arm; do …; done

A line a ticket: its number, the arm and, where tickets run out, until when, with tabs between. No line: nothing is left
to ask for; `status` says why."""


def ask(
    name: Name,
    n: Annotated[int, typer.Option("-n", metavar="N", help="How many measurements to ask for.")] = 1,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Ask which arms to measure next; each ticket is for one result.

    Tickets without a result count in the choice of further arms, so that several people can ask at once.
    """
    from paretoguard.cli.console import print_json, remarks

    with opened(name, storage) as experiment:
        tickets = experiment.ask(n)
        stopped = experiment.status().stopped if not tickets else "open"
    if json:
        print_json({"tickets": [shown(ticket) for ticket in tickets], "stopped": stopped})
        return
    for ticket in tickets:
        until = moment(ticket.expires)
        typer.echo("\t".join([str(ticket.id), ticket.arm] + ([until] if until else [])))
    if not tickets:
        why = {"answered": "the answer is found", "budget": "the budget is spent"}.get(stopped)
        remarks().print(f"nothing to ask for: {why or 'all that the budget allows is asked for'}")
