"""The one ask/tell machine: `Trial` steps it live, a ledger replays its record on it.

What happens is written down as steps, which the engine follows (`engine/asktell.py`): at once or, while a long record
is replayed, all together at the end.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from paretoguard.compiler.tiers import undivided
from paretoguard.engine import asktell
from paretoguard.engine.asktell import Steps, Tape, Terms, follow, new_desk
from paretoguard.engine.engine import FAULTY
from paretoguard.errors import NotCompiledError, ProblemError, SampleError, SettingsError
from paretoguard.problem.noise import Exact
from paretoguard.trial import checks, registry
from paretoguard.trial.setup import Setup, bad_queue, fills_batches, not_compiled
from paretoguard.trial.tickets import Ticket, Tickets, Values
from paretoguard.verdict import Result, Verdict, notes
from paretoguard.verdict.reasons import explain, since
from paretoguard.verdict.snapshot import Snapshot, snapshot, unvarying
from paretoguard.vocabulary import ANSWER_FOUND, AS_ASKED, BUDGET_SPENT, CPSI, HEURISTIC, STATUSES, STILL_OPEN

_MOST_AT_ONCE = 1_000_000  # tickets
_AT_MOST = 0.1  # seconds of following steps, between two looks at Ctrl-C and at how far they are …
_FIRST_STEPS = 100  # … for which so many are followed at first
PAIRS_PER_RESULT = 1000  # of arms: so many comparisons after each result, on average, to see what is certain


class Session:
    """An experiment under way: what was asked, what was told, what is certain."""

    def __init__(self, setup: Setup, *, asks: bool = False) -> None:
        problem = setup.problem
        self.setup, self.problem = setup, problem
        engine = setup.engine()
        tolerance, stride = problem.tolerance, max(1, len(problem.arms) ** 2 // PAIRS_PER_RESULT)
        terms = Terms(
            budget=setup.budget,
            stride=0 if setup.guarantee == HEURISTIC else stride,
            only_best=setup.algorithm.task == CPSI,
            loose=any(tolerance[row.label] for row in problem.constraints),
            tied=any(tolerance.values()),
            fills=fills_batches(engine.memory),
        )
        self._desk = new_desk(engine, terms)
        self._state = engine.seen.state
        self._place = {arm: place for place, arm in enumerate(problem.arms)}
        self._tickets = Tickets(as_asked=setup.order == AS_ASKED)
        self._exact_objectives = [name for name, kind in problem.noise.items() if isinstance(kind, Exact)]
        self._exact: dict[str, dict[str, float]] = {}
        self._kept: dict[str, Verdict] = {}  # what was certain first, as explained then
        self._steps = Steps(asks=asks)
        self._is_replaying = False

    # --- where it stands ---------------------------------------------------------------------------------------------

    @property
    def samples(self) -> int:
        """Results counted so far."""
        return int(self._state.counts.sum())

    @property
    def answered(self) -> bool:
        """True if the stopping rule was met at the last look."""
        return bool(self._desk.tally[asktell.IS_ANSWERED])

    @property
    def stopped(self) -> str:
        """Why nothing is left to ask for, "answered" or "budget"; else "open"."""
        return ANSWER_FOUND if self.answered else BUDGET_SPENT if self._is_spent else STILL_OPEN

    @property
    def _is_spent(self) -> bool:
        return self.samples >= self.setup.budget

    @property
    def held(self) -> int:
        """Results that wait for earlier ones of their arm, in the order asked."""
        return self._tickets.held

    @property
    def outstanding(self) -> list[Ticket]:
        """The tickets without a result."""
        return self._tickets.open

    # --- asking ------------------------------------------------------------------------------------------------------

    @undivided()
    def next_arm(self) -> str | None:
        """Return the arm to measure next; None when the answer is found or the budget is spent."""
        self._steps.add(asktell.DECIDE)
        self._chosen()
        if self.answered or self.samples + self._tickets.outstanding >= self.setup.budget:
            return None
        return self.problem.arms[int(self._desk.queue[0])]

    @undivided()
    def ask(self, n: int = 1) -> list[Ticket]:
        """Return tickets for up to n more arms; [] when answered or the budget is spent."""
        checks.check_count(n, "n", "how many arms to ask for")
        self._steps.choose(min(n, _MOST_AT_ONCE))
        return [self._tickets.issue(arm) for arm in self._chosen()]

    def due(self) -> str | None:
        """Return the arm that `ask` would give; None if there is none. Nothing is asked for."""
        self._steps.look()
        return next(iter(self._chosen()), None)

    def look(self) -> None:
        """Note whether the answer is found; an algorithm without `select` cannot say while results are outstanding."""
        if self._tickets.outstanding == 0 or self._desk.terms.fills:
            self.due()

    def asked(self, arms: Sequence[str]) -> list[Ticket]:
        """Return tickets for these arms, which were asked for when the record was made."""
        self._steps.asked([self._place[arm] for arm in arms])
        self._go_on()
        return [self._tickets.issue(arm) for arm in arms]

    def _chosen(self) -> list[str]:
        """Follow the steps, the last of which decides or chooses; return the arms that it chose."""
        tape = self._follow()
        found = int(tape.cursor[asktell.CHOSEN])
        if found == FAULTY:
            raise bad_queue(self.setup.algorithm, len(self.problem.arms))
        if found == asktell.UNABLE:
            raise SettingsError(
                f"algorithm {registry.label(self.setup.algorithm)!r} does not say how to choose arms while results are "
                "outstanding: register `select` for it, or ask for one arm at a time"
            )
        return [] if tape.chosen is None else [self.problem.arms[place] for place in tape.chosen[:found]]

    # --- telling -----------------------------------------------------------------------------------------------------

    @undivided()
    def tell(self, what: str | Ticket, values: Mapping[str, float]) -> None:
        """Take one result, of an arm or of a ticket; raise SampleError if it cannot be right or is not due."""
        self._take(what, values, self.check(what, values))

    def told(self, what: str | Ticket, values: Mapping[str, float]) -> None:
        """Take a result of a record, which was due when it was made.

        What was retracted since may have changed whose turn it was. Of a long record values are taken as they are.
        """
        as_is = self._is_replaying
        row = [values[name] for name in self.problem.objectives] if as_is else self._check(what, values)
        self._take(what, values, row)

    def _take(self, what: str | Ticket, values: Mapping[str, float], row: Values) -> None:
        arm = what.arm if isinstance(what, Ticket) else what
        if self._exact_objectives:
            self._exact.setdefault(arm, {}).update((name, float(values[name])) for name in self._exact_objectives)
        if not isinstance(what, Ticket):  # as if asked for now
            what = self._tickets.issue(arm)
            self._steps.add(asktell.UNASK, self._place[arm])
        self._count(arm, self._tickets.receive(what, row))

    @undivided()
    def drop(self, ticket: Ticket, *, for_good: bool = False) -> None:
        """Give up a result that will not come; in the order asked it must be known not to depend on its value."""
        try:
            ready = self._tickets.drop(ticket, for_good=for_good)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        self._steps.add(asktell.DROP, self._place[ticket.arm])
        self._count(ticket.arm, ready)

    def _count(self, arm: str, rows: Sequence[Values]) -> None:
        """Count the results of an arm that may be counted now."""
        self._steps.count(self._place[arm], rows)
        self._go_on()

    def check(self, what: str | Ticket, values: Mapping[str, float]) -> NDArray[float64]:
        """Return the result as `tell` would take it; raise SampleError where it would, and change nothing."""
        row = self._check(what, values)
        if isinstance(what, Ticket) or self.setup.order != AS_ASKED:
            return row
        if self._tickets.outstanding or self.due() != what:
            message = (
                f"results count in the order asked, so tell by ticket (of `ask`); without one only a result of the "
                f"arm that `ask` would give next can be told, {self.due()!r} now, while no ticket is open"
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
            self.check_known(arm, values)
            self.problem.check_apart(arm, values, self._exact)
        except ValueError as error:
            raise SampleError(str(error), arm=arm, values=values, result=self.result()) from error
        return row

    def check_known(self, arm: str, values: Mapping[str, float]) -> None:
        """Raise ProblemError if an exact objective had another value before; `values` may be a part of a result."""
        known = self._exact.get(arm, {})
        for name in (name for name in self._exact_objectives if name in values):
            value = float(values[name])
            if known.get(name, value) != value:
                raise ProblemError(
                    f"arm {arm!r} gave {name} = {value!r} after {known[name]!r}, but {name} is exact; "
                    "declare its noise if it varies"
                )

    # --- the steps ---------------------------------------------------------------------------------------------------

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """Collect the steps in this block, and follow them at once at its end: for long records."""
        self._is_replaying = True
        try:
            yield
        finally:
            self._is_replaying = False
        self._follow(is_record=True)

    def _go_on(self) -> None:
        if not self._is_replaying:
            self._follow()

    def _follow(self, *, is_record: bool = False) -> Tape:
        """Follow the steps written down, and explain what is certain for the first time when it is.

        The results of a record are checked all together here, others before they are written down.
        """
        tape = self._steps.tape(len(self.problem.objectives))
        if is_record:
            self.problem.check_rows(tape.rows)
        most, ended = _FIRST_STEPS, asktell.MORE
        while ended != asktell.AT_END:
            done, begun = tape.cursor[asktell.STEP], time.perf_counter()
            try:
                ended = follow(self._desk, tape, most)
            except NotCompiledError as error:
                raise not_compiled(error, self.setup.algorithm, self.setup.evidence) from error.__cause__
            if ended == asktell.NEWS:
                first = [i for i, arm in enumerate(self.problem.arms) if self._desk.first[i] and arm not in self._kept]
                self._kept.update(self._explain(first))
            elif ended == asktell.MORE:
                each = (time.perf_counter() - begun) / (tape.cursor[asktell.STEP] - done)
                most = max(1, min(2 * most, int(_AT_MOST / each)))
                follow.expect(each * (len(tape.steps) - tape.cursor[asktell.STEP]), self._desk, tape, most)
        return tape

    # --- what is certain ---------------------------------------------------------------------------------------------

    def verdicts(self) -> dict[str, Verdict]:
        """Return each arm's verdict: what is certain now or, where a guarantee carries it, was so before.

        What is certain for the first time is kept for good, where a guarantee says that all claims ever made hold
        together. With a tolerance on constraints only that an arm is optimal: an arm may be feasible up to the
        tolerance and infeasible as well, and others be dominated by it. Claims are settled after every result (with
        many arms, after every so many), so that it does not matter who looks.
        """
        self._settle()
        shown = self._explain(range(len(self.problem.arms)))
        for arm, first in self._kept.items():
            if shown[arm].status != first.status:
                shown[arm] = since(first, shown[arm], int(self._desk.since[self._place[arm]]))
        return shown

    def statuses(self) -> dict[str, str]:
        """Return each arm's status as in `verdicts`, without the explanations."""
        self._settle()
        present = zip(self.problem.arms, self._desk.statuses, strict=True)
        return {arm: self._kept[arm].status if arm in self._kept else STATUSES[code] for arm, code in present}

    def since(self) -> dict[str, int]:
        """Return after how many samples the verdicts that are kept for good were certain first."""
        self._settle()
        return {arm: int(self._desk.since[self._place[arm]]) for arm in self._kept}

    def _settle(self) -> None:
        self._steps.add(asktell.SETTLE)
        self._follow()

    def _explain(self, arms: Iterable[int]) -> dict[str, Verdict]:
        desk = self._desk
        found = explain(self._numbers(), desk.statuses, desk.via, self.setup.guarantee, arms)
        return {
            arm: verdict if desk.promised[self._place[arm]] else replace(verdict, guarantee=HEURISTIC)
            for arm, verdict in found.items()
        }

    def _numbers(self) -> Snapshot:
        return snapshot(self.problem, self._desk.engine.seen)

    def result(self, *, simulated: bool = False) -> Result:
        """Return the answer, or what is certain so far."""
        verdicts = self.verdicts()
        counts = (int(count) for count in self._state.counts)
        return Result(
            problem=self.problem.name,
            pareto=tuple(arm for arm, verdict in verdicts.items() if verdict.status == "optimal"),
            verdicts=verdicts,
            samples=self.samples,
            pulls=dict(zip(self.problem.arms, counts, strict=True)),
            stopped=self.stopped,
            notes=(*self.problem.notes, *self._notes(verdicts)),
            simulated=simulated,
            stated=self.problem,
            **self.setup.labels(),
        )

    def _notes(self, verdicts: Mapping[str, Verdict]) -> tuple[str, ...]:
        desk, arms = self._desk, np.array(self.problem.arms)
        contradicted, read_off = set(arms[desk.contradicted == 1].tolist()), set(arms[desk.promised == 0].tolist())
        return (
            *notes.alarms(self.problem, contradicted, self.setup.delta),
            *notes.unpromised(registry.label(self.setup.algorithm), read_off),
            *unvarying(self._numbers()),
            *notes.ties(self.problem, verdicts, spent=self._is_spent),
            *notes.waiting(self.held),
        )
