"""Kernels compiled beside the simulations: compiling takes one core, for minutes where nothing is compiled yet.

python -m paretoguard.papers.warming    runs two runs of every kind, the last result first, and keeps no numbers
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from paretoguard.engine.kernel_store import cache_folder
from paretoguard.papers import NAMES, script
from paretoguard.papers.outcome import Effort

RUNS = 2


@contextlib.contextmanager
def warming() -> Iterator[None]:
    """While this lasts, another process compiles what the later results will need; machine code is shared on disk."""
    if cache_folder() is None:
        yield
        return
    quiet = subprocess.DEVNULL
    helper = subprocess.Popen([sys.executable, "-m", __name__], stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


def main() -> None:
    """The last result first: whoever asks for this begins with the first one."""
    for name in reversed(NAMES):
        script(name).reproduce(Effort(most_runs=RUNS, threads=1))


if __name__ == "__main__":
    main()
