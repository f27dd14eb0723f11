"""How commands end: errors in one paragraph on stderr, and the exit codes that scripts rely on."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from paretoguard.cli.help import without_types
from paretoguard.errors import ParetoguardError

UNDECIDED, WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


def fail(message: str) -> typer.Exit:
    """Say what is wrong, in one paragraph; raise what this returns. Line breaks stay: a caret points at its line."""
    lines = (line.rstrip() for line in message.splitlines())
    typer.echo("error: " + "\n".join(line for line in lines if line), err=True)
    return typer.Exit(WRONG_INPUT)


class Commands(TyperGroup):
    """The group of commands, with one way to fail for all of them."""

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        try:
            code = _without_panel(super().main, *args, **options)
        except typer.Exit as exit_:
            code = exit_.exit_code
        if standalone_mode:
            sys.exit(code or 0)
        return code

    def get_params(self, ctx: Any) -> Any:
        """The options; flags take no value, so that there is nothing to name."""
        return without_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; refusals become one paragraph, Ctrl-C and closed pipes their exit codes."""
        _replace_unprintable()
        with _failures():
            return super().invoke(ctx)


def _without_panel(main: Any, *args: Any, **options: Any) -> Any:
    """Run typer's main, but say what is wrong with an option in our way."""
    try:
        return main(*args, standalone_mode=False, **options)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not one of click's, wherever typer has them from
            raise
        context = getattr(error, "ctx", None)
        hint = f"; see {context.command_path} --help" if context is not None else ""
        raise fail(f"{error.format_message().rstrip('.')}{hint}") from None


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except ParetoguardError as error:
        raise fail(str(error)) from None
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


def _replace_unprintable() -> None:
    """Where a terminal or a pipe cannot show a sign such as ★, show ? and go on."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
