"""`paretoguard simulate`: many runs of instances × algorithms × evidence × delta, as a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paretoguard.cli.console import INTERRUPTED, answers, on_stderr, print_json
from paretoguard.cli.inputs import agreed, check_pictures, check_writable, find, items
from paretoguard.cli.options import AlgorithmNames, BatchSize, Budget, Json, Plot, Runs, Seed, Threads, option
from paretoguard.errors import SettingsError
from paretoguard.vocabulary import EVIDENCE_NAMES

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
    algorithm: AlgorithmNames = None,
    evidence: Annotated[
        list[str] | None,
        option(
            "NAME",
            f"When to believe a claim: {', '.join(name for name in EVIDENCE_NAMES if name != 'glr')}; as above.",
            "the file's, else practical",
            words=EVIDENCE_NAMES,
        ),
    ] = None,
    delta: Annotated[
        list[str] | None, option("P", "Accepted probability of a wrong claim; as above.", "the file's, else 0.1")
    ] = None,
    runs: Runs = 500,
    seed: Seed = None,
    budget: Budget = None,
    threads: Threads = None,
    batch: BatchSize = 1,
    out: Annotated[Path | None, option("FILE", "Save the study (.npz), for pg.Study.load.")] = None,
    csv: Annotated[Path | None, option("FILE", "Save the records, one line per run.")] = None,
    plot: Plot = None,
    trace: Annotated[
        Path | None,
        option("FILE", "Draw the first run of each kind, sample by sample, into this file (.png, .svg or .pdf)."),
    ] = None,
    json: Json = False,
) -> None:
    """Simulate many runs: what would a design cost, and how often is it wrong?

    Run number r sees the same measurements whatever the algorithm. Settings in a file (delta, algorithm, evidence,
    budget, seed) hold unless an option says otherwise.

    Evidence and delta are by default not those of `run` and `plan`, but those of most published experiments, so that
    results compare with their tables.
    """
    import paretoguard as pg
    from paretoguard.cli.live import compiling
    from paretoguard.simulation.study import STUDIED_DELTA, STUDIED_EVIDENCE
    from paretoguard.trial.registry import DEFAULT_ALGORITHM

    check_writable(out, csv)
    check_pictures(plot, trace)
    found, interrupted = [find(text) for text in problems], False
    algorithms = items(algorithm or [agreed(found, "algorithm", DEFAULT_ALGORITHM)])
    kinds = items(evidence or [agreed(found, "evidence", STUDIED_EVIDENCE)])
    deltas = _numbers(delta or [str(agreed(found, "delta", STUDIED_DELTA))])
    try:
        with compiling(on_stderr()):
            study = pg.simulate(
                [one.instance for one in found],
                algorithms=algorithms,
                evidence=kinds,
                delta=deltas,
                runs=runs,
                seed=agreed(found, "seed", 0, seed),
                budget=agreed(found, "budget", None, budget),
                threads=threads,
                batch=batch,
            )
    except pg.Interrupted as interruption:
        study, interrupted = interruption.study, True
        on_stderr().print("interrupted: these are the runs that had finished")
    _show(study, interrupted, json)
    _save(study, out, csv, plot)
    _draw_trace(study, trace)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _numbers(deltas: Sequence[str]) -> list[float]:
    try:
        return [float(item) for item in items(deltas)]
    except ValueError:
        raise SettingsError(f"--delta is {', '.join(deltas)!r}; expected numbers such as 0.1 or 0.1,0.05") from None


def _show(study: "Study", interrupted: bool, json: bool) -> None:
    from paretoguard.cli.layout import print_study
    from paretoguard.trial import promises

    if not json:
        print_study(answers(), study)
        return
    assumptions: dict[str, dict[str, tuple[str, ...]]] = {}  # of each label in the summary, by instance and evidence
    for cell in study.cells:
        name, _, evidence, _ = cell.labels
        assumptions.setdefault(name, {})[evidence] = promises.assumptions(cell.instance.problem, cell.evidence)
    head = {**study.design._asdict(), "runs": len(study.records), "interrupted": interrupted}
    print_json({**head, "summary": study.summary(), "assumptions": assumptions})


def _save(study: "Study", out: Path | None, csv: Path | None, plot: Path | None) -> None:
    drawn = plot if len(study.records) else None
    for what, path, write in (
        ("study", out, study.save),
        ("records", csv, study.to_csv),
        ("picture", drawn, study.plot),
    ):
        if path is not None:
            write(path)
            on_stderr().print(f"{what}: {path}", soft_wrap=True)


def _draw_trace(study: "Study", path: Path | None) -> None:
    """Draw run 0 of each kind; of an interrupted study, of those in which it had finished."""
    if path is None or not (study.records["run"] == 0).any():
        return
    from paretoguard.cli.live import compiling
    from paretoguard.pictures.run import draw_traces

    console = on_stderr()
    with compiling(console):
        traces = study.trace()
    draw_traces(traces, path)
    console.print(f"trace: {path}", soft_wrap=True)
