"""Where commands print: answers on stdout, everything else on stderr."""

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from rich.console import Console

PIPE_WIDTH = 120  # columns, where there is no terminal to ask


class Screen(Console):
    """A rich console that prints texts as they are: names may hold brackets, numbers keep their colour."""

    def __init__(self, *, stderr: bool) -> None:
        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Rich would exit with 1 here, which means "undecided"."""
        raise BrokenPipeError


def answers() -> Screen:
    """The screen for answers."""
    return Screen(stderr=False)


def remarks() -> Screen:
    """The screen for progress and remarks."""
    return Screen(stderr=True)


def as_json(content: Mapping[str, Any]) -> str:
    """One JSON object; what is not a number is null."""
    return json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def print_json(content: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    sys.stdout.write(as_json(content))
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
