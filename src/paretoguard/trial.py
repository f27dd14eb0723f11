"""Trial: ask which arm to measure next, tell the result; in memory, over the engine. And `identify`, which drives one.

Simulation runs the same compiled functions: a trial fed the rewards of a simulated run makes the same pulls.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy import int64, uint8
from numpy.typing import NDArray

from paretoguard import settings
from paretoguard.engine.draws import key
from paretoguard.engine.loop import answer_now, decide_next, observe_result, settle_now
from paretoguard.engine.state import new_state
from paretoguard.errors import Interrupted, ProblemError, SampleError, SettingsError
from paretoguard.fitting import check_queue, fit, not_compiled
from paretoguard.problem import STATUSES, Problem
from paretoguard.problem.noise import Exact
from paretoguard.verdict import OPTIMAL, Result, Verdict
from paretoguard.verdict.numbers import snapshot
from paretoguard.verdict.reasons import explain, since

PAIRS_PER_RESULT = 1000  # of arms: so many comparisons after each result, on average, to see what is certain
Sample = Callable[[str], Mapping[str, float]]


class Trial:
    """An experiment in memory: `next_arm()`, measure it, `tell(arm, values)`, until `next_arm()` gives None.

    >>> import paretoguard as pg
    >>> problem = pg.Problem({"speed": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    >>> trial = Trial(problem, delta=0.1, evidence="practical")
    >>> trial.next_arm()
    'a'
    """

    def __init__(
        self,
        problem: Problem,
        *,
        delta: float = 0.05,
        algorithm: str | settings.Algorithm = settings.DEFAULT_ALGORITHM,
        evidence: str | settings.Evidence = settings.DEFAULT_EVIDENCE,
        budget: int | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(problem, Problem):
            raise SettingsError(
                f"the problem is {problem!r}; expected a pg.Problem (of a problem file: pg.load(path).problem)"
            )
        self.problem = problem
        self.delta = settings.check_delta(delta)
        self.algorithm = settings.algorithm(algorithm)
        self.evidence = settings.evidence(evidence)
        self.budget = settings.check_budget(budget)
        self._space = problem.space()
        self._policy, self._levels = fit(self.algorithm, self.evidence, self.delta, self._space)
        self._state = new_state(self._space, key(settings.check_seed(seed), 0))
        self._place = {arm: place for place, arm in enumerate(problem.arms)}
        self._queue: list[int] = []
        self._exact_objectives = [name for name, kind in problem.noise.items() if isinstance(kind, Exact)]
        self._exact: dict[str, dict[str, float]] = {}
        self._answered = False
        self._kept: dict[str, tuple[Verdict, int]] = {}  # what was certain first, and after how many samples
        self._contradicted: set[str] = set()
        self._keeps = settings.guarantee(self.evidence) != settings.HEURISTIC and not any(problem.tolerance.values())
        self._stride = max(1, self._space.arms**2 // PAIRS_PER_RESULT)

    @property
    def samples(self) -> int:
        """Results told so far."""
        return int(self._state.counts.sum())

    @property
    def answered(self) -> bool:
        """Was the stopping rule met at the last look?"""
        return self._answered

    def next_arm(self) -> str | None:
        """The arm to measure next; None when the answer is found or the budget is spent."""
        if not self._queue:
            try:
                queued = decide_next(self._policy, self._levels, self._space, self._state)
            except NumbaError as error:
                raise not_compiled(error, self.algorithm, self.evidence) from error
            check_queue(queued, self._space, self._state, self.algorithm)
            self._answered = queued == 0
            self._queue = [int(arm) for arm in self._state.queue[:queued]]
        if self._answered or self.samples >= self.budget:
            return None
        return self.problem.arms[self._queue[0]]

    def tell(self, arm: str, values: Mapping[str, float]) -> None:
        """Take one result: a value for every objective, in the user's units."""
        try:
            row = self.problem.values(arm, values)
            self._check_exact(arm, values)
        except ProblemError as error:
            raise SampleError(str(error), arm=arm, values=values, result=self.result()) from error
        place = self._place[arm]
        observe_result(self._space, self._state, place, row)
        self._answered = False  # until the next look
        if self._keeps and self.samples % self._stride == 0:
            self._settle()
        if self._queue and self._queue[0] == place:
            self._queue.pop(0)
        else:
            self._queue.clear()  # an unasked result: what to pull next is decided anew

    def _check_exact(self, arm: str, values: Mapping[str, float]) -> None:
        known = self._exact.setdefault(arm, {})
        for name in self._exact_objectives:
            value = float(values[name])
            if known.setdefault(name, value) != value:
                raise ProblemError(
                    f"arm {arm!r} gave {name} = {value!r} after {known[name]!r}, but {name} was declared exact; "
                    "declare its noise if it varies"
                )

    def verdicts(self) -> dict[str, Verdict]:
        """Each arm's verdict: what is certain now or, where a guarantee carries it (see `_settle`), was so before."""
        statuses, via = self._settle()
        shown = self._explain(statuses, via, range(self._space.arms))
        for arm, (first, samples) in self._kept.items():
            if shown[arm].status != first.status:
                shown[arm] = since(first, shown[arm], samples)
        return shown

    def statuses(self) -> dict[str, str]:
        """Each arm's status as in `verdicts`, without the explanations."""
        statuses, _ = self._settle()
        present = zip(self.problem.arms, statuses, strict=True)
        return {arm: self._kept[arm][0].status if arm in self._kept else STATUSES[code] for arm, code in present}

    def _settle(self) -> tuple[NDArray[uint8], NDArray[int64]]:
        """Each arm's status by the present evidence, and the arm next to it on its chain of dominance (or -1).

        What is certain for the first time is kept for good, where a guarantee says that all claims ever made hold
        together: heuristic evidence has none, and with tolerances an arm may be feasible up to one and infeasible as
        well. It is done after every result (with many arms, after every so many), so that it does not matter who looks.
        """
        K = self._space.arms
        statuses, via = np.zeros(K, dtype=uint8), np.zeros(K, dtype=int64)
        settle_now(self._levels, self._space, self._state, statuses, via)
        if self._answered:
            answer_now(self._policy, self._levels, self._space, self._state, statuses)
        if not self._keeps:
            return statuses, via
        certain = np.flatnonzero(statuses)
        new = [int(i) for i in certain if self.problem.arms[i] not in self._kept]
        if new:
            for arm, verdict in self._explain(statuses, via, new).items():
                self._kept[arm] = verdict, self.samples
        for i in certain:
            was, now = self._kept[self.problem.arms[i]][0].status, STATUSES[statuses[i]]
            if (was == OPTIMAL) != (now == OPTIMAL):
                self._contradicted.add(self.problem.arms[i])
        return statuses, via

    def _explain(self, statuses: NDArray[uint8], via: NDArray[int64], arms: Iterable[int]) -> dict[str, Verdict]:
        numbers = snapshot(self.problem, self._levels, self._space, self._state)
        return explain(numbers, statuses, via, settings.guarantee(self.evidence), arms)

    def result(self, *, simulated: bool = False) -> Result:
        """The answer, or what is certain so far."""
        verdicts = self.verdicts()
        counts = (int(count) for count in self._state.counts)
        return Result(
            problem=self.problem.name,
            pareto=tuple(arm for arm, verdict in verdicts.items() if verdict.status == OPTIMAL),
            verdicts=verdicts,
            samples=self.samples,
            pulls=dict(zip(self.problem.arms, counts, strict=True)),
            stopped="answered" if self._answered else "budget" if self.samples >= self.budget else "open",
            algorithm=self.algorithm.name,
            evidence=self.evidence.name,
            delta=self.delta,
            guarantee=settings.guarantee(self.evidence),
            basis=settings.basis(self.evidence),
            assumptions=settings.assumptions(self.problem, self.evidence),
            notes=(*self.problem.notes, *self._alarms()),
            simulated=simulated,
            stated=self.problem,
        )

    def _alarms(self) -> tuple[str, ...]:
        if not self._contradicted:
            return ()
        arms = ", ".join(sorted(self._contradicted, key=self.problem.arms.index))
        return (
            f"assumptions violated? Of {arms} one thing was certified and later its contrary, which happens with "
            f"probability at most {self.delta:g} if noise, independence and steady means are as declared",
        )


def identify(
    problem: Problem,
    sample: Sample,
    *,
    delta: float = 0.05,
    algorithm: str | settings.Algorithm = settings.DEFAULT_ALGORITHM,
    evidence: str | settings.Evidence = settings.DEFAULT_EVIDENCE,
    budget: int | None = None,
    seed: int = 0,
) -> Result:
    """Find the best trade-offs among the arms that satisfy the constraints, measuring as little as possible.

    `sample(arm)` measures one arm once and returns {objective: value}. A measurement that fails or is not usable stops
    with `SampleError`, which names the arm and the values and carries the result so far.
    """
    trial = Trial(problem, delta=delta, algorithm=algorithm, evidence=evidence, budget=budget, seed=seed)
    try:
        while (arm := trial.next_arm()) is not None:
            trial.tell(arm, _measured(trial, sample, arm))
    except KeyboardInterrupt:
        raise Interrupted(result=trial.result()) from None
    return trial.result()


def _measured(trial: Trial, sample: Sample, arm: str) -> Mapping[str, float]:
    try:
        values: Any = sample(arm)
    except Exception as error:
        message = f"measuring arm {arm!r} failed with {type(error).__name__}: {error}"
        raise SampleError(message, arm=arm, values=None, result=trial.result()) from error
    if not isinstance(values, Mapping):
        expected = ", ".join(f"{name!r}: …" for name in trial.problem.objectives)
        message = f"measuring arm {arm!r} gave {values!r}, expected a mapping {{{expected}}}"
        raise SampleError(message, arm=arm, values=values, result=trial.result())
    return values
