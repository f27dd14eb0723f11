"""`paretoguard simulate`: many runs of instances × algorithms × evidence × delta, as a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.exits import INTERRUPTED
from paretoguard.cli.inputs import check_picture, check_writable, find, items, numbers, shared
from paretoguard.cli.options import (
    Algorithms,
    Batch,
    Budget,
    Csv,
    Deltas,
    Evidences,
    Json,
    Out,
    Plot,
    Runs,
    Seed,
    Threads,
    TracePicture,
)

if TYPE_CHECKING:
    from paretoguard.simulation.study import Study

EXAMPLES = """[bold]Examples[/bold]
  paretoguard simulate secukinumab --algorithm pitfall,uniform
  paretoguard simulate examples/dose-finding.toml --delta 0.1,0.01 --runs 1000
  paretoguard simulate simplex cube --out study.npz --plot runs.png
  paretoguard simulate covboost --algorithm pitfall,e-cape --runs 1 --trace run.png
  paretoguard simulate two-stage-gap:eps=0.05 random:K=20,d=2,seed=3 --json

Ctrl-C shows and saves the runs that had finished, and exits with 130."""


def simulate(
    problems: Annotated[
        list[str], typer.Argument(metavar="FILE|NAME", help="Problem files with means, or names of instances.")
    ],
    algorithm: Algorithms = None,
    evidence: Evidences = None,
    delta: Deltas = None,
    runs: Runs = 500,
    seed: Seed = None,
    budget: Budget = None,
    threads: Threads = None,
    batch: Batch = 1,
    out: Out = None,
    csv: Csv = None,
    plot: Plot = None,
    trace: TracePicture = None,
    json: Json = False,
) -> None:
    """Simulate many runs: what would a design cost, and how often is it wrong?

    Run number r sees the same measurements whatever the algorithm. Settings in a file (delta, algorithm, evidence,
    budget, seed) hold unless an option says otherwise.
    """
    from paretoguard.trial.registry import DEFAULT_ALGORITHM

    check_writable(out, csv)
    check_picture(plot)
    check_picture(trace)
    found = [find(text) for text in problems]
    study, interrupted = _simulate(
        [one.instance for one in found],
        algorithms=items(algorithm or [shared(found, "algorithm", DEFAULT_ALGORITHM)]),
        evidence=items(evidence or [shared(found, "evidence", "practical")]),
        delta=numbers(delta or [str(shared(found, "delta", 0.1))], "delta"),
        runs=runs,
        seed=seed if seed is not None else shared(found, "seed", 0),
        budget=budget if budget is not None else shared(found, "budget", None),
        threads=threads,
        batch=batch,
    )
    _show(study, interrupted, json)
    _save(study, out, csv, plot)
    _draw_trace(study, trace)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _simulate(instances: Sequence[Any], **settings: Any) -> "tuple[Study, bool]":
    """The study, and whether Ctrl-C cut it short."""
    import paretoguard as pg
    from paretoguard.cli.console import remarks
    from paretoguard.cli.live import compiling

    try:
        with compiling(remarks()):
            return pg.simulate(instances, **settings), False
    except pg.Interrupted as interruption:
        return interruption.study, True


def _show(study: "Study", interrupted: bool, json: bool) -> None:
    from paretoguard.cli.console import answers, print_json, remarks
    from paretoguard.cli.studies import print_study

    if interrupted:
        remarks().print("interrupted: these are the runs that had finished")
    if json:
        head = {**study.design._asdict(), "runs": len(study.records), "interrupted": interrupted}
        print_json({**head, "summary": study.summary(), "assumptions": _assumptions(study)})
    else:
        print_study(answers(), study)


def _assumptions(study: "Study") -> dict[str, dict[str, tuple[str, ...]]]:
    """What each label in the summary rests on, by instance and evidence."""
    from paretoguard.trial import promises

    stated: dict[str, dict[str, tuple[str, ...]]] = {}
    for cell in study.cells:
        name, _, evidence, _ = cell.labels
        stated.setdefault(name, {})[evidence] = promises.assumptions(cell.instance.problem, cell.evidence)
    return stated


def _save(study: "Study", out: Path | None, csv: Path | None, plot: Path | None) -> None:
    from paretoguard.cli.console import remarks

    console = remarks()
    if out is not None:
        study.save(out)
        console.print(f"study: {out}", soft_wrap=True)
    if csv is not None:
        study.to_csv(csv)
        console.print(f"records: {csv}", soft_wrap=True)
    if plot is not None and len(study.records):
        study.plot(plot)
        console.print(f"picture: {plot}", soft_wrap=True)


def _draw_trace(study: "Study", path: Path | None) -> None:
    """Draw run 0 of each kind; of an interrupted study, of those in which it had finished."""
    if path is None or not (study.records["run"] == 0).any():
        return
    from paretoguard.cli.console import remarks
    from paretoguard.cli.live import compiling
    from paretoguard.pictures.run import draw_traces

    console = remarks()
    with compiling(console):
        traces = study.trace()
    draw_traces(traces, path)
    console.print(f"trace: {path}", soft_wrap=True)
