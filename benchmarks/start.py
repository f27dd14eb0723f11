"""Seconds to a first result: each command and the README's ten lines, compiled at once and as it is by default.

    python benchmarks/start.py            everything; writes benchmarks/results/start.csv and the table in docs/speed.md
    python benchmarks/start.py --only run cases whose name holds this text; writes nothing

Cold: no machine code on disk. Warm: the same once more, with what the first left there. Each in a process of its own,
in a copy of the same folder. By turns, so that both kinds see the same machine.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rows
from table import put

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "speed.md"
RESULTS = Path(__file__).parent / "results" / "start.csv"
COMMAND = str(Path(sys.executable).with_name("paretoguard"))
DOSES = str(ROOT / "examples" / "trial" / "doses.toml")
TEN_LINES = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[0]
WARM = 3  # times
PATIENTS = 40  # told before the commands are measured
TIERS = ("compiled", "auto")
TEN, RUN = "ten lines of Python", "run examples/dose-finding.toml"
BAR = 1.0  # seconds by default, cold or warm: the aim is 0.5, which only some commands reach …
BARS = {TEN: 2.0, RUN: 60.0, "report": 2.5}  # … but for these: a report is drawn by matplotlib …
SHARE = 0.6  # … and at most this share of the time that compiling at once takes, for `RUN`
CASES = {
    TEN: [sys.executable, "-c", TEN_LINES],
    "create": [COMMAND, "create", DOSES, "--name", "other"],
    "ask": [COMMAND, "ask", "doses", "-n", "4"],
    "tell": [COMMAND, "tell", "doses", str(PATIENTS), "efficacy=1", "safety=1"],
    "retract": [COMMAND, "retract", "doses", "3", "--reason", "entered twice"],
    "status": [COMMAND, "status", "doses"],
    "list": [COMMAND, "list"],
    "report": [COMMAND, "report", "doses", "-o", "doses.html"],
    RUN: [COMMAND, "run", str(ROOT / "examples" / "dose-finding.toml")],
}


def begin(folder: Path) -> None:
    """Make the ledger that the live commands are measured on."""
    results = "".join(f"{number},{number % 2},{(number + 1) % 2}\n" for number in range(PATIENTS))
    for words, given in (
        (["create", DOSES], ""),
        (["ask", "doses", "-n", str(PATIENTS + 1)], ""),
        (["tell", "doses"], f"ticket,efficacy,safety\n{results}"),
    ):
        subprocess.run([COMMAND, *words], cwd=folder, input=given, text=True, check=True, capture_output=True)


def seconds(words: list[str], ledger: Path, cache: Path, tier: str) -> float:
    """Return how long a command takes, on a copy of the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ledger, folder, dirs_exist_ok=True)
        environment = {**os.environ, "PARETOGUARD_CACHE_DIR": str(cache), "PARETOGUARD_TIER": tier}
        begun = time.perf_counter()
        subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
        return time.perf_counter() - begun


def measured(name: str, ledger: Path) -> dict[str, object]:
    found: dict[str, object] = {"what": name}
    with tempfile.TemporaryDirectory() as caches:
        for tier in TIERS:
            found[f"cold_{tier}_s"] = seconds(CASES[name], ledger, Path(caches) / tier, tier)
        warm: dict[str, list[float]] = {tier: [] for tier in TIERS}
        for _ in range(WARM):
            for tier, times in warm.items():
                times.append(seconds(CASES[name], ledger, Path(caches) / tier, tier))
    return found | {f"warm_{tier}_s": statistics.median(times) for tier, times in warm.items()}


def fill(page: str, found: list[dict[str, str]]) -> str:
    """Return the page with the table of these rows."""
    lines = [
        "| seconds to the end of | cold, compiled at once | cold | warm, compiled | warm |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in found:
        numbers = (float(row[f"{state}_{tier}_s"]) for state in ("cold", "warm") for tier in TIERS)
        lines.append(f"| {row['what']} | {' | '.join(f'{number:.2f}' for number in numbers)} |")
    return put(page, {"start": "\n".join(lines)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name holds this text")
    only = parser.parse_args().only
    table = []
    with tempfile.TemporaryDirectory() as folder:
        begin(Path(folder))
        for name in CASES:
            if only in name:
                table.append(measured(name, Path(folder)))
                print(*(f"{cell:.2f}" if isinstance(cell, float) else cell for cell in table[-1].values()), flush=True)
    if not only:
        rows.write(table, RESULTS)
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), rows.read(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
