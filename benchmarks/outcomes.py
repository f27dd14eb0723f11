"""Where `certified` gains by knowing what kind of outcomes there are, and what it loses where it knows less.

    python benchmarks/outcomes.py    writes benchmarks/results/outcomes.csv and the tables of docs/evidence.md

- declared: mean samples of e-cAPE with the outcomes as declared, against the same outcomes declared less sharply;
- order: the same with results counted in the order asked;
- learnt: how often a constraint is called violated by an arm on its border, with scales learnt from the results.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import rows
from table import put

import paretoguard as pg
from paretoguard.evidence.estimated_scale import LEAST_PULLS
from paretoguard.simulation.rewards import reward

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "outcomes.csv", ROOT / "docs" / "evidence.md"
DELTA, RUNS, BORDER_RUNS = 0.05, 500, 20_000


class Coin(NamedTuple):
    """1 with this mean, else 0."""

    width: float = 1.0


class Even(NamedTuple):
    """Spread evenly around the mean."""

    width: float


class Skewed(NamedTuple):
    """Exponential, with a long tail above (1) or below (-1) and standard deviation 1."""

    side: float


class Normal(NamedTuple):
    """Standard normal."""

    std: float


@reward.register(Coin)
def _coin(law: Coin, mean: float, u: float, v: float) -> float:
    return 1.0 if u < mean else 0.0


@reward.register(Even)
def _even(law: Even, mean: float, u: float, v: float) -> float:
    return mean + law.width * (u - 0.5)


@reward.register(Skewed)
def _skewed(law: Skewed, mean: float, u: float, v: float) -> float:
    return mean + law.side * (-math.log(1.0 - u) - 1.0)


@reward.register(Normal)
def _normal(law: Normal, mean: float, u: float, v: float) -> float:
    return mean + law.std * math.sqrt(-2.0 * math.log(1.0 - u)) * math.cos(2.0 * math.pi * v)


@dataclass(frozen=True)
class Sums(pg.SubGaussian):
    """Sub-Gaussian, and no more is said; drawn by one of the laws above."""

    drawn: Any = None
    kind: ClassVar[str] = "sums"

    def law(self) -> Any:
        return self.drawn


@dataclass(frozen=True)
class Scores(pg.Bounded):
    """Between 0 and 1, spread evenly over a tenth of it."""

    kind: ClassVar[str] = "scores"

    def law(self) -> Even:
        return Even(0.1)


@dataclass(frozen=True)
class Hidden(pg.Unknown):
    """Nothing is said; drawn by one of the laws above."""

    drawn: Any = None
    kind: ClassVar[str] = "hidden"

    def law(self) -> Any:
        return self.drawn


def rare(noise: pg.Noise) -> pg.Instance:
    """Four treatments: response, and a rare harm that must stay below 5%."""
    problem = pg.Problem(
        {"response": "max", "harm": "min"}, arms=["w", "x", "y", "z"], noise={"response": noise, "harm": noise},
        constraints=["harm <= 0.05"],
    )  # fmt: skip
    return pg.Instance(problem, [[0.45, 0.01], [0.6, 0.025], [0.3, 0.03], [0.7, 0.1]], name="rare harms")


def published(noise: pg.Noise) -> pg.Instance:
    given = pg.instances.load("secukinumab")
    stated = given.problem
    A = [row.coefficients for row in stated.constraints]
    problem = pg.Problem(
        dict(stated.objectives), arms=list(stated.arms), noise=dict.fromkeys(stated.objectives, noise),
        dependence=stated.dependence, constraints=(A, [row.bound for row in stated.constraints]),
    )  # fmt: skip
    return pg.Instance(problem, given.means, name="secukinumab")


def graded(noise: pg.Noise) -> pg.Instance:
    """Four models graded between 0 and 1, of which half a point is asked for."""
    problem = pg.Problem(
        {"grade": "max", "speed": "max"}, arms=["a", "b", "c", "d"],
        noise={"grade": noise, "speed": pg.Gaussian(0.05)}, constraints=["grade >= 0.5"],
    )  # fmt: skip
    return pg.Instance(problem, [[0.65, 0.5], [0.55, 0.8], [0.45, 0.9], [0.4, 0.2]], name="graded")


def opposed(dependence: Any) -> pg.Instance:
    """Five arms that trade two objectives off, whose errors are correlated by -0.7 within a measurement."""
    problem = pg.Problem(
        {"x": "max", "y": "max"}, arms=["a", "b", "c", "d", "e"], noise=pg.Gaussian(1.0), dependence=dependence
    )
    means = [[0.0, 1.0], [0.4, 0.7], [0.7, 0.4], [1.0, 0.0], [0.3, 0.3]]
    return pg.Instance(problem, means, name="opposed")


COVARIANCE = [[1.0, -0.7], [-0.7, 1.0]]
DECLARED = [
    ("rare harms", "`Bernoulli()`", rare(pg.Bernoulli()), "`SubGaussian(0.5)`", rare(Sums(0.5, Coin()))),
    ("secukinumab", "`Bernoulli()`", published(pg.Bernoulli()), "`SubGaussian(0.5)`", published(Sums(0.5, Coin()))),
    ("narrow grades", "`Bounded(0, 1)`", graded(Scores(0, 1)), "`SubGaussian(0.5)`", graded(Sums(0.5, Even(0.1)))),
    ("grades 0 and 1", "`Bounded(0, 1)`", graded(pg.Bounded(0, 1)), "`SubGaussian(0.5)`", graded(Sums(0.5, Coin()))),
    ("opposed errors", "covariance", opposed(COVARIANCE), 'dependence "unknown"', opposed("unknown")),
]  # fmt: skip
LATE = ["secukinumab", "covboost", "random:K=10,d=3"]
LAWS = [
    ("normal", Normal(1.0)),
    ("exponential, its long tail on the side of the claim", Skewed(1.0)),
    ("… on the other side", Skewed(-1.0)),
]
LEVELS = [0.05, 0.005]


def mean_samples(instance: pg.Instance | str, evidence: str) -> float:
    study = pg.simulate(instance, algorithms="e-cape", evidence=evidence, delta=DELTA, runs=RUNS)
    return float(study.summary()[0]["mean"])


def false_alarms(law: Any, level: float) -> float:
    """How often "x <= 0" is called violated by an arm with mean 0, within 3,000 samples."""
    problem = pg.Problem({"x": "max"}, arms=["a"], noise={"x": Hidden(law)}, constraints=["x <= 0"], name="border")
    study = pg.simulate(
        pg.Instance(problem, [[0.0]]), algorithms="uniform", evidence="certified", delta=level, runs=BORDER_RUNS,
        budget=3_000,
    )  # fmt: skip
    return float(study.summary()[0]["error_ecpsi"])


def measure() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, sharp, first, loose, second in DECLARED:
        values = mean_samples(first, "certified"), mean_samples(second, "certified")
        rows.append(
            {"table": "declared", "what": name, "first": sharp, "value": values[0], "second": loose, "other": values[1]}
        )
        print(rows[-1], flush=True)
    for name in LATE:
        arrival, asked = mean_samples(name, "certified"), mean_samples(name, "certified:order=asked")
        rows.append(
            {
                "table": "order",
                "what": f"`{name}`",
                "first": "arrival",
                "value": arrival,
                "second": "asked",
                "other": asked,
            }
        )
        print(rows[-1], flush=True)
    for name, law in LAWS:
        first, second = (false_alarms(law, level) for level in LEVELS)
        rows.append(
            {"table": "learnt", "what": name, "first": LEVELS[0], "value": first, "second": LEVELS[1], "other": second}
        )
        print(rows[-1], flush=True)
    return rows


def lines(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in body)])


def fill(page: str, rows: list[dict[str, str]]) -> str:
    def of(table: str) -> list[dict[str, str]]:
        return [row for row in rows if row["table"] == table]

    declared = [
        [row["what"], f"{float(row['value']):,.0f}", row["first"], f"{float(row['other']):,.0f}", row["second"],
         f"{float(row['value']) / float(row['other']):.2f}"]
        for row in of("declared")
    ]  # fmt: skip
    order = [
        [row["what"], f"{float(row['value']):,.0f}", f"{float(row['other']):,.0f}",
         f"{float(row['other']) / float(row['value']):.2f}"]
        for row in of("order")
    ]  # fmt: skip
    learnt = [[row["what"], f"{float(row['value']):.3f}", f"{float(row['other']):.4f}"] for row in of("learnt")]
    return put(
        page,
        {
            "declared": lines(["outcomes", "samples", "declared as", "samples", "declared as", "ratio"], declared),
            "order": lines(["instance", "by arrival", "as asked", "ratio"], order),
            "learnt": lines(["noise", *(f"at level {level:g}" for level in LEVELS)], learnt),
            "least": f"No claim is made about an arm before {LEAST_PULLS} results, but by exact values.",
        },
    )


def main() -> int:
    found = measure()
    rows.write(found, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


def read() -> list[dict[str, str]]:
    return rows.read(RESULTS)


if __name__ == "__main__":
    sys.exit(main())
