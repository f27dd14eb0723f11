"""Lines from outside, of any bytes and any length; and the results in them: CSV with a header, or JSON lines."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from paretoguard.errors import FileError, SampleError

LONGEST = 100_000  # bytes of a line
_TICKET, _ARM, _KEY = _WORDS = ("ticket", "arm", "key")


def stdin() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise FileError("stdin is closed; give a file or a pipe: … < FILE")
    return sys.stdin.buffer


def pieces(stream: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield the lines of a stream; of a line with more than `longest` bytes only the first `longest` + 1."""
    while line := stream.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):
            line = stream.readline(longest + 1)


# --- values ---------------------------------------------------------------------------------------------------------


def pairs(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of texts such as `efficacy=1`."""
    return _once(map(_pair, texts))


def _pair(text: str) -> tuple[str, Any]:
    name, equals, raw = (word.strip() for word in text.partition("="))
    if not equals or not name:
        raise _wrong(f"got {text!r}, expected OBJECTIVE=VALUE, such as efficacy=1")
    return name, _number(raw)


def ticket_number(raw: Any) -> int | None:
    """Return the number of a ticket, or None if there is none."""
    text = str(raw).strip() if raw is not None else ""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise _wrong(f"the ticket is {raw!r}, expected its number, as `ask` gave it")
    return int(text)


def _number(raw: str) -> Any:
    """Return the number that a text says, or else the text, which is refused later with its objective's name."""
    try:
        return float(raw) if raw.isascii() and "_" not in raw else raw  # Python reads 1_0 and digits of all scripts
    except ValueError:
        return raw


def _once(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the items by name. Refuse a name that is given twice."""
    found: dict[str, Any] = {}
    for name, value in items:
        if name in found:
            raise _wrong(f"{name} is given twice")
        found[name] = value
    return found


def _wrong(message: str) -> SampleError:
    return SampleError(message, arm="", values=None)


# --- lines of results -----------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """One result, or what is wrong with its line."""

    number: int
    ticket: int | None = None
    arm: str | None = None
    values: dict[str, Any] = {}  # noqa: RUF012 - never changed
    key: str | None = None
    error: SampleError | None = None


def results(stream: BinaryIO) -> Iterator[Line]:
    """Yield the results in a stream of lines, JSON or CSV by the first character that is no blank."""
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


def _from_json(at: int, raw: bytes) -> Line:
    try:
        text = _text(raw)
        content = json.loads(text, object_pairs_hook=_once)
        if not isinstance(content, dict):
            raise _wrong(f"got {text.strip()[:60]!r}, expected a JSON object")
        values = {name: value for name, value in content.items() if name not in _WORDS}
        key: Any = content.get(_KEY)
        key = str(key) if isinstance(key, int) and not isinstance(key, bool) else key  # as CSV would have it
        return Line(at, ticket_number(content.get(_TICKET)), content.get(_ARM), values, key)
    except SampleError as error:
        return Line(at, error=error)
    except json.JSONDecodeError as error:
        return Line(at, error=_wrong(f"this is not JSON: {error.msg} at character {error.pos + 1}"))
    except (ValueError, RecursionError) as error:
        return Line(at, error=_wrong(f"this is not JSON: {error}"))


def _from_csv(header: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Line]:
    try:
        names = [name.strip() for name in next(csv.reader([header]))]
    except csv.Error:  # a line break of another kind within it, for one
        names = []
    if len(set(names)) < len(names) or not {_TICKET, _ARM} & set(names):
        raise _wrong(
            f"the first line is {header.strip()[:80]!r}; expected the names of columns, each once: "
            f"{_TICKET} or {_ARM}, and objectives"
        )
    for at, raw in lines:
        try:
            cells = next(csv.reader([_text(raw)], strict=True))
            if len(cells) != len(names):
                raise _wrong(f"got {len(cells)} cells, expected {len(names)}: {', '.join(names)}")
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            values = {name: _number(cell) for name, cell in row.items() if name not in _WORDS and cell}
            yield Line(at, ticket_number(row.get(_TICKET)), row.get(_ARM) or None, values, row.get(_KEY) or None)
        except SampleError as error:
            yield Line(at, error=error)
        except csv.Error as error:
            yield Line(at, error=_wrong(f"this is not CSV: {error}"))
