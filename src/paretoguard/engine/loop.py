"""The only simulation loop, and the kernels that Python calls.

Live use calls `observe_result`, `decide_next` or `fill_next`, `answer_now` and `settle_now`, one result at a time;
simulation calls `advance`, which runs the same functions for whole runs. `advance` returns after about `steps` samples
and goes on where it was when called again: progress, Ctrl-C and threads live between calls.

What is certain where a run has spent its budget takes long to compile, and most simulations do without it. Where runs
may be long, `advance` leaves it to `settle_spent`, a kernel apart (`ending`); short ones could not afford the call.
"""

from typing import NamedTuple

import numpy as np
from numpy import float64, int64, uint8, uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import entry, inner, part
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import settle
from paretoguard.engine.draws import draw
from paretoguard.engine.outstanding import choose, chosen, fill
from paretoguard.engine.questions import answer, decide, prepare, restart
from paretoguard.engine.state import CLOCK, FRESH, State, observe, present, refresh, reset

ANSWERED, BUDGET, FAULT = 1, 2, 3  # how a run stopped; 0 = not yet; FAULT: a decision that names no arms
NEXT, STARTED = 0, 1  # entries of Outcomes.cursor
NO_BUDGET = 2**62
LONG = 50_000  # samples; a call takes as long as some hundred


class Outcomes(NamedTuple):
    """Where the results of R runs go."""

    cursor: NDArray[int64]  # [2] the run at work (row), and whether it has begun
    runs: NDArray[uint64]  # [R] run numbers: with the seed, the key of their rewards
    samples: NDArray[int64]  # [R]
    stopped: NDArray[uint8]  # [R] ANSWERED, BUDGET or FAULT
    pulls: NDArray[int64]  # [R, K]
    statuses: NDArray[uint8]  # [R, K]


def new_outcomes(runs: NDArray[uint64], arms: int) -> Outcomes:
    """Room for the given runs."""
    R = len(runs)
    return Outcomes(
        np.zeros(2, dtype=int64),
        runs.astype(uint64),
        np.zeros(R, dtype=int64),
        np.zeros(R, dtype=uint8),
        np.zeros((R, arms), dtype=int64),
        np.zeros((R, arms), dtype=uint8),
    )


class AtOnce(NamedTuple):
    """Where a run has spent its budget, what is certain is found there and then."""

    via: NDArray[int64]  # [K] scratch


class Apart(NamedTuple):
    """It is left to `settle_spent`."""

    via: NDArray[int64]  # [K] scratch


def ending(budget: int, arms: int) -> AtOnce | Apart:
    """How runs end that spend their budget."""
    via = np.zeros(arms, dtype=int64)
    return Apart(via) if budget >= LONG else AtOnce(via)


@part
def is_settled(end: NamedTuple, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> bool:
    """Find what is certain, or leave it for later."""
    raise TypeError(f"{type(end).__name__} has no registered `is_settled`")


@is_settled.register(AtOnce)
def _settle_at_once(end: AtOnce, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> bool:
    if state.tally[FRESH] > 0:
        refresh(evidence, space, state)
    settle(evidence, present(evidence, state), space, state, statuses, end.via)
    return True


@is_settled.register(Apart)
def _leave_it(end: Apart, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> bool:
    return False


@entry
def advance(
    policy: NamedTuple,
    evidence: NamedTuple,
    space: Space,
    source: NamedTuple,
    state: State,
    outcomes: Outcomes,
    steps: int,
    budget: int,
    pace: NamedTuple,
    end: NamedTuple,
) -> int:
    """Simulate about `steps` more samples; return how many were taken. Call `settle_spent` before the next run.

    0 where every run has stopped, and where one has spent its budget before another sample. `pace` says how many arms
    are pulled before the next decision (`batches.cohort`), `end` how runs end at their budget (`ending`).
    """
    taken = 0
    cursor = outcomes.cursor
    while cursor[NEXT] < outcomes.runs.shape[0] and taken < steps:
        run = cursor[NEXT]
        if cursor[STARTED] == 0:
            reset(space, state)
            restart(policy)
            for i in range(space.arms):
                prepare(evidence, state, i)
            state.key[1] = outcomes.runs[run]
            cursor[STARTED] = 1
        before = state.tally[CLOCK]
        stopped = _pull_until(policy, evidence, space, source, state, steps - taken, budget, pace)
        taken += state.tally[CLOCK] - before
        if stopped == FAULT:
            outcomes.stopped[run] = FAULT
            return 0
        if stopped > 0:
            _record(space, state, outcomes, run, stopped)
            if stopped == ANSWERED:
                answer(policy, evidence, space, state, outcomes.statuses[run])
            elif not is_settled(end, evidence, space, state, outcomes.statuses[run]):
                return taken
            cursor[NEXT] += 1
            cursor[STARTED] = 0
    return taken


@inner
def _pull_until(
    policy: NamedTuple,
    evidence: NamedTuple,
    space: Space,
    source: NamedTuple,
    state: State,
    steps: int,
    budget: int,
    pace: NamedTuple,
) -> int:
    """Decide and pull until the run stops (how: ANSWERED, BUDGET or FAULT) or `steps` samples are taken (0)."""
    end = state.tally[CLOCK] + steps
    while True:
        left = budget - state.tally[CLOCK]
        queued = choose(pace, policy, evidence, space, state, left)
        if queued == 0:
            return ANSWERED
        if queued < 0:
            return FAULT
        if left <= 0:
            return BUDGET
        for k in range(min(queued, left)):
            arm = chosen(pace, state, k)
            draw(source, state.key, arm, state.counts[arm], state.row)
            observe(space, state, arm, state.row)
        if state.tally[CLOCK] >= end:
            return 0


@inner
def _record(space: Space, state: State, outcomes: Outcomes, run: int, stopped: int) -> None:
    outcomes.samples[run] = state.tally[CLOCK]
    outcomes.stopped[run] = stopped
    for i in range(space.arms):
        outcomes.pulls[run, i] = state.counts[i]


def settle_spent(end: AtOnce | Apart, evidence: NamedTuple, space: Space, state: State, outcomes: Outcomes) -> bool:
    """End the run at work, if it has spent its budget and that was left for now; was it?"""
    run = outcomes.cursor[NEXT]
    if run == len(outcomes.runs) or outcomes.stopped[run] != BUDGET:
        return False
    settle_now(evidence, space, state, outcomes.statuses[run], end.via)
    outcomes.cursor[NEXT] += 1
    outcomes.cursor[STARTED] = 0
    return True


@entry
def observe_result(space: Space, state: State, arm: int, row: NDArray[float64]) -> None:
    """Take one result of `arm`, values in the user's order and units."""
    observe(space, state, arm, row)


@entry
def observe_results(space: Space, state: State, arms: NDArray[int64], rows: NDArray[float64]) -> None:
    """Take many results, one after the other: arms [n] and values [n, d] as in `observe_result`."""
    for k in range(arms.shape[0]):
        observe(space, state, arms[k], rows[k])


@entry
def decide_next(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State) -> int:
    """How many arms are queued in `state.queue`; 0 means that the answer is found."""
    return int(decide(policy, evidence, space, state))


@entry
def fill_next(
    policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, batch: NDArray[int64], wanted: int
) -> int:
    """Choose `wanted` more arms on top of those pending, and count them as pending (0: answered; -1: no such arms)."""
    return int(fill(policy, evidence, space, state, batch, wanted))


@entry
def answer_now(policy: NamedTuple, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    """Each arm's status once `decide_next` has returned 0."""
    answer(policy, evidence, space, state, statuses)


@entry
def settle_now(evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8], via: NDArray[int64]) -> None:
    """Every claim that is certified now: each arm's status and the next arm of its chain (`claims.NOBODY`, SEVERAL)."""
    is_settled(AtOnce(via), evidence, space, state, statuses)


@entry
def draw_reward(source: NamedTuple, key: NDArray[uint64], arm: int, n: int, row: NDArray[float64]) -> None:
    """Fill `row` with reward number n of `arm`, in the user's units."""
    draw(source, key, arm, n, row)
