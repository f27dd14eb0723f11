"""What users name: problem files, instances, lists with commas, experiments and their databases, files to write."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.cli.console import on_stderr
from paretoguard.cli.options import STORAGE_VARIABLE
from paretoguard.errors import FileError, SettingsError

if TYPE_CHECKING:
    from paretoguard.experiment.experiment import Experiment
    from paretoguard.experiment.storage import Storage
    from paretoguard.problem import Instance
    from paretoguard.trial.tickets import Ticket

HASH_DIGITS = 64

# --- problems to simulate -------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """An instance to simulate, the settings that came with it, and what to call the place it came from."""

    instance: "Instance"
    settings: Mapping[str, Any]
    origin: str


def find(text: str) -> Given:
    """Return the named instance, or the problem of the file at this path, which must have means."""
    from paretoguard.files import problem_file
    from paretoguard.problem import Instance
    from paretoguard.simulation import instances

    known = instances.names()
    base = text.partition(":")[0].strip()
    if base in known:
        found = instances.load(text)
        return Given(found, {}, f"the instance {found.name}")
    path = Path(text)
    if not path.exists():
        near = get_close_matches(base, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise FileError(f"there is no file '{text}', and no instance of that name{hint}; instances: {', '.join(known)}")
    file = problem_file.load(path)
    if file.means is None:
        raise FileError(
            f"{path} has no means to simulate from; give every arm one, such as "
            f"mean = {{ {', '.join(f'{name} = …' for name in file.problem.objectives)} }}"
        )
    return Given(Instance(file.problem, file.means, name=file.problem.name or path.stem), file.settings, str(path))


def agreed(found: Sequence[Given], name: str, default: Any, option: Any = None) -> Any:
    """Return the option if it was given, else the setting that the files agree on, else the default."""
    if option is not None:
        return option
    said = {str(one.settings[name]): one for one in found if name in one.settings}
    if len(said) > 1:
        where = ", ".join(f"{value} in {one.origin}" for value, one in said.items())
        raise SettingsError(f"the files differ in {name} ({where}); choose with --{name}")
    return next(iter(said.values())).settings[name] if said else default


def items(texts: Sequence[str]) -> list[str]:
    """Return repeated and comma-separated values as one list; `name:a=1,b=2` stays together.

    >>> items(["e-cape,uniform", "two-stage:form=2023,first=10"])
    ['e-cape', 'uniform', 'two-stage:form=2023,first=10']
    """
    found: list[str] = []
    for text in texts:
        for place, piece in enumerate(text.split(",")):
            is_option = place > 0 and "=" in piece.partition(":")[0]
            if is_option:
                found[-1] += f",{piece}"
            else:
                found.append(piece.strip())
    return [item for item in found if item]


# --- live experiments -----------------------------------------------------------------------------------------------


def address(storage: str | None) -> str:
    from paretoguard.experiment.storage import DEFAULT

    return storage or os.environ.get(STORAGE_VARIABLE) or DEFAULT


@contextmanager
def ledgers(storage: str | None) -> "Iterator[Storage]":
    """Open the database, and close it at the end."""
    from paretoguard.experiment.storage import open_storage

    with closing(open_storage(address(storage))) as found:
        yield found


@contextmanager
def opened(name: str, storage: str | None) -> "Iterator[Experiment]":
    """Open an experiment, close its database at the end, and say so if kernels are compiled."""
    from paretoguard.cli.live import compiling
    from paretoguard.experiment.experiment import Experiment

    with compiling(on_stderr()), ledgers(storage) as place:
        yield Experiment.open(name, place)


@contextmanager
def located(what: str, storage: str | None, race: str | None = None) -> "Iterator[tuple[str, Storage]]":
    """Yield the name and the open database of an experiment, or of the race of a problem file: its name ends in .toml.

    `race` chooses among the races of a file. If kernels are compiled, that is said.
    """
    from paretoguard.cli.live import compiling

    path = Path(what)
    is_race = path.suffix.lower() == ".toml"
    if is_race:
        name, beside = race_place(path)
        if storage is None and not path.with_suffix(".db").exists():
            raise FileError(
                f"there is no ledger '{path.with_suffix('.db')}' beside {path}: its race has not begun, or is one of "
                "recorded data, which keeps a ledger only with --storage; of one elsewhere, give its name and --storage"
            )
        what, storage = race or name, storage or beside
    with compiling(on_stderr()), ledgers(storage) as place:
        if is_race:
            from paretoguard.race.ledger import latest

            what = latest(what, place)
        yield what, place


def race_place(path: Path) -> tuple[str, str]:
    """Return the name and the database of the race of a problem file."""
    from paretoguard.files import problem_file

    return problem_file.load(path).problem.name or path.stem, beside(path)


def beside(path: Path) -> str:
    """Return the database of the race of a problem file, which lies beside the file."""
    return f"sqlite:///{path.with_suffix('.db')}"


def checked_hash(given: str | None) -> str | None:
    """Return a hash as somebody typed it, in the form of the ledger."""
    if given is None:
        return None
    found = given.strip().lower()
    if len(found) != HASH_DIGITS or set(found) - set("0123456789abcdef"):
        raise SettingsError(
            f"--expect is {given!r}, expected a hash in full, {HASH_DIGITS} digits of 0-9 and a-f: mistyped, or cut"
        )
    return found


def time_text(seconds: float | None) -> str | None:
    """Return a time as people and programs read it."""
    from paretoguard.experiment import events

    return None if seconds is None else events.utc_text(seconds)


def as_values(ticket: "Ticket") -> dict[str, Any]:
    """Return a ticket as plain values, for JSON."""
    return {"ticket": ticket.id, "arm": ticket.arm, "expires": time_text(ticket.expires)}


# --- files to write -------------------------------------------------------------------------------------------------


def check_writable(*paths: Path | None) -> None:
    """Refuse, before any work is done, files that could not be written at the end of it."""
    for path in (path for path in paths if path is not None):
        if path.is_dir():
            raise FileError(f"cannot write '{path}': it is a directory")
        if not path.parent.is_dir():
            raise FileError(f"cannot write '{path}': there is no directory '{path.parent}'")


def check_pictures(*paths: Path | None) -> None:
    """Refuse pictures that could not be written, or whose suffix cannot be drawn."""
    from paretoguard.pictures.canvas import picture_path

    for path in paths:
        if path is not None:
            check_writable(picture_path(path))


def write_whole(lines: Iterable[str], out: Path) -> None:
    """Write a file; whatever fails, an old file of that name stays as it was."""
    partial = out.with_name(f".{out.name}.part")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
