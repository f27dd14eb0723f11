"""`paretoguard report`: a live experiment to hand over."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paretoguard.cli.exits import fail
from paretoguard.cli.options import Json
from paretoguard.cli.storage import NameOrFile, Place, ledgers, named
from paretoguard.errors import FileError, SettingsError

if TYPE_CHECKING:
    from paretoguard.page.content import Facts

FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}
EXAMPLES = """[bold]Examples[/bold]
  paretoguard report phase-2 -o phase-2.html
  paretoguard report doses.toml -o doses.md     (a race: its ledger lies beside the file)
  paretoguard report doses.toml --name again -o again.html
  paretoguard report phase-2 --json

The page needs nothing else: pictures are in it, scripts are not. The same ledger gives the same page."""


def report(
    what: NameOrFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write. \\[default: stdout]")
    ] = None,
    style: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="html, md or json. \\[default: as FILE ends, else md]"),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of FILE: which of its races. \\[default: the problem's name]")
    ] = None,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Write a report: the question, the answer and why, what it is worth, how it came about, and the whole protocol."""
    from paretoguard.cli.console import remarks
    from paretoguard.cli.inputs import check_writable, write_whole

    if json and (out is not None or style not in (None, "json")):
        raise fail("--json prints JSON on stdout; leave away -o and --format, or use --format json with -o")
    chosen = "json" if json else _format(style, out)
    check_writable(out)
    if name is not None and Path(what).suffix.lower() != ".toml":
        raise fail(f"--name chooses among the races of a problem file; {what!r} is a name itself")
    facts = _read(*named(what, storage, name))
    text = _text(facts, chosen)
    if out is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_whole([text], out)
        remarks().print(f"report: {out}", soft_wrap=True)
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


def _read(name: str, storage: str | None, is_race: bool) -> "Facts":
    from paretoguard.cli.console import remarks
    from paretoguard.cli.live import compiling
    from paretoguard.page.content import read_facts
    from paretoguard.race.ledger import latest

    with compiling(remarks()), ledgers(storage) as place:
        return read_facts(latest(name, place) if is_race else name, place)


def _text(facts: "Facts", chosen: str) -> str:
    from paretoguard.cli.console import as_json

    if chosen == "html":
        from paretoguard.page.page import page

        return page(facts)
    if chosen == "md":
        from paretoguard.page.markdown import markdown

        return markdown(facts)
    return as_json(facts.to_dict())
