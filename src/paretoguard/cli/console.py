"""How commands speak and end: answers on stdout, all else on stderr, failures in one paragraph, and the exit codes."""

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console

from paretoguard.errors import ParetoguardError

PIPE_WIDTH = 120  # columns, where there is no terminal to ask
LEFT_OUT = ("numba", "scipy")  # of the small install
LEFT_UNDECIDED, WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141  # exit codes that scripts rely on


class Screen(Console):
    """A rich console that prints texts as they are: names may hold brackets, numbers keep their colour."""

    def __init__(self, *, stderr: bool) -> None:
        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Raise, where rich would exit with 1, which means "undecided"."""
        raise BrokenPipeError


def answers() -> Screen:
    """Return the screen for answers."""
    return Screen(stderr=False)


def on_stderr() -> Screen:
    """Return the screen for progress and remarks."""
    return Screen(stderr=True)


def plural(number: int, what: str) -> str:
    """Return the number and the noun, in the plural unless it is 1.

    >>> plural(1, "result"), plural(2000, "result")
    ('1 result', '2,000 results')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def as_json(content: Mapping[str, Any]) -> str:
    """Return a JSON object, with null for what is not a number."""
    return json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def print_json(content: Mapping[str, Any]) -> None:
    print_text(as_json(content))


def print_text(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def fail(message: str) -> typer.Exit:
    """Say what is wrong and return what to raise. Line breaks stay: a caret points at its line."""
    lines = (line.rstrip() for line in message.splitlines())
    typer.echo("error: " + "\n".join(line for line in lines if line), err=True)
    return typer.Exit(WRONG_INPUT)


@contextmanager
def failures() -> Iterator[None]:
    """Turn refusals into one paragraph; Ctrl-C and closed pipes into their exit codes."""
    try:
        yield
    except ParetoguardError as error:
        raise fail(str(error)) from None
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in LEFT_OUT:
            raise
        raise fail(f"this needs {missing}, which is not installed: pip install {missing}") from None
    except BrokenPipeError:
        # Nobody reads on, as in `paretoguard … | head`; python must not complain again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        place = f" {error.filename}" if error.filename else ""
        raise fail(f"cannot read or write{place}: {error.strerror or error}") from None
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
