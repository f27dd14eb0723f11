"""`paretoguard retract`: leave a result out."""

from typing import Annotated

import typer

from paretoguard.cli.options import Json
from paretoguard.cli.storage import Name, Place, opened

EXAMPLES = """[bold]Examples[/bold]
  paretoguard retract phase-2 7 --reason "wrong patient" --blind

The ledger keeps the result and the reason. Without --blind answers lose their guarantee from then on."""


def retract(
    name: Name,
    ticket: Annotated[int, typer.Argument(metavar="TICKET", help="The number of the result.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.")],
    blind: Annotated[
        bool, typer.Option("--blind", help="Declare: this was decided without regard to any measured value.")
    ] = False,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Leave a result out, as if it had never come; honest only if its value plays no role."""
    from paretoguard.cli.console import print_json, remarks

    with opened(name, storage) as experiment:
        experiment.retract(ticket, reason, blind=blind)
        guarantee = experiment.status().guarantee
    if json:
        print_json({"retracted": ticket, "guarantee": guarantee})
    else:
        remarks().print(f"result {ticket} is left out; guarantee from now on: {guarantee}")
