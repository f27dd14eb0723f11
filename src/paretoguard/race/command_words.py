"""The words of a command, such as `zstd -{level} {file}`: what stands for those in braces, and which files they name.

A race must not go on with other files, such as a script, than it was begun with.
"""

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.problem.names import suggestion

LARGE_FILE = 64 * 2**20  # bytes; of larger files size and time stand for the content
MADE_UP = ("/proc/", "/sys/")  # files that the system makes up when they are read
_NAMED = "named by a command: "
_WORD = re.compile(r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+""", re.DOTALL)  # as written, with its quotes
_OF_A_SHELL = re.compile(r"\|\|?|&&?|<|[12&]?>.*|(?:.*[^\\])?;", re.DOTALL)


class Command:
    """A command of one arm, split into words before anything is put in for those in braces.

    >>> Command("arms.fast.command", "zstd -{level} {file}", ["level", "file"]).filled({"level": 3, "file": "a b"})
    ['zstd', '-3', 'a b']
    """

    def __init__(self, key: str, text: str | list[str], known: Iterable[str], *, shell: bool = False) -> None:
        self.key, self.shell = key, shell
        if shell and not isinstance(text, str):
            raise ProblemError(f"{key} is {text!r}; with shell = true, expected one text")
        try:
            self._parts = _parts(text, shell)
            fields = [field for part in self._parts for field in Formatter().parse(part) if field[1] is not None]
        except ValueError as error:
            raise ProblemError(f"{key} is {text!r}, which cannot be read: {error}; a brace is written {{{{") from None
        if any(form or conversion for _, _, form, conversion in fields):
            raise ProblemError(f"{key} is {text!r}; between braces expected a word alone, such as {{level}}")
        if shell and _has_quoted_word(self._parts[0]):
            raise ProblemError(
                f"{key} is {text!r}; write {{word}} without quotes: what it stands for is quoted for you"
            )
        if not any(part.strip() for part in self._parts):
            raise ProblemError(f"{key} is empty, expected a command such as './measure --dose 75'")
        if isinstance(text, str) and not shell:
            _refuse_shell(key, text)
        names = list(known)
        for name in sorted(_in_braces(self._parts)):
            if name not in names:
                hint = suggestion(name, names)
                raise ProblemError(
                    f"{key} has {{{name}}}, which stands for nothing: {hint}{'' if hint.endswith('?') else '.'} "
                    "Give it in the arm's `with` or in measure.inputs; a brace itself is written {{"
                )

    def check_program(self, words: Mapping[str, Any], folder: Path) -> None:
        """Refuse a program that is not there, unless inputs say which it is, or a shell finds it."""
        if self.shell or not _in_braces(self._parts[:1]) <= words.keys():
            return
        program = self._parts[0].format_map({name: _text(value) for name, value in words.items()})
        there = os.path.join(folder.resolve(), program) if os.sep in program else program
        if shutil.which(there) is None:
            where = f"no program {program!r} in {folder}" if os.sep in program else f"no program {program!r}"
            raise ProblemError(f"{self.key}: there is {where}; install it, or correct the command")

    def filled(self, words: Mapping[str, Any]) -> list[str]:
        """Return the words of the command for one run; in a shell, what is put in is quoted."""
        given = {name: _text(value) for name, value in words.items()}
        if self.shell:
            quoted = {name: shlex.quote(text) for name, text in given.items()}
            return ["/bin/sh", "-c", self._parts[0].format_map(quoted)]
        return [part.format_map(given) for part in self._parts]

    def files(self, words: Mapping[str, Any], folder: Path) -> dict[str, Path]:
        """Return the files that its words name, as written, but not inputs; its program only if it is in the folder."""
        inputs = dict.fromkeys(_in_braces(self._parts), "\0")  # no file has this name
        argv = self.filled({**inputs, **words})
        split = _shell_words(argv[-1]) if self.shell else argv
        found = _program(split[0], folder) if split else {}
        for word in split[1:]:
            inner = _shell_words(word) if any(sign.isspace() for sign in word) else []  # as in sh -c 'python3 work.py'
            for part in (word, *inner):
                for name in (part, part.partition("=")[2]):
                    if name and _is_content(folder / name):
                        found[name] = folder / name
        return found


def _parts(text: str | list[str], shell: bool) -> list[str]:
    if isinstance(text, str):
        return [text] if shell else shlex.split(text)
    return list(text)


def _in_braces(parts: Iterable[str]) -> set[str]:
    return {name for part in parts for _, name, _, _ in Formatter().parse(part) if name is not None}


def _refuse_shell(key: str, text: str) -> None:
    """Without a shell, a pipe would be one more word for the program, and something else would be measured."""
    for word in _WORD.findall(text):
        if _OF_A_SHELL.fullmatch(word):
            raise ProblemError(
                f"{key} is {text!r}; without a shell {word!r} is taken for a word that is given to the program. Write "
                f"shell = true under [measure] for a shell, or '{word}' in quotes if the word is meant"
            )


def _has_quoted_word(text: str) -> bool:
    """True if a word in braces stands between quotes."""
    quote, place = "", 0
    while place < len(text):
        sign = text[place]
        if text[place : place + 2] in ("{{", "}}") or (sign == "\\" and quote != "'"):
            place += 1
        elif sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        elif sign == "{" and quote:
            return True
        place += 1
    return False


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- the files that words name ----------------------------------------------------------------------------------------


def _program(word: str, folder: Path) -> dict[str, Path]:
    """Return the program if it is the user's own: if it lies in the folder of the problem file."""
    home = folder.resolve()
    there = shutil.which(str(home / word) if os.sep in word else word)
    return {word: Path(there)} if there is not None and Path(there).absolute().is_relative_to(home) else {}


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


def protocol_lines(files: Mapping[str, Path]) -> list[str]:
    """Return a line for each file, as `read_named` reads it."""
    return [f"{_NAMED}{_digest(path)} of {name!r}" for name, path in sorted(files.items())]


def _digest(path: Path) -> str:
    seen = path.stat()
    if seen.st_size <= LARGE_FILE:
        try:
            return f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
        except PermissionError:
            pass
    return f"{seen.st_size} bytes, changed at {seen.st_mtime_ns}"


def without_named(lines: Iterable[str]) -> list[str]:
    """Return the lines of a protocol that are not empty, but not those about files that commands name."""
    return [line for line in lines if line and not line.startswith(f"# {_NAMED}")]


def read_named(lines: Iterable[str]) -> dict[str, str]:
    """Return quoted file name -> digest of its content; nothing from a protocol of older versions."""
    found = (line.removeprefix(f"# {_NAMED}").partition(" of ") for line in lines if line.startswith(f"# {_NAMED}"))
    return {name: digest for digest, _, name in found}


def stamps(files: Mapping[str, Path]) -> dict[str, tuple[int, int] | None]:
    """Return the size and the time of change of each file; they tell if a run has written it."""
    found: dict[str, tuple[int, int] | None] = {}
    for name, path in files.items():
        try:
            seen = path.stat()
            found[name] = (seen.st_size, seen.st_mtime_ns)
        except OSError:
            found[name] = None
    return found
