"""Time per sample of VOPy's Auer (its Algorithm 1 of Auer et al. 2016) on given means with unit noise.

    PYTHON benchmarks/vopy_auer.py ROUNDS WINDOWS < means.json

needs a Python that has VOPy, and nothing of this package: it prints JSON, nanoseconds of CPU time a sample for each
window of ROUNDS rounds. Confidence intervals are not contracted: VOPy shrinks them by 32 unless told otherwise, and
then answers after a few rounds, wrongly here.
"""

import importlib
import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np


def dataset(means: "np.ndarray[Any, np.dtype[np.float64]]") -> None:
    """Give VOPy the means under the name `Given`; it standardises the datasets it is given otherwise."""
    module = importlib.import_module("vopy.datasets.dataset")

    class Given(module.Dataset):  # type: ignore[name-defined, misc]
        _in_dim, _out_dim, _cardinality = 1, means.shape[1], means.shape[0]

        def __init__(self) -> None:
            self.in_data, self.out_data = np.linspace(0.0, 1.0, len(means))[:, None], means
            self.in_dim, self.out_dim = 1, means.shape[1]

    vars(module)["Given"] = Given


def main() -> None:
    rounds, windows = (int(text) for text in sys.argv[1:])
    dataset(np.array(json.load(sys.stdin)))
    np.random.seed(0)  # VOPy draws from the global generator
    algorithm = importlib.import_module("vopy.algorithms").Auer(0.0, 0.1, "Given", 1.0, conf_contraction=1)
    algorithm.run_one_step()
    times = []
    for _ in range(windows):
        begun, before = time.thread_time_ns(), algorithm.sample_count
        for _ in range(rounds):
            if algorithm.run_one_step():
                break
        times.append((time.thread_time_ns() - begun) / max(1, algorithm.sample_count - before))
    print(json.dumps({"version": version("vopy"), "times": times}))


if __name__ == "__main__":
    main()
