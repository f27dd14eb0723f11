"""Time per sample in steady state: the engine and its alternatives on one instance, in turns.

    python benchmarks/steady.py INSTANCE WARM WINDOW WINDOWS [naive] [numpy]

prints JSON: nanoseconds of CPU time a sample in each window, and the peak memory of this process. All competitors take
the same samples of the same runs in a window, one after the other, so that what disturbs one disturbs the others; at
the end they must have pulled every arm equally often. `speed.py` starts this in several processes: the work is the same
in each, so for each window the least time counts.
"""

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import numpy as np
from numpy import int64
from numpy.typing import NDArray
from vectorised import Vectorised

import paretoguard as pg
from paretoguard.engine.engine import cohort
from paretoguard.engine.loop import NEXT, NO_BUDGET, STARTED, advance, new_outcomes
from paretoguard.simulation.rewards import source
from paretoguard.trial import registry
from paretoguard.trial.setup import engine_for

DELTA, SEED = 0.1, 0
RUNS = 20_000  # of a small instance: more than are used

Pulls = NDArray[int64]
Competitor = tuple[Callable[[int], int], Callable[[], Pulls]]  # takes samples; [ended runs + the one at work, K]


def load(text: str) -> pg.Instance:
    """A named instance, or `front:K=500,d=3`: K arms on a sphere, all of them Pareto-optimal."""
    if not text.startswith("front:"):
        return pg.instances.load(text)
    K, d = (int(number) for number in re.findall(r"=(\d+)", text))
    means = np.abs(np.random.default_rng(0).normal(size=(K, d)))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    problem = pg.Problem(
        {f"x{c + 1}": "max" for c in range(d)},
        arms=[f"a{i + 1}" for i in range(K)],
        noise=pg.Gaussian(0.1),
        constraints=["x1 >= -0.5"],
        dependence="independent",
        name=text,
    )
    return pg.Instance(problem, means)


def engine(instance: pg.Instance) -> Competitor:
    arms, drawn_from = len(instance.problem.arms), source(instance)
    how, kind = registry.algorithm("e-cape"), registry.evidence("practical")
    ready, pace = engine_for(instance.problem, how, kind, DELTA, seed=SEED), cohort(1, arms)
    outcomes = new_outcomes(np.arange(_room(arms), dtype=np.uint64), arms)

    def pulls() -> Pulls:
        ended = outcomes.pulls[: outcomes.cursor[NEXT]]
        return np.vstack([ended, ready.seen.state.counts]) if outcomes.cursor[STARTED] else ended

    return lambda steps: advance(ready, drawn_from, outcomes, steps, NO_BUDGET, pace), pulls


def compiled_loop(instance: pg.Instance) -> Competitor:
    space, drawn_from = instance.problem.space(), source(instance)
    table = naive.new_table(space, SEED, _room(space.arms))

    def pulls() -> Pulls:
        ended = table.ended[: table.tally[naive.RUN]]
        return np.vstack([ended, table.counts]) if table.tally[naive.CLOCK] else ended

    return lambda steps: int(naive.advance(space, drawn_from, table, DELTA, steps, NO_BUDGET)), pulls


def numpy_loop(instance: pg.Instance) -> Competitor:
    loop = Vectorised(instance, delta=DELTA, seed=SEED)
    return loop.advance, lambda: np.vstack([*loop.ended, loop.counts])


COMPETITORS = {"engine": engine, "naive": compiled_loop, "numpy": numpy_loop}


def _room(arms: int) -> int:
    return max(4, RUNS // arms)


def measure(text: str, warm: int, window: int, windows: int, rivals: list[str]) -> dict[str, Any]:
    """Nanoseconds a sample of each competitor in each window, once each has taken `warm` samples."""
    chosen = {name: COMPETITORS[name](load(text)) for name in ["engine", *rivals]}
    for take, _ in chosen.values():
        take(1)  # compiles, and pulls every arm once
        take(warm)
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(windows):
        for name, (take, _) in chosen.items():
            begun = time.thread_time_ns()
            taken = take(window)
            times[name].append((time.thread_time_ns() - begun) / taken)
    ours = chosen["engine"][1]()
    for name in rivals:
        if not np.array_equal(ours, chosen[name][1]()):
            raise AssertionError(f"{text}: {name} and the engine did not make the same pulls")
    return {"times": times, "samples": int(ours.sum()), "peak_mb": peak_memory()}


def peak_memory() -> float:
    """Most memory of this process so far, in MB (10^6 bytes)."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says there includes the process that started this one
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


if __name__ == "__main__":
    instance, warm, window, windows, *rivals = sys.argv[1:]
    print(json.dumps(measure(instance, int(warm), int(window), int(windows), rivals)))
