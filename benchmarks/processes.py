"""What only a fresh process shows: starting times, what is compiled, memory, and VOPy in a Python of its own."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import paretoguard as pg

HERE = Path(__file__).parent

FIRST_USE = """
import sys, time
begun = time.perf_counter()
import paretoguard as pg
from paretoguard.compiler.tiers import cache_hits
names = {names!r}
pg.simulate("secukinumab", algorithms=names, runs=2, budget=1000)
pg.identify(pg.instances.load("secukinumab").problem, pg.sampler(pg.instances.load("secukinumab")), budget=100)
print(*cache_hits(), time.perf_counter() - begun)
"""

LARGEST = """
import sys; sys.path.insert(0, {here!r})
import paretoguard as pg
from steady import peak_memory
instance = pg.instances.load({name!r})
study = pg.simulate(instance, algorithms="e-cape", runs=1, budget={budget}, threads=1)
print(peak_memory(), study.summary()[0]["ns_per_sample"])
"""


class SkippedError(Exception):
    """Something could not be measured; the reason goes into the results."""


def seconds(command: list[str], repeats: int) -> list[float]:
    """Wall time of a command, several times, after one that does not count."""
    times = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begun)
    return times[1:]


def import_times(repeats: int, *, whole: bool = False) -> list[float]:
    """Importing the package, whose names load when first used, or all of them (`whole`)."""
    program = "import paretoguard as pg" + ("; [getattr(pg, name) for name in pg.__all__]" if whole else "")
    return seconds([sys.executable, "-c", program], repeats)


def help_times(repeats: int) -> list[float]:
    if importlib.util.find_spec("paretoguard.cli") is None:
        raise SkippedError("this version has no command line yet (paretoguard.cli)")
    program = "import sys; sys.argv[0] = 'paretoguard'; from paretoguard.cli import main; main()"
    return seconds([sys.executable, "-c", program, "--help"], repeats)


def steady(instance: str, warm: int, window: int, windows: int, rivals: list[str]) -> dict[str, Any]:
    """One process of `steady.py`."""
    arguments = [instance, str(warm), str(window), str(windows), *rivals]
    return _json(
        subprocess.run([sys.executable, str(HERE / "steady.py"), *arguments], check=True, stdout=subprocess.PIPE)
    )


def first_and_second(algorithms: list[str]) -> list[dict[str, float]]:
    """Two processes that use every algorithm, with an empty folder for machine code: loaded, compiled, seconds."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_USE.format(names=algorithms)],
                env={**os.environ, "PARETOGUARD_CACHE_DIR": folder},
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            loaded, compiled, spent = (float(word) for word in done.stdout.split())
            found.append({"loaded": loaded, "compiled": compiled, "seconds": spent})
    return found


def largest(name: str, budget: int) -> tuple[float, float]:
    """Peak memory in MB and nanoseconds a sample of a whole simulation, start and end included."""
    program = LARGEST.format(here=str(HERE), name=name, budget=budget)
    done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    memory, spent = (float(word) for word in done.stdout.split())
    return memory, spent


def vopy(python: str, instance: pg.Instance, rounds: int, windows: int) -> dict[str, Any]:
    """VOPy's Auer on the means of an instance, in standard deviations."""
    probe = subprocess.run([python, "-c", "import vopy"], capture_output=True, text=True)
    if probe.returncode != 0:
        reason = probe.stderr.strip().splitlines()[-1] if probe.stderr.strip() else "it does not import"
        raise SkippedError(f"VOPy: {reason}; give --vopy a Python that has it")
    means = np.array(instance.means) * instance.problem.space().scale
    command = [python, "-W", "ignore", str(HERE / "vopy_auer.py"), str(rounds), str(windows)]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return _json(
        subprocess.run(
            command, input=json.dumps(means.tolist()).encode(), env=alone, check=True, stdout=subprocess.PIPE
        )
    )


def _json(done: "subprocess.CompletedProcess[bytes]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found
