"""A folder of reproduced results: what is written there for each, and its page.

python -m paretoguard.papers.folder papers/kone2025    fills the tables of README.md from the data beside it
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from paretoguard.errors import FileError
from paretoguard.papers import NAMES, TITLES
from paretoguard.papers.outcome import Outcome, read, runtimes, write

TIMES = "all.timing.csv"
START, END = "<!-- results -->\n", "<!-- end -->"


def keep(name: str, outcome: Outcome, folder: Path, seconds: float) -> list[Path]:
    """Write the data, the comparison, the pictures and the times of a result; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{name}{suffix}" for suffix in (".csv", ".comparison.csv", ".svg", ".png", ".timing.csv")]
    with TemporaryDirectory(dir=folder, prefix=".") as beside:  # all or none: Ctrl-C leaves the files of one run
        files = [Path(beside, one) for one in names]
        write(outcome.rows, files[0])
        write([asdict(line) for line in outcome.lines], files[1])
        for picture in files[2:4]:
            outcome.draw(picture)
        write(outcome.timing, files[4])
        for file in files:
            file.replace(folder / file.name)
    taken = (_seconds(folder) if (folder / TIMES).exists() else {}) | {name: seconds}
    write([{"result": one, "seconds": taken[one]} for one in NAMES if one in taken], folder / TIMES)
    return [folder / one for one in names]


def _seconds(folder: Path) -> dict[str, float]:
    return {row["result"]: float(row["seconds"]) for row in read(folder / TIMES)}


def is_page(path: Path) -> bool:
    return path.is_file() and START in path.read_text(encoding="utf-8")


def fill(page: str, folder: Path) -> str:
    """Return the page with its tables replaced by what the folder holds."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise FileError(f"the page has no place for results: expected {START.strip()} and then {END}")
    pictures = (
        f"## {name}\n{title if title.endswith('?') else f'{title}.'}\n\n![{title}]({name}.png)"
        for name, title in TITLES.items()
    )
    parts = [_comparisons(folder), _runtimes(folder), _makings(folder), *pictures]
    return before + start + "\n\n".join(parts) + "\n" + end + after


def _comparisons(folder: Path) -> str:
    columns = ("what", "paper", "ours", "agrees", "why")
    cells = [
        [f"[{name}](#{name})", *(row[column] for column in columns)]
        for name in NAMES
        for row in read(folder / f"{name}.comparison.csv")
    ]
    return _table(["result", "what", "the paper", "ours", "agrees", "why, or what was decided"], cells)


def _runtimes(folder: Path) -> str:
    rows = runtimes(row for name in NAMES for row in read(folder / f"{name}.timing.csv"))
    title = "Table 2 of the paper: CPU time of a run (another machine, and mostly other means)."
    return f"{title}\n\n" + _table(list(rows[0]), [list(row.values()) for row in rows])


def _makings(folder: Path) -> str:
    """Return the table of how each result was made, and how long that took."""
    seconds, cells = _seconds(folder), []
    kinds = {"data": ".csv", "comparison": ".comparison.csv", "times": ".timing.csv", "picture": ".svg"}
    for name in NAMES:
        links = " · ".join(f"[{word}]({name}{suffix})" for word, suffix in kinds.items())
        cells.append([f"`paretoguard paper {name}`", _runs(name, folder), "0", f"{seconds[name]:.0f}", links])
    cells.append(["`paretoguard paper --all`", "", "0", f"{sum(seconds[name] for name in NAMES):.0f}", ""])
    return _table(["command", "runs of each kind", "seed", "seconds", "data"], cells)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _runs(name: str, folder: Path) -> str:
    rows = read(folder / f"{name}.csv")
    if "runs" in rows[0]:
        counts = sorted({int(row["runs"]) for row in rows})
    else:
        runs: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            runs[row["instance"]].add(row["run"])
        counts = sorted({len(each) for each in runs.values()})
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


if __name__ == "__main__":
    place = Path(sys.argv[1])
    readme = place / "README.md"
    readme.write_text(fill(readme.read_text(encoding="utf-8"), place), encoding="utf-8")
