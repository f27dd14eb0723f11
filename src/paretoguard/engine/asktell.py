"""An experiment that is asked and told, step by step: `Trial` takes the steps one by one, a ledger many in a row.

An arm that is asked for is pending until its result counts or is given up. Steps are pairs (kind, number):

- DECIDE looks whether the answer is found and, if not, which arms come next, as if no result were outstanding;
- CHOOSE asks for so many arms, on top of those pending;
- LOOK shows which arm CHOOSE would ask for. Only CHOOSE of one arm and SETTLE go on from there; any other step begins
  where LOOK did, but whether the answer is found stays known;
- ASK is followed by so many steps ASKED_ARM: these were asked for when the record was made. The algorithm is asked
  again, for what it remembers; another version of it may choose otherwise, and the record counts;
- COUNT takes the next row of results, for this arm; LAST does too, and ends results that came together; WAIT stands for
  a result that does not count yet;
- UNASK comes before a result that nobody asked for; DROP gives up a pending one;
- SETTLE works out every claim that is certain now.
"""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, int64, uint8

from paretoguard.compiler.jit import aside, entry, inner
from paretoguard.engine.certify import settle_anew
from paretoguard.engine.engine import Engine, decided, fill
from paretoguard.engine.questions import answer
from paretoguard.engine.state import CLOCK, observe
from paretoguard.engine.view import at_now
from paretoguard.errors import ProblemError
from paretoguard.numeric import Bytes, Floats, Integers
from paretoguard.vocabulary import INFEASIBLE, OPTIMAL, UNDECIDED

DECIDE, LOOK, CHOOSE, ASK, ASKED_ARM, COUNT, LAST, WAIT, UNASK, DROP, SETTLE = range(11)
QUEUED, IS_ANSWERED, IS_DUE, IS_LOOKED = range(4)  # entries of Desk.tally
STEP, _ROW, CHOSEN = range(3)  # entries of Tape.cursor
AT_END, NEWS, MORE = range(3)  # how `follow` returns: no step is left; a claim is certain for the first time; go on
UNABLE = -2  # arms chosen: the algorithm has no rule for it while results are outstanding


class Terms(NamedTuple):
    """What an experiment was begun with."""

    budget: int
    stride: int  # claims are settled after every so many results; 0: only by SETTLE, and nothing is kept
    only_best: bool  # reasons of arms that are not optimal are not promised
    loose: bool  # constraints have a tolerance: only that an arm is optimal is kept
    tied: bool  # something has a tolerance: an arm may be optimal and dominated
    fills: bool  # the algorithm says which arms to pull while results are outstanding


class Desk(NamedTuple):
    """An experiment, and what is kept beside its results."""

    engine: Engine
    terms: Terms
    tally: Integers  # [4] arms queued, is the answer found, are claims due to be settled, did LOOK queue the arms
    queue: Integers  # arms decided on, but not asked for yet
    first: Bytes  # [K] the status that was certain first, or UNDECIDED …
    since: Integers  # [K] … after so many results
    contradicted: Bytes  # [K] 1 where the contrary was certain later
    statuses: Bytes  # [K] as settled last
    via: Integers  # [K] the next arm on its chain of dominance
    answer: Bytes  # [K] where the answer is found: the statuses of the algorithm, whose memory may be taken back
    promised: Bytes  # [K] 0 where a status is only read off the means
    pending: Integers  # [K] scratch
    before: Integers  # the engine's `words` before LOOK


class Tape(NamedTuple):
    """Steps, and how far they are done."""

    steps: Integers  # [n, 2]
    rows: Floats  # [m, d] in the user's order and units
    cursor: Integers  # [3] next step, next row, how many arms the last choice found (0: answered; FAULTY; UNABLE)
    chosen: Integers | None  # scratch; the arms that CHOOSE found; None where nobody asks: the compiler leaves it out


def new_desk(engine: Engine, terms: Terms) -> Desk:
    """Return an experiment before its first step."""
    K = engine.seen.problem.arms
    return Desk(
        engine,
        terms,
        tally=np.zeros(4, dtype=int64),
        queue=np.zeros(max(K, 2) + 2, dtype=int64),
        first=np.zeros(K, dtype=uint8),
        since=np.zeros(K, dtype=int64),
        contradicted=np.zeros(K, dtype=uint8),
        statuses=np.zeros(K, dtype=uint8),
        via=np.zeros(K, dtype=int64),
        answer=np.zeros(K, dtype=uint8),
        promised=np.zeros(K, dtype=uint8),
        pending=np.zeros(K, dtype=int64),
        before=np.zeros_like(engine.words),
    )


class Steps:
    """Steps, written down to be followed at once; `asks` from the first on that asks for arms, or looks at them."""

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks
        self._steps = array("q")  # pairs, one after the other
        self._rows: list[Any] = []
        self._longest = 0  # arms asked for at once

    def add(self, kind: int, number: int = 0) -> None:
        self._steps.extend((kind, number))

    def look(self) -> None:
        self.add(LOOK)
        self.asks = True

    def choose(self, wanted: int) -> None:
        self.add(CHOOSE, wanted)
        self.asks, self._longest = True, max(self._longest, wanted)

    def asked(self, places: Sequence[int]) -> None:
        self._steps.extend((ASK, len(places), *(step for place in places for step in (ASKED_ARM, place))))
        self.asks, self._longest = True, max(self._longest, len(places))

    def count(self, place: int, rows: Sequence[Any]) -> None:
        """Add results of an arm that count now, if there are any."""
        self._steps.extend((COUNT, place) * (len(rows) - 1) + (LAST if rows else WAIT, place))
        self._rows.extend(rows)

    def tape(self, objectives: int) -> Tape:
        """Return the steps for the engine, and forget them."""
        given = np.array(self._rows) if self._rows else np.zeros((0, objectives))
        if given.dtype.kind not in "fiu":  # a text such as "1" would become a number
            raise ProblemError("a result is not a row of numbers")
        rows: Floats = given.astype(float64).reshape(-1, objectives)
        steps, longest = np.array(self._steps, dtype=int64).reshape(-1, 2), self._longest
        self.__init__(asks=self.asks)  # type: ignore[misc]
        chosen = np.zeros(longest + 2, dtype=int64) if self.asks else None
        return Tape(steps, rows, np.zeros(3, dtype=int64), chosen)


@entry
def follow(desk: Desk, tape: Tape, most: int) -> int:
    """Go on with up to `most` steps; return AT_END, NEWS or MORE."""
    cursor, state = tape.cursor, desk.engine.seen.state
    end = min(tape.steps.shape[0], cursor[STEP] + most)
    while cursor[STEP] < end:
        kind, number = tape.steps[cursor[STEP], 0], tape.steps[cursor[STEP], 1]
        cursor[STEP] += 1
        goes_on = kind in (LOOK, SETTLE) or (kind == CHOOSE and number == 1)
        if desk.tally[IS_LOOKED] == 1 and not goes_on:
            _look_away(desk)
        if COUNT <= kind <= LAST:
            _count(desk, tape, number)
            if kind == LAST and desk.tally[IS_DUE] == 1 and _settle(desk):
                return NEWS
        elif kind == DECIDE:
            cursor[CHOSEN] = _decide(desk)
        elif kind in (LOOK, CHOOSE, ASK):
            cursor[CHOSEN] = _ask(desk, tape, tape.chosen, kind, number)
        elif kind == UNASK:
            state.pending[number] += 1
            if desk.tally[QUEUED] > 0 and desk.queue[0] == number:
                _leave(desk, 1)
            else:
                desk.tally[QUEUED] = 0  # what to pull next is decided anew
        elif kind == DROP:
            state.pending[number] -= 1
        elif kind == SETTLE and _settle(desk):
            return NEWS
    return MORE if cursor[STEP] < tape.steps.shape[0] else AT_END


@inner
def _ask(desk: Desk, tape: Tape, chosen: Integers | None, kind: int, number: int) -> int:
    """Take a step that asks for arms, or looks at them; return how many were found."""
    if chosen is None:
        return UNABLE
    if kind == LOOK:
        return _look(desk, chosen)
    if kind == CHOOSE:
        return _choose(desk, chosen, number)
    return _take_asked(desk, tape, chosen, number)


@inner
def _count(desk: Desk, tape: Tape, arm: int) -> None:
    view, terms = desk.engine.seen, desk.terms
    view.state.pending[arm] -= 1
    observe(view.problem, view.state, arm, tape.rows[tape.cursor[_ROW]])
    tape.cursor[_ROW] += 1
    desk.tally[IS_ANSWERED] = 0  # until the next look
    if terms.stride > 0 and view.state.tally[CLOCK] % terms.stride == 0:
        desk.tally[IS_DUE] = 1


@inner
def _decide(desk: Desk) -> int:
    """Queue the arms of the next decision, unless some are left of the last; return how many."""
    state, tally = desk.engine.seen.state, desk.tally
    if tally[QUEUED] > 0:
        return int(tally[QUEUED])
    queued = decided(desk.engine)
    _note_answer(desk, queued)
    for k in range(queued):
        desk.queue[k] = state.queue[k]
    tally[QUEUED] = max(0, queued)
    return queued


@aside
def _fill(desk: Desk, batch: Integers, wanted: int) -> int:
    """As `fill`, on top of the pending arms; note whether the answer is found."""
    if not desk.terms.fills:
        return UNABLE
    filled = fill(desk.engine, batch, wanted)
    _note_answer(desk, filled)
    return int(filled)


@aside
def _note_answer(desk: Desk, queued: int) -> None:
    """Note whether a decision that queued so many arms found the answer, and write it."""
    desk.tally[IS_ANSWERED] = 1 if queued == 0 else 0
    if queued == 0:
        answer(desk.engine.memory, at_now(desk.engine.seen), desk.answer)


@inner
def _outstanding(desk: Desk) -> int:
    """Return how many results were asked for and do not count yet."""
    pending, outstanding = desk.engine.seen.state.pending, 0
    for i in range(pending.shape[0]):
        outstanding += pending[i]
    return outstanding


@aside
def _plan(desk: Desk, outstanding: int) -> int:
    """As `_decide`, on top of the pending arms."""
    tally = desk.tally
    if outstanding == 0:
        return _decide(desk)
    if tally[QUEUED] > 0 or tally[IS_ANSWERED] == 1:
        return int(tally[QUEUED])
    queued = _fill(desk, desk.queue[:2], 1)  # 2: a leader and its challenger go together
    for k in range(queued):
        desk.engine.seen.state.pending[desk.queue[k]] -= 1
    tally[QUEUED] = max(0, queued)
    return queued


@inner
def _look(desk: Desk, chosen: Integers) -> int:
    """Write the arm that `_choose` would give into `chosen`; return 1, or 0 if there is none."""
    tally, outstanding = desk.tally, _outstanding(desk)
    if desk.engine.seen.state.tally[CLOCK] + outstanding >= desk.terms.budget:
        return 0
    if tally[QUEUED] == 0 and tally[IS_LOOKED] == 0:
        for k in range(desk.before.shape[0]):
            desk.before[k] = desk.engine.words[k]
        queued = _plan(desk, outstanding)
        if queued < 0:
            return queued
        tally[IS_LOOKED] = 1
    chosen[0] = desk.queue[0]
    return int(min(1, tally[QUEUED]))


@inner
def _look_away(desk: Desk) -> None:
    """Forget the decision that was looked at."""
    for k in range(desk.before.shape[0]):
        desk.engine.words[k] = desk.before[k]
    desk.tally[QUEUED] = 0
    desk.tally[IS_LOOKED] = 0


@aside
def _choose(desk: Desk, chosen: Integers, wanted: int) -> int:
    """Write up to `wanted` arms into `chosen`, on top of those pending; return how many. They are pending from now on.

    Without room in the budget, and where the answer is found, there are none.
    """
    state, tally, outstanding = desk.engine.seen.state, desk.tally, _outstanding(desk)
    wanted = min(wanted, desk.terms.budget - state.tally[CLOCK] - outstanding)
    if wanted <= 0:
        return 0
    if wanted == 1 and tally[IS_LOOKED] == 0:
        queued = _plan(desk, outstanding)
        if queued < 0:
            return queued
    tally[IS_LOOKED] = 0  # what was looked at is asked for
    taken = min(wanted, tally[QUEUED])
    left = wanted - taken
    if left == 0 or tally[IS_ANSWERED] == 1:
        _ask_for(desk, chosen, taken)
        return int(taken)
    for k in range(taken):
        state.pending[desk.queue[k]] += 1
    batch = chosen[taken : taken + max(2, left)]
    filled = _fill(desk, batch, left)
    if filled < 0:
        for k in range(taken):
            state.pending[desk.queue[k]] -= 1
        return filled
    for k in range(taken):
        chosen[k] = desk.queue[k]
    tally[QUEUED] = 0
    for k in range(left, filled):
        state.pending[batch[k]] -= 1
        desk.queue[tally[QUEUED]] = batch[k]
        tally[QUEUED] += 1
    return int(taken + min(left, filled))


@inner
def _ask_for(desk: Desk, chosen: Integers, wanted: int) -> None:
    """Ask for the first arms of the queue."""
    for k in range(wanted):
        chosen[k] = desk.queue[k]
        desk.engine.seen.state.pending[chosen[k]] += 1
    _leave(desk, wanted)


@inner
def _leave(desk: Desk, places: int) -> None:
    """Drop the first arms of the queue."""
    desk.tally[QUEUED] -= places
    for k in range(desk.tally[QUEUED]):
        desk.queue[k] = desk.queue[k + places]


@inner
def _take_asked(desk: Desk, tape: Tape, chosen: Integers, wanted: int) -> int:
    """Ask for as many arms as were asked for; where others come, take those of the record. Return how many."""
    pending, step = desk.engine.seen.state.pending, tape.cursor[STEP]
    for i in range(pending.shape[0]):
        desk.pending[i] = pending[i]
    same = _choose(desk, chosen, wanted) == wanted
    for k in range(wanted):
        same = same and chosen[k] == tape.steps[step + k, 1]
    if not same:
        desk.tally[QUEUED] = 0
        for i in range(pending.shape[0]):
            pending[i] = desk.pending[i]
        for k in range(wanted):
            pending[tape.steps[step + k, 1]] += 1
    tape.cursor[STEP] += wanted
    return wanted


@aside
def _settle(desk: Desk) -> bool:
    """Work out what is certain, and keep what is so for the first time; return whether anything is."""
    view, terms = desk.engine.seen, desk.terms
    desk.tally[IS_DUE] = 0
    settle_anew(view, desk.statuses, desk.via)
    for i in range(view.problem.arms):
        desk.promised[i] = desk.statuses[i]
    news = False
    for i in range(view.problem.arms):
        if desk.tally[IS_ANSWERED] == 1:
            desk.statuses[i] = desk.answer[i]
        code, was = desk.statuses[i], desk.first[i]
        promised = code == OPTIMAL or code == desk.promised[i] or not terms.only_best
        desk.promised[i] = 1 if promised else 0
        if terms.stride == 0 or code == UNDECIDED or not promised or (terms.loose and code != OPTIMAL):
            continue
        if was == UNDECIDED:
            desk.first[i], desk.since[i] = code, view.state.tally[CLOCK]
            news = True
        elif not terms.loose and (was == OPTIMAL) != (code == OPTIMAL):
            both = terms.tied and code != INFEASIBLE and was != INFEASIBLE
            desk.contradicted[i] = desk.contradicted[i] if both else 1
    return news
