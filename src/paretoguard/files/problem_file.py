"""Problem files: TOML with the words of `Problem`, plus the arms' means or sources and the settings of a run.

name = "dose-finding"
delta = 0.05                                   # also: algorithm, evidence, budget, seed
constraints = ["efficacy >= 0.4"]              # or a table, which names them
dependence = "independent"                     # or "unknown", or the covariance of the Gaussian objectives
tolerance = 0.01                               # or a table by objective and constraint
[objectives]
efficacy = "max"
[noise]                                        # for all objectives, or one table for each: [noise.efficacy]
kind = "bernoulli"
[arms."75mg"]                                  # or arms = ["75mg", "150mg"]
mean = { efficacy = 0.469 }                    # to simulate
command = "./measure --dose 75"                # to measure; also: callable, data
with = { dose = 75 }                           # what {dose} stands for in a command of [measure]
[measure]                                      # how arms are measured: see docs/race.md
[derived]
slow = "wall_ms > 200"                         # objectives by formulas over what is measured
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from paretoguard.errors import FileError, ProblemError
from paretoguard.files.metrics import assumed_noise, check_constrained, read_formulas, runs_are_alike
from paretoguard.numeric import Floats
from paretoguard.problem import Instance, Problem
from paretoguard.problem.names import suggestion
from paretoguard.problem.noise import Gaussian, Noise, finite_number

SETTINGS: dict[str, type] = {"delta": float, "algorithm": str, "evidence": str, "budget": int, "seed": int}
QUESTION = ("constraints", "dependence", "tolerance", "objectives", "noise")
KEYS = ("name", *SETTINGS, *QUESTION, "derived", "measure", "arms")
SOURCES = ("command", "callable", "data")
WITH = "with"


@dataclass(frozen=True, eq=False)
class ProblemFile:
    """What a problem file holds; `settings` has only what was given.

    `means` [K, d] in the order of the problem's arms and objectives, or None. `sources`: arm -> what measures it, such
    as {"command": "./measure --dose 75"}; `measure` says how, `derived` has formulas. The noise of the objectives in
    `assumed` was not given.
    """

    problem: Problem
    means: Floats | None = None
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    measure: Mapping[str, Any] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()

    @property
    def is_measured(self) -> bool:
        """True if the file says how arms are measured."""
        return bool(self.measure) or any(key in source for source in self.sources.values() for key in SOURCES)

    @property
    def instance(self) -> Instance:
        """The problem with its means, to simulate."""
        if self.means is None:
            raise FileError("this problem file gives no means, so there is nothing to simulate; give each arm a mean")
        return Instance(self.problem, self.means)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file to `path`; `load` reads the same values back. Raise FileError if it cannot be written."""
        try:
            Path(path).write_text(dumps(self), encoding="utf-8", newline="\n")
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror or error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Return the file as nested plain values, in the order of writing."""
        problem, given = self.problem, self.problem.to_arguments()
        table: dict[str, Any] = {"name": problem.name} if problem.name else {}
        table |= {key: self.settings[key] for key in SETTINGS if key in self.settings}
        if problem.constraint_texts:
            table["constraints"] = given["constraints"]
        if problem.dependence != "unknown":
            table["dependence"] = given["dependence"]
        allowed = {name: value for name, value in problem.tolerance.items() if value > 0}
        if allowed:
            same = len(allowed) == len(problem.tolerance) and len(set(allowed.values())) == 1
            table["tolerance"] = next(iter(allowed.values())) if same else allowed
        table["objectives"] = dict(problem.objectives)
        stated = {name: model for name, model in problem.noise.items() if name not in self.assumed}
        table |= {"noise": _noise_table(stated, whole=not self.assumed)} if stated else {}
        table |= {"derived": dict(self.derived)} if self.derived else {}
        table |= {"measure": dict(self.measure)} if self.measure else {}
        table["arms"] = self._arms()
        return table

    def _arms(self) -> list[str] | dict[str, Any]:
        arms: dict[str, dict[str, Any]] = {arm: {} for arm in self.problem.arms}
        if self.means is not None:
            for arm, row in zip(self.problem.arms, self.means.tolist(), strict=True):
                arms[arm]["mean"] = dict(zip(self.problem.objectives, row, strict=True))
        for arm, source in self.sources.items():
            arms[arm] |= source
        return arms if any(arms.values()) else list(arms)


def load(path: str | PathLike[str]) -> ProblemFile:
    """Read a problem file. Raise FileError, with the file's name and the key, if anything is wrong.

    Parameters
    ----------
    path
        The TOML file.

    Returns
    -------
    ProblemFile
        The problem, with the means and the settings that the file gives.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise FileError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise FileError(f"{path} is a directory, expected a problem file") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not text in UTF-8 (byte {error.start}); save it as such") from error
    return loads(text, str(path))


def loads(text: str, origin: str = "the problem file") -> ProblemFile:
    """Read a problem file from its text; messages call it `origin`."""
    if not text.strip():
        raise FileError(f"{origin} is empty, expected a problem file with [objectives], [noise] and [arms]")
    try:
        return _problem_file(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{origin} is not valid TOML: {error}") from error
    except ProblemError as error:
        raise FileError(f"{origin}: {error}") from error


def dumps(file: ProblemFile) -> str:
    """The text of a problem file; `loads` reads the same values back."""
    import tomli_w  # needed to write only

    return tomli_w.dumps(file.to_dict())


# From here on errors are ProblemErrors that name the key; loads() adds the file.


def _problem_file(table: Mapping[str, Any]) -> ProblemFile:
    _check_keys(table, KEYS, "")
    measure = _table(table, "measure") if "measure" in table else {}
    arms = _arm_tables(table.get("arms", []))
    is_measured = bool(measure) or any(key in keys for keys in arms.values() for key in SOURCES)
    may_assume = is_measured and not any("mean" in keys for keys in arms.values())
    for key in ("objectives", "arms") if may_assume else ("objectives", "noise", "arms"):
        if key not in table:
            raise ProblemError(f"'{key}' is missing; a problem file needs objectives, noise and arms")
    objectives = _table(table, "objectives")
    formulas = read_formulas(table.get("derived", {}))
    noise, dependence = _noise(table, tuple(objectives))
    assumed: tuple[str, ...] = ()
    if may_assume and isinstance(noise, dict):
        assumed = tuple(name for name in objectives if name not in noise)
        steady = runs_are_alike(measure, arms)
        noise |= {name: assumed_noise(name, formulas, steady=steady) for name in assumed}
    constraints = table.get("constraints", [])
    if not isinstance(constraints, list | dict):
        raise ProblemError(f"constraints is {constraints!r}, expected a list of texts or a table name = text")
    if is_measured:
        check_constrained(constraints.values() if isinstance(constraints, dict) else constraints, objectives, formulas)
    problem = Problem(
        objectives,
        arms=tuple(arms),
        noise=noise,
        constraints=constraints,
        dependence=dependence,
        tolerance=_tolerance(table.get("tolerance", 0.0)),
        name=_typed(table.get("name", ""), "name", str),
    )
    return ProblemFile(
        problem,
        _means(problem, arms),
        {arm: source for arm, keys in arms.items() if (source := {key: keys[key] for key in keys if key != "mean"})},
        {key: _typed(table[key], key, kind) for key, kind in SETTINGS.items() if key in table},
        measure,
        dict(table.get("derived", {})),
        assumed,
    )


def _tolerance(given: Any) -> Any:
    if not isinstance(given, dict):
        return _typed(given, "tolerance", float)
    return {key: _typed(value, f"tolerance.{key}", float) for key, value in given.items()}


def _noise(table: Mapping[str, Any], objectives: tuple[str, ...]) -> tuple[Noise | dict[str, Noise], Any]:
    """Return the noise, and the dependence, which a covariance in the noise table also states."""
    given, dependence = _table(table, "noise") if "noise" in table else {}, table.get("dependence", "unknown")
    if not isinstance(given.get("kind"), str):  # an objective may be called kind
        models = {}
        for name, model in given.items():
            if not isinstance(model, dict):
                raise ProblemError(
                    f"noise.{name} is {model!r}, expected kind = … for all objectives, or [noise.{name}]"
                )
            if "covariance" in model:
                raise ProblemError(
                    f"noise.{name}.covariance is for one objective; write std here, and dependence = [[…]]"
                )
            models[name] = _noise_model(model, f"noise.{name}")
        return models, dependence
    if "covariance" not in given:
        return _noise_model(given, "noise"), dependence
    if "dependence" in table or "std" in given:
        other = "dependence" if "dependence" in table else "noise.std"
        raise ProblemError(f"noise.covariance and {other} say the same thing twice; keep one of them")
    if given["kind"] != "gaussian" or len(given) > 2:
        raise ProblemError('noise.covariance stands alone beside kind = "gaussian"')
    return Gaussian(_standard_deviations(given["covariance"], objectives)), given["covariance"]


def _noise_model(table: Mapping[str, Any], key: str) -> Noise:
    for name, value in table.items():
        if isinstance(value, bool):
            raise ProblemError(f"{key}.{name} is {value!r}, expected a number")
    try:
        return Noise.from_dict(table)
    except ProblemError as error:
        raise ProblemError(f"{key}: {error}") from error


def _standard_deviations(covariance: Any, objectives: tuple[str, ...]) -> list[float]:
    d = len(objectives)
    rows = covariance if isinstance(covariance, list) else []
    if len(rows) != d or any(not isinstance(row, list) or len(row) != d for row in rows):
        raise ProblemError(f"noise.covariance is {covariance!r}, expected {d} rows of {d} numbers")
    variances = [finite_number(rows[c][c]) for c in range(d)]
    for objective, variance in zip(objectives, variances, strict=True):
        if variance is None or variance <= 0:
            raise ProblemError(f"noise.covariance gives '{objective}' the variance {variance!r}, expected one above 0")
    return [math.sqrt(variance) for variance in variances if variance is not None]


def _noise_table(noise: Mapping[str, Noise], *, whole: bool) -> dict[str, Any]:
    """Return one table if all objectives share a kind of noise, else one for each."""
    tables = [model.to_dict() for model in noise.values()]
    if len({table["kind"] for table in tables}) > 1 or not whole:
        return dict(zip(noise, tables, strict=True))
    columns = {key: [table[key] for table in tables] for key in tables[0]}
    return {key: values[0] if len(set(values)) == 1 else values for key, values in columns.items()}


def _arm_tables(given: Any) -> dict[str, dict[str, Any]]:
    if isinstance(given, list):
        repeated = [name for place, name in enumerate(given) if name in given[:place]]
        if repeated:
            raise ProblemError(f"arms: {repeated[0]!r} is given twice")
        if any(not isinstance(name, str) for name in given):
            raise ProblemError(f"arms is {given!r}, expected names between quotes")
        return {name: {} for name in given}
    if not isinstance(given, dict):
        raise ProblemError(f"arms is {given!r}, expected a list of names or one table [arms.NAME] for each")
    for arm, keys in given.items():
        if not isinstance(keys, dict):
            raise ProblemError(f"arms.{arm} is {keys!r}, expected a table with mean or command")
        _check_keys(keys, ("mean", *SOURCES, WITH), f"arms.{arm}.")
        words = keys.get(WITH, {})
        if not isinstance(words, dict) or any(isinstance(value, dict | list) for value in words.values()):
            raise ProblemError(f"arms.{arm}.{WITH} is {words!r}, expected {{ word = value, … }}")
        for key in SOURCES:
            parts = keys.get(key, "")
            if not isinstance(parts, str) and not (isinstance(parts, list) and all(isinstance(p, str) for p in parts)):
                raise ProblemError(f"arms.{arm}.{key} is {parts!r}, expected a text or a list of texts")
    return given


def _means(problem: Problem, arms: Mapping[str, Mapping[str, Any]]) -> Floats | None:
    without = [arm for arm, keys in arms.items() if "mean" not in keys]
    if len(without) == len(arms):
        return None
    if without:
        raise ProblemError(f"arms.{without[0]}.mean is missing, though other arms have one; give all or none")
    for arm, keys in arms.items():
        if not isinstance(keys["mean"], dict):
            raise ProblemError(f"arms.{arm}.mean is {keys['mean']!r}, expected {{ objective = mean, … }}")
        for objective, value in keys["mean"].items():
            _typed(value, f"arms.{arm}.mean.{objective}", float)
    return Instance(problem, {arm: keys["mean"] for arm, keys in arms.items()}).means


def _check_keys(table: Mapping[str, Any], known: Iterable[str], prefix: str) -> None:
    for key in table:
        if key not in known:
            raise ProblemError(f"key '{prefix}{key}' is not known; {suggestion(key, known)}")


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(table[key], dict):
        raise ProblemError(f"{key} is {table[key]!r}, expected a table [{key}]")
    return dict(table[key])


def _typed(value: Any, key: str, kind: type) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float if kind is float else kind):
        words = {str: "a text", int: "a whole number", float: "a number"}
        raise ProblemError(f"{key} is {value!r}, expected {words[kind]}")
    return value
