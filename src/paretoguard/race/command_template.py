"""Commands with words in braces: `zstd -{level} {file}`."""

import re
import shlex
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.problem.names import suggestion

_WORD = re.compile(r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+""", re.DOTALL)  # as written, with its quotes
_OF_A_SHELL = re.compile(r"\|\|?|&&?|<|[12&]?>.*|(?:.*[^\\])?;", re.DOTALL)


class Command:
    """A command of one arm, split into words before anything is put in for those in braces.

    >>> Command("arms.fast.command", "zstd -{level} {file}", ["level", "file"]).filled({"level": 3, "file": "a b"})
    ['zstd', '-3', 'a b']
    """

    def __init__(self, key: str, text: str | list[str], known: Iterable[str], *, shell: bool = False) -> None:
        self.key, self.text, self.shell = key, text, shell
        if shell and not isinstance(text, str):
            raise ProblemError(f"{key} is {text!r}; with shell = true, expected one text")
        try:
            self._parts = _parts(text, shell)
            fields = [field for part in self._parts for field in Formatter().parse(part) if field[1] is not None]
        except ValueError as error:
            raise ProblemError(f"{key} is {text!r}, which cannot be read: {error}; a brace is written {{{{") from None
        used = {str(name) for _, name, _, _ in fields}
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
        for name in sorted(used):
            if name not in names:
                hint = suggestion(name, names)
                raise ProblemError(
                    f"{key} has {{{name}}}, which stands for nothing: {hint}{'' if hint.endswith('?') else '.'} "
                    "Give it in the arm's `with` or in measure.inputs; a brace itself is written {{"
                )

    def program(self, words: Mapping[str, Any]) -> str | None:
        """The program, given the words of an arm; None where inputs say which, or a shell finds it."""
        used = {name for _, name, _, _ in Formatter().parse(self._parts[0]) if name is not None}
        if self.shell or not used <= words.keys():
            return None
        return self._parts[0].format_map({name: _text(value) for name, value in words.items()})

    def known(self, words: Mapping[str, Any]) -> list[str]:
        """The words for an arm before inputs are drawn: what these stand for can be no file's name."""
        used = {name for part in self._parts for _, name, _, _ in Formatter().parse(part) if name is not None}
        return self.filled({**dict.fromkeys(used, "\0"), **words})

    def filled(self, words: Mapping[str, Any]) -> list[str]:
        """The words of the command for one run; in a shell, what is put in is quoted."""
        if self.shell:
            quoted = {name: shlex.quote(_text(value)) for name, value in words.items()}
            return ["/bin/sh", "-c", self._parts[0].format_map(quoted)]
        given = {name: _text(value) for name, value in words.items()}
        return [part.format_map(given) for part in self._parts]


def _parts(text: str | list[str], shell: bool) -> list[str]:
    if isinstance(text, str):
        return [text] if shell else shlex.split(text)
    return list(text)


def _refuse_shell(key: str, text: str) -> None:
    """A pipe without a shell would be one more word for the program, and something else would be measured."""
    for word in _WORD.findall(text):
        if _OF_A_SHELL.fullmatch(word):
            raise ProblemError(
                f"{key} is {text!r}; without a shell {word!r} is taken for a word that is given to the program. Write "
                f"shell = true under [measure] for a shell, or '{word}' in quotes if the word is meant"
            )


def _has_quoted_word(text: str) -> bool:
    """Is there a word in braces between quotes?"""
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
