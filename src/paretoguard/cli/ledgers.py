"""What the commands of live experiments share: where ledgers lie, and how times and tickets look."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.experiment.storage import Storage
    from paretoguard.tickets import Ticket

VARIABLE = "PARETOGUARD_STORAGE"
Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")]
Place = Annotated[
    str | None,
    typer.Option(
        "--storage",
        metavar="URL",
        help=f"The database. \\[default: {VARIABLE}, else sqlite:///paretoguard.db in this folder]",
    ),
]


def address(storage: str | None) -> str:
    """The URL of the database."""
    import os

    from paretoguard.experiment.storage import DEFAULT

    return storage or os.environ.get(VARIABLE) or DEFAULT


@contextmanager
def ledgers(storage: str | None) -> "Iterator[Storage]":
    """The database, closed at the end."""
    from paretoguard.experiment.storage import open_storage

    with closing(open_storage(address(storage))) as found:
        yield found


@contextmanager
def opened(name: str, storage: str | None) -> "Iterator[Experiment]":
    """The experiment of this name; its database is closed at the end."""
    from paretoguard.experiment.experiment import Experiment

    with ledgers(storage) as place:
        yield Experiment.open(name, place)


def race_place(path: Path) -> tuple[str, str]:
    """The name and the database of the race of a problem file: its ledger lies beside it."""
    from paretoguard import files

    return files.load(path).problem.name or path.stem, f"sqlite:///{path.with_suffix('.db')}"


def moment(seconds: float | None) -> str | None:
    """A time as people and programs read it."""
    from paretoguard.experiment import events

    return None if seconds is None else events.moment(seconds)


def shown(ticket: "Ticket") -> dict[str, Any]:
    """A ticket as plain values."""
    return {"ticket": ticket.id, "arm": ticket.arm, "expires": moment(ticket.expires)}
