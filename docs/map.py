"""Write the map of the house into CONTRIBUTING.md: `python docs/map.py`; with --check, say only whether it is current.

The order is that of the layer contract in pyproject.toml, first the rooms that import nothing; what a room is for is
the first sentence of its docstring.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map: written by docs/map.py -->\n", "<!-- end of map -->\n"
PACKAGE = "paretoguard"
HIDDEN = {"__main__"}


def layers() -> list[str]:
    """Return the rooms, first those that import nothing."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    found = next(each["layers"] for each in contracts if each.get("containers") == [PACKAGE])
    rooms = [room.strip(" ()") for layer in reversed(found) for room in layer.split("|")]
    return [room for room in rooms if room not in HIDDEN]


def purpose(place: Path) -> str:
    """Return the first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(place.read_text())) or ""
    return re.split(r"(?<=\.)\s|\n\n", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".")


def inside(room: Path) -> str:
    """Return the packages in a room, in brackets."""
    found = sorted(each.parent.name for each in room.glob("*/__init__.py"))
    return f" (with {', '.join(f'{name}/' for name in found)})" if found else ""


def lines() -> Iterator[str]:
    """Yield the map, a line for each room."""
    rooms = layers()
    width = max(map(len, rooms)) + 2
    for room in rooms:
        folder = ROOT / "src" / PACKAGE / room
        place = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        name = f"{room}/" if folder.is_dir() else room
        yield f"    {name:{width}}{purpose(place)}{inside(folder)}\n"


def rewritten(page: str) -> str:
    """Return the page with the map of now."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not tail:
        raise SystemExit(f"{PAGE.name} has no lines '{BEGIN.strip()}' and '{END.strip()}' to write the map between")
    return f"{head}{BEGIN}\n{''.join(lines())}\n{END}{tail}"


def main() -> None:
    """Write the map, or check it."""
    old = PAGE.read_text()
    new = rewritten(old)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if new == old else f"{PAGE.name} has an old map; run `python docs/map.py`")
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
