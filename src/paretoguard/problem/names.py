"""Names as users write them: which are usable, and which one was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from paretoguard.errors import ProblemError

SHOWN = 8  # names listed in a message before it says how many more there are


def listed(names: Iterable[str]) -> str:
    """The names in quotes, shortened when there are many.

    >>> listed(["cost", "latency"])
    "'cost', 'latency'"
    """
    known = list(names)
    shown = ", ".join(f"'{name}'" for name in known[:SHOWN])
    return shown if len(known) <= SHOWN else f"{shown} and {len(known) - SHOWN} more"


def suggestion(word: str, names: Iterable[str]) -> str:
    """How a message about an unknown name ends: with the nearest known name, or else with those that are known.

    >>> suggestion("safty", ["efficacy", "safety"])
    "did you mean 'safety'?"
    """
    known = list(names)
    near = get_close_matches(word, known, n=1) or get_close_matches(word.lower(), known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"expected one of {listed(known)}" if known else "there are none here"


def check_name(what: str, name: Any) -> str:
    """Return the name of a `what` (an arm, an objective, a constraint) if it is usable, else refuse it."""
    if not isinstance(name, str):
        raise ProblemError(f"{what} {name!r} is not a name: got {type(name).__name__}, expected a string")
    if not name.strip():
        raise ProblemError(f"{what} {name!r} is empty; give it a name")
    if name != name.strip():
        raise ProblemError(f"{what} {name!r} begins or ends with a space; write {name.strip()!r}")
    if not name.isprintable():
        raise ProblemError(f"{what} {name!r} holds a character that cannot be printed; remove it")
    return name


def check_names(what: str, names: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of every `what` in order, refusing unusable and repeated ones."""
    checked: dict[str, int] = {}
    for place, name in enumerate(names):
        if check_name(what, name) in checked:
            raise ProblemError(
                f"{what} '{name}' is given twice, at places {checked[name] + 1} and {place + 1}; remove or rename one"
            )
        checked[name] = place
    return tuple(checked)
