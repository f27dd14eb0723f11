"""Trial: ask which arm to measure next, tell the result; in memory, over the engine. And `identify`, which drives one.

Simulation runs the same compiled functions: a trial with the seed of a simulated run, fed its rewards, makes the same
pulls.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard import vocabulary
from paretoguard.engine.certify import OPTIMAL as OPTIMAL_CODE
from paretoguard.engine.draws import key
from paretoguard.engine.loop import answer_now, decide_next, fill_next, observe_result, settle_now
from paretoguard.engine.questions import select
from paretoguard.engine.state import new_state
from paretoguard.errors import Interrupted, ProblemError, SampleError, SettingsError
from paretoguard.problem import STATUSES, Problem
from paretoguard.problem.noise import Exact
from paretoguard.trial import checks, promises, registry
from paretoguard.trial.build import bad_queue, check_queue, fit, not_compiled
from paretoguard.trial.bulk import ANSWERED, QUEUED, Terms, replay
from paretoguard.trial.steps import Steps
from paretoguard.trial.tickets import Row, Ticket, Tickets
from paretoguard.verdict import INFEASIBLE, OPTIMAL, Result, Verdict, notes
from paretoguard.verdict.reasons import explain, since
from paretoguard.verdict.snapshot import Snapshot, snapshot, unvarying

MOST_AT_ONCE = 1_000_000  # tickets
PAIRS_PER_RESULT = 1000  # of arms: so many comparisons after each result, on average, to see what is certain
Sample = Callable[[str], Mapping[str, float]]


class Trial:
    """An experiment in memory: `next_arm()`, measure it, `tell(arm, values)`, until `next_arm()` gives None.

    Where several measurements run at once, `ask(n)` gives tickets, and `tell(ticket, values)` takes their results as
    they come; `order` says how they count: by "arrival", or as "asked" where slow results may be other than quick ones.
    Algorithms that draw arms at random, as "pitfall" does, take their draws from `seed`.

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
        algorithm: str | registry.Algorithm = registry.DEFAULT_ALGORITHM,
        evidence: str | registry.Evidence = registry.DEFAULT_EVIDENCE,
        budget: int | None = None,
        seed: int = 0,
        order: str | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            raise SettingsError(
                f"the problem is {problem!r}; expected a pg.Problem (of a problem file: pg.load(path).problem)"
            )
        self.problem = problem
        self.delta = checks.check_delta(delta)
        self.algorithm = registry.algorithm(algorithm)
        kind = registry.evidence_for(self.algorithm, evidence)
        self.order = promises.order_of(kind, order)
        self.evidence = promises.in_order(kind, self.order)
        self.budget = checks.check_budget(budget)
        self._space = problem.space()
        self._policy, self._levels = fit(self.algorithm, self.evidence, self.delta, self._space)
        self._state = new_state(self._space, key(checks.check_seed(seed), 0))
        self._place = {arm: place for place, arm in enumerate(problem.arms)}
        self._queue: list[int] = []  # decided, but not asked for yet
        self._tickets = Tickets(as_asked=self.order == "asked")
        self._exact_objectives = [name for name, kind in problem.noise.items() if isinstance(kind, Exact)]
        self._exact: dict[str, dict[str, float]] = {}
        self._answered = False
        self._kept: dict[str, tuple[Verdict, int]] = {}  # what was certain first, and after how many samples
        self._contradicted: set[str] = set()
        self._task = getattr(self.algorithm, "task", "e-cpsi")
        self._read_off: set[str] = set()  # arms whose reason is not promised, only read off the means
        self._keeps = self.guarantee != vocabulary.HEURISTIC
        self._steps: Steps | None = None  # while a record is replayed
        self._stride = max(1, self._space.arms**2 // PAIRS_PER_RESULT)

    @property
    def samples(self) -> int:
        """Results counted so far."""
        return int(self._state.counts.sum())

    @property
    def answered(self) -> bool:
        """Was the stopping rule met at the last look?"""
        return self._answered

    @property
    def guarantee(self) -> str:
        """The label of every verdict: "finite-sample", "asymptotic" or "heuristic"."""
        return promises.guarantee(self.evidence, self.problem)

    def next_arm(self) -> str | None:
        """The arm to measure next; None when the answer is found or the budget is spent."""
        self._decide()
        if self._answered or self._room() == 0:
            return None
        return self.problem.arms[self._queue[0]]

    def ask(self, n: int = 1) -> list[Ticket]:
        """Up to n arms to measure next, on top of those asked for before; [] when answered or the budget is spent.

        Pending measurements count in the choice of further arms, never in the evidence.
        """
        return [self._tickets.issue(self.problem.arms[place]) for place in self._choose(n)]

    def peek(self, n: int = 1) -> list[str]:
        """The arms that `ask(n)` would give; nothing is asked for. With none, `answered` says whether that is why."""
        before, queue = self._state.pending.copy(), self._queue
        memory = [(array, array.copy()) for array in _arrays(self._policy)]  # an algorithm may learn by being asked
        places = self._choose(n)
        self._state.pending[:], self._queue = before, queue
        for array, was in memory:
            array[...] = was
        return [self.problem.arms[place] for place in places]

    def look(self) -> None:
        """See whether the answer is found; an algorithm without `select` cannot say while results are outstanding."""
        if self._tickets.outstanding == 0 or select.has_body(type(self._policy)):
            self.peek()

    def asked(self, arms: Sequence[str]) -> list[Ticket]:
        """Tickets for these arms: those that `ask` chose when they were recorded, and nearly always would again.

        The algorithm is asked all the same, for what it remembers; another version of it may have chosen otherwise.
        """
        places = [self._place[arm] for arm in arms]
        if self._steps is not None:
            self._steps.ask(places)
            return [self._tickets.issue(arm) for arm in arms]
        before = self._state.pending.copy()
        if self._choose(max(1, len(places))) != places:
            self._queue, self._state.pending[:] = [], before
            for place in places:
                self._state.pending[place] += 1
        return [self._tickets.issue(arm) for arm in arms]

    def _choose(self, n: int) -> list[int]:
        """Up to n arms to measure next; they count as pending."""
        wanted = min(checks.check_count(n, "n", "how many arms to ask for"), self._room())
        if wanted == 0:
            return []
        if wanted == 1 and self._tickets.outstanding == 0:
            self._decide()
        before, queue = self._state.pending.copy(), self._queue
        places, self._queue = queue[:wanted], queue[wanted:]
        for place in places:
            self._state.pending[place] += 1
        try:
            return places + self._fill(wanted - len(places))
        except SettingsError:
            self._state.pending[:], self._queue = before, queue
            raise

    @property
    def held(self) -> int:
        """Results that wait for earlier ones of their arm, in the order asked."""
        return self._tickets.held

    @property
    def outstanding(self) -> list[Ticket]:
        """The tickets without a result."""
        return self._tickets.open

    def drop(self, ticket: Ticket, *, for_good: bool = False) -> None:
        """Give up a result that will not come; honest only if whether it is lost does not depend on its value.

        In the order asked this must be said (`for_good`), as later results of the arm wait for it.
        """
        try:
            ready = self._tickets.drop(ticket, for_good=for_good)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        if self._steps is not None:
            self._steps.drop(self._place[ticket.arm])
        else:
            self._state.pending[self._place[ticket.arm]] -= 1
        self._count(ticket.arm, ready)

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """Collect what is `asked`, told and dropped in this block, and do it at once at its end: for long records.

        Values are taken as they are recorded: they were checked then.
        """
        if not select.has_body(type(self._policy)):
            yield
            return
        self._steps = Steps()
        try:
            yield
            self._replay(self._steps)
        finally:
            self._steps = None

    def _replay(self, steps: Steps) -> None:
        tape = steps.tape(self._space.arms, self._space.objectives, self._queue, self._answered)
        self.problem.check_rows(tape.rows)
        loose = any(self.problem.tolerance[row.label] for row in self.problem.constraints)
        stride = self._stride if self._keeps else 0
        terms = Terms(self.budget, stride, loose, any(self.problem.tolerance.values()))
        while True:
            for place, arm in enumerate(self.problem.arms):
                tape.kept[place] = STATUSES.index(self._kept[arm][0].status) if arm in self._kept else 0
                tape.contradicted[place] = arm in self._contradicted
            try:
                news = replay(self._policy, self._levels, self._space, self._state, tape, terms)
            except NumbaError as error:
                raise not_compiled(error, self.algorithm, self.evidence) from error
            self._queue, self._answered = tape.queue[: tape.cursor[QUEUED]].tolist(), bool(tape.cursor[ANSWERED])
            if not news:
                return
            self._settle()

    def _room(self) -> int:
        """How many more results the budget allows."""
        return max(0, self.budget - self.samples - self._tickets.outstanding)

    def _fill(self, wanted: int) -> list[int]:
        """So many more arms, given those that are pending; none when answered."""
        if wanted == 0 or self._answered:
            return []
        if not select.has_body(type(self._policy)):
            raise SettingsError(
                f"algorithm {registry.label(self.algorithm)!r} does not say how to choose arms while results are "
                "outstanding: register `select` for it, or ask for one arm at a time"
            )
        wanted = min(wanted, MOST_AT_ONCE)
        batch = np.zeros(max(2, wanted), dtype=int64)  # 2: a leader and its challenger go together
        try:
            chosen = fill_next(self._policy, self._levels, self._space, self._state, batch, wanted)
        except NumbaError as error:
            raise not_compiled(error, self.algorithm, self.evidence) from error
        if chosen < 0:
            raise bad_queue(self.algorithm, self._space)
        self._answered = chosen == 0
        places = [int(place) for place in batch[:chosen]]
        for place in places[wanted:]:
            self._state.pending[place] -= 1
        self._queue += places[wanted:]
        return places[:wanted]

    def _decide(self) -> None:
        """Look whether the answer is found and, if not, which arms come next."""
        if not self._queue:
            queued = self._decided()
            self._answered = queued == 0
            self._queue = [int(arm) for arm in self._state.queue[:queued]]

    def _decided(self) -> int:
        """How many arms the algorithm wants now; they are in the state's queue."""
        try:
            queued = decide_next(self._policy, self._levels, self._space, self._state)
        except NumbaError as error:
            raise not_compiled(error, self.algorithm, self.evidence) from error
        check_queue(queued, self._space, self._state, self.algorithm)
        return int(queued)

    def tell(self, what: str | Ticket, values: Mapping[str, float]) -> None:
        """Take one result, of an arm or of a ticket: a value for every objective, in the user's units."""
        self._take(what, values, self.check(what, values))

    def told(self, what: str | Ticket, values: Mapping[str, float]) -> None:
        """Take a result that was recorded: as `tell`, but whether it was due was seen to then.

        What was retracted since may have changed whose turn it was.
        """
        if self._steps is None:
            self._take(what, values, self._check(what, values))
        else:
            self._take(what, values, [values[name] for name in self.problem.objectives])

    def _take(self, what: str | Ticket, values: Mapping[str, float], row: Row) -> None:
        arm = what.arm if isinstance(what, Ticket) else what
        if self._exact_objectives:
            self._exact.setdefault(arm, {}).update((name, float(values[name])) for name in self._exact_objectives)
        place = self._place[arm]
        if not isinstance(what, Ticket):  # as if asked for now
            what = self._tickets.issue(arm)
            if self._steps is not None:
                self._steps.unasked(place)
                self._count(arm, self._tickets.receive(what, row))
                return
            self._state.pending[place] += 1
            if self._queue and self._queue[0] == place:
                self._queue.pop(0)
            else:
                self._queue.clear()  # an unasked result: what to pull next is decided anew
        self._count(arm, self._tickets.receive(what, row))

    def check(self, what: str | Ticket, values: Mapping[str, float]) -> NDArray[float64]:
        """The result as `tell` would take it; anything wrong is refused, and nothing changes."""
        row = self._check(what, values)
        if isinstance(what, Ticket) or self.order != "asked":
            return row
        due = next(iter(self.peek()), None)
        if self._tickets.outstanding or due != what:
            message = (
                f"results count in the order asked, so tell by ticket (of `ask`); without one only a result of the "
                f"arm that `ask` would give next can be told, {due!r} now, while no ticket is open"
            )
            raise SampleError(message, arm=what, values=values, result=self.result())
        return row

    def _check(self, what: str | Ticket, values: Mapping[str, float]) -> NDArray[float64]:
        arm = what.arm if isinstance(what, Ticket) else what
        try:
            self.problem.index(arm)
            if isinstance(what, Ticket):
                self._tickets.check(what)
            row = self.problem.values(arm, values)
            self._check_exact(arm, values)
        except ValueError as error:
            raise SampleError(str(error), arm=arm, values=values, result=self.result()) from error
        return row

    def _count(self, arm: str, rows: Sequence[Row]) -> None:
        """Take results that may be counted now; they are pending no longer."""
        if self._steps is not None:
            self._steps.count(self._place[arm], rows)
            return
        before = self.samples
        for row in rows:
            self._state.pending[self._place[arm]] -= 1
            observe_result(self._space, self._state, self._place[arm], np.asarray(row))
            self._answered = False  # until the next look
        if self._keeps and before // self._stride < self.samples // self._stride:
            self._settle()

    def _check_exact(self, arm: str, values: Mapping[str, float]) -> None:
        self.check_known(arm, values)
        self.problem.check_apart(arm, values, self._exact)

    def check_known(self, arm: str, values: Mapping[str, float]) -> None:
        """Refuse another value than before of an exact objective; `values` may be a part of a result."""
        known = self._exact.get(arm, {})
        for name in (name for name in self._exact_objectives if name in values):
            value = float(values[name])
            if known.get(name, value) != value:
                raise ProblemError(
                    f"arm {arm!r} gave {name} = {value!r} after {known[name]!r}, but {name} is exact; "
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

    def since(self) -> dict[str, int]:
        """After how many samples the verdicts that are kept for good (see `_settle`) were certain first."""
        self._settle()
        return {arm: samples for arm, (_, samples) in self._kept.items()}

    def _settle(self) -> tuple[NDArray[uint8], NDArray[int64]]:
        """Each arm's status by the present evidence, and the arm next to it on its chain of dominance (see `settle`).

        What is certain for the first time is kept for good, where a guarantee says that all claims ever made hold
        together. With a tolerance on constraints only that an arm is optimal: an arm may be feasible up to the
        tolerance and infeasible as well, and others be dominated by it. It is done after every result (with many arms,
        after every so many), so that it does not matter who looks.
        """
        K = self._space.arms
        statuses, via = np.zeros(K, dtype=uint8), np.zeros(K, dtype=int64)
        settle_now(self._levels, self._space, self._state, statuses, via)
        proven = statuses.copy()
        if self._answered:
            answer_now(self._policy, self._levels, self._space, self._state, statuses)
        promised = (statuses == OPTIMAL_CODE) | (statuses == proven) | (self._task != "cpsi")
        self._read_off = {self.problem.arms[i] for i in np.flatnonzero(~promised)}
        if not self._keeps:
            return statuses, via
        loose = any(self.problem.tolerance[row.label] for row in self.problem.constraints)
        certain = np.flatnonzero(promised & (statuses == OPTIMAL_CODE if loose else statuses > 0))
        new = [int(i) for i in certain if self.problem.arms[i] not in self._kept]
        if new:
            for arm, verdict in self._explain(statuses, via, new).items():
                self._kept[arm] = verdict, self.samples
        for i in certain if not loose else ():
            was, now = self._kept[self.problem.arms[i]][0].status, STATUSES[statuses[i]]
            may_tie = any(self.problem.tolerance.values())  # then an arm may be optimal and dominated
            if (was == OPTIMAL) != (now == OPTIMAL) and not (may_tie and INFEASIBLE not in (was, now)):
                self._contradicted.add(self.problem.arms[i])
        return statuses, via

    def _explain(self, statuses: NDArray[uint8], via: NDArray[int64], arms: Iterable[int]) -> dict[str, Verdict]:
        found = explain(self._numbers(), statuses, via, self.guarantee, arms)
        heuristic = vocabulary.HEURISTIC
        return {arm: replace(one, guarantee=heuristic) if arm in self._read_off else one for arm, one in found.items()}

    def _numbers(self) -> Snapshot:
        return snapshot(self.problem, self._levels, self._space, self._state)

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
            algorithm=registry.label(self.algorithm),
            evidence=registry.label(self.evidence),
            delta=self.delta,
            guarantee=self.guarantee,
            basis=promises.basis(self.evidence, self.problem),
            assumptions=promises.assumptions(self.problem, self.evidence, self.order),
            notes=(*self.problem.notes, *self._notes(verdicts)),
            simulated=simulated,
            stated=self.problem,
        )

    def _notes(self, verdicts: Mapping[str, Verdict]) -> tuple[str, ...]:
        return (
            *notes.alarms(self.problem, self._contradicted, self.delta),
            *notes.unpromised(registry.label(self.algorithm), self._read_off),
            *unvarying(self._numbers()),
            *notes.ties(self.problem, verdicts, spent=self.samples >= self.budget),
            *notes.waiting(self.held),
        )


def _arrays(record: Any) -> Iterator[NDArray[Any]]:
    """The arrays of a record, and of the records in it."""
    for field in record:
        if isinstance(field, np.ndarray):
            yield field
        elif isinstance(field, tuple):
            yield from _arrays(field)


def identify(
    problem: Problem,
    sample: Sample,
    *,
    delta: float = 0.05,
    algorithm: str | registry.Algorithm = registry.DEFAULT_ALGORITHM,
    evidence: str | registry.Evidence = registry.DEFAULT_EVIDENCE,
    budget: int | None = None,
    seed: int = 0,
) -> Result:
    """Find the best trade-offs among the arms that satisfy the constraints, measuring as little as possible.

    `sample(arm)` measures one arm once and returns {objective: value}. A measurement that fails or is not usable stops
    with `SampleError`, which names the arm and the values and carries the result so far. Algorithms that draw arms at
    random take their draws from `seed`.
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
