"""CPU seconds of a first use with nothing on disk: with `compiler/numba_pipeline.py`, and with numba as it is.

    python benchmarks/first_compile.py    writes benchmarks/results/first_compile.csv and the table in docs/speed.md

Each case runs in processes of its own, with an empty cache folder; the two variants take turns.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import rows
from table import put

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
RESULTS = Path(__file__).parent / "results" / "first_compile.csv"
REPEATS = 3
CASES = {
    "identify e-cape certified": """
        problem = pg.Problem({"gain": "max", "safety": "max"}, arms=["a", "b", "c"], noise=pg.Bernoulli(),
                             constraints=["safety >= 0.3"])
        pg.identify(problem, lambda arm: {"gain": 1, "safety": 1}, budget=30)
    """,
    "simulate e-cape practical": """
        pg.simulate("explainability", algorithms="e-cape", evidence="practical", runs=2, budget=1000, threads=1)
    """,
    "simulate pitfall certified": """
        pg.simulate("explainability", algorithms="pitfall", evidence="certified", runs=2, budget=1000, threads=1)
    """,
}
HEAD = """
import sys, time
if sys.argv[1] == "plain":
    sys.modules["paretoguard.compiler.numba_pipeline"] = None  # an import of it fails, so that numba's own passes run
import paretoguard as pg
import paretoguard.trial.registry, paretoguard.engine.asktell, paretoguard.engine.loop
from paretoguard.compiler import beside
beside._process = lambda *given: None  # all in this process
start = time.process_time()
"""
TAIL = """
print(time.process_time() - start)
"""


def seconds(case: str, variant: str) -> float:
    lines = "\n".join(line.strip() for line in CASES[case].strip().splitlines())
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PARETOGUARD_CACHE_DIR": folder, "PARETOGUARD_TIER": "compiled"}
        command = [sys.executable, "-c", HEAD + lines + TAIL, variant]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def fill(page: str, found: list[dict[str, str]]) -> str:
    """Return the page with the table of these rows."""
    lines = ["| CPU seconds | ours | numba as it is | ratio |", "|---|---:|---:|---:|"]
    lines += [
        f"| {row['case']} | {row['shortened_s']} | {row['plain_s']} | {row['plain_over_shortened']} |" for row in found
    ]
    return put(page, {"first compile": "\n".join(lines)})


def main() -> None:
    table = []
    for case in CASES:
        taken: dict[str, list[float]] = {"shortened": [], "plain": []}
        for _ in range(REPEATS):
            for variant, found in taken.items():
                found.append(seconds(case, variant))
        ours, theirs = (statistics.median(taken[variant]) for variant in ("shortened", "plain"))
        numbers = {
            "shortened_s": f"{ours:.1f}",
            "plain_s": f"{theirs:.1f}",
            "plain_over_shortened": f"{theirs / ours:.2f}",
        }
        table.append({"case": case, **numbers})
        print(*table[-1].values(), flush=True)
    rows.write(table, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), rows.read(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
