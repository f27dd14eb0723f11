"""`paretoguard paper`: the paper's results again, ours beside theirs."""

import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard import papers
from paretoguard.cli.console import INTERRUPTED, answers, fail, on_stderr, print_json
from paretoguard.cli.options import Json, Threads, completing, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from paretoguard.papers.outcome import Effort, Outcome

EXAMPLES = """[bold]Examples[/bold]
  paretoguard paper
  paretoguard paper racing
  paretoguard paper --all
  paretoguard paper --smoke

Results are the same on every machine; only files *.timing.csv differ. Ctrl-C keeps the results that had finished."""
SMOKE_HELP = (
    "A few runs of each kind, of NAME or else of all results, written to a temporary folder: does it work? Takes "
    "some seconds; the first time, when kernels are compiled, some minutes."
)
FOLDER = Path("papers/kone2025")


def paper(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="A result; without one they are listed.", autocompletion=completing(papers.NAMES)
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All results, at full size: about half an hour.")] = False,
    smoke: Annotated[bool, typer.Option("--smoke", help=SMOKE_HELP)] = False,
    out: Annotated[Path | None, option("DIR", "Where files go.", "papers/kone2025")] = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Reproduce the results of Kone, Kaufmann and Richert (2025), our numbers beside the paper's.

    Writes for each result its data (.csv), the comparison (.comparison.csv), a picture (.svg and .png) and times.
    """
    from paretoguard.papers.outcome import SMOKE, Effort
    from paretoguard.papers.warming import warming

    if name is not None and every:
        raise fail("both a NAME and --all were given; give one of them")
    if name is None and not every and not smoke:
        _list(json)
        return
    scripts = {one: papers.script(one) for one in (papers.NAMES if name is None else [name])}
    size = SMOKE if smoke else {}
    folder = _folder(out, smoke)
    effort = Effort(**size, threads=threads, say=lambda what: on_stderr().print(f"  {what}"))
    found: dict[str, Any] = {}
    try:
        with warming(threads, effort.say) if every and not smoke else nullcontext():
            for one, reproduce in scripts.items():
                found[one] = _reproduce(one, reproduce, folder, effort, json)
    except KeyboardInterrupt:
        on_stderr().print(f"interrupted; finished: {', '.join(found) or 'none'}")
    interrupted = len(found) < len(scripts)
    if json:
        print_json({"folder": str(folder), "smoke": smoke, "interrupted": interrupted, "results": found})
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _folder(out: Path | None, smoke: bool) -> Path:
    """Return where files go; a few runs never overwrite the committed results."""
    from paretoguard.papers.folder import is_page

    if out is not None and out.exists() and not out.is_dir():
        raise fail(f"--out is {out}, which is a file; name a folder, which is made if it is missing")
    if not smoke:
        return out or FOLDER
    if out is not None and is_page(out / "README.md"):
        raise fail(f"--smoke would overwrite the results in {out}; leave --out away, or name another folder")
    return out or Path(mkdtemp(prefix="paretoguard-"))


def _list(json: bool) -> None:
    from paretoguard.cli.layout import slim

    if json:
        print_json({"results": papers.TITLES})
        return
    answers().print(slim("Results", [{"name": name, "what": title} for name, title in papers.TITLES.items()]))
    answers().print("paretoguard paper NAME runs one of them, --all all, --smoke with a few runs each")


def _reproduce(
    name: str, reproduce: "Callable[[Effort], Outcome]", folder: Path, effort: "Effort", json: bool
) -> dict[str, Any]:
    from paretoguard.cli.live import compiling
    from paretoguard.papers.folder import keep

    console, title, begun = on_stderr(), papers.TITLES[name], time.monotonic()
    console.print(f"{name}: {title}")
    with compiling(console):
        outcome = reproduce(effort)
    seconds = time.monotonic() - begun
    files = [str(path) for path in keep(name, outcome, folder, seconds)]
    if not json:
        _show(title, outcome)
    console.print(f"{name}: {seconds:.0f} s; {', '.join(files)}", soft_wrap=True)
    comparison, timing = [asdict(line) for line in outcome.lines], list(outcome.timing)
    return {"title": title, "seconds": seconds, "files": files, "comparison": comparison, "timing": timing}


def _show(title: str, outcome: "Outcome") -> None:
    from paretoguard.cli.layout import slim
    from paretoguard.papers.outcome import runtimes

    screen = answers()
    rows = [{"what": one.what, "the paper": one.paper, "ours": one.ours, "agrees": one.agrees} for one in outcome.lines]
    screen.print(slim(title, rows))
    for why in dict.fromkeys(one.why for one in outcome.lines if one.why):
        screen.print(f"  {why}")
    if timed := runtimes(outcome.timing):
        screen.print(slim("CPU time of a run", timed, right=list(timed[0])[2:]))
    screen.print()
