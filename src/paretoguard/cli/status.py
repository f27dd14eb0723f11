"""`paretoguard status` and `list`: where experiments stand."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.console import answers, fail, print_json
from paretoguard.cli.inputs import address, as_values, checked_hash, ledgers, located, time_text
from paretoguard.cli.options import Json, NameOrFile, StorageUrl, option

if TYPE_CHECKING:
    from paretoguard.experiment.storage import Storage

EXAMPLES = """[bold]Examples[/bold]
  paretoguard status phase-2
  paretoguard status phase-2 --verify
  paretoguard status phase-2 --verify --expect 04fcc0…    (a hash from the minutes, in full)
  paretoguard status phase-2 --json
  paretoguard status doses.toml    (a race: its ledger lies beside the file)

Exit code 2 if the ledger is not as it was written. --verify also works out anew, by other code, if its results support
what is claimed; exit code 2 if not."""
LIST_EXAMPLES = """[bold]Examples[/bold]
  paretoguard list
  paretoguard list --storage postgresql://me@server/trials --json"""

_LAST = "last_change"
_COLUMNS = ("name", "state", "results", "waiting", "retracted", "events", _LAST)


def status(
    what: NameOrFile,
    verify: Annotated[bool, typer.Option("--verify", help="Check the ledger and recompute the claims.")] = False,
    expect: Annotated[str | None, option("HASH", "With --verify: a hash that was written down before.")] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Show what is certain so far, what is still open, and where the ledger stands."""
    from paretoguard.cli.layout import print_result
    from paretoguard.experiment.audit import glance, verify as audited
    from paretoguard.experiment.ledger_state import CHANGED

    if expect is not None and not verify:
        raise fail("--expect is checked by --verify only; give both")
    expected = checked_hash(expect)
    with located(what, storage) as (name, place):
        # on a copy, so that everything shown is of one moment
        audit, experiment = audited(name, place, expected) if verify else glance(name, place)
        looked = None if experiment is None else (experiment.result(), experiment.status())
    found = None if audit is None else audit._asdict()
    if not json and audit is not None and not audit.whole:
        answers().print(f"error: {audit.said}\nguarantee: {CHANGED}\n", soft_wrap=True)  # before all else
    if experiment is None or looked is None:
        assert audit is not None
        if json:
            print_json({"name": name, **({} if audit.whole else {"guarantee": CHANGED}), "audit": found})
        raise fail(audit.said)
    result, stand = looked
    waiting = [as_values(ticket) for ticket in experiment.pending()]
    if json:
        print_json(
            {**stand._asdict(), "waiting": waiting, "result": result.to_dict()} | ({"audit": found} if found else {})
        )
    else:
        screen = answers()
        print_result(screen, result)
        waits = f"; waiting for {stand.pending:,}" + (f" ({stand.partial:,} in part)" if stand.partial else "")
        left = f"; {stand.expired:,} expired without a result" if stand.expired else ""
        left += f"; {stand.retracted:,} retracted" if stand.retracted else ""
        screen.print(f"results: {stand.samples:,}{waits if stand.pending else ''}{left}", soft_wrap=True)
        screen.print(f"ledger: {stand.sequence:,} events, hash {stand.hash}", soft_wrap=True)
        if audit is not None and audit.sound:
            screen.print(audit.said, soft_wrap=True)
    if audit is not None and not audit.sound:
        raise fail(audit.said)


def list_(storage: StorageUrl = None, json: Json = False) -> None:
    """List the experiments in a database: results that count, tickets that wait, results that were retracted."""
    from paretoguard.cli.layout import slim
    from paretoguard.experiment.storage import hidden

    with ledgers(storage) as place:
        rows = [_row(place, name) for name in place.names()]
    if json:
        print_json({"experiments": rows})
    elif rows:
        shown = [{key.replace("_", " "): _cell(row, key) for key in _COLUMNS} for row in rows]
        answers().print(slim("Experiments", shown))
    else:
        where = hidden(address(storage))
        answers().print(f"no experiments in {where}; begin one with paretoguard create FILE", soft_wrap=True)


def _cell(row: dict[str, Any], key: str) -> str:
    if row[key] is None:
        return str(row.get("error", "")) if key == _LAST else "–"
    return f"{row[key]:,}" if isinstance(row[key], int) else str(row[key])


def _row(place: "Storage", name: str) -> dict[str, Any]:
    """Return where one ledger stands; or what is wrong with it, which must not hide the others."""
    from paretoguard.errors import LedgerError, ParetoguardError
    from paretoguard.experiment.audit import tally
    from paretoguard.experiment.events import check_entry, first_break
    from paretoguard.files.problem_file import loads

    try:
        head, events = place.head(name), list(place.events(name))
        entries = [event.read() for event in events]
        for entry in entries:
            check_entry(entry)
        if broken := first_break(events, head, reads=False):
            raise LedgerError(f"it was changed after it was written: {broken}")
        objectives = loads(entries[0].data["problem"], "the problem in the ledger").problem.objectives
        found = tally(entries, len(objectives))
    except (ParetoguardError, LookupError, TypeError, ValueError, AttributeError) as error:
        return dict.fromkeys(_COLUMNS) | {"name": name, "error": f"cannot be read: {error}"}
    return {"name": name, **found._asdict(), "events": len(events), _LAST: time_text(entries[-1].time)}
