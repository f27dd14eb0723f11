"""Options and arguments that several commands share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from paretoguard.vocabulary import ALGORITHM_NAMES, EVIDENCE_NAMES

STORAGE_VARIABLE = "PARETOGUARD_STORAGE"


def completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that gives the words that begin as typed."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def option(metavar: str, text: str, default: str = "", *names: str, words: Sequence[str] = (), **limits: Any) -> Any:
    """Return an option. The words for a default that typer cannot know end its help; shells complete `words`."""
    said = text + (f" \\[default: {default}]" if default else "")
    complete = completing(words) if words else None
    return typer.Option(*names, metavar=metavar, help=said, autocompletion=complete, **limits)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout; everything else goes to stderr.")]
Output = Annotated[Path | None, option("FILE", "Where to write.", "stdout", "--out", "-o")]
Plot = Annotated[Path | None, option("FILE", "Draw a picture into this file (.png, .svg or .pdf).")]
Threads = Annotated[int | None, option("N", "Threads; results are the same.", "all cores")]

Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")]
NameOrFile = Annotated[str, typer.Argument(metavar="NAME|FILE", help="The experiment, or the problem file of a race.")]
StorageUrl = Annotated[
    str | None,
    option("URL", "The database.", f"{STORAGE_VARIABLE}, else sqlite:///paretoguard.db in this folder", "--storage"),
]

Seed = Annotated[int | None, option("N", "Seed of simulated measurements and of random choices.", "the file's, else 0")]
Budget = Annotated[int | None, option("N", "Stop after so many samples.", "the file's, else none")]
AlgorithmName = Annotated[
    str | None, option("NAME", "What chooses the next arm.", "the file's, else pitfall", words=ALGORITHM_NAMES)
]
AlgorithmNames = Annotated[
    list[str] | None,
    option(
        "NAME",
        f"What chooses the next arm: {', '.join(ALGORITHM_NAMES)}; repeat it, or use commas.",
        "the file's, else pitfall",
        words=ALGORITHM_NAMES,
    ),
]
EvidenceName = Annotated[
    str | None,
    option(
        "NAME", "When to believe a claim.", "the file's, else one with a finite-sample guarantee", words=EVIDENCE_NAMES
    ),
]
Delta = Annotated[float | None, option("P", "Accepted probability of a wrong claim.", "the file's, else 0.05")]
Runs = Annotated[int, option("N", "Runs of each kind.")]
BatchSize = Annotated[int, option("N", "Arms pulled before the next decision, such as a cohort.")]
