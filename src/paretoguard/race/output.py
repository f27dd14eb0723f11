"""What a command prints, as numbers: a JSON object on a line of its own, or regular expressions."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.race.sources import RunFailedError

MOST_OUTPUT = 1_000_000  # characters that are looked at, from the end


def read_patterns(given: Mapping[str, Any]) -> dict[str, re.Pattern[str]]:
    """The regular expressions of measure.metrics."""
    found = {}
    for name, text in given.items():
        try:
            found[name] = re.compile(text, re.MULTILINE)
        except (re.error, TypeError) as error:
            raise ProblemError(f"measure.metrics.{name} is {text!r}, which is no regular expression: {error}") from None
        if found[name].groups != 1:
            raise ProblemError(f"measure.metrics.{name} is {text!r}, expected one (group), which holds the number")
    return found


def read_printed(output: str, patterns: Mapping[str, re.Pattern[str]]) -> dict[str, Any]:
    """The numbers in what was printed: of several JSON objects or matches, the last."""
    found: dict[str, Any] = {}
    for line in reversed(output.splitlines()):
        if line.lstrip().startswith("{"):
            try:
                content = json.loads(line)
            except ValueError:
                continue
            if isinstance(content, dict):
                found = content
                break
    for name, pattern in patterns.items():
        matches = pattern.findall(output)
        if matches:
            found[name] = matches[-1]
    return found


def as_number(name: str, value: Any, measured: Mapping[str, Any]) -> float:
    """A number that was printed, perhaps as a text; anything else is a failure of the run."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, list | dict) or not math.isfinite(number):
        lasting = isinstance(value, list | dict) or value is None
        raise RunFailedError(f"{name} is {str(value)[:80]!r}, expected a number", measured, lasting=lasting)
    return number
