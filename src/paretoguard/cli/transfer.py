"""`paretoguard export` and `import`: ledgers as files."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from paretoguard.cli.console import counted, print_json, remarks
from paretoguard.cli.inputs import check_writable, checked_hash, ledgers, write_whole
from paretoguard.cli.options import Json, Name, Output, Place
from paretoguard.cli.stdin import pieces, stdin

EXPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard export phase-2 > phase-2.jsonl
  paretoguard export phase-2 -o phase-2.jsonl

One event a line, with its hash: what is imported elsewhere is the same ledger, and a changed file is refused."""
IMPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard import phase-2.jsonl
  paretoguard import phase-2.jsonl --expect 04fcc0…    (a hash from the minutes, in full)
  paretoguard import phase-2.jsonl --name phase-2-copy --storage postgresql://me@server/trials"""


def export(name: Name, out: Output = None, storage: Place = None) -> None:
    """Write the ledger of an experiment as JSON lines."""
    from paretoguard.experiment import transfer

    check_writable(out)
    count, last = 0, ""

    def followed(lines: Iterator[str]) -> Iterator[str]:
        nonlocal count, last
        for count, last in enumerate(lines, start=1):  # noqa: B007 - the last ones are said
            yield last + "\n"

    with ledgers(storage) as place:
        lines = followed(transfer.lines(place, name))
        if out is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(line.encode() for line in lines)  # whatever the terminal can show
            sys.stdout.buffer.flush()
        else:
            write_whole(lines, out)
    remarks().print(f"exported {name}: {counted(count, 'event')}, hash {transfer.seal_of(last)}", soft_wrap=True)


def import_(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="What `export` wrote. \\[default: stdin]")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another name for it. \\[default: that in the file]")
    ] = None,
    expect: Annotated[
        str | None, typer.Option(metavar="HASH", help="Refuse a file whose last event has another hash.")
    ] = None,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Take in the ledger of an experiment from JSON lines."""
    from paretoguard.experiment import transfer

    expected = checked_hash(expect)
    with ledgers(storage) as place:
        if file is None:
            called = transfer.take_in(place, _decoded(stdin()), name, expected=expected)
        else:
            with file.open("rb") as stream:
                called = transfer.take_in(place, _decoded(stream), name, expected=expected)
        count, last = place.head(called)
    if json:
        print_json({"name": called, "events": count, "hash": last})
    else:
        ending = f"{counted(count, 'event')}, hash {last}; see paretoguard status {called}"
        remarks().print(f"imported {called}: {ending}", soft_wrap=True)


def _decoded(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a ledger's file, as text."""
    from paretoguard.errors import LedgerError
    from paretoguard.experiment.transfer import LONGEST_LINE

    for number, raw in enumerate(pieces(stream, 4 * LONGEST_LINE), start=1):  # bytes of a character, at most
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            raise LedgerError(f"line {number} is no event of a ledger: byte {error.start + 1} is not UTF-8") from None
