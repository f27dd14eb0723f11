"""The commands, put together."""

from typing import Annotated

import typer

from paretoguard.cli import ask, create, demo, paper, plan, report, retract, run, simulate, status, tell, transfer
from paretoguard.cli.exits import Commands
from paretoguard.cli.help import Plain
from paretoguard.cli.options import prose
from paretoguard.version import __version__

EXAMPLES = """[bold]Examples[/bold]
  paretoguard demo
  paretoguard run examples/dose-finding.toml
  paretoguard simulate secukinumab covboost --algorithm pitfall,uniform
  paretoguard plan secukinumab
  paretoguard create examples/dose-finding.toml, then ask, tell, status
  paretoguard paper

Exit codes: 0 done, 1 undecided when the budget ran out, 2 wrong input, 130 Ctrl-C."""

app = typer.Typer(
    cls=Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, function, examples in (
    ("demo", demo.demo, demo.EXAMPLES),
    ("run", run.run, run.EXAMPLES),
    ("simulate", simulate.simulate, simulate.EXAMPLES),
    ("plan", plan.plan, plan.EXAMPLES),
    ("create", create.create, create.EXAMPLES),
    ("ask", ask.ask, ask.EXAMPLES),
    ("tell", tell.tell, tell.EXAMPLES),
    ("retract", retract.retract, retract.EXAMPLES),
    ("status", status.status, status.EXAMPLES),
    ("report", report.report, report.EXAMPLES),
    ("list", status.list_, status.LIST_EXAMPLES),
    ("export", transfer.export, transfer.EXPORT_EXAMPLES),
    ("import", transfer.import_, transfer.IMPORT_EXAMPLES),
    ("paper", paper.paper, paper.EXAMPLES),
):
    app.command(name, cls=Plain, help=prose(function.__doc__), epilog=examples)(function)


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
