"""Files that commands name, such as a script: a race must not go on with others than it was begun with."""

import hashlib
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

LARGE = 64 * 2**20  # bytes; of larger files size and time stand for the content
MADE_UP = ("/proc/", "/sys/")  # files that the system makes up when they are read
_LINE = "named by a command: "


def named_files(argv: Iterable[str], folder: Path, *, shell: bool) -> dict[str, Path]:
    """The files that the words of a command name, as written; its program only where it lies in the folder."""
    words = list(argv)
    split = words if not shell else _shell_words(words[-1])
    found: dict[str, Path] = {}
    if split:
        found |= _program(split[0], folder)
    for word in [part for whole in split[1:] for part in (whole, *_inner(whole))]:
        for name in (word, word.partition("=")[2]):
            path = folder / name
            if name and _is_content(path):
                found[name] = path
    return found


def _program(word: str, folder: Path) -> dict[str, Path]:
    """The program, where it is the user's own: it lies in the folder of the problem file."""
    home = folder.resolve()
    there = shutil.which(str(home / word) if os.sep in word else word)
    return {word: Path(there)} if there is not None and Path(there).absolute().is_relative_to(home) else {}


def _inner(word: str) -> list[str]:
    """The words in a word, as in sh -c 'python3 work.py'."""
    return _shell_words(word) if any(sign.isspace() for sign in word) else []


def _shell_words(text: str) -> list[str]:
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        return list(reader)
    except ValueError:  # a quote that is not closed
        return []


def _is_content(path: Path) -> bool:
    try:
        return path.is_file() and not str(path.resolve()).startswith(MADE_UP)
    except (OSError, ValueError):  # too long for a name, or no name at all
        return False


def described(files: Mapping[str, Path]) -> list[str]:
    """One line for each file, as `read_named` reads it."""
    return [f"{_LINE}{_digest(path)} of {name!r}" for name, path in sorted(files.items())]


def _digest(path: Path) -> str:
    """What stands for the content of a file."""
    seen = path.stat()
    if seen.st_size <= LARGE:
        try:
            return f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
        except PermissionError:
            pass
    return f"{seen.st_size} bytes, changed at {seen.st_mtime_ns}"


def without_named(lines: Iterable[str]) -> list[str]:
    """The lines of a protocol that say something, but not of files that commands name."""
    return [line for line in lines if line and not line.startswith(f"# {_LINE}")]


def read_named(lines: Iterable[str]) -> dict[str, str]:
    """File, as it is quoted -> what stands for its content; nothing in a protocol of older versions."""
    found = (line.removeprefix(f"# {_LINE}").partition(" of ") for line in lines if line.startswith(f"# {_LINE}"))
    return {name: digest for digest, _, name in found}


class Stamps:
    """Notices which files change while something runs: those are written by it."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self._before = dict(self._now())

    def changed(self) -> set[str]:
        """The files, as they are quoted, that changed since."""
        return {repr(name) for name, seen in self._now() if seen != self._before[name]}

    def _now(self) -> Iterator[tuple[str, tuple[int, int] | None]]:
        for name, path in self._files.items():
            try:
                seen = path.stat()
                yield name, (seen.st_size, seen.st_mtime_ns)
            except OSError:
                yield name, None
