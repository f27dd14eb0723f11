"""The commands put together, and how they behave alike: help, refusals, exit codes."""

import inspect
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from paretoguard.cli import ask_tell, demo, handover, paper, plan, run, simulate, status
from paretoguard.cli.console import fail, failures
from paretoguard.version import __version__

EXAMPLES = """[bold]Examples[/bold]
  paretoguard demo
  paretoguard run examples/dose-finding.toml
  paretoguard simulate secukinumab covboost --algorithm pitfall,uniform
  paretoguard plan secukinumab
  paretoguard create examples/dose-finding.toml, then ask, tell, status
  paretoguard paper

Exit codes: 0 done, 1 undecided when the budget ran out, 2 wrong input, 130 Ctrl-C."""


class CommandGroup(TyperGroup):
    """The group of commands, with one way to fail for all of them."""

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        run_command: Any = super().main
        try:
            code = run_command(*args, standalone_mode=False, **options)
        except typer.Exit as exit_:
            code = exit_.exit_code
        except Exception as error:
            if not hasattr(error, "format_message"):  # not one of click's, wherever typer has them from
                raise
            context = getattr(error, "ctx", None)
            hint = f"; see {context.command_path} --help" if context is not None else ""
            code = fail(f"{error.format_message().rstrip('.')}{hint}").exit_code
        if standalone_mode:
            sys.exit(code or 0)
        return code

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Signs that a terminal or a pipe cannot show, such as ★, are shown as ?."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        with failures(), warnings.catch_warnings():
            warnings.showwarning = _show_note  # type: ignore[assignment]
            return super().invoke(ctx)


def _show_note(message: Warning | str, *place: Any) -> None:
    typer.echo(f"note: {message}", err=True)


class Plain(TyperCommand):
    """A command whose help shows neither `<bool>` nor `{NAME}` nor `[[TICKET]]`."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, each in brackets once if it is optional."""
        return [_plain(piece) for piece in super().collect_usage_pieces(ctx)]


def _without_types(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def _plain(piece: str) -> str:
    """Return a word of the usage line without typer's brackets.

    >>> _plain("{NAME}"), _plain("[[TICKET]]"), _plain("[[OBJECTIVE=VALUE]…]..."), _plain("[OPTIONS]")
    ('NAME', '[TICKET]', '[OBJECTIVE=VALUE]…', '[OPTIONS]')
    """
    dots = piece.endswith("...")
    word = piece.removesuffix("...")
    if word.startswith("{") and word.endswith("}"):
        word = word[1:-1]
    if word.startswith("[["):
        word = word[1:-1]
    return word + ("..." if dots and not word.endswith("…") else "")


def _prose(text: str | None) -> str:
    """Return a docstring as help: paragraphs without line breaks, so that they wrap at the terminal's width."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, function, examples in (
    ("demo", demo.demo, demo.EXAMPLES),
    ("run", run.run, run.EXAMPLES),
    ("simulate", simulate.simulate, simulate.EXAMPLES),
    ("plan", plan.plan, plan.EXAMPLES),
    ("create", ask_tell.create, ask_tell.CREATE_EXAMPLES),
    ("ask", ask_tell.ask, ask_tell.ASK_EXAMPLES),
    ("tell", ask_tell.tell, ask_tell.TELL_EXAMPLES),
    ("retract", ask_tell.retract, ask_tell.RETRACT_EXAMPLES),
    ("status", status.status, status.EXAMPLES),
    ("report", handover.report, handover.REPORT_EXAMPLES),
    ("list", status.list_, status.LIST_EXAMPLES),
    ("export", handover.export, handover.EXPORT_EXAMPLES),
    ("import", handover.import_, handover.IMPORT_EXAMPLES),
    ("paper", paper.paper, paper.EXAMPLES),
):
    app.command(name, cls=Plain, help=_prose(function.__doc__), epilog=examples)(function)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"paretoguard {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=EXAMPLES)
def paretoguard(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find the best trade-offs among noisy options that respect your guardrails, with few measurements.

    Every answer says why each option is in or out, and what guarantee stands behind it.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
