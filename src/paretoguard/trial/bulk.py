"""A recorded trial again, at the speed of the engine: what `Trial` does step by step, for a long list of steps.

Steps are pairs (kind, number): ASK n is followed by n steps PULL with the arms that were asked for; COUNT takes the
next row of results for an arm, LAST the same for the last of those that came together; UNASKED comes before a result
that was not asked for; DROP gives up a pending one. The algorithm is asked again at every ASK, for what it remembers.
"""

from typing import NamedTuple

from numpy import bool_, float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.compiler.jit import entry, inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import INFEASIBLE, OPTIMAL, settle
from paretoguard.engine.outstanding import decided, fill
from paretoguard.engine.state import CLOCK, FRESH, State, observe, present, refresh

ASK, PULL, COUNT, LAST, UNASKED, DROP = 0, 1, 2, 3, 4, 5
STEP, ROW, QUEUED, ANSWERED, CROSSED = 0, 1, 2, 3, 4  # entries of Tape.cursor


class Tape(NamedTuple):
    """The steps, how far they are done, and what a trial keeps meanwhile."""

    steps: NDArray[int64]  # [n, 2]
    rows: NDArray[float64]  # [m, d] in the user's order and units
    cursor: NDArray[int64]  # [5] next step, next row, arms queued, is it answered, is it time to settle
    queue: NDArray[int64]  # decided, but not asked for yet
    batch: NDArray[int64]  # scratch, as long as the longest ASK, and 2 at least
    before: NDArray[int64]  # [K] scratch
    kept: NDArray[uint8]  # [K] the status that was certain first
    contradicted: NDArray[bool_]  # [K]
    statuses: NDArray[uint8]  # [K] scratch
    via: NDArray[int64]  # [K] scratch


class Terms(NamedTuple):
    """What a trial was made with."""

    budget: int
    stride: int  # claims are settled after every so many results; 0: never
    loose: bool  # is there a tolerance on constraints?
    tied: bool  # is there any tolerance?


@entry
def replay(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, tape: Tape, terms: Terms) -> bool:
    """Go on with the steps; False at the end, True where a claim is certain for the first time, or contradicted."""
    cursor = tape.cursor
    while cursor[STEP] < tape.steps.shape[0]:
        kind, number = tape.steps[cursor[STEP], 0], tape.steps[cursor[STEP], 1]
        cursor[STEP] += 1
        if kind == ASK:
            _ask(policy, evidence, space, state, tape, terms, number)
            cursor[STEP] += number
        elif kind == UNASKED:
            state.pending[number] += 1
            if cursor[QUEUED] > 0 and tape.queue[0] == number:
                _shift(tape, 1)
            else:
                cursor[QUEUED] = 0
        elif kind == DROP:
            state.pending[number] -= 1
        else:
            state.pending[number] -= 1
            observe(space, state, number, tape.rows[cursor[ROW]])
            cursor[ROW] += 1
            cursor[ANSWERED] = 0
            if terms.stride > 0 and state.tally[CLOCK] % terms.stride == 0:
                cursor[CROSSED] = 1
            if kind == LAST and cursor[CROSSED] == 1:
                cursor[CROSSED] = 0
                if _is_news(evidence, space, state, tape, terms):
                    return True
    return False


@inner
def _ask(
    policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, tape: Tape, terms: Terms, wanted: int
) -> None:
    """Choose as `Trial.ask` does, then take the arms that are recorded."""
    outstanding = 0
    for i in range(space.arms):
        tape.before[i] = state.pending[i]
        outstanding += state.pending[i]
    room = min(wanted, max(0, terms.budget - state.tally[CLOCK] - outstanding))
    same = room == wanted and _choose(policy, evidence, space, state, tape, room, outstanding) == wanted
    for k in range(wanted):
        same = same and tape.batch[k] == tape.steps[tape.cursor[STEP] + k, 1]
    if not same:
        tape.cursor[QUEUED] = 0
        for i in range(space.arms):
            state.pending[i] = tape.before[i]
        for k in range(wanted):
            state.pending[tape.steps[tape.cursor[STEP] + k, 1]] += 1


@inner
def _choose(
    policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, tape: Tape, wanted: int, outstanding: int
) -> int:
    """As `Trial._choose`, into `batch`; return how many."""
    cursor = tape.cursor
    if wanted == 1 and outstanding == 0 and cursor[QUEUED] == 0:
        cursor[QUEUED] = decided(policy, evidence, space, state)
        cursor[ANSWERED] = 1 if cursor[QUEUED] == 0 else 0
        for k in range(cursor[QUEUED]):
            tape.queue[k] = state.queue[k]
    taken = min(wanted, cursor[QUEUED])
    for k in range(taken):
        state.pending[tape.queue[k]] += 1
    # What is filled in comes behind what was queued.
    if taken < wanted and cursor[ANSWERED] == 0:
        batch = tape.batch[: max(2, wanted - taken)]  # as there: a leader and its challenger go together
        filled = max(0, fill(policy, evidence, space, state, batch, wanted - taken))
        cursor[ANSWERED] = 1 if filled == 0 else 0
        for k in range(filled):
            tape.queue[cursor[QUEUED] + k] = tape.batch[k]
        for k in range(wanted - taken, filled):
            state.pending[tape.batch[k]] -= 1
        cursor[QUEUED] += filled
        taken = min(wanted, cursor[QUEUED])
    for k in range(taken):
        tape.batch[k] = tape.queue[k]
    _shift(tape, taken)
    return taken


@inner
def _shift(tape: Tape, places: int) -> None:
    tape.cursor[QUEUED] -= places
    for k in range(tape.cursor[QUEUED]):
        tape.queue[k] = tape.queue[k + places]


@inner
def _is_news(evidence: NamedTuple, space: Space, state: State, tape: Tape, terms: Terms) -> bool:
    """Is a claim certain for the first time, or contrary to what was certain before?"""
    if state.tally[FRESH] > 0:
        refresh(evidence, space, state)
    settle(evidence, present(evidence, state), space, state, tape.statuses, tape.via)
    for i in range(space.arms):
        code, was = tape.statuses[i], tape.kept[i]
        if code == 0 or (terms.loose and code != OPTIMAL):
            continue
        if was == 0:
            return True
        may_be = terms.loose or (terms.tied and code != INFEASIBLE and was != INFEASIBLE)
        if (was == OPTIMAL) != (code == OPTIMAL) and not may_be and not tape.contradicted[i]:
            return True
    return False
