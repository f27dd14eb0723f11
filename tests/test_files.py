"""Problem files: every form that is read, exact round trips, and what each mistake is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from paretoguard.errors import FileError
from paretoguard.files.problem_file import ProblemFile, dumps, load, loads
from paretoguard.problem import Problem
from paretoguard.problem.noise import Bernoulli, Bounded, Exact, Gaussian, Noise, SubGaussian, Unknown

DOSES = """
name = "dose-finding"
delta = 0.05
constraints = ["efficacy >= 0.4", "2*safety - efficacy >= 0.1"]
dependence = "independent"
[objectives]
efficacy = "max"
safety = "max"
[noise]
kind = "bernoulli"
[arms."75mg"]
mean = { efficacy = 0.469, safety = 0.388 }
command = "./measure --dose 75"
[arms."150mg"]
mean = { safety = 0.5, efficacy = 1 }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "problem.toml"
    path.write_text(text, encoding="utf-8")
    return path


def same(one: ProblemFile, other: ProblemFile) -> bool:
    means = (one.means is None) == (other.means is None) and (
        one.means is None or other.means is None or one.means.tolist() == other.means.tolist()
    )
    return one.problem == other.problem and means and one.sources == other.sources and one.settings == other.settings


def test_the_file_of_the_architecture(tmp_path: Path) -> None:
    file = load(written(tmp_path, DOSES))
    assert file.problem == Problem(
        {"efficacy": "max", "safety": "max"},
        arms=["75mg", "150mg"],
        noise=Bernoulli(),
        constraints=["efficacy >= 0.4", "2*safety - efficacy >= 0.1"],
        dependence="independent",
        name="dose-finding",
    )
    assert file.means is not None
    assert file.means.tolist() == [[0.469, 0.388], [1.0, 0.5]]
    assert file.sources == {"75mg": {"command": "./measure --dose 75"}}
    assert file.settings == {"delta": 0.05}
    file.save(tmp_path / "again.toml")
    assert same(load(tmp_path / "again.toml"), file)
    assert same(load(str(tmp_path / "again.toml")), file)
    assert same(loads(dumps(file)), file)


HEAD = '[objectives]\nx = "max"\ny = "min"\n'
ARMS = "[arms.a]\n[arms.b]\n"


@pytest.mark.parametrize(
    ("noise", "expected", "dependence"),
    [
        ('kind = "gaussian"\nstd = 2', {"x": Gaussian(2), "y": Gaussian(2)}, "unknown"),
        ('kind = "gaussian"\nstd = [1, 0.5]', {"x": Gaussian(1), "y": Gaussian(0.5)}, "unknown"),
        (
            'kind = "gaussian"\ncovariance = [[4.0, 0.5], [0.5, 2.0]]',
            {"x": Gaussian(2), "y": Gaussian(2**0.5)},
            ((4.0, 0.5), (0.5, 2.0)),
        ),
        ('kind = "bounded"\nlow = 0\nhigh = [1, 2]', {"x": Bounded(0, 1), "y": Bounded(0, 2)}, "unknown"),
        ('kind = "unknown"', {"x": Unknown(), "y": Unknown()}, "unknown"),
        ('x = {kind = "exact"}\ny = {kind = "subgaussian", sigma = 3}', {"x": Exact(), "y": SubGaussian(3)}, "unknown"),
        ('[noise.x]\nkind = "exact"\n[noise.y]\nkind = "bernoulli"', {"x": Exact(), "y": Bernoulli()}, "unknown"),
    ],
)
def test_noise_in_every_form(tmp_path: Path, noise: str, expected: dict[str, Noise], dependence: Any) -> None:
    file = load(written(tmp_path, f"{HEAD}[noise]\n{noise}\n{ARMS}"))
    assert file.problem.noise == expected
    assert file.problem.dependence == dependence
    assert file.means is None
    file.save(tmp_path / "again.toml")
    assert same(load(tmp_path / "again.toml"), file)


def test_an_objective_may_be_called_kind(tmp_path: Path) -> None:
    noise: dict[str, Noise] = {"kind": Exact(), "std": Gaussian(1)}
    file = ProblemFile(Problem({"kind": "max", "std": "min"}, arms=["a"], noise=noise))
    file.save(tmp_path / "kind.toml")
    assert same(load(tmp_path / "kind.toml"), file)


def test_lists_tables_and_settings(tmp_path: Path) -> None:
    text = (
        'arms = ["a", "b"]\nalgorithm = "two-stage:form=2023"\nevidence = "lil"\nbudget = 1000\nseed = 7\n'
        '[constraints]\nbox = "0.1 <= x <= 0.9"\nfloor = "y >= 0.2"\n[tolerance]\nbox = 0.1\ny = 0.01\n'
        + HEAD
        + '[noise]\nkind = "bernoulli"\n'
    )
    file = load(written(tmp_path, text))
    assert file.problem.arms == ("a", "b")
    assert [row.label for row in file.problem.constraints] == ["box", "box", "floor"]
    assert file.problem.tolerance == {"x": 0.0, "y": 0.01, "box": 0.1, "floor": 0.0}
    assert file.settings == {"algorithm": "two-stage:form=2023", "evidence": "lil", "budget": 1000, "seed": 7}
    file.save(tmp_path / "again.toml")
    assert same(load(tmp_path / "again.toml"), file)


def test_a_windows_editor_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_bytes(b"\xef\xbb\xbf" + DOSES.replace("\n", "\r\n").encode())
    assert load(path).problem.name == "dose-finding"


def changed(old: str, new: str) -> str:
    assert old in DOSES
    return DOSES.replace(old, new)


def noise(text: str) -> str:
    """The file with another noise table, and nothing said of dependence."""
    return changed('kind = "bernoulli"', text).replace('dependence = "independent"', "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"is empty, expected a problem file with \[objectives\], \[noise\] and \[arms\]"),
        ("  \n", r"is empty, expected a problem file"),
        ("# only a comment", r"'objectives' is missing; a problem file needs objectives, noise and arms"),
        (changed('["efficacy >= 0.4",', '["efficacy >= 0.4"'), r"is not valid TOML: .*\(at line 4, column"),
        (DOSES[:80], r"is not valid TOML: .*\(at (line|end)"),
        (changed("delta = 0.05", "delta = 0.05\ndelta = 0.1"), r"is not valid TOML: Cannot overwrite a value"),
        (changed("delta", "dleta"), r"key 'dleta' is not known; did you mean 'delta'\?"),
        (changed("command", "comand"), r"key 'arms.75mg.comand' is not known; did you mean 'command'\?"),
        (changed('kind = "bernoulli"', ""), r"noise is missing for 'efficacy', 'safety'"),
        (changed('[noise]\nkind = "bernoulli"', ""), r"'noise' is missing; a problem file needs"),
        (noise('kind = "bernouli"'), r"noise: noise kind 'bernouli' is not known; did you mean"),
        (noise('kind = "gaussian"'), r"noise: gaussian noise lacks std; expected std"),
        (noise('kind = "gaussian"\nstd = 0'), r"noise: Gaussian\(std=0.0\): std must be above 0"),
        (noise('kind = "gaussian"\nstd = true'), r"noise.std is True, expected a number"),
        (noise('kind = "gaussian"\nstd = "1"'), r"noise: Gaussian std must be .* got '1'"),
        (noise("efficacy = 3"), r"noise.efficacy is 3, expected kind = … for all objectives, or"),
        (
            changed('kind = "bernoulli"', 'efficacy = {kind = "gaussian", covariance = [[1]]}'),
            r"noise.efficacy.covariance is for one objective; write std here, and dependence = \[\[…\]\]",
        ),
        (
            changed('kind = "bernoulli"', 'kind = "gaussian"\ncovariance = [[1, 0], [0, 1]]'),
            r"noise.covariance and dependence say the same thing twice; keep one of them",
        ),
        (
            noise('kind = "gaussian"\nstd = 1\ncovariance = [[1, 0], [0, 1]]'),
            r"noise.covariance and noise.std say the same thing twice",
        ),
        (
            noise('kind = "bounded"\ncovariance = [[1, 0], [0, 1]]'),
            r'noise.covariance stands alone beside kind = "gaussian"',
        ),
        (
            noise('kind = "gaussian"\ncovariance = [[1]]'),
            r"noise.covariance is \[\[1\]\], expected 2 rows of 2 numbers",
        ),
        (
            noise('kind = "gaussian"\ncovariance = [[1, 0], [0, 0]]'),
            r"noise.covariance gives 'safety' the variance 0.0, expected one above 0",
        ),
        (changed('dependence = "independent"', 'dependence = "no"'), r"dependence is 'no', expected 'unknown'"),
        (changed('dependence = "independent"', "dependence = [[1, 2]]"), r"no objective has Gaussian noise"),
        (changed("delta = 0.05", 'delta = "small"'), r"delta is 'small', expected a number"),
        (changed("delta = 0.05", "delta = true"), r"delta is True, expected a number"),
        (changed("delta = 0.05", "budget = 1e5"), r"budget is 100000.0, expected a whole number"),
        (changed("delta = 0.05", "algorithm = 3"), r"algorithm is 3, expected a text"),
        (changed('name = "dose-finding"', "name = 3"), r"name is 3, expected a text"),
        (changed("delta = 0.05", 'tolerance = "x"'), r"tolerance is 'x', expected a number"),
        (changed("delta = 0.05", "tolerance = {safety = true}"), r"tolerance.safety is True, expected a number"),
        (changed("delta = 0.05", "tolerance = -1"), r"tolerance of 'efficacy' is -1, expected a finite number"),
        (
            changed(
                'constraints = ["efficacy >= 0.4", "2*safety - efficacy >= 0.1"]', 'constraints = "efficacy >= 0.4"'
            ),
            r"constraints is 'efficacy >= 0.4', expected a list of texts or a table",
        ),
        (changed('"efficacy >= 0.4"', "3"), r"constraint 1 is 3, expected a text"),
        (changed('"efficacy >= 0.4"', '"efficcy >= 0.4"'), r"constraint 'efficcy >= 0.4' names no objective 'efficcy'"),
        (changed('efficacy = "max"', 'efficacy = "up"'), r"objective 'efficacy' has direction 'up', expected 'max'"),
        (changed("mean = { efficacy = 0.469, safety = 0.388 }", ""), r"arms.75mg.mean is missing, though other"),
        (changed("mean = { efficacy = 0.469, safety = 0.388 }", "mean = 3"), r"arms.75mg.mean is 3, expected \{"),
        (changed("0.469", '"0.469"'), r"arms.75mg.mean.efficacy is '0.469', expected a number"),
        (changed("0.469", "true"), r"arms.75mg.mean.efficacy is True, expected a number"),
        (changed("0.469", "1.469"), r"the mean of arm '75mg', objective 'efficacy' is 1.469, expected a number"),
        (changed("0.469", "nan"), r"the mean of arm '75mg', objective 'efficacy' is not a finite number"),
        (changed("safety = 0.388", "safty = 0.388"), r"arm '75mg' has a value for 'safty', which is no .* 'safety'\?"),
        (changed(", safety = 0.388", ""), r"arm '75mg' has no value for 'safety'"),
        (changed('"./measure --dose 75"', "3"), r"arms.75mg.command is 3, expected a text or a list of texts"),
        (changed('"./measure --dose 75"', '["a", 3]'), r"arms.75mg.command is \['a', 3\], expected a text or a list"),
        (HEAD + '[noise]\nkind = "exact"\n[arms]\na = 3', r"arms.a is 3, expected a table with mean or command"),
        ("arms = 3\n" + HEAD + '[noise]\nkind = "exact"', r"arms is 3, expected a list of names or one table"),
        ("arms = [1]\n" + HEAD + '[noise]\nkind = "exact"', r"arms is \[1\], expected names between quotes"),
        ('arms = ["a", "a"]\n' + HEAD + '[noise]\nkind = "exact"', r"arms: 'a' is given twice"),
        ("arms = []\n" + HEAD + '[noise]\nkind = "exact"', r"there are no arms; expected at least one name"),
        ('objectives = 3\nnoise = 3\narms = ["a"]', r"objectives is 3, expected a table \[objectives\]"),
        (HEAD + "[arms.a]\n[noise]", r"noise is missing for 'x', 'y'"),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_a_constraint_error_keeps_its_caret(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        load(written(tmp_path, changed('"efficacy >= 0.4"', '"efficacy*safety >= 0.4"')))
    assert str(caught.value).splitlines()[1:] == ["    efficacy*safety >= 0.4", "            ^"]


def test_a_text_without_a_file_has_a_name_too() -> None:
    with pytest.raises(FileError, match=r"^the problem file: 'objectives' is missing"):
        loads("delta = 0.1")
    with pytest.raises(FileError, match=r"^study.npz is not valid TOML"):
        loads("delta", "study.npz")


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no file .*missing\.toml"):
        load(tmp_path / "missing.toml")
    with pytest.raises(FileError, match=r"is a directory, expected a problem file"):
        load(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(FileError, match=r"binary.toml is not text in UTF-8 \(byte 8\); save it as such"):
        load(tmp_path / "binary.toml")
    with pytest.raises(FileError, match=r"cannot write .*nowhere"):
        load(written(tmp_path, DOSES)).save(tmp_path / "nowhere" / "problem.toml")
    with pytest.raises(FileError, match=r"cannot read .*File name too long"):
        load(tmp_path / ("x" * 5000))


NAMES = st.text(min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and name.isprintable() and "`" not in name
)
POSITIVE = st.floats(1e-6, 1e6)
NOISES: list[st.SearchStrategy[Noise]] = [
    st.just(Bernoulli()),
    st.just(Exact()),
    st.just(Unknown()),
    POSITIVE.map(Gaussian),
    POSITIVE.map(SubGaussian),
    st.tuples(st.floats(-1e6, 0), POSITIVE).map(lambda ends: Bounded(*ends)),
]


@st.composite
def problem_files(draw: st.DrawFn) -> ProblemFile:
    objectives = draw(st.dictionaries(NAMES, st.sampled_from(["max", "min"]), min_size=1, max_size=4))
    d = len(objectives)
    arms = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    kinds = draw(st.lists(st.sampled_from(range(len(NOISES))), min_size=d, max_size=d))
    if draw(st.booleans()):
        kinds = kinds[:1] * d
    noise = {name: draw(NOISES[kind]) for name, kind in zip(objectives, kinds, strict=True)}
    coefficients = st.lists(st.one_of(st.just(0.0), POSITIVE, POSITIVE.map(lambda v: -v)), min_size=d, max_size=d)
    rows = draw(st.lists(st.tuples(coefficients, st.floats(0, 1e9)), max_size=3))  # 0 satisfies every row
    gaussian = [model.sigma for model in noise.values() if isinstance(model, Gaussian)]
    dependence: Any = draw(st.sampled_from(["unknown", "independent"]))
    if len(gaussian) > 0 and draw(st.booleans()):
        correlation = 0.25 + 0.75 * np.eye(len(gaussian))
        dependence = (np.outer(gaussian, gaussian) * correlation).tolist()
    arguments: dict[str, Any] = {
        "arms": arms,
        "noise": noise,
        "dependence": dependence,
        "name": draw(st.text(max_size=9)),
    }
    constraints: Any = ([row for row, _ in rows], [bound for _, bound in rows])
    plain = Problem(objectives, constraints=constraints, **arguments)
    if draw(st.booleans()):
        constraints = {f"constraint {i}": text for i, text in enumerate(plain.constraint_texts.values())}
        plain = Problem(objectives, constraints=constraints, **arguments)
    tolerance = draw(st.one_of(POSITIVE, st.fixed_dictionaries({}, optional=dict.fromkeys(plain.tolerance, POSITIVE))))
    problem = Problem(objectives, constraints=constraints, tolerance=tolerance, **arguments)
    low_high = [(max(low, -1e300), min(high, 1e300)) for low, high in (model.support for model in noise.values())]
    rows_of_means = [[draw(st.floats(*ends)) for ends in low_high] for _ in arms]
    means = np.array(rows_of_means) if draw(st.booleans()) else None
    sources = {arm: {draw(st.sampled_from(["command", "callable", "data"])): draw(st.text())} for arm in arms[:2]}
    settings = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "delta": st.floats(0.001, 0.999),
                "algorithm": st.sampled_from(["e-cape", "racing"]),
                "evidence": st.text(max_size=5),
                "budget": st.integers(1, 10**12),
                "seed": st.integers(0, 2**63 - 1),
            },
        )
    )
    return ProblemFile(problem, means, sources if draw(st.booleans()) else {}, settings)


@given(problem_files())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_saved_is_loaded_bit_for_bit(tmp_path_factory: pytest.TempPathFactory, file: ProblemFile) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.toml"
    file.save(path)
    assert same(load(path), file)
    assert load(path).problem.notes == file.problem.notes
