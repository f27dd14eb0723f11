"""What holding decisions saves: long runs of e-cAPE beside the same runs with every decision worked out.

    python benchmarks/holding.py    writes benchmarks/results/holding.csv and the table of docs/speed.md

Nanoseconds a sample of processor time; both in turns, the least of several rounds counts. Both take the same samples.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rows
from table import number, put

import paretoguard as pg
from paretoguard import settings
from paretoguard.engine.batches import cohort
from paretoguard.engine.draws import drawn_ahead, key
from paretoguard.engine.holding import pace_of
from paretoguard.engine.loop import NO_BUDGET, advance, ending, new_outcomes
from paretoguard.engine.state import new_state
from paretoguard.simulation.rewards import source

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "holding.csv", ROOT / "docs" / "speed.md"
INSTANCES = ["secukinumab", "cube", "covboost", "ordered", "simplex", "explainability", "racing-10"]
EVIDENCE = ["practical", "certified"]
DELTA, RUNS, ROUNDS = 0.01, 15, 12


def nanoseconds(instance: pg.Instance, evidence: str, is_held: bool) -> tuple[float, list[list[int]]]:
    """A sample of all runs takes so long; and the pulls of each."""
    space = instance.problem.space()
    policy, levels = settings.algorithm("e-cape").fit(space), settings.evidence(evidence).fit(DELTA, space)
    pace = pace_of(1, NO_BUDGET, policy, levels, space) if is_held else cohort(1)
    state, rewards = new_state(space, key(0, 0)), drawn_ahead(source(instance), space.arms, space.objectives)
    end = ending(NO_BUDGET, space.arms)
    none = new_outcomes(np.zeros(0, dtype=np.uint64), space.arms)
    advance(policy, levels, space, rewards, state, none, 1, NO_BUDGET, pace, end)  # compiles
    outcomes = new_outcomes(np.arange(RUNS, dtype=np.uint64), space.arms)
    begun = time.thread_time_ns()
    taken = advance(policy, levels, space, rewards, state, outcomes, NO_BUDGET, NO_BUDGET, pace, end)
    return (time.thread_time_ns() - begun) / taken, outcomes.pulls.tolist()


def measured(name: str, evidence: str) -> dict[str, Any]:
    instance, found = pg.instances.load(name), []
    for _ in range(ROUNDS):
        (each, pulls), (held, same) = (nanoseconds(instance, evidence, is_held) for is_held in (False, True))
        if pulls != same:
            raise RuntimeError(f"{name}, {evidence}: runs differ")
        found.append((each, held))
    each, held = np.min(found, axis=0)
    line = {"instance": name, "evidence": evidence, "each": each, "held": held, "times": each / held}
    print(line, flush=True)
    return line


def fill(page: str, found: list[dict[str, str]]) -> str:
    """The page with its table."""
    lines = ["| instance | evidence | each worked out, ns | held, ns | times faster |", "|---|---|---:|---:|---:|"]
    for row in found:
        cells = [number(float(row[key])) for key in ("each", "held", "times")]
        lines.append(f"| `{row['instance']}` | `{row['evidence']}` | {' | '.join(cells)} |")
    return put(page, {"held": "\n".join(lines)})


def main() -> int:
    rows.write([measured(name, evidence) for evidence in EVIDENCE for name in INSTANCES], RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), rows.read(RESULTS)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
