"""Results on the command line and on stdin: `efficacy=1 safety=0`, CSV with a header, or JSON lines."""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from paretoguard.errors import SampleError

LONGEST = 100_000  # characters of a line
TICKET, ARM = "ticket", "arm"


class Line(NamedTuple):
    """One result, or what is wrong with its line."""

    number: int
    ticket: int | None = None
    arm: str | None = None
    values: dict[str, Any] = {}  # noqa: RUF012 - never changed
    error: SampleError | None = None


def pairs(texts: Iterable[str]) -> dict[str, Any]:
    """The values of `name=value` texts."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, raw = (word.strip() for word in text.partition("="))
        if not equals or not name:
            raise _wrong(f"got {text!r}, expected OBJECTIVE=VALUE, such as efficacy=1")
        if name in found:
            raise _wrong(f"{name} is given twice")
        found[name] = number(raw)
    return found


def number(raw: str) -> Any:
    """The number that a text says, or else the text, which is refused later with its objective's name."""
    try:
        return float(raw)
    except ValueError:
        return raw


def ticket_number(raw: Any) -> int | None:
    """The number of a ticket, or None where there is none."""
    text = str(raw).strip() if raw is not None else ""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise _wrong(f"the ticket is {raw!r}, expected its number, as `ask` gave it")
    return int(text)


def read(stream: Iterable[str]) -> Iterator[Line]:
    """The results in a stream of lines, JSON or CSV by the first character that is no blank."""
    lines = ((at, text) for at, text in enumerate(stream, start=1) if text.strip())
    first = next(lines, None)
    if first is None:
        return
    if first[1].lstrip("\ufeff \t").startswith("{"):
        yield from (_from_json(at, text) for at, text in _again(first, lines))
    else:
        yield from _from_csv(first[1].lstrip("\ufeff"), lines)


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _from_json(at: int, text: str) -> Line:
    try:
        content = json.loads(_short(text))
        if not isinstance(content, dict):
            raise _wrong(f"got {text.strip()[:60]!r}, expected a JSON object")
        values = {key: value for key, value in content.items() if key not in (TICKET, ARM)}
        return Line(at, ticket_number(content.get(TICKET)), content.get(ARM), values)
    except SampleError as error:
        return Line(at, error=error)
    except json.JSONDecodeError as error:
        return Line(at, error=_wrong(f"this is not JSON: {error.msg} at character {error.pos + 1}"))
    except (ValueError, RecursionError) as error:
        return Line(at, error=_wrong(f"this is not JSON: {error}"))


def _from_csv(header: str, lines: Iterator[tuple[int, str]]) -> Iterator[Line]:
    names = [name.strip() for name in next(csv.reader([header]))]
    if len(set(names)) < len(names) or not {TICKET, ARM} & set(names):
        raise _wrong(
            f"the first line is {header.strip()[:80]!r}; expected the names of columns, each once: "
            f"{TICKET} or {ARM}, and objectives"
        )
    for at, text in lines:
        try:
            cells = next(csv.reader([_short(text)], strict=True))
            if len(cells) != len(names):
                raise _wrong(f"got {len(cells)} cells, expected {len(names)}: {', '.join(names)}")
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            values = {name: number(cell) for name, cell in row.items() if name not in (TICKET, ARM) and cell}
            yield Line(at, ticket_number(row.get(TICKET)), row.get(ARM) or None, values)
        except SampleError as error:
            yield Line(at, error=error)
        except csv.Error as error:
            yield Line(at, error=_wrong(f"this is not CSV: {error}"))


def _short(text: str) -> str:
    if len(text) > LONGEST:
        raise _wrong(f"the line has {len(text):,} characters, more than {LONGEST:,}")
    return text


def _wrong(message: str) -> SampleError:
    return SampleError(message, arm="", values=None)
