"""What the commands of live experiments share: where ledgers lie, and how times and tickets look."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.experiment.storage import Storage
    from paretoguard.trial.tickets import Ticket

HASH_DIGITS = 64
VARIABLE = "PARETOGUARD_STORAGE"
Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")]
NameOrFile = Annotated[str, typer.Argument(metavar="NAME|FILE", help="The experiment, or the problem file of a race.")]
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
    """The experiment of this name; its database is closed at the end, and if kernels are compiled, that is said."""
    from paretoguard.cli.console import remarks
    from paretoguard.cli.live import compiling
    from paretoguard.experiment.experiment import Experiment

    with compiling(remarks()), ledgers(storage) as place:
        yield Experiment.open(name, place)


def race_place(path: Path) -> tuple[str, str]:
    """The name and the database of the race of a problem file: its ledger lies beside it."""
    from paretoguard.files import problem_file

    return problem_file.load(path).problem.name or path.stem, beside(path)


def beside(path: Path) -> str:
    """The database beside a problem file."""
    return f"sqlite:///{path.with_suffix('.db')}"


def named(what: str, storage: str | None, chosen: str | None = None) -> tuple[str, str | None, bool]:
    """The name of the experiment, its database, and if it is a race: a name that ends in .toml is a problem file."""
    from paretoguard.errors import FileError

    path = Path(what)
    if path.suffix.lower() != ".toml":
        return what, storage, False
    name, place = race_place(path)
    if storage is None and not path.with_suffix(".db").exists():
        raise FileError(
            f"there is no ledger '{path.with_suffix('.db')}' beside {path}: its race has not begun, or is one of "
            "recorded data, which keeps a ledger only with --storage; of one elsewhere, give its name and --storage"
        )
    return chosen or name, storage or place, True


def checked_hash(given: str | None) -> str | None:
    """A hash as somebody typed it."""
    from paretoguard.errors import SettingsError

    if given is None:
        return None
    found = given.strip().lower()
    if len(found) != HASH_DIGITS or set(found) - set("0123456789abcdef"):
        raise SettingsError(
            f"--expect is {given!r}, expected a hash in full, {HASH_DIGITS} digits of 0-9 and a-f: mistyped, or cut"
        )
    return found


def moment(seconds: float | None) -> str | None:
    """A time as people and programs read it."""
    from paretoguard.experiment import events

    return None if seconds is None else events.moment(seconds)


def shown(ticket: "Ticket") -> dict[str, Any]:
    """A ticket as plain values."""
    return {"ticket": ticket.id, "arm": ticket.arm, "expires": moment(ticket.expires)}
