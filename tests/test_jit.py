"""Machine code is kept on disk, and nothing is compiled twice."""

import gc
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from paretoguard.compiler import cache_folder as folders, disk_cache, jit, tiers
from paretoguard.compiler.fingerprint import fingerprint
from paretoguard.compiler.gc_pause import without_collecting
from paretoguard.engine.questions import Moment

PROGRAM = """
import sys; sys.path.insert(0, "tests")
import paretoguard as pg
from test_study import easy
pg.simulate(easy(), algorithms="e-cape", runs=3)
from paretoguard.compiler.tiers import cache_hits
print(*cache_hits())
"""

needs_compiler = pytest.mark.skipif(not tiers.has_compiler(), reason="there is no compiler")


def run_program() -> tuple[int, int]:
    environment = {**os.environ, "PARETOGUARD_TIER": "auto"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment)
    hits, misses = map(int, done.stdout.split())
    return hits, misses


@needs_compiler
def test_a_second_process_compiles_nothing() -> None:
    run_program()
    hits, misses = run_program()
    assert hits > 0
    assert misses == 0


def in_module(text: str, **values: object) -> Any:
    """A function `f`, as a module with this text would define it."""
    names: dict[str, Any] = {"__name__": "mine", **values}
    exec(text, names)
    return names["f"]


def test_a_fingerprint_holds_whatever_a_function_refers_to() -> None:
    def calls(other: str) -> Any:
        return in_module(f"import math\ndef g(x): return {other}\ndef f(x): return g(math.sqrt(x))")

    def closes(rate: float) -> Any:
        return in_module("def make(rate):\n  def f(x): return rate * x\n  return f\nf = make(rate)", rate=rate)

    def names(value: object) -> Any:
        return in_module("def f(x): return x + A", A=value)

    def looks_into(value: float) -> Any:
        module = ModuleType("helper")
        vars(module).update(A=value, B=random.random())
        return in_module("def f(x): return x + helper.A", helper=module)

    makers: list[tuple[Callable[[Any], Any], list[Any]]] = [
        (lambda text: in_module(f"def f(x, y={text}): return x + {text}"), ["1", "2", "1.0"]),
        (calls, ["x", "2 * x", "math.sin(x)", "math.cos(x)"]),
        (closes, [0.5, 0.25]),
        (names, [1, 1.0, (1, 2), [1, 2], np.array([1.0, 2.0]), np.array([1.0, 3.0]), {"a": 1}, {2, 3}, jit.Part]),
        (looks_into, [1.0, 2.0]),
    ]
    for make, values in makers:
        found = [fingerprint([make(value)]) for value in values]
        assert found == [fingerprint([make(value)]) for value in values]
        assert len(set(found)) == len(values)


def test_what_cannot_be_read_is_never_the_same_and_recursion_ends() -> None:
    lock = in_module("def f(x): return x + A", A=threading.Lock())
    assert fingerprint([lock]) != fingerprint([lock])
    assert fingerprint([in_module("def f(x): return f(x - 1) if x else g(x)\ndef g(x): return f(x)")])


def test_a_folder_that_cannot_be_written_means_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(tmp_path / "file"))
    assert folders.cache_folder() is None


def test_old_folders_are_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(tmp_path))
    for age in range(10):
        old = tmp_path / f"kernels-{age}"
        old.mkdir()
        os.utime(old, (age, age))
    folder = folders.cache_folder()
    assert folder is not None
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {folder.name} | {f"kernels-{age}" for age in range(10 - folders.FOLDERS_KEPT + 1, 10)}


def test_a_damaged_file_is_compiled_again_and_a_full_disk_is_no_error(tmp_path: Path) -> None:
    store = disk_cache.FilePerSignature(str(tmp_path), "kernel")
    store.save(("kind", "key"), [1, 2])
    assert store.load(("kind", "key")) == [1, 2]
    (path,) = tmp_path.iterdir()
    for damaged in (b"", path.read_bytes()[:-3], b"garbage", b"cos\nnothing\n."):
        path.write_bytes(damaged)
        assert store.load(("kind", "key")) is None
    store.flush()
    assert list(tmp_path.iterdir()) == []
    disk_cache.FilePerSignature(str(tmp_path / "gone"), "kernel").save(("kind", "key"), [1, 2])


def test_a_part_without_a_body_says_so() -> None:
    from paretoguard.engine.questions import moment

    with pytest.raises(TypeError, match="evidence object has no registered `moment`"):
        moment(object(), 3)


class Theirs(NamedTuple):
    """A record from outside the engine, with one of the engine in it."""

    values: NDArray[np.float64]
    moment: Moment


def test_threads_that_want_no_collecting_leave_it_as_it_was() -> None:
    """One begins while another is at it, and ends after it."""
    assert gc.isenabled()
    first, second = without_collecting(), without_collecting()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()
