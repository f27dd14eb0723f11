"""What a user names on the command line: a problem file or a named instance; lists with commas; files to write."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paretoguard.errors import FileError, SettingsError

if TYPE_CHECKING:
    from paretoguard.files.problem_file import ProblemFile
    from paretoguard.problem import Instance


class Given(NamedTuple):
    """An instance to simulate, the settings that came with it, and what to call the place it came from."""

    instance: "Instance"
    settings: Mapping[str, Any]
    origin: str


def measured_file(path: Path) -> "ProblemFile | None":
    """Return the problem file at this path if it says how arms are measured, else None."""
    from paretoguard.files import problem_file

    file = problem_file.load(path) if path.is_file() else None
    return file if file is not None and file.is_measured else None


def find(text: str) -> Given:
    """The named instance, or the problem file at this path, which must have means."""
    from paretoguard.simulation import instances

    base = text.partition(":")[0].strip()
    if base in instances.names():
        found = instances.load(text)
        return Given(found, {}, f"the instance {found.name}")
    path = Path(text)
    if not path.exists():
        known = instances.names()
        near = get_close_matches(base, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise FileError(f"there is no file '{text}', and no instance of that name{hint}; instances: {', '.join(known)}")
    return _read(path)


def _read(path: Path) -> Given:
    from paretoguard.files import problem_file
    from paretoguard.problem import Instance

    file = problem_file.load(path)
    if file.means is None:
        raise FileError(
            f"{path} has no means to simulate from; give every arm one, such as "
            f"mean = {{ {', '.join(f'{name} = …' for name in file.problem.objectives)} }}"
        )
    return Given(Instance(file.problem, file.means, name=file.problem.name or path.stem), file.settings, str(path))


def items(texts: Sequence[str]) -> list[str]:
    """Repeated and comma-separated values as one list; `name:a=1,b=2` stays together.

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


def numbers(texts: Sequence[str], name: str) -> list[float]:
    """As `items`, but numbers."""
    try:
        return [float(item) for item in items(texts)]
    except ValueError:
        raise SettingsError(f"--{name} is {', '.join(texts)!r}; expected numbers such as 0.1 or 0.1,0.05") from None


def shared(found: Sequence[Given], name: str, default: Any) -> Any:
    """The setting that the files agree on, or else the default."""
    said = {str(one.settings[name]): one for one in found if name in one.settings}
    if len(said) > 1:
        where = ", ".join(f"{value} in {one.origin}" for value, one in said.items())
        raise SettingsError(f"the files differ in {name} ({where}); choose with --{name}")
    return next(iter(said.values())).settings[name] if said else default


def check_writable(*paths: Path | None) -> None:
    """Refuse, before any work is done, files that could not be written at the end of it."""
    for path in (path for path in paths if path is not None):
        if path.is_dir():
            raise FileError(f"cannot write '{path}': it is a directory")
        if not path.parent.is_dir():
            raise FileError(f"cannot write '{path}': there is no directory '{path.parent}'")


def write_whole(lines: Iterable[str], out: Path) -> None:
    """Write a file; whatever fails, one of that name stays as it was."""
    partial = out.with_name(f".{out.name}.part")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be written, or whose suffix cannot be drawn."""
    from paretoguard.pictures.canvas import picture_path

    if path is not None:
        check_writable(picture_path(path))
