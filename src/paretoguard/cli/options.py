"""Options and arguments that several commands share."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

# What shells complete; written down here, because loading the parts takes seconds.
ALGORITHMS = ("pitfall", "e-cape", "two-stage", "racing", "uniform", "game-cpsi")
EVIDENCE = ("certified", "practical", "lil", "hanson-wright", "theorem", "glr")
ORDERS = ("arrival", "asked")
STORAGE_VARIABLE = "PARETOGUARD_STORAGE"


def completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that gives the words that begin as typed."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def prose(text: str | None) -> str:
    """Return a docstring as help: paragraphs without line breaks, so that they wrap at the terminal's width."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout; everything else goes to stderr.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a picture into this file (.png, .svg or .pdf).")]
Output = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write. \\[default: stdout]")]

# --- of a live experiment -------------------------------------------------------------------------------------------

Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")]
NameOrFile = Annotated[str, typer.Argument(metavar="NAME|FILE", help="The experiment, or the problem file of a race.")]
Place = Annotated[
    str | None,
    typer.Option(
        "--storage",
        metavar="URL",
        help=f"The database. \\[default: {STORAGE_VARIABLE}, else sqlite:///paretoguard.db in this folder]",
    ),
]

# --- of a run and of a study ----------------------------------------------------------------------------------------

Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Seed of simulated measurements and of random choices. \\[default: the file's, else 0]"
    ),
]
Budget = Annotated[
    int | None, typer.Option(metavar="N", help="Stop after so many samples. \\[default: the file's, else none]")
]

# --- of a run: one value --------------------------------------------------------------------------------------------

Algorithm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What chooses the next arm. \\[default: the file's, else pitfall]",
        autocompletion=completing(ALGORITHMS),
    ),
]
Evidence = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="When to believe a claim. \\[default: the file's, else one with a finite-sample guarantee]",
        autocompletion=completing(EVIDENCE),
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(metavar="P", help="Accepted probability of a wrong claim. \\[default: the file's, else 0.05]"),
]

# --- of a study: several values -------------------------------------------------------------------------------------

Algorithms = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="What chooses the next arm: pitfall, e-cape, two-stage, racing, uniform, game-cpsi; repeat it, or use "
        "commas. \\[default: the file's, else pitfall]",
        autocompletion=completing(ALGORITHMS),
    ),
]
Evidences = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="When to believe a claim: certified, practical, lil, hanson-wright, theorem; as above. "
        "\\[default: the file's, else practical]",
        autocompletion=completing(EVIDENCE),
    ),
]
Deltas = Annotated[
    list[str] | None,
    typer.Option(
        metavar="P", help="Accepted probability of a wrong claim; as above. \\[default: the file's, else 0.1]"
    ),
]
Runs = Annotated[int, typer.Option(metavar="N", help="Runs of each kind.")]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Threads; results are the same. \\[default: all cores]")]
Batch = Annotated[int, typer.Option(metavar="N", help="Arms pulled before the next decision, such as a cohort.")]
TracePicture = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Draw the first run of each kind, sample by sample, into this file (.png, .svg or .pdf).",
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the study (.npz), for pg.Study.load.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the records, one line per run.")]
