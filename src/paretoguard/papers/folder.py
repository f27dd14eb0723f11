"""A folder of reproduced results: what is written there for each, and its page.

python -m paretoguard.papers.folder papers/kone2025    fills the tables of README.md from the data beside it
"""

import sys
from dataclasses import asdict
from pathlib import Path

from paretoguard.errors import FileError
from paretoguard.papers import NAMES, script
from paretoguard.papers.outcome import Outcome, read, write

TIMES = "all.timing.csv"
START, END = "<!-- results -->\n", "<!-- end -->"


def keep(name: str, outcome: Outcome, folder: Path, seconds: float) -> list[Path]:
    """Write the data, the comparison, the times and the pictures of a result."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}{suffix}" for suffix in (".csv", ".comparison.csv", ".svg", ".png")]
    write(outcome.rows, files[0])
    write([asdict(line) for line in outcome.lines], files[1])
    for picture in files[2:]:
        outcome.draw(picture)
    if outcome.timing:
        files.append(folder / f"{name}.timing.csv")
        write(outcome.timing, files[-1])
    _keep_seconds(name, seconds, folder / TIMES)
    return files


def _keep_seconds(name: str, seconds: float, path: Path) -> None:
    taken = {row["result"]: float(row["seconds"]) for row in read(path)} if path.exists() else {}
    taken[name] = seconds
    write([{"result": one, "seconds": taken[one]} for one in NAMES if one in taken], path)


def fill(page: str, folder: Path) -> str:
    """The page with its tables replaced by what the folder holds."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise FileError(f"the page has no place for results: expected {START.strip()} and then {END}")
    seconds = {row["result"]: float(row["seconds"]) for row in read(folder / TIMES)}
    return before + start + "\n".join(_section(name, folder, seconds[name]) for name in NAMES) + end + after


def _section(name: str, folder: Path, seconds: float) -> str:
    lines = [
        f"## {script(name).TITLE}",
        f"`paretoguard paper {name}` · {_runs(name, folder)} · seed 0 · {seconds:.0f} s · [data]({name}.csv)",
        "",
        "| what | the paper | ours | agrees | |",
        "|---|---|---|---|---|",
    ]
    for row in read(folder / f"{name}.comparison.csv"):
        lines.append("| " + " | ".join(row[part] for part in ("what", "paper", "ours", "agrees", "why")) + " |")
    return "\n".join([*lines, "", f"![{script(name).TITLE}]({name}.png)", ""])


def _runs(name: str, folder: Path) -> str:
    """How many runs of each kind there are."""
    rows = read(folder / f"{name}.csv")
    if "runs" in rows[0]:
        counts = sorted({int(row["runs"]) for row in rows})
    elif "run" in rows[0]:
        counts = [1 + max(int(row["run"]) for row in rows)]
    else:
        counts = [script(name).RUNS]
    return f"{counts[0]:,} runs" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} runs"


def main() -> None:
    """Fill the page of the folder given."""
    folder = Path(sys.argv[1])
    page = folder / "README.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
