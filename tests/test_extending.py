"""A user's own algorithm, evidence and noise: the examples of docs/extending.md, in every way they can be used."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from numba import typeof

import paretoguard as pg
from paretoguard import testing
from paretoguard.compiler import disk_cache, tiers
from paretoguard.engine.loop import advance
from paretoguard.extend import (
    Algorithm,
    Bytes,
    Evidence,
    Moment,
    ProblemArrays,
    View,
    answer,
    below_some,
    choose,
    moment,
    spread,
    use_widths,
)
from paretoguard.simulation import runner
from paretoguard.simulation.rewards import source
from paretoguard.trial import registry

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "examples" / "extending").glob("*.py"))
sys.path.insert(0, str(ROOT))  # where `examples` is

PARTS = ("one_by_one:OneByOne", "horizon:Horizon", "jitter:Jitter")
ONE_BY_ONE, HORIZON, JITTER = (f"examples.extending.{part}" for part in PARTS)


def instance(noise: pg.Noise | None = None) -> pg.Instance:
    problem = pg.Problem(
        {"x": "max", "y": "min"},
        arms=["a", "b", "c"],
        noise={"x": noise or pg.Gaussian(1.0), "y": pg.Gaussian(1.0)},
        constraints=["y <= 3"],
        dependence="independent",
        name="own",
    )
    return pg.Instance(problem, [[2.0, 1.0], [1.0, 2.0], [4.0, 5.0]])


def jitter(half: float) -> pg.Noise:
    noise = registry.own(f"{JITTER}:half={half}")
    assert isinstance(noise, pg.Noise)
    return noise


def test_the_document_shows_the_files() -> None:
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert len(FILES) == 3
    for file in FILES:
        assert file.read_text(encoding="utf-8") in shown, file.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_example_is_short(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) < 40


USES: dict[str, dict[str, Any]] = {
    "algorithm": {"algorithms": f"{ONE_BY_ONE}:ratio=2"},
    "evidence": {"algorithms": "e-cape", "evidence": HORIZON},
    "noise": {"algorithms": "e-cape"},
}


@pytest.mark.parametrize("part", USES)
def test_they_run_in_threads_and_identify_makes_the_pulls_of_simulation(part: str) -> None:
    given = {"evidence": "practical", **USES[part]}
    own = instance(jitter(1.5) if part == "noise" else None)
    one, two = (pg.simulate(own, runs=20, seed=3, budget=2000, threads=n, **given) for n in (1, 2))
    assert np.array_equal(one.pulls, two.pulls)
    assert np.array_equal(one.statuses, two.statuses)
    assert one.records["wrong_ecpsi"].mean() < 0.3
    how = {"algorithm": given["algorithms"], "evidence": given["evidence"], "delta": 0.1, "budget": 2000}
    live = pg.identify(own.problem, pg.sampler(own, seed=3), **how)
    assert list(live.pulls.values()) == one.pulls[0].tolist()
    assert live.pareto == ("a",)
    (row,) = one.summary()
    assert row["guarantee"] == ("finite-sample" if part == "evidence" else "heuristic")


def test_a_law_of_ones_own_mixes_with_built_in_noise() -> None:
    names = ("p", "q", "r", "s")
    noise = {"p": jitter(0.5), "q": pg.Bernoulli(), "r": jitter(3.0), "s": pg.Gaussian(2.0)}
    rows = {}
    for kind, models in {"own": noise, "still": noise | {"p": pg.Exact(), "r": pg.Exact()}}.items():
        problem = pg.Problem(dict.fromkeys(names, "max"), arms=["a", "b"], noise=models)
        sample = pg.sampler(pg.Instance(problem, [[1.0, 0.5, 2.0, 0.0], [0.0, 0.2, 0.0, 1.0]]), seed=5)
        rows[kind] = np.array([list(sample("a").values()) for _ in range(4000)])
    assert np.array_equal(rows["own"][:, [1, 3]], rows["still"][:, [1, 3]])  # what is built in is drawn as ever
    own = rows["own"]
    assert np.all(np.abs(own[:, 0] - 1.0) <= 0.5)
    assert np.all(np.abs(own[:, 2] - 2.0) <= 3.0)
    # Means of 4,000 values within 5 standard errors, correlations within 5 / sqrt(4,000): false alarms below 1e-5.
    errors = np.array([0.5 / 3**0.5, 0.5, 3.0 / 3**0.5, 2.0]) / 4000**0.5
    assert np.all(np.abs(own.mean(axis=0) - [1.0, 0.5, 2.0, 0.0]) < 5 * errors)
    assert np.all(np.abs(np.corrcoef(own.T) - np.eye(4)) < 5 / 4000**0.5)
    assert own[:, 2].std() == pytest.approx(3.0 / 3**0.5, rel=0.05)


@dataclass(frozen=True)
class Coloured(pg.Gaussian):
    """Gaussian noise that would be drawn by a law of its own."""

    kind: ClassVar[str] = "coloured"

    def law(self) -> Any:
        raise AssertionError("not asked for")


def test_a_law_of_ones_own_cannot_be_part_of_a_covariance() -> None:
    noise = {"x": Coloured(1.0), "y": pg.Gaussian(1.0)}
    problem = pg.Problem({"x": "max", "y": "max"}, arms=["a"], noise=noise, dependence=[[1.0, 0.5], [0.5, 1.0]])
    with pytest.raises(pg.ProblemError, match="'x' is part of the covariance but has a law of its own, Coloured"):
        source(pg.Instance(problem, [[0.0, 0.0]]))


@dataclass(frozen=True)
class Options(Algorithm):
    """Every kind of option that a text can state."""

    rate: float
    times: int = 1
    loud: bool = False
    word: str = "none"
    limit: int | None = None
    name: ClassVar[str] = "options"

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError(f"rate is {self.rate}, expected 0 or above")

    def fit(self, problem: ProblemArrays) -> Any:
        return ()


class NotADataclass:
    name = "plain"

    def fit(self, problem: ProblemArrays) -> Any:
        return ()


@dataclass(frozen=True)
class NoFit(Algorithm):
    rate: float = 1.0


def test_labels_read_back() -> None:
    for record in (Options(0.5), Options(1e-300, -3, True, "two words", 7), Options(2.0, word="a=b")):
        text = registry.label(record)
        assert text.startswith("test_extending:Options:rate=")
        assert registry.algorithm(text) == record


def test_a_built_name_comes_first() -> None:
    assert registry.algorithm("two-stage:form=e-cape") == pg.algorithms.TwoStage(form="e-cape")
    assert registry.label(pg.algorithms.TwoStage(form="e-cape")) == "two-stage:form=e-cape"
    assert registry.evidence(f" {HORIZON}:samples=30").samples == 30  # type: ignore[attr-defined]


REFUSED = [
    ("nowhere:My", "algorithm 'nowhere:My': there is no module 'nowhere' in "),
    ("examples.nowhere.at:My", "there is no module 'examples.nowhere' in "),
    ("test_extending:Option", "there is no 'Option' in 'test_extending'; did you mean 'Options'?"),
    ("test_extending:FILES", "expected a class"),
    ("test_extending:NotADataclass", "'test_extending:NotADataclass' is not a dataclass"),
    ("test_extending:NoFit", "algorithm 'test_extending:NoFit' lacks fit"),
    ("test_extending:Options", "'test_extending:Options' needs the option 'rate'; write test_extending:Options:rate=…"),
    ("test_extending:Options:rate=-1", "'test_extending:Options:rate=-1': rate is -1.0, expected 0 or above"),
    ("test_extending:Options:rate=1,size=2", "'test_extending:Options' has no option 'size'; its options are: rate,"),
    ("test_extending:Options:rate=fast", "option 'rate' of 'test_extending:Options' is 'fast', expected a number"),
    ("test_extending:Options:rate=1,limit=few", "is 'few', expected None or a whole number"),
    ("test_extending:Options:rate=1,loud=1", "is '1', expected True or False"),
    ("__main__:My", "was defined in the program that was started, where nothing can import it; put it in a module"),
    ("test_extending:make.<locals>.My", "was defined inside a function"),
    (HORIZON, "is no Algorithm; derive its class from paretoguard.extend.Algorithm; it is evidence"),
    ("e-cape:Own", "'e-cape' has no option 'Own'"),
    ("my-module:Own", "'my-module:Own' is not one of those built: pitfall, e-cape"),
    ("module:option=1", "'module:option=1' is not one of those built: pitfall, e-cape"),
    ("uniforn", "did you mean 'uniform'?"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refusals_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(pg.SettingsError) as caught:
        registry.algorithm(text)
    assert message in str(caught.value)


def test_an_algorithm_is_no_evidence() -> None:
    with pytest.raises(pg.SettingsError, match=r"is no Evidence; .*; it is an algorithm"):
        registry.evidence(ONE_BY_ONE)


def test_a_module_may_lie_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    (tmp_path / "failing_part.py").write_text("import not_installed_anywhere\n")
    (tmp_path / "named_part.py").write_text("from test_extending import Options\nclass Mine(Options): pass\n")
    with pytest.raises(pg.SettingsError, match="importing 'failing_part' failed with ModuleNotFoundError: No module"):
        registry.algorithm("failing_part:My")
    assert registry.label(registry.algorithm("named_part:Mine:rate=3")) == "named_part:Mine:rate=3.0"


def run(program: str, folder: Path, **environment: str) -> str:
    """What a program prints that runs in another process and folder, with its own module path."""
    paths = os.pathsep.join([str(ROOT / "src"), str(folder)])
    given: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": paths, **environment}}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, **given)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_a_study_is_extended_after_loading_and_read_without_the_module(tmp_path: Path) -> None:
    study = pg.simulate(instance(), algorithms=[f"{ONE_BY_ONE}:ratio=2"], evidence=["practical"], runs=5, seed=3)
    study.save(tmp_path / "study.npz")
    again = pg.Study.load(tmp_path / "study.npz")
    assert np.array_equal(again.extend(9).pulls, study.extend(9).pulls)
    assert again.extend(9).summary()[0]["algorithm"] == f"{ONE_BY_ONE}:ratio=2.0"
    again.save(tmp_path / "again.npz")
    program = """
import paretoguard as pg
study = pg.Study.load("again.npz")
print(study.summary()[0]["algorithm"], len(study.records))
try:
    study.extend(6)
except pg.SettingsError as error:
    print(error)
"""
    first, second = run(program, tmp_path).splitlines()
    assert first == f"{ONE_BY_ONE}:ratio=2.0 5"
    assert f"algorithm '{ONE_BY_ONE}': there is no module 'examples' in {tmp_path}" in second


def test_a_study_and_a_problem_file_hold_noise_of_ones_own(tmp_path: Path) -> None:
    study = pg.simulate(instance(jitter(1.5)), algorithms="e-cape", runs=5, seed=3)
    study.save(tmp_path / "study.npz")
    assert np.array_equal(pg.Study.load(tmp_path / "study.npz").extend(9).pulls, study.extend(9).pulls)
    table = jitter(1.5).to_dict()
    assert table == {"kind": JITTER, "half": 1.5}
    assert pg.Noise.from_dict(table) == jitter(1.5)
    with pytest.raises(pg.ProblemError, match="noise kind 'nowhere:My': there is no module 'nowhere'"):
        pg.Noise.from_dict({"kind": "nowhere:My"})
    with pytest.raises(pg.ProblemError, match="is no noise model; derive it from"):
        pg.Noise.from_dict({"kind": HORIZON})


MAIN = """
import paretoguard as pg
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Mine(pg.evidence.Theorem):
    name: ClassVar[str] = "mine"

pg.simulate("secukinumab", algorithms="uniform", evidence=Mine(), runs=2, budget=20).save("study.npz")
study = pg.Study.load("study.npz")
print(study.summary()[0]["evidence"], study.summary()[0]["guarantee"])
try:
    study.extend(3)
except pg.SettingsError as error:
    print(error)
"""


def test_what_the_program_itself_defines_runs_and_is_saved_but_not_extended_after_loading(tmp_path: Path) -> None:
    first, second = run(MAIN, tmp_path, PARETOGUARD_TIER="interpreted").splitlines()
    assert first == "__main__:Mine finite-sample"
    assert second.startswith("evidence '__main__:Mine' was defined in the program that was started")


DRAW = """
import paretoguard as pg
from jitter import Jitter
from paretoguard.compiler.tiers import cache_hits
problem = pg.Problem({"x": "max"}, arms=["a"], noise=Jitter(1.0))
plain = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Gaussian(1.0))
drawn = [pg.sampler(pg.Instance(one, [[5.0]]))("a")["x"] for one in (problem, plain)]
print(*drawn, *cache_hits())
"""


@pytest.mark.skipif(not tiers.has_compiler(), reason="there is no compiler")
def test_an_edit_takes_effect_in_the_next_process_and_nothing_else_is_compiled_twice(tmp_path: Path) -> None:
    part, helper = tmp_path / "jitter.py", tmp_path / "numbers_of_mine.py"
    text = (ROOT / "examples" / "extending" / "jitter.py").read_text(encoding="utf-8")
    text = text.replace("import math\n", "import math\n\nfrom numbers_of_mine import SHIFT\n")
    helper.write_text("SHIFT = 0.0\n")
    part.write_text(text.replace("return mean +", "return SHIFT + mean +"))

    own = {"PARETOGUARD_CACHE_DIR": str(tmp_path / "kernels"), "PARETOGUARD_TIER": "compiled"}

    def draw() -> list[float]:
        return [float(word) for word in run(DRAW, tmp_path, **own).split()]

    value, plain, *_ = draw()
    assert 4.0 <= value <= 6.0
    assert draw() == [value, plain, 2, 0]  # a second process compiles nothing
    part.write_text(part.read_text().replace("mean +", "10.0 * mean +"))
    assert draw() == [pytest.approx(value + 45.0), plain, 1, 1]  # the edit counts; the built-in kernel is as it was
    helper.write_text("SHIFT = 200.0\n")
    assert draw() == [pytest.approx(value + 245.0), plain, 1, 1]  # so does an edit of what the part imports
    assert draw() == [pytest.approx(value + 245.0), plain, 2, 0]


# --- mistakes --------------------------------------------------------------------------------------------------------


class _Bad(NamedTuple):
    number: int


@dataclass(frozen=True)
class Bad(Algorithm):
    name: ClassVar[str] = "bad"

    def fit(self, problem: ProblemArrays) -> Any:
        return _Bad(3)


@dataclass(frozen=True)
class NoRecord(Bad):
    def fit(self, problem: ProblemArrays) -> Any:
        return [3]


class _Wild(NamedTuple):
    arm: int
    queued: int


@dataclass(frozen=True)
class Wild(Algorithm):
    """Queues an arm that does not exist, or more than there is room for."""

    arm: int = 0
    queued: int = 1
    name: ClassVar[str] = "wild"

    def fit(self, problem: ProblemArrays) -> _Wild:
        return _Wild(self.arm, self.queued)


@choose.register(_Wild)
def _choose_wildly(memory: _Wild, view: View) -> int:
    view.state.queue[0] = memory.arm
    return memory.queued


@answer.register(_Wild)
def _nothing(memory: _Wild, view: View, statuses: Bytes) -> None:
    pass


class _Hungry(NamedTuple):
    number: int


class Hungry(Bad):
    def fit(self, problem: ProblemArrays) -> Any:
        return _Hungry(3)


@choose.register(_Hungry)
def _allocate(memory: _Hungry, view: View) -> int:
    return len(np.zeros(memory.number))


@pytest.mark.parametrize("wild", [Wild(arm=99), Wild(arm=-1), Wild(queued=100), Wild(queued=-1)], ids=repr)
def test_a_decision_that_cannot_be_carried_out_is_refused(wild: Wild) -> None:
    with pytest.raises(pg.SettingsError, match=r"made a decision that cannot be carried out: .* 0 to 4 here"):
        pg.simulate("secukinumab", algorithms=wild, runs=3, budget=100)
    problem = pg.instances.load("secukinumab").problem
    with pytest.raises(pg.SettingsError, match="made a decision that cannot be carried out"):
        pg.identify(problem, pg.sampler(pg.instances.load("secukinumab")), algorithm=wild)
    assert [str(error) for _, error in testing.outcomes(wild) if error is not None]


def test_what_a_part_lacks_is_said_before_it_is_compiled() -> None:
    with pytest.raises(pg.SettingsError, match=r"answers no `choose`: write @choose.register\(_Bad\)"):
        pg.simulate("secukinumab", algorithms=Bad(), runs=1)
    with pytest.raises(pg.SettingsError, match=r"fit gave \[3\], expected a NamedTuple"):
        pg.simulate("secukinumab", algorithms=NoRecord(), runs=1)
    with pytest.raises(pg.SettingsError, match="does not say how to fill a batch: register `select`"):
        pg.simulate("secukinumab", algorithms=Wild(), runs=1, batch=4)
    choose.register(_Bad, lambda memory: 0)
    with pytest.raises(pg.SettingsError, match=r"`choose` is asked with \(memory, view\), but too many"):
        pg.simulate("secukinumab", algorithms=Bad(), runs=1)
    with pytest.raises(pg.SettingsError, match="has guarantee 'exact', expected one of finite-sample"):
        pg.simulate("secukinumab", algorithms="e-cape", evidence=Certain(), runs=1)


@dataclass(frozen=True)
class Certain(pg.evidence.Practical):
    guarantee: ClassVar[str] = "exact"


@pytest.mark.skipif(not tiers.has_compiler(), reason="there is no compiler")
def test_what_does_not_compile_is_said_in_one_paragraph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "at_once", True)
    with pytest.raises(
        pg.SettingsError, match=r"Hungry with practical evidence does not compile at .*, line \d+: "
    ) as caught:
        pg.simulate("secukinumab", algorithms=Hungry(), runs=1)
    assert len(str(caught.value)) < 600
    assert caught.value.__cause__ is not None


class LameLevels(NamedTuple):
    sigma_u: float


@dataclass(frozen=True)
class Lame(Evidence):
    """Fails where a run has spent its budget: no simulation asks it before."""

    name: ClassVar[str] = "lame"

    def fit(self, delta: float, problem: ProblemArrays) -> LameLevels:
        return LameLevels(1.0)


moment.register(LameLevels, lambda evidence, t: Moment(3.0, 3.0))
spread.register(LameLevels, lambda view, i, j: 1.0 + view.state.inverse[i] + view.state.inverse[j])
use_widths(LameLevels)
below_some.register(LameLevels, lambda view, i, members: members.nowhere)


@pytest.mark.skipif(not tiers.has_compiler(), reason="there is no compiler")
def test_what_would_not_compile_at_the_end_is_said_before_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(advance, "at_once", True)
    monkeypatch.setattr(runner._Crew, "start", lambda *given: begun.append(given))
    with pytest.raises(pg.SettingsError, match="Lame evidence does not compile"):
        pg.simulate(instance(), algorithms="uniform", evidence=Lame(), runs=1, budget=100)
    assert not begun


def test_an_algorithm_of_ones_own_fills_batches() -> None:
    study = pg.simulate("simplex", algorithms=f"{ONE_BY_ONE}:ratio=2", runs=20, batch=4)
    assert not study.records["wrong_ecpsi"].all()
    assert "in batches of 4" in repr(study)


def test_kernels_of_built_in_records_do_not_depend_on_code_outside() -> None:
    space = instance().problem.space()
    built, own = (typeof(registry.evidence(name).fit(0.1, space)) for name in ("practical", HORIZON))
    assert disk_cache.outside_bodies((built,)) == []
    record, *bodies = disk_cache.outside_bodies((built, own))
    assert record.__name__ == "_Levels"
    assert {body.__module__ for body in bodies} == {"examples.extending.horizon"}
