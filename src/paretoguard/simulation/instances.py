"""Named instances: problems whose means are known, to simulate on and to check answers against.

A text names an instance and sets its parameters: "covboost", "two-stage-gap:eps=0.05", "random:K=20,d=2,seed=3".
Tables of means lie in `data/`, each with its source. `docs/instances.md` says what each instance is for.
"""

import csv
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np

from paretoguard.errors import SettingsError
from paretoguard.problem import Instance, Problem
from paretoguard.problem.grammar import render
from paretoguard.problem.names import suggestion
from paretoguard.problem.noise import Bernoulli, Gaussian, Noise
from paretoguard.trial.checks import check_seed

_PAPER = "Kone, Kaufmann and Richert (ICML 2025)"
_LARGEST = {"K": 100_000, "d": 64, "m": 200}  # of a random instance


def names() -> tuple[str, ...]:
    """Return the names that `load` knows.

    >>> "covboost" in names()
    True
    """
    return tuple(_BUILDERS)


def load(text: str, **parameters: Any) -> Instance:
    """Return the instance with this name. Raise SettingsError if there is none, or if a parameter does not fit.

    Parameters
    ----------
    text
        The name, with parameters if you like: "random:K=20,d=2". `names()` lists the names.
    parameters
        The same parameters by keyword.

    Returns
    -------
    Instance
        The problem with its means.

    >>> load("covboost").truth().pareto
    ('BNT/BNT+m1273', 'ChAd/ChAd+m1273')
    >>> load("random", K=20, d=2).name
    'random:K=20,d=2'
    """
    if not isinstance(text, str):
        raise SettingsError(f"an instance is loaded by its name, got {text!r}; {_hint('', _BUILDERS)}")
    name, _, written = (part.strip() for part in text.partition(":"))
    if name not in _BUILDERS:
        raise SettingsError(f"there is no instance {name!r}; {_hint(name, _BUILDERS)}")
    known = {key: one for key, one in inspect.signature(_BUILDERS[name]).parameters.items() if key != "name"}
    chosen: dict[str, Any] = {}
    for key, value in [*_pairs(name, written, known), *parameters.items()]:
        if key not in known:
            raise SettingsError(f"instance {name!r} has no parameter {key!r}; {_hint(key, known)}")
        if key in chosen:
            raise SettingsError(f"parameter {key!r} of instance {name!r} is given twice; keep one")
        chosen[key] = _value(f"parameter {key!r} of instance {name!r}", value, known[key])
    settings = ",".join(f"{key}={str(chosen[key]).lower()}" for key in known if key in chosen)
    return _BUILDERS[name](f"{name}:{settings}" if settings else name, **chosen)


def _hint(word: str, known: Mapping[str, Any]) -> str:
    """Return all names that there are, after the nearest one if there is one."""
    if not known:
        return "it has none"
    meant = {one.lower(): one for one in known}.get(word.lower(), word)
    near = suggestion(meant, known)
    return f"{near} There are {', '.join(known)}" if near.startswith("did") else f"there are {', '.join(known)}"


def _pairs(name: str, written: str, known: Mapping[str, inspect.Parameter]) -> list[tuple[str, str]]:
    pairs = []
    for item in written.split(",") if written else []:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            example = ",".join(f"{one.name}={one.default}" for one in known.values())
            raise SettingsError(f"cannot read {item.strip()!r} in '{name}:{written}'; write '{name}:{example}'")
        pairs.append((key, value))
    return pairs


def _value(what: str, given: Any, parameter: inspect.Parameter) -> Any:
    """Return a parameter with the type of its default; a text is read as on a command line."""
    default = parameter.default
    if isinstance(default, bool):
        return given if isinstance(given, bool) else _choice(what, given, ("true", "false")) == "true"
    if isinstance(default, str):
        return _choice(what, given, get_args(parameter.annotation))
    kind, abstract, words = (int, Integral, "whole ") if isinstance(default, int) else (float, Real, "")
    usable = isinstance(given, str | abstract) and not isinstance(given, bool)
    try:
        number = kind(given) if usable else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise SettingsError(f"{what} is {given!r}; expected a {words}number, such as {default}")
    return number


def _choice(what: str, given: Any, choices: Sequence[str]) -> str:
    if given not in choices:
        raise SettingsError(f"{what} is {given!r}; expected {' or '.join(choices)}")
    return str(given)


def _rows(table: str) -> list[dict[str, str]]:
    """Return the rows of a table in `data/`; lines with # say where it comes from."""
    text = resources.files("paretoguard.simulation").joinpath("data", f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def _instance(
    name: str,
    means: Mapping[str, Sequence[float]],
    objectives: Sequence[str],
    noise: Noise,
    constraints: Sequence[str] | Mapping[str, str],
    provenance: str,
) -> Instance:
    """Return an instance whose objectives are all maximised and independent."""
    directions = dict.fromkeys(objectives, "max")
    problem = Problem(
        directions, arms=list(means), noise=noise, constraints=constraints, dependence="independent", name=name
    )
    return Instance(problem, list(means.values()), name=name, provenance=provenance)


def _columns(table: str, columns: Sequence[str]) -> dict[str, list[float]]:
    return {row["arm"]: [float(row[column]) for column in columns] for row in _rows(table)}


def _covboost(name: str, *, constrained: bool = True, table: Literal["full", "printed"] = "full") -> Instance:
    """Twenty vaccination strategies, three immune responses (natural logarithms), IgG at least 8.25."""
    objectives = ("igg", "nt50", "cell")
    columns = [objective if table == "full" else f"tbl_{objective}" for objective in objectives]
    means = {f"{row['prime']}+{row['booster']}": [float(row[c]) for c in columns] for row in _rows("covboost")}
    variances = (0.70437039, 0.82845749, 1.53743137)  # pooled over the arms; source: header of data/covboost.csv
    return _instance(
        name,
        means,
        objectives,
        Gaussian([math.sqrt(variance) for variance in variances]),
        ["igg >= 8.25"] if constrained else [],
        "COV-BOOST trial: Munro et al. (Lancet 2021), log responses with pooled variances as processed by Kone et al. "
        f"and Crépon et al. (2024); the limit on IgG is that of {_PAPER}. Published tables misprint two cells: IgG "
        "of ChAd/ChAd+BNT Half (8.71 for 9.68) and, in one of them, NT50 of BNT/BNT+Ad26 (7.21 for 7.27)"
        + ("." if table == "full" else "; these are the printed two-decimal means, with the first misprint."),
    )


def _secukinumab(name: str, *, table: Literal["adverse", "infections"] = "adverse") -> Instance:
    """Five doses, efficacy and safety both at least 0.4; safety is the absence of adverse events or of infections."""
    return _instance(
        name,
        _columns("secukinumab", ["efficacy", "safety_ae" if table == "adverse" else "safety_inf"]),
        ("efficacy", "safety"),
        Bernoulli(),
        ["efficacy >= 0.4", "safety >= 0.4"],
        "Secukinumab phase 2 trial: Genovese et al. (2013), rates as tabulated by Katz-Samuels and Scott "
        + ("(2018, any adverse event)" if table == "adverse" else "(2019, infections)")
        + f"; limits of {_PAPER}. The vector of that paper is not published, and neither table matches its remark that "
        "75mg is near the boundary and suboptimal to 150mg: with adverse events 75mg is infeasible and more effective "
        "than 150mg, with infections it dominates 150mg. Independence of the two outcomes is an assumption.",
    )


_XYZ = ("x1", "x2", "x3")
# Objectives, noise, constraints, what they are. Dominated arms lie 0.1 (simplex), 0.02 (cube), 0.06 (ordered) standard
# deviations from a face; in explainability two lie 0.02 inside; in racing the optimal arm lies 0.08 from the border.
_OURS: dict[str, tuple[Sequence[str], Noise, Sequence[str], str]] = {
    "simplex": (_XYZ, Gaussian(0.1), [*(f"{x} >= 0" for x in _XYZ), "x1 + x2 + x3 <= 1"], "the simplex"),
    "cube": (_XYZ, Gaussian(0.1), [f"0.15 <= {x} <= 1" for x in _XYZ], "the cube"),
    "ordered": (_XYZ, Gaussian(0.1), ["x1 <= x2", "x2 <= x3"], "the ordering polyhedron"),
    "explainability": (("x", "y"), Gaussian(1.0), ["y >= 0"], "the setting (five Gaussian arms, a half-plane)"),
    **dict.fromkeys(
        ("racing-5", "racing-10"),
        (("x", "y"), Bernoulli(), ["x <= 0.8"], "the setting (Bernoulli arms, a vertical border)"),
    ),
}


def _ours(name: str) -> Instance:
    """Return an instance whose means were chosen for this package; docs/instances.md says why."""
    objectives, noise, constraints, region = _OURS[name]
    provenance = (
        f"Means chosen for this package; {region} of {_PAPER}, which shows its own means only as a picture. They were "
        "tuned by simulation to behave as that paper describes: that they do is by design and confirms nothing."
    )
    return _instance(name, _columns(name, objectives), objectives, noise, constraints, provenance)


def _two_stage_gap(name: str, *, eps: float = 0.1) -> Instance:
    """The paper's three arms: a2 and a3 at distance eps from the border on either side, both dominated by a1.

    Deciding on which side a2 and a3 lie costs about 1/eps^2; e-cAPE need not know. Below eps = 4.5 a1 dominates a2.
    The noise in y is small beside a1's distance, 4.5: if a1 were called infeasible, e-cAPE would pay 1/eps^2 after all.
    """
    if not 1e-9 <= eps < 4.5:
        raise SettingsError(f"parameter 'eps' of instance 'two-stage-gap' is {eps:g}; expected from 1e-9 to below 4.5")
    return _instance(
        name,
        {"a1": [2.5, 3.5], "a2": [-40.0, -1.0 + eps], "a3": [-1.5, -1.0 - eps]},
        ("x", "y"),
        Gaussian([20.0, 2.5]),
        ["y >= -1"],
        f"The first figure of {_PAPER}, with a2 and a3 at distance eps from the border as its caption has it; ours are "
        "the standard deviations, 20 and 2.5, and the place of a2 at x = -40 instead of -4.",
    )


def _random(
    name: str,
    *,
    K: int = 10,
    d: int = 3,
    m: int = 4,
    seed: int = 0,
    noise: Literal["gaussian", "bernoulli"] = "gaussian",
) -> Instance:
    """K arms on a Latin grid of the unit cube, m random faces at one distance from a random centre.

    The faces a_l (x - centre) <= h have random directions; h is the middle of the widest gap that leaves between a
    quarter and three quarters of the arms inside; faces whose gap is below 0.1/K are drawn again, so that no arm is on
    a border. Gaussian noise has std 1/2, the scale of Bernoulli noise.
    """
    for key, value, least in (("K", K, 1), ("d", d, 1), ("m", m, 0)):
        if not least <= value <= _LARGEST[key]:
            expected = f"a whole number from {least} to {_LARGEST[key]}"
            raise SettingsError(f"parameter {key!r} of instance 'random' is {value}; expected {expected}")
    generator = np.random.default_rng(check_seed(seed))
    objectives = [f"x{c + 1}" for c in range(d)]
    means = np.column_stack([generator.permutation((np.arange(K) + 0.5) / K) for _ in range(d)])
    faces, gap = {}, 0.0
    while m > 0 and gap < 0.1 / K:
        directions, centre = generator.standard_normal((m, d)), generator.uniform(0.25, 0.75, d)
        A = (directions / np.linalg.norm(directions, axis=1, keepdims=True)).round(3)
        reach = np.sort(np.max((means - centre) @ A.T, axis=1))
        gaps = np.diff(reach, append=reach[-1] + 1.0)  # room beyond the last arm, for K = 1
        first = (K - 1) // 4
        cut = first + int(np.argmax(gaps[first : max(first + 1, 3 * K // 4)]))
        gap = gaps[cut]
        bounds = (reach[cut] + gap / 2 + A @ centre).round(8)
        faces = {f"face {row + 1}": render(A[row].tolist(), bounds[row], objectives) for row in range(m)}
    return _instance(
        name,
        {f"a{i + 1}": row for i, row in enumerate(means.tolist())},
        objectives,
        Gaussian(0.5) if noise == "gaussian" else Bernoulli(),
        faces,
        f"Drawn for this package with numpy's default_rng({seed}): means on a Latin grid, random faces.",
    )


_BUILDERS: dict[str, Callable[..., Instance]] = {
    "covboost": _covboost,
    "secukinumab": _secukinumab,
    **dict.fromkeys(_OURS, _ours),
    "two-stage-gap": _two_stage_gap,
    "random": _random,
}
