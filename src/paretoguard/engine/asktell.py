"""An experiment that is asked and told, step by step: `Trial` takes the steps one by one, a ledger many in a row.

An arm that is asked for is pending until its result counts or is given up. Steps are pairs (kind, number):

- DECIDE looks whether the answer is found and, if not, which arms come next; CHOOSE asks for so many arms;
- ASK is followed by so many steps ASKED_ARM: these were asked for when the record was made. The algorithm is asked
  again, for what it remembers; another version of it may choose otherwise, and the record counts;
- COUNT takes the next row of results, for this arm; LAST does too, and ends results that came together;
- UNASK comes before a result that nobody asked for; DROP gives up a pending one;
- SETTLE works out every claim that is certain now.
"""

from typing import NamedTuple

import numpy as np
from numpy import int64, uint8

from paretoguard.compiler.jit import aside, entry, inner
from paretoguard.engine.certify import settle
from paretoguard.engine.engine import FAULTY, Engine, decided, fill
from paretoguard.engine.questions import answer
from paretoguard.engine.state import CLOCK, FRESH, observe
from paretoguard.engine.view import at_now, refresh
from paretoguard.numeric import Bytes, Floats, Integers
from paretoguard.vocabulary import INFEASIBLE, OPTIMAL, UNDECIDED

DECIDE, CHOOSE, ASK, ASKED_ARM, COUNT, LAST, UNASK, DROP, SETTLE = range(9)
QUEUED, IS_ANSWERED, IS_DUE = range(3)  # entries of Desk.tally
_STEP, _ROW, CHOSEN = range(3)  # entries of Tape.cursor
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
    tally: Integers  # [3] arms queued, is the answer found, are claims due to be settled
    queue: Integers  # arms decided on, but not asked for yet
    first: Bytes  # [K] the status that was certain first, or UNDECIDED …
    since: Integers  # [K] … after so many results
    contradicted: Bytes  # [K] 1 where the contrary was certain later
    statuses: Bytes  # [K] as settled last
    via: Integers  # [K] the next arm on its chain of dominance
    promised: Bytes  # [K] 0 where a status is only read off the means
    pending: Integers  # [K] scratch


class Tape(NamedTuple):
    """Steps, and how far they are done."""

    steps: Integers  # [n, 2]
    rows: Floats  # [m, d] in the user's order and units
    cursor: Integers  # [3] next step, next row, how many arms CHOOSE found (0: answered; FAULTY; UNABLE)
    chosen: Integers  # scratch; the arms that CHOOSE found


def new_desk(engine: Engine, terms: Terms) -> Desk:
    """Return an experiment before its first step."""
    K = engine.seen.problem.arms

    def integers(size: int) -> Integers:
        return np.zeros(size, dtype=int64)

    def flags() -> Bytes:
        return np.zeros(K, dtype=uint8)

    return Desk(
        engine,
        terms,
        tally=integers(3),
        queue=integers(max(K, 2) + 2),
        first=flags(),
        since=integers(K),
        contradicted=flags(),
        statuses=flags(),
        via=integers(K),
        promised=flags(),
        pending=integers(K),
    )


@entry
def follow(desk: Desk, tape: Tape) -> bool:
    """Go on with the steps. Return False at the end, True where a claim is certain for the first time."""
    cursor, state = tape.cursor, desk.engine.seen.state
    while cursor[_STEP] < tape.steps.shape[0]:
        kind, number = tape.steps[cursor[_STEP], 0], tape.steps[cursor[_STEP], 1]
        cursor[_STEP] += 1
        if COUNT <= kind <= LAST:
            _count(desk, tape, number)
            if kind == LAST and desk.tally[IS_DUE] == 1 and _settle(desk):
                return True
        elif kind == DECIDE:
            cursor[CHOSEN] = _decide(desk)
        elif kind == CHOOSE:
            cursor[CHOSEN] = _choose(desk, tape.chosen, number)
        elif kind == ASK:
            _take_asked(desk, tape, number)
        elif kind == UNASK:
            state.pending[number] += 1
            if desk.tally[QUEUED] > 0 and desk.queue[0] == number:
                _leave(desk, 1)
            else:
                desk.tally[QUEUED] = 0  # what to pull next is decided anew
        elif kind == DROP:
            state.pending[number] -= 1
        elif _settle(desk):
            return True
    return False


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
    tally[IS_ANSWERED] = 1 if queued == 0 else 0
    for k in range(queued):
        desk.queue[k] = state.queue[k]
    tally[QUEUED] = max(0, queued)
    return queued


@aside
def _choose(desk: Desk, chosen: Integers, wanted: int) -> int:
    """Write up to `wanted` arms into `chosen`, on top of those pending; return how many. They are pending from now on.

    Without room in the budget, and where the answer is found, there are none.
    """
    state, tally = desk.engine.seen.state, desk.tally
    outstanding = 0
    for i in range(state.pending.shape[0]):
        outstanding += state.pending[i]
    wanted = min(wanted, desk.terms.budget - state.tally[CLOCK] - outstanding)
    if wanted <= 0:
        return 0
    if wanted == 1 and outstanding == 0 and _decide(desk) < 0:
        return FAULTY
    taken = min(wanted, tally[QUEUED])
    left = wanted - taken
    if left == 0 or tally[IS_ANSWERED] == 1:
        _ask_for(desk, chosen, taken)
        return int(taken)
    if not desk.terms.fills:
        return UNABLE
    for k in range(taken):
        state.pending[desk.queue[k]] += 1
    batch = chosen[taken : taken + max(2, left)]  # 2: a leader and its challenger go together
    filled = fill(desk.engine, batch, left)
    if filled < 0:
        for k in range(taken):
            state.pending[desk.queue[k]] -= 1
        return FAULTY
    tally[IS_ANSWERED] = 1 if filled == 0 else 0
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
    """Take the first arms from the queue."""
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
def _take_asked(desk: Desk, tape: Tape, wanted: int) -> None:
    """Ask for as many arms as were asked for; where others come, take those of the record."""
    pending, step = desk.engine.seen.state.pending, tape.cursor[_STEP]
    for i in range(pending.shape[0]):
        desk.pending[i] = pending[i]
    same = _choose(desk, tape.chosen, wanted) == wanted
    for k in range(wanted):
        same = same and tape.chosen[k] == tape.steps[step + k, 1]
    if not same:
        desk.tally[QUEUED] = 0
        for i in range(pending.shape[0]):
            pending[i] = desk.pending[i]
        for k in range(wanted):
            pending[tape.steps[step + k, 1]] += 1
    tape.cursor[_STEP] += wanted


@aside
def _settle(desk: Desk) -> bool:
    """Work out what is certain, and keep what is so for the first time; return whether anything is."""
    view, terms = at_now(desk.engine.seen), desk.terms
    desk.tally[IS_DUE] = 0
    if view.state.tally[FRESH] > 0:
        refresh(view)
    settle(view, desk.statuses, desk.via)
    for i in range(view.problem.arms):
        desk.promised[i] = desk.statuses[i]
    if desk.tally[IS_ANSWERED] == 1:
        answer(desk.engine.memory, view, desk.statuses)
    news = False
    for i in range(view.problem.arms):
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
