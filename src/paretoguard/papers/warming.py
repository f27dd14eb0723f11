"""A process that compiles kernels beside the simulations: compiling takes one core for minutes.

python -m paretoguard.papers.warming    two runs of every kind that `bounds` has, until stdin ends; keeps no numbers
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

from paretoguard.compiler.beside import end_with_parent
from paretoguard.compiler.cache_folder import cache_folder
from paretoguard.compiler.tiers import INTERPRETED, tier
from paretoguard.papers import bounds
from paretoguard.papers.outcome import Effort
from paretoguard.simulation.instances import load
from paretoguard.simulation.study import simulate

INSTANCE, RUNS = "two-stage-gap", 2  # kernels are the same for every instance; one where nothing takes long


@contextlib.contextmanager
def warming(threads: int | None, say: Callable[[str], None]) -> Iterator[None]:
    """Let another process compile what the later results will need; machine code is shared on disk.

    It does not start where nothing is compiled or kept, nor with one thread or core, which the results need themselves.
    """
    if tier() == INTERPRETED or cache_folder() is None or threads == 1 or (os.cpu_count() or 1) == 1:
        yield
        return
    quiet = subprocess.DEVNULL
    helper = subprocess.Popen([sys.executable, "-P", "-m", __name__], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        failed = helper.poll()
        helper.kill()
        helper.communicate()
        if failed is not None and failed > 0:
            say(f"the process that compiles beside ended with status {failed}: the results are the same, only later")


def main() -> None:
    """Compile in the order of need: Game-cPSI, then all that the first results do not compile themselves."""
    instance = load(INSTANCE)
    kinds = bounds.settings(instance, Effort(most_runs=RUNS))
    game = [kind for kind in kinds if "evidence" not in kind]
    first = [{**kind, "algorithms": bounds.OURS} for kind in kinds if kind.get("evidence") == "practical"]
    others = [kind for kind in kinds if kind.get("evidence", "practical") != "practical"]
    for kind in [*game, *first, *others]:
        simulate(instance, delta=bounds.DELTA, budget=bounds.BUDGET, threads=1, **kind)


if __name__ == "__main__":
    end_with_parent()
    main()
