"""`paretoguard status` and `list`: where experiments stand."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.failures import fail
from paretoguard.cli.ledgers import Name, Place, address, ledgers, moment, shown
from paretoguard.cli.options import Json

if TYPE_CHECKING:
    from paretoguard.experiment.experiment import Experiment, Status
    from paretoguard.experiment.storage import Storage

EXAMPLES = """[bold]Examples[/bold]
  paretoguard status phase-2
  paretoguard status phase-2 --verify
  paretoguard status phase-2 --verify --expect 04fcc0…    (a hash from the minutes, in full)
  paretoguard status phase-2 --json

--verify reads the whole ledger: is it as it was written, and do its results, worked out anew by other code, support
what is claimed? Exit code 2 if not."""
LIST_EXAMPLES = """[bold]Examples[/bold]
  paretoguard list
  paretoguard list --storage postgresql://me@server/trials --json"""

_COLUMNS = ("name", "asked", "told", "events", "last change")


def status(
    name: Name,
    verify: Annotated[bool, typer.Option("--verify", help="Check the ledger and recompute the claims.")] = False,
    expect: Annotated[
        str | None, typer.Option(metavar="HASH", help="With --verify: a hash that was written down before.")
    ] = None,
    storage: Place = None,
    json: Json = False,
) -> None:
    """Show what is certain so far, what is still open, and where the ledger stands."""
    from paretoguard.cli.screen import answers, print_json
    from paretoguard.cli.verdicts import print_result

    if expect is not None and not verify:
        raise fail("--expect is checked by --verify only; give both")
    with ledgers(storage) as place:
        experiment, found = _read(place, name, verify, expect)
    if experiment is None:
        assert found is not None
        if json:
            print_json({"name": name, "audit": found})
        raise fail(str(found["said"]))
    result, stand = experiment.result(), experiment.status()
    waiting = [shown(ticket) for ticket in experiment.pending()]
    if json:
        print_json(
            {**stand._asdict(), "waiting": waiting, "result": result.to_dict()} | ({"audit": found} if found else {})
        )
    else:
        screen = answers()
        print_result(screen, result)
        waits = f"; waiting for {stand.pending:,}" + (f" ({stand.partial:,} in part)" if stand.partial else "")
        left = "".join(f"; {count:,} {what}" for what, count in _left_out(stand) if count)
        screen.print(f"results: {stand.samples:,}{waits if stand.pending else ''}{left}", soft_wrap=True)
        screen.print(f"ledger: {stand.sequence:,} events, hash {stand.hash}", soft_wrap=True)
        if found is not None and found["sound"]:
            screen.print(found["said"], soft_wrap=True)
    if found is not None and not found["sound"]:
        raise fail(str(found["said"]))


def _left_out(stand: "Status") -> list[tuple[str, int]]:
    return [("expired without a result", stand.expired), ("retracted", stand.retracted)]


def _read(
    place: "Storage", name: str, verify: bool, expect: str | None
) -> tuple["Experiment | None", dict[str, Any] | None]:
    """The experiment at this moment, on a copy, so that all that is shown is of one moment; and its audit."""
    from paretoguard.experiment import audit
    from paretoguard.experiment.experiment import Experiment

    if not verify:
        return Experiment.at(name, list(place.events(name))), None
    found, experiment = audit.verify(name, place, expect)
    return experiment, found._asdict()


def list_(storage: Place = None, json: Json = False) -> None:
    """List the experiments in a database."""
    from paretoguard.cli.layout import slim
    from paretoguard.cli.screen import answers, print_json
    from paretoguard.experiment.storage import hidden

    with ledgers(storage) as place:
        rows = [_row(place, name) for name in place.names()]
    if json:
        print_json({"experiments": rows})
    elif rows:
        answers().print(slim("Experiments", [{key: _cell(row, key) for key in _COLUMNS} for row in rows]))
    else:
        place_shown = hidden(address(storage))
        answers().print(f"no experiments in {place_shown}; begin one with paretoguard create FILE", soft_wrap=True)


def _cell(row: dict[str, Any], key: str) -> str:
    return f"{row.get('error', '') if row[key] is None and key == _COLUMNS[-1] else row[key]}"


def _row(place: "Storage", name: str) -> dict[str, Any]:
    """Where one ledger stands; or what is wrong with it, which must not hide the others."""
    from paretoguard.errors import LedgerError
    from paretoguard.experiment.keys import check_keys

    results, asked, last = 0, 0, None
    try:
        for event in place.events(name):
            last = event.read()
            check_keys(last)
            results += last.kind == "told"
            asked += len(last.data["arms"]) if last.kind == "asked" else 0
        if last is None:
            raise LedgerError("it has no events")
    except (LedgerError, TypeError) as error:
        return dict.fromkeys(_COLUMNS) | {"name": name, "error": f"cannot be read: {error}"}
    return dict(zip(_COLUMNS, (name, asked, results, last.sequence, moment(last.time)), strict=True))
