"""`paretoguard report`, `export` and `import`: a live experiment to hand over, as a page or with its whole ledger."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from paretoguard.cli.console import as_json, fail, on_stderr, plural, print_json, print_text
from paretoguard.cli.inputs import check_writable, checked_hash, ledgers, located, write_whole
from paretoguard.cli.options import Json, Name, NameOrFile, Output, StorageUrl, option
from paretoguard.cli.stdin import pieces, stdin
from paretoguard.errors import FileError, LedgerError, SettingsError

FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}
REPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard report phase-2 -o phase-2.html
  paretoguard report doses.toml -o doses.md     (a race: its ledger lies beside the file)
  paretoguard report doses.toml --name again -o again.html
  paretoguard report phase-2 --json

The page needs nothing else: pictures are in it, scripts are not. The same ledger gives the same page."""
EXPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard export phase-2 > phase-2.jsonl
  paretoguard export phase-2 -o phase-2.jsonl

One event a line, with its hash: what is imported elsewhere is the same ledger, and a changed file is refused."""
IMPORT_EXAMPLES = """[bold]Examples[/bold]
  paretoguard import phase-2.jsonl
  paretoguard import phase-2.jsonl --expect 04fcc0…    (a hash from the minutes, in full)
  paretoguard import phase-2.jsonl --name phase-2-copy --storage postgresql://me@server/trials"""


def report(
    what: NameOrFile,
    out: Output = None,
    style: Annotated[str | None, option("FORMAT", "html, md or json.", "as FILE ends, else md", "--format")] = None,
    name: Annotated[str | None, option("NAME", "Of FILE: which of its races.", "the problem's name")] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Write a report: the question, the answer and why, what it is worth, how it came about, and the whole protocol."""
    from paretoguard.page.content import read_facts
    from paretoguard.page.markdown import markdown
    from paretoguard.page.page import page

    if json and (out is not None or style not in (None, "json")):
        raise fail("--json prints JSON on stdout; leave away -o and --format, or use --format json with -o")
    chosen = "json" if json else _format(style, out)
    check_writable(out)
    if name is not None and Path(what).suffix.lower() != ".toml":
        raise fail(f"--name chooses among the races of a problem file; {what!r} is a name itself")
    with located(what, storage, name) as (experiment, place):
        facts = read_facts(experiment, place)
    text = as_json(facts.to_dict()) if chosen == "json" else page(facts) if chosen == "html" else markdown(facts)
    if out is None:
        print_text(text)
    else:
        write_whole([text], out)
        on_stderr().print(f"report: {out}", soft_wrap=True)
    if facts.broken:
        raise fail(f"the ledger was changed after it was written: {facts.broken}; the report says so")


def _format(style: str | None, out: Path | None) -> str:
    known = list(dict.fromkeys(FORMATS.values()))
    if style is not None and style not in known:
        raise SettingsError(f"--format is {style!r}; expected one of {', '.join(known)}")
    if style is not None or out is None:
        return style or "md"
    if out.suffix.lower() not in FORMATS:
        raise FileError(f"'{out}' does not end in .html, .md or .json; rename it, or say --format")
    return FORMATS[out.suffix.lower()]


def export(name: Name, out: Output = None, storage: StorageUrl = None) -> None:
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
    on_stderr().print(f"exported {name}: {plural(count, 'event')}, hash {transfer.seal_of(last)}", soft_wrap=True)


def import_(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="What `export` wrote. \\[default: stdin]")
    ] = None,
    name: Annotated[str | None, option("NAME", "Another name for it.", "that in the file")] = None,
    expect: Annotated[str | None, option("HASH", "Refuse a file whose last event has another hash.")] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Take in the ledger of an experiment from JSON lines."""
    from paretoguard.experiment import transfer

    expected = checked_hash(expect)
    with ledgers(storage) as place, nullcontext(stdin()) if file is None else file.open("rb") as stream:
        called = transfer.take_in(place, _decoded(stream), name, expected=expected)
        count, last = place.head(called)
    if json:
        print_json({"name": called, "events": count, "hash": last})
    else:
        ending = f"{plural(count, 'event')}, hash {last}; see paretoguard status {called}"
        on_stderr().print(f"imported {called}: {ending}", soft_wrap=True)


def _decoded(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a ledger's file, as text."""
    from paretoguard.experiment.transfer import LONGEST_LINE

    for number, raw in enumerate(pieces(stream, 4 * LONGEST_LINE), start=1):  # bytes of a character, at most
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            raise LedgerError(f"line {number} is no event of a ledger: byte {error.start + 1} is not UTF-8") from None
