"""`paretoguard export` and `import`: ledgers as files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from paretoguard.cli.ledgers import Name, Place, ledgers
from paretoguard.cli.options import Json

EXPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard export phase-2 > phase-2.jsonl
  paretoguard export phase-2 -o phase-2.jsonl

One event a line, with its hash: what is imported elsewhere is the same ledger, and a changed file is refused."""
IMPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard import phase-2.jsonl
  paretoguard import phase-2.jsonl --name phase-2-copy --storage postgresql://me@server/trials"""


def export(
    name: Name,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write. \\[default: stdout]")
    ] = None,
    storage: Place = None,
) -> None:
    """Write the ledger of an experiment as JSON lines."""
    from paretoguard.cli.given import check_writable, write_whole
    from paretoguard.experiment import transfer

    check_writable(out)
    with ledgers(storage) as place:
        lines = (line + "\n" for line in transfer.lines(place, name))
        if out is None:
            sys.stdout.writelines(lines)
            sys.stdout.flush()
        else:
            write_whole(lines, out)


def import_(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="What `export` wrote. \\[default: stdin]")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another name for it. \\[default: that in the file]")
    ] = None,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Take in the ledger of an experiment from JSON lines."""
    from paretoguard.cli.screen import print_json, remarks
    from paretoguard.experiment import transfer

    with ledgers(storage) as place:
        if file is None:
            called = transfer.take_in(place, sys.stdin, name)
        else:
            with file.open(encoding="utf-8", newline="") as lines:
                called = transfer.take_in(place, lines, name)
    if json:
        print_json({"name": called})
    else:
        remarks().print(f"imported {called}; see paretoguard status {called}", soft_wrap=True)
