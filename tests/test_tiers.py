"""Kernels run interpreted or compiled, and decide the same; what happens beside the work never harms it."""

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paretoguard as pg
from paretoguard.compiler import beside, cache_folder as folders, tiers
from paretoguard.compiler.tiers import COMPILED, INTERPRETED, Kernel, forced
from paretoguard.errors import NotCompiledError, SettingsError
from paretoguard.simulation.rewards import sampler
from random_problems import random_instance, wide_front
from small_kernels import LargeSum, Sum, add, add_at_once, lame

ROOT = Path(__file__).parent.parent
HEAD = "import sys; sys.path.insert(0, 'tests'); import numpy as np; from small_kernels import *\n"
needs_compiler = pytest.mark.skipif(not tiers.has_compiler(), reason="there is no compiler")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for machine code, and processes beside, which other tests do without."""
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(tmp_path / "machine code"))
    monkeypatch.delenv(tiers.VARIABLE, raising=False)
    monkeypatch.setattr(beside, "_quiet", [0])
    yield tmp_path
    beside._end_all()


def compile_to_disk(given: Any) -> None:
    with forced(COMPILED):
        fresh(add).compile(given)


def fresh(kernel: Kernel[..., Any]) -> Kernel[..., Any]:
    """The same kernel, as if it had never run."""
    return Kernel(kernel.body, at_once=kernel.at_once)


def numbers(size: int = 3) -> Sum:
    return Sum(np.arange(float(size)), np.zeros(1))


def run(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    """What a program prints that runs in a process of its own, from the root of the project."""
    given: dict[str, Any] = {"cwd": ROOT, "env": {**os.environ, **more}, "text": True}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, **given)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < end, "it did not happen within two minutes"
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


# --- the same is decided ---------------------------------------------------------------------------------------------


def told(instance: pg.Instance, wanted: str | Callable[[], str], run: int) -> Any:
    """The answer of a live trial, with everything that is said of it."""
    with forced(wanted):
        trial = pg.Trial(instance.problem, delta=0.1, budget=60, seed=run)
        sample = sampler(instance, run=run)
        while (arm := trial.next_arm()) is not None:
            trial.tell(arm, sample(arm))
            if trial.samples == 20:
                trial.verdicts()
    return trial.result().to_dict()


@needs_compiler
def test_a_trial_says_the_same_in_every_tier_and_wherever_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of other algorithms and evidence the laws say so (tests/test_laws.py)."""
    monkeypatch.delenv("PARETOGUARD_CACHE_DIR")  # as other tests, which have compiled some of it
    chance = random.Random(3)
    for number in range(12):
        rng = np.random.default_rng([40, number])
        instance = wide_front(rng) if number % 4 == 3 else random_instance(rng)
        ways = INTERPRETED, COMPILED, lambda: chance.choice((INTERPRETED, COMPILED))
        first, *others = (told(instance, way, number) for way in ways)
        assert others == [first, first], number


# --- which tier ------------------------------------------------------------------------------------------------------


def test_a_wrong_tier_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiers.VARIABLE, "fast")
    with pytest.raises(SettingsError, match="PARETOGUARD_TIER is 'fast'; expected one of interpreted, compiled, auto"):
        fresh(add)(numbers())


@needs_compiler
def test_the_variable_forces_a_tier() -> None:
    program = HEAD + "print(add(Sum(np.ones(3), np.zeros(1))), 'numba' in sys.modules)"
    assert run(program).stdout.split() == ["3.0", "False"]
    assert run(program, PARETOGUARD_TIER="interpreted").stdout.split() == ["3.0", "False"]
    assert run(program, PARETOGUARD_TIER="compiled").stdout.split() == ["3.0", "True"]


@needs_compiler
def test_machine_code_is_read_when_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_to_disk(numbers())
    kernel = fresh(add)
    assert kernel(numbers()) == 5.0
    assert kernel._code is None
    monkeypatch.setattr(tiers, "WORTH_READING", 0.0)
    assert kernel(numbers()) == 5.0
    assert kernel._code is not None
    assert (kernel._code.loaded, kernel._code.compiled) == (1, 0)
    before = dict.fromkeys(kernel._ways, 0.0)
    for way in kernel._ways.values():
        way.spent = 0.0
    assert kernel(numbers()) == 5.0
    assert {kind: way.spent for kind, way in kernel._ways.items()} == before  # no longer interpreted


@needs_compiler
def test_work_that_is_expected_counts_as_work_that_was_done() -> None:
    compile_to_disk(numbers())
    kernel = fresh(add)
    kernel.expect(tiers.WORTH_READING, numbers())
    assert kernel(numbers()) == 5.0
    assert kernel._code is not None


@needs_compiler
def test_a_process_beside_compiles_what_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "WORTH_READING", 0.0)
    monkeypatch.setattr(tiers, "WORTH_COMPILING", 0.0)
    kernel, seen = fresh(add), numbers()
    count = 0

    def is_compiled() -> bool:
        nonlocal count
        count += 1
        assert kernel(seen) == 5.0 * count  # whoever runs it, on the same arrays
        return kernel._code is not None

    wait_until(is_compiled)
    assert kernel._code is not None
    assert (kernel._code.loaded, kernel._code.compiled) == (1, 0)


@needs_compiler
def test_what_is_large_or_much_work_is_compiled_at_once() -> None:
    for kernel, given in ((fresh(add), LargeSum(np.ones(2), np.zeros(1))), (fresh(add_at_once), numbers())):
        kernel(given)
        assert kernel._code is not None


def test_a_problem_with_many_arms_is_large() -> None:
    problem = pg.Problem({"x": "max"}, arms=[f"a{i}" for i in range(201)], noise=pg.Gaussian(1.0))
    assert problem.space().is_large
    assert not pg.instances.load("secukinumab").problem.space().is_large


@needs_compiler
def test_several_kernels_are_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said, ended, most = list[int](), list[int](), list[int]()
    begin = beside.compile_beside

    def watched(*given: Any, politely: bool) -> beside.Compiling:
        begun = begin(*given, politely=politely)
        most.append(sum(each.is_running for each in beside._running))
        return begun

    monkeypatch.setattr(beside, "compile_beside", watched)
    kernel, wanted = fresh(add), [(numbers(),), (LargeSum(np.ones(2), np.zeros(1)),)]
    with tiers.announcing(said.append), forced(COMPILED):
        assert len(kernel.lacking(wanted)) == 2
        kernel.compile_apart(wanted, 2, ended.append)
        assert kernel.lacking(wanted) == []
    assert (said, sum(ended), max(most)) == ([2], 2, 2)


class Interrupting(list[float]):
    """Values that send Ctrl-C when the first of them are read."""

    shape = (3,)

    def __init__(self, values: list[float], times: int = 1) -> None:
        super().__init__(values)
        self.times = times

    def __getitem__(self, place: Any) -> Any:
        if place < self.times:
            signal.raise_signal(signal.SIGINT)
        return super().__getitem__(place)


def test_ctrl_c_waits_for_the_end_of_a_call() -> None:
    total = np.zeros(1)
    given: Any = Sum(Interrupting([1.0, 2.0, 3.0]), total)  # type: ignore[arg-type]
    with forced(INTERPRETED), pytest.raises(KeyboardInterrupt):
        fresh(add)(given)
    assert total.tolist() == [14.0]


def test_a_second_ctrl_c_does_not_wait() -> None:
    total = np.zeros(1)
    given: Any = Sum(Interrupting([1.0, 2.0, 3.0], times=2), total)  # type: ignore[arg-type]
    with forced(INTERPRETED), pytest.raises(KeyboardInterrupt):
        fresh(add)(given)
    assert total.tolist() == [1.0]


@needs_compiler
def test_commands_with_a_long_record_compile_once_that_pays_over_all_of_them() -> None:
    """Each expects nine seconds of interpreting, for which nobody waits the first two times."""
    found = []
    for _ in range(3):
        kernel = fresh(add)
        kernel.expect(0.45 * tiers.WORTH_WAITING, numbers())
        with beside.nobody_beside():
            assert kernel(numbers()) == 5.0
            found.append(kernel._code is not None)
    assert found == [False, False, False]  # quiet: something is being measured
    for _ in range(3):
        kernel = fresh(add)
        kernel.expect(0.45 * tiers.WORTH_WAITING, numbers())
        beside._end_all()
        assert kernel(numbers()) == 5.0
        found.append(kernel._code is not None)
    assert found[3:] == [False, False, True]


# --- what may go wrong beside the work --------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_beside_that_crashes_is_made_up_for(how: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "WORTH_READING", 0.0)
    monkeypatch.setattr(tiers, "WORTH_COMPILING", 0.0)
    kernel = fresh(add)
    assert kernel(numbers()) == 5.0
    assert kernel(numbers()) == 5.0
    (way,) = kernel._ways.values()
    assert way.process is not None
    assert way.process.process is not None
    os.kill(way.process.process.pid, how)
    way.process.process.wait()
    assert kernel(numbers()) == 5.0
    assert kernel._code is None  # interpreted as before …
    way.spent = tiers.WORTH_WAITING
    assert kernel(numbers()) == 5.0
    assert kernel._code is not None  # … until it pays to wait for the compiler


@needs_compiler
def test_what_does_not_compile_stays_interpreted_where_nobody_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "WORTH_READING", 0.0)
    monkeypatch.setattr(tiers, "WORTH_COMPILING", 0.0)
    kernel = fresh(lame)

    def is_refused() -> bool:
        assert kernel(numbers()) == 0.0
        return any(way.is_hopeless for way in kernel._ways.values())

    wait_until(is_refused)
    for way in kernel._ways.values():
        way.spent = tiers.WORTH_WAITING
    assert kernel(numbers()) == 0.0
    with forced(COMPILED), pytest.raises(NotCompiledError, match="nowhere"):
        kernel(numbers())


HOPELESS = """
import numpy as np
from typing import NamedTuple
from paretoguard.compiler import tiers
from paretoguard.compiler.jit import entry
class Own(NamedTuple):
    values: object
@entry
def lame(numbers: Own) -> float:
    return numbers.values.nowhere if numbers.values[0] > 0.0 else 0.0
tiers.WORTH_READING = tiers.WORTH_COMPILING = tiers.WORTH_WAITING = 0.0
print([lame(Own(np.zeros(1))) for _ in range(4)])
"""


@needs_compiler
def test_what_does_not_compile_stays_interpreted_wherever_it_is_from() -> None:
    """Of a program itself nothing can be imported by a process beside."""
    done = run(HOPELESS)
    assert (done.stdout, done.stderr) == ("[0.0, 0.0, 0.0, 0.0]\n", "")


def test_a_process_beside_begins_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(beside.IS_BESIDE, "1")
    assert beside.compile_beside(add.body, (numbers(),), politely=True).process is None


@needs_compiler
def test_a_process_beside_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_PROGRAM", "import time; time.sleep(600)")
    begun = beside.compile_beside(add.body, (numbers(),), politely=True)
    assert begun.is_running
    monkeypatch.setattr(beside, "HANGS_AFTER", 0.0)
    assert not begun.is_running
    assert not begun.is_done
    assert not begun.is_refused


def test_machine_code_of_files_that_have_changed_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders.engine_digest() is not None
    monkeypatch.setattr(folders, "_BEGUN", 0.0)
    folders.engine_digest.cache_clear()
    try:
        assert folders.cache_folder() is None
    finally:
        monkeypatch.undo()
        folders.engine_digest.cache_clear()


@needs_compiler
def test_without_a_folder_it_is_compiled_here_when_that_pays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("no folder")
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(folder / "file"))
    monkeypatch.setattr(tiers, "WORTH_READING", 0.0)
    monkeypatch.setattr(tiers, "WORTH_COMPILING", 0.0)
    kernel = fresh(add)
    for _ in range(3):
        assert kernel(numbers()) == 5.0
    assert kernel._code is None
    monkeypatch.setattr(tiers, "WORTH_WAITING", 0.0)
    assert kernel(numbers()) == 5.0
    assert kernel._code is not None
    assert (kernel._code.loaded, kernel._code.compiled) == (0, 1)


@needs_compiler
def test_a_full_disk_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    program = HEAD + (
        "import tempfile\n"
        "def full(*given, **named): raise OSError(28, 'No space left on device')\n"
        "tempfile.mkstemp = full\n"
        "from paretoguard.compiler import beside\n"
        "beside._process = lambda *given: None\n"
        "print(add(Sum(np.ones(3), np.zeros(1))))"
    )
    done = run(program, PARETOGUARD_TIER="compiled")
    assert (done.stdout, done.stderr) == ("3.0\n", "")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
def test_a_folder_that_others_may_write_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder / "shared"
    home.mkdir()
    home.chmod(0o777)
    monkeypatch.setenv("PARETOGUARD_CACHE_DIR", str(home))
    with pytest.warns(UserWarning, match="machine code is not kept in .*shared, as others own it or may write there"):
        assert folders.cache_folder() is None
    assert list(home.iterdir()) == []


@needs_compiler
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
def test_a_file_that_others_may_write_is_not_read() -> None:
    compile_to_disk(numbers())
    folder = folders.cache_folder()
    assert folder is not None
    for path in folder.glob("*.nbc"):
        path.chmod(0o666)
    with forced(COMPILED):
        assert fresh(add).lacking([(numbers(),)])


@needs_compiler
def test_two_processes_that_need_the_same_kernel_compile_it_once() -> None:
    program = HEAD + (
        "from paretoguard.compiler import tiers, beside\n"
        "beside._process = lambda *given: None\n"  # each would compile here
        "add(Sum(np.ones(3), np.zeros(1))); print(tiers.cache_hits())"
    )
    given: dict[str, Any] = {"cwd": ROOT, "env": {**os.environ, "PARETOGUARD_TIER": "compiled"}, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, **given) for _ in range(2)]
    assert sorted(process.communicate(timeout=120)[0].strip() for process in both) == ["(0, 1)", "(1, 0)"]


@needs_compiler
@pytest.mark.skipif(os.name == "nt", reason="no locks on files here")
def test_a_process_that_never_ends_to_compile_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    kernel = fresh(add)
    folder = folders.cache_folder()
    assert folder is not None
    monkeypatch.setattr(folders, "LOCK_SECONDS", 0.2)
    with (folder / f"{kernel.code()._file_name((numbers(),))}.lock").open("wb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        monkeypatch.setattr(beside, "_process", lambda *given: None)
        with forced(COMPILED):
            assert kernel(numbers()) == 5.0


SLOW = HEAD + (
    "from paretoguard.compiler import tiers, beside\n"
    "tiers.WORTH_READING = tiers.WORTH_COMPILING = 0.0\n"
    "import time, os\n"
    "begin = beside.compile_beside\n"
    "def watched(*given, **named):\n"
    "    begun = begin(*given, **named); print(begun.process.pid, flush=True); return begun\n"
    "beside.compile_beside = watched\n"
)


@needs_compiler
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look at processes in")
@pytest.mark.parametrize("end", ["killed", "interrupted while it waits", "by itself"])
def test_no_process_is_left_behind(end: str) -> None:
    waits = "tiers.os.environ['PARETOGUARD_TIER'] = 'compiled'\nadd(Sum(np.ones(3), np.zeros(1)))\n"
    works = "for _ in range(3): add(Sum(np.ones(3), np.zeros(1)))\n" + ("time.sleep(600)\n" if end == "killed" else "")
    program = SLOW + (waits if end == "interrupted while it waits" else works)
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert end == "by itself" or is_alive(child)
    if end == "killed":
        parent.kill()
    elif end != "by itself":
        parent.send_signal(signal.SIGINT)
    assert parent.wait(timeout=60) != 0 or end == "by itself"
    parent.stdout.close()
    wait_until(lambda: not is_alive(child))


# --- without the compiler --------------------------------------------------------------------------------------------

LIVE = """
import sys
from paretoguard.cli import main
try:
    main()
except SystemExit as end:
    code = end.code
print(sorted({name.partition(".")[0] for name in sys.modules} & {"numba", "llvmlite", "scipy"}), code, file=sys.stderr)
"""


def test_live_commands_load_no_compiler(tmp_path: Path) -> None:
    doses = str(ROOT / "examples" / "trial" / "doses.toml")
    for words in (
        ["create", doses],
        ["ask", "doses", "-n", "4"],
        ["tell", "doses", "0", "efficacy=1", "safety=1"],
        ["status", "doses"],
        ["retract", "doses", "0", "--reason", "entered twice"],
        ["list"],
        ["report", "doses", "-o", "doses.html"],
    ):
        given: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
        done = subprocess.run([sys.executable, "-c", LIVE, *words], **given)
        assert done.stderr.splitlines()[-1:] == ["[] 0"], (words, done.stderr)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has what this one has, but for the compiler."""
    return _without(tmp_path_factory.mktemp("small"), "numba", "llvmlite")


def _without(folder: Path, *packages: str) -> Path:
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    numpy = importlib.util.find_spec("numpy")
    assert numpy is not None
    assert numpy.origin is not None
    for entry in Path(numpy.origin).parent.parent.iterdir():
        if not entry.name.lower().startswith((*packages, "_distutils_hack", "distutils", "__editable__")):
            (site / entry.name).symlink_to(entry)
    (site / "paretoguard.pth").write_text(str(ROOT / "src"))
    return folder / "bin" / "python"


@pytest.mark.skipif(os.name == "nt", reason="made of symbolic links")
def test_without_numba_everything_works_interpreted(small: Path, tmp_path: Path) -> None:
    def told(*words: str) -> subprocess.CompletedProcess[str]:
        given: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
        return subprocess.run([small, *words], **given)

    assert "No module named 'numba'" in told("-c", "import numba").stderr
    result = told("-m", "paretoguard", "run", str(ROOT / "examples" / "dose-finding.toml"), "--budget", "300", "--json")
    assert result.returncode == 1, result.stderr
    wanted = ["secukinumab", "--runs", "2", "--budget", "100", "--json"]
    study = told("-m", "paretoguard", "simulate", *wanted)
    assert study.returncode == 0, study.stderr
    assert "numba is not installed" in study.stderr
    assert "pip install numba" in study.stderr
    refused = subprocess.run(
        [small, "-m", "paretoguard", "run", str(ROOT / "examples" / "dose-finding.toml")],
        env={**os.environ, tiers.VARIABLE: "compiled"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "PARETOGUARD_TIER is 'compiled', but numba is not installed: pip install numba" in refused.stderr


@pytest.mark.skipif(os.name == "nt", reason="made of symbolic links")
def test_the_small_install_runs_live_experiments(tmp_path: Path) -> None:
    """It has neither numba nor scipy; what needs them says so."""
    python = _without(tmp_path / "small", "numba", "llvmlite", "scipy")
    doses = str(ROOT / "examples" / "dose-finding.toml")
    for code, said, words in (
        (0, "next: paretoguard ask doses", ["create", doses, "--name", "doses"]),
        (0, "", ["ask", "doses", "-n", "2"]),
        (0, "recorded", ["tell", "doses", "0", "efficacy=1", "safety=1"]),
        (0, "", ["status", "doses"]),
        (0, "report: doses.html", ["report", "doses", "-o", "doses.html"]),
        (1, "", ["run", doses, "--budget", "200"]),
        (2, "error: this needs scipy, which is not installed: pip install scipy", ["status", "doses", "--verify"]),
        (2, "error: this needs scipy, which is not installed: pip install scipy", ["simulate", "secukinumab"]),
    ):
        given: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
        done = subprocess.run([python, "-m", "paretoguard", *words], **given)
        assert (done.returncode, said in done.stderr) == (code, True), (words, done.stderr)


def test_the_requirements_of_the_small_install_are_those_of_the_package() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    lines = (ROOT / "requirements-live.txt").read_text().splitlines()
    assert lines[1:] == [each for each in stated if not each.startswith(("numba", "scipy"))]
