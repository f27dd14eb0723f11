"""`paretoguard export` and `import`: ledgers as files."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

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
            sys.stdout.flush()
            sys.stdout.buffer.writelines(line.encode() for line in lines)  # whatever the terminal can show
            sys.stdout.buffer.flush()
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
    from paretoguard.cli.lines import stdin
    from paretoguard.cli.screen import print_json, remarks
    from paretoguard.experiment import transfer

    with ledgers(storage) as place:
        if file is None:
            called = transfer.take_in(place, _decoded(stdin()), name)
        else:
            with file.open("rb") as stream:
                called = transfer.take_in(place, _decoded(stream), name)
    if json:
        print_json({"name": called})
    else:
        remarks().print(f"imported {called}; see paretoguard status {called}", soft_wrap=True)


def _decoded(stream: BinaryIO) -> Iterator[str]:
    """The lines of a ledger's file, as text."""
    from paretoguard.cli.lines import pieces
    from paretoguard.errors import LedgerError
    from paretoguard.experiment.transfer import LONGEST_LINE

    for number, raw in enumerate(pieces(stream, 4 * LONGEST_LINE), start=1):  # bytes of a character, at most
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            raise LedgerError(f"line {number} is no event of a ledger: byte {error.start + 1} is not UTF-8") from None
