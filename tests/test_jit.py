"""Machine code is kept on disk, and nothing is compiled twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paretoguard.engine import jit
from paretoguard.engine.geometry import within

PROGRAM = """
import sys; sys.path.insert(0, "tests")
import paretoguard as pg
from test_study import easy
pg.simulate(easy(), algorithms="e-cape", runs=3)
from paretoguard.engine.jit import cache_hits
print(*cache_hits())
"""

needs_compiler = pytest.mark.skipif(not jit.COMPILED, reason="NUMBA_DISABLE_JIT is set")


def run_program() -> tuple[int, int]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    hits, misses = map(int, done.stdout.split())
    return hits, misses


@needs_compiler
def test_a_second_process_compiles_nothing() -> None:
    run_program()
    hits, misses = run_program()
    assert hits > 0
    assert misses == 0


@needs_compiler
def test_the_folder_changes_with_the_source(tmp_path: Path) -> None:
    first, second = tmp_path / "one.py", tmp_path / "two.py"
    first.write_text("a = 1")
    second.write_text("a = 1")
    digests = {jit._digest(frozenset()), jit._digest(frozenset([str(first)])), jit._digest(frozenset([str(second)]))}
    assert len(digests) == 3
    jit._digest.cache_clear()
    first.write_text("a = 2")
    assert jit._digest(frozenset([str(first)])) not in digests


def test_a_folder_that_cannot_be_written_means_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(tmp_path / "file"))
    assert jit.cache_folder() is None


def test_old_folders_are_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(tmp_path))
    for age in range(10):
        old = tmp_path / f"kernels-{age}"
        old.mkdir()
        os.utime(old, (age, age))
    folder = jit.cache_folder()
    assert folder is not None
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {folder.name} | {f"kernels-{age}" for age in range(10 - jit.FOLDERS_KEPT + 1, 10)}


def test_a_damaged_file_is_compiled_again_and_a_full_disk_is_no_error(tmp_path: Path) -> None:
    store = jit._FilePerSignature(str(tmp_path), "kernel")
    store.save("key", [1, 2])
    assert store.load("key") == [1, 2]
    (path,) = tmp_path.iterdir()
    for damaged in (b"", path.read_bytes()[:-3], b"garbage", b"cos\nnothing\n."):
        path.write_bytes(damaged)
        assert store.load("key") is None
    store.flush()
    assert list(tmp_path.iterdir()) == []
    jit._FilePerSignature(str(tmp_path / "gone"), "kernel").save("key", [1, 2])


def test_a_part_without_a_body_says_so() -> None:
    from paretoguard.engine.evidence.parts import moment

    with pytest.raises(TypeError, match="evidence object has no registered `moment`"):
        moment(object(), 3)


@needs_compiler
def test_functions_for_kernels_refuse_python() -> None:
    with pytest.raises(TypeError, match="within is for use inside kernels"):
        within(1, 2, 3, 4)  # type: ignore[arg-type]
