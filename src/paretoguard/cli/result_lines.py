"""Results on the command line and on stdin: `efficacy=1 safety=0`, CSV with a header, or JSON lines."""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from paretoguard.cli.stdin import pieces
from paretoguard.errors import SampleError

LONGEST = 100_000  # bytes of a line
TICKET, ARM, KEY = WORDS = ("ticket", "arm", "key")


class Line(NamedTuple):
    """One result, or what is wrong with its line."""

    number: int
    ticket: int | None = None
    arm: str | None = None
    values: dict[str, Any] = {}  # noqa: RUF012 - never changed
    key: str | None = None
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
        return float(raw) if raw.isascii() and "_" not in raw else raw  # Python reads 1_0 and digits of all scripts
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


def read(stream: BinaryIO) -> Iterator[Line]:
    """The results in a stream of lines, JSON or CSV by the first character that is no blank."""
    lines = ((at, raw) for at, raw in enumerate(pieces(stream, LONGEST), start=1) if raw.strip())
    for at, raw in lines:
        try:
            first = _text(raw).lstrip("\ufeff")
        except SampleError as error:
            yield Line(at, error=error)
            continue
        if first.lstrip().startswith("{"):
            yield _from_json(at, first.encode())
            yield from (_from_json(*line) for line in lines)
        else:
            yield from _from_csv(first, lines)


def _text(raw: bytes) -> str:
    if len(raw) > LONGEST:
        raise _wrong(f"the line has more than {LONGEST:,} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise _wrong(f"the line is not UTF-8: byte {error.start + 1} is {raw[error.start]:#x}") from None


def _once(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, each of whose names is given once."""
    found: dict[str, Any] = {}
    for name, value in items:
        if name in found:
            raise _wrong(f"{name} is given twice")
        found[name] = value
    return found


def _from_json(at: int, raw: bytes) -> Line:
    try:
        text = _text(raw)
        content = json.loads(text, object_pairs_hook=_once)
        if not isinstance(content, dict):
            raise _wrong(f"got {text.strip()[:60]!r}, expected a JSON object")
        values = {key: value for key, value in content.items() if key not in WORDS}
        return Line(at, ticket_number(content.get(TICKET)), content.get(ARM), values, _key(content.get(KEY)))
    except SampleError as error:
        return Line(at, error=error)
    except json.JSONDecodeError as error:
        return Line(at, error=_wrong(f"this is not JSON: {error.msg} at character {error.pos + 1}"))
    except (ValueError, RecursionError) as error:
        return Line(at, error=_wrong(f"this is not JSON: {error}"))


def _key(given: Any) -> Any:
    """A key as CSV would have it: a number is a text, too."""
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


def _from_csv(header: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Line]:
    try:
        names = [name.strip() for name in next(csv.reader([header]))]
    except csv.Error:  # a line break of another kind within it, for one
        names = []
    if len(set(names)) < len(names) or not {TICKET, ARM} & set(names):
        raise _wrong(
            f"the first line is {header.strip()[:80]!r}; expected the names of columns, each once: "
            f"{TICKET} or {ARM}, and objectives"
        )
    for at, raw in lines:
        try:
            cells = next(csv.reader([_text(raw)], strict=True))
            if len(cells) != len(names):
                raise _wrong(f"got {len(cells)} cells, expected {len(names)}: {', '.join(names)}")
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            values = {name: number(cell) for name, cell in row.items() if name not in WORDS and cell}
            yield Line(at, ticket_number(row.get(TICKET)), row.get(ARM) or None, values, row.get(KEY) or None)
        except SampleError as error:
            yield Line(at, error=error)
        except csv.Error as error:
            yield Line(at, error=_wrong(f"this is not CSV: {error}"))


def _wrong(message: str) -> SampleError:
    return SampleError(message, arm="", values=None)
