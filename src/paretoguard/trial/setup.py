"""How an experiment is run: the problem, the error probability, the algorithm, the evidence, and how results count."""

from dataclasses import dataclass
from typing import Any

from paretoguard.algorithms import Algorithm
from paretoguard.engine.engine import Engine
from paretoguard.errors import SettingsError
from paretoguard.evidence import Evidence
from paretoguard.problem import Problem
from paretoguard.trial import checks, promises, registry
from paretoguard.trial.build import engine_for


@dataclass(frozen=True)
class Setup:
    """Checked settings, with the records of the algorithm and of the evidence."""

    problem: Problem
    delta: float
    algorithm: Algorithm
    evidence: Evidence
    budget: int
    seed: int
    order: str  # "arrival" or "asked"

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        delta: float,
        algorithm: str | Algorithm,
        evidence: str | Evidence,
        budget: int | None = None,
        seed: int = 0,
        order: str | None = None,
    ) -> "Setup":
        """Return the settings; raise SettingsError if one of them is wrong or does not go with the others."""
        if not isinstance(problem, Problem):
            raise SettingsError(
                f"the problem is {problem!r}; expected a pg.Problem (of a problem file: pg.load(path).problem)"
            )
        how = registry.algorithm(algorithm)
        kind = registry.evidence_for(how, evidence)
        counted = promises.order_of(kind, order)
        return cls(
            problem,
            checks.check_delta(delta),
            how,
            promises.in_order(kind, counted),
            checks.check_budget(budget),
            checks.check_seed(seed),
            counted,
        )

    @property
    def guarantee(self) -> str:
        """The label of every verdict: "finite-sample", "asymptotic" or "heuristic"."""
        return promises.guarantee(self.evidence, self.problem)

    def engine(self) -> Engine:
        """Return an experiment without results."""
        return engine_for(self.problem, self.algorithm, self.evidence, self.delta, seed=self.seed)

    def labels(self) -> dict[str, Any]:
        """Return what a result says of these settings."""
        return {
            "algorithm": registry.label(self.algorithm),
            "evidence": registry.label(self.evidence),
            "delta": self.delta,
            "guarantee": self.guarantee,
            "basis": promises.basis(self.evidence, self.problem),
            "assumptions": promises.assumptions(self.problem, self.evidence, self.order),
        }
