"""CPU seconds of a first use with nothing on disk: with `compiler/numba_pipeline.py`, and with numba as it is.

    python benchmarks/first_compile.py

Each case runs in processes of its own, with an empty cache folder; the two variants take turns.
"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

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
start = time.process_time()
"""
TAIL = """
print(time.process_time() - start)
"""


def seconds(case: str, variant: str) -> float:
    lines = "\n".join(line.strip() for line in CASES[case].strip().splitlines())
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PARETOGUARD_CACHE_DIR": folder}
        command = [sys.executable, "-c", HEAD + lines + TAIL, variant]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    rows = []
    for case in CASES:
        taken: dict[str, list[float]] = {"shortened": [], "plain": []}
        for _ in range(REPEATS):
            for variant, found in taken.items():
                found.append(seconds(case, variant))
        shortened, plain = (statistics.median(taken[variant]) for variant in ("shortened", "plain"))
        rows.append([case, f"{shortened:.1f}", f"{plain:.1f}", f"{plain / shortened:.2f}"])
        print(*rows[-1], flush=True)
    with (Path(__file__).parent / "results" / "first_compile.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["case", "shortened_s", "plain_s", "plain_over_shortened"], *rows])


if __name__ == "__main__":
    main()
