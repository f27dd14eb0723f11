"""What is measured of a command besides what it prints, and the noise that is assumed where a file states none."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.files.formulas import Formula
from paretoguard.problem.grammar import QUANTILE
from paretoguard.problem.names import check_name
from paretoguard.problem.noise import Bernoulli, Exact, Noise, Unknown

FAILED = "failed"
MEASURES = {
    "wall_ms": "time from start to end",
    "wall_s": "the same in seconds",
    "user_ms": "time of the processor in the program, without the system's",
    "peak_mb": "the largest resident memory of a process of it, in units of 1,000,000 bytes",
    "exit_code": "0 where all went well",
    "output_bytes": "how much it printed",
    "input_bytes": "the size of the files that were drawn for it",
    FAILED: "1 where it did not end well, else 0",
}
STEADY = ("exit_code", "output_bytes", "input_bytes")  # the same each time, where the input is


def read_formulas(given: Any) -> dict[str, Formula]:
    """The derived objectives of a file, each by what is measured or derived before it."""
    if not isinstance(given, Mapping):
        raise ProblemError(f"derived is {given!r}, expected a table of formulas [derived]")
    found: dict[str, Formula] = {}
    for name, text in given.items():
        if check_name("derived objective", name) in MEASURES:
            raise ProblemError(f"derived.{name} has the name of {MEASURES[name]}, which is measured; rename it")
        found[name] = Formula(name, text)
        later = found[name].names & (given.keys() - found.keys() | {name})
        if later:
            raise ProblemError(f"derived.{name} = {text!r} uses '{min(later)}', which is not derived before it")
    return found


def check_constrained(texts: Iterable[Any], objectives: Iterable[str], derived: Iterable[str]) -> None:
    """Refuse a constraint on what is measured or derived, perhaps misspelt, but no objective: say how to make it one.

    Quantiles, and names that are like an objective's, are left to the grammar of constraints, which has better advice.
    """
    named, known = list(objectives), [*derived, *MEASURES]
    for text in (text for text in texts if isinstance(text, str) and "`" not in text):
        for word in re.findall(r"\b[^\W\d]\w*", text):
            near = get_close_matches(word, [*named, *known], n=1)
            if word not in named and near and near[0] not in named and not QUANTILE.search(word):
                meant = "" if near[0] == word else f"if '{near[0]}' is meant, "
                raise ProblemError(
                    f"constraint {text!r} names no objective '{word}'; {meant}write {near[0]} = \"guard\" under "
                    "[objectives], which makes it a limit and no goal"
                )


def is_steady(measure: Mapping[str, Any]) -> bool:
    """Is every run of a command the same, but for how long it takes?"""
    varied = any(key in measure for key in ("inputs", "prepare", "callable", "data"))
    return not varied and measure.get("on_failure") != "infeasible"


def assumed_noise(name: str, formulas: Mapping[str, Formula], *, steady: bool) -> Noise:
    """Times vary by an unknown amount; a rate is of 0 and 1; a size is exact, where every run is the same."""
    if name in formulas:
        if formulas[name].is_test:
            return Bernoulli()
        parts = [assumed_noise(part, formulas, steady=steady) for part in formulas[name].names]
        return Exact() if all(isinstance(part, Exact) for part in parts) else Unknown()
    if name == FAILED:
        return Bernoulli()
    return Exact() if name in STEADY and steady else Unknown()
