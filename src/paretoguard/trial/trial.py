"""Trial: ask which arm to measure next, tell the result; in memory, over the engine. And `identify`, which drives one.

Simulation runs the same functions: a trial with the seed of a simulated run, fed its rewards, makes the same pulls.
"""

from collections.abc import Callable, Mapping
from typing import Any

from paretoguard.algorithms import Algorithm
from paretoguard.errors import Interrupted, SampleError
from paretoguard.evidence import Evidence
from paretoguard.problem import Problem
from paretoguard.trial import registry
from paretoguard.trial.session import Session
from paretoguard.trial.setup import Setup
from paretoguard.trial.tickets import Ticket
from paretoguard.verdict import Result, Verdict

Sample = Callable[[str], Mapping[str, float]]


class Trial:
    """An experiment in memory: `next_arm()`, measure it, `tell(arm, values)`, until `next_arm()` gives None.

    Where several measurements run at once, `ask(n)` gives tickets, and `tell(ticket, values)` takes their results as
    they come.

    Parameters
    ----------
    problem
        The question.
    delta
        The error probability you accept, between 0 and 1.
    algorithm, evidence
        A name, with options if you like ("two-stage:form=2023"), or a record such as `pg.algorithms.TwoStage()`.
    budget
        The largest number of samples; None means no limit.
    seed
        Of arms drawn at random, as "pitfall" does.
    order
        How results count: by "arrival", or as "asked" where slow results may be other than quick ones. None means as
        the evidence says, else by arrival.

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
        delta: float = registry.DEFAULT_DELTA,
        algorithm: str | Algorithm = registry.DEFAULT_ALGORITHM,
        evidence: str | Evidence = registry.DEFAULT_EVIDENCE,
        budget: int | None = None,
        seed: int = 0,
        order: str | None = None,
    ) -> None:
        chosen: dict[str, Any] = {"delta": delta, "algorithm": algorithm, "evidence": evidence}
        self._session = Session(Setup.of(problem, budget=budget, seed=seed, order=order, **chosen))

    @property
    def problem(self) -> Problem:
        """The question."""
        return self._session.problem

    @property
    def setup(self) -> Setup:
        """The settings, checked."""
        return self._session.setup

    @property
    def samples(self) -> int:
        """Results counted so far."""
        return self._session.samples

    @property
    def answered(self) -> bool:
        """True if the stopping rule was met at the last look."""
        return self._session.answered

    @property
    def outstanding(self) -> list[Ticket]:
        """The tickets without a result."""
        return self._session.outstanding

    @property
    def held(self) -> int:
        """Results that wait for earlier ones of their arm, in the order asked."""
        return self._session.held

    def next_arm(self) -> str | None:
        """Return the arm to measure next; None when the answer is found or the budget is spent."""
        return self._session.next_arm()

    def ask(self, n: int = 1) -> list[Ticket]:
        """Return tickets for up to n arms to measure next; [] when answered or the budget is spent.

        Pending measurements count in the choice of further arms, never in the evidence.

        Parameters
        ----------
        n
            How many arms can be measured now.

        Returns
        -------
        list of Ticket
            One for each measurement.
        """
        return self._session.ask(n)

    def tell(self, what: str | Ticket, values: Mapping[str, float]) -> None:
        """Take one result. Raise SampleError if it cannot be right; nothing changes then.

        Parameters
        ----------
        what
            The arm that was measured, or the ticket.
        values
            {objective: value}, with a value for every objective, in your units.
        """
        self._session.tell(what, values)

    def drop(self, ticket: Ticket, *, for_good: bool = False) -> None:
        """Give up a result that will not come; honest only if whether it is lost does not depend on its value.

        Parameters
        ----------
        ticket
            The ticket whose result is lost.
        for_good
            True says that it will never come. In the order asked this is required, as later results of the arm wait
            for it.
        """
        self._session.drop(ticket, for_good=for_good)

    def statuses(self) -> dict[str, str]:
        """Return each arm's status as in `verdicts`, without the explanations."""
        return self._session.statuses()

    def verdicts(self) -> dict[str, Verdict]:
        """Return each arm's verdict: what is certain now or, where a guarantee carries it, was so before."""
        return self._session.verdicts()

    def result(self, *, simulated: bool = False) -> Result:
        """Return the answer, or what is certain so far.

        Parameters
        ----------
        simulated
            True marks the answer as that of a simulation.
        """
        return self._session.result(simulated=simulated)


def identify(
    problem: Problem,
    sample: Sample,
    *,
    delta: float = registry.DEFAULT_DELTA,
    algorithm: str | Algorithm = registry.DEFAULT_ALGORITHM,
    evidence: str | Evidence = registry.DEFAULT_EVIDENCE,
    budget: int | None = None,
    seed: int = 0,
) -> Result:
    """Find the best trade-offs among the arms that satisfy the constraints, measuring as little as possible.

    Raise SampleError if a measurement fails or is not usable: it names the arm and the values, and carries the result
    so far. Raise Interrupted at Ctrl-C, which carries it too.

    Parameters
    ----------
    problem
        The question.
    sample
        `sample(arm)` measures one arm once and returns {objective: value}.
    delta, algorithm, evidence, budget, seed
        As for `Trial`.

    Returns
    -------
    Result
        The answer: the best arms, and a verdict with its reason for every arm.
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
