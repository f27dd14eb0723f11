"""The only simulation loop, and its steps one by one, for traces, laws and tests.

`advance` returns after about `steps` samples and goes on from there when called again: progress, Ctrl-C and threads
live between calls. Live use runs the same functions (`asktell`).
"""

from typing import NamedTuple

from numpy import uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import entry, entry_at_once, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.certify import settle_anew
from paretoguard.engine.draws import Ahead, draw
from paretoguard.engine.engine import Engine, Pace, decide, plan_pulls, rewind
from paretoguard.engine.questions import answer
from paretoguard.engine.state import CLOCK, State, observe
from paretoguard.engine.view import View, at_now
from paretoguard.numeric import Bytes, Floats, Integers, flags, integers

ANSWERED, BUDGET = 1, 2  # places in vocabulary.STOP_REASONS
FAULT = 3  # a run was stopped by a decision that names no arms
NEXT, STARTED = 0, 1  # entries of Outcomes.cursor
NO_BUDGET = 2**62


class Outcomes(NamedTuple):
    """The results of R runs."""

    cursor: Integers  # [2] the run at work (row), and whether it has begun
    runs: NDArray[uint64]  # [R] run numbers: with the seed, the key of their rewards
    samples: Integers  # [R]
    stopped: Bytes  # [R] ANSWERED, BUDGET or FAULT
    pulls: Integers  # [R, K]
    statuses: Bytes  # [R, K]
    via: Integers  # [K] scratch


def new_outcomes(runs: NDArray[uint64], arms: int) -> Outcomes:
    R = len(runs)
    pulls, statuses = integers(R, arms), flags(R, arms)
    return Outcomes(integers(2), runs.astype(uint64), integers(R), flags(R), pulls, statuses, integers(arms))


@entry_at_once
def advance(engine: Engine, source: Ahead, outcomes: Outcomes, steps: int, budget: int, pace: Pace) -> int:
    """Simulate about `steps` more samples; return how many were taken: 0 where every run has stopped.

    `pace` says how many arms are pulled before the next decision (`cohort`).
    """
    taken = 0
    cursor, state = outcomes.cursor, engine.seen.state
    while cursor[NEXT] < outcomes.runs.shape[0] and taken < steps:
        run = cursor[NEXT]
        if cursor[STARTED] == 0:
            rewind(engine)
            state.key[1] = outcomes.runs[run]
            cursor[STARTED] = 1
        before = state.tally[CLOCK]
        stopped = _pull_until(engine, source, steps - taken, budget, pace)
        taken += state.tally[CLOCK] - before
        if stopped == FAULT:
            outcomes.stopped[run] = FAULT
            return 0
        if stopped > 0:
            _record(state, outcomes, run, stopped)
            if stopped == ANSWERED:
                answer(engine.memory, at_now(engine.seen), outcomes.statuses[run])
            else:
                settle_anew(engine.seen, outcomes.statuses[run], outcomes.via)
            cursor[NEXT] += 1
            cursor[STARTED] = 0
    return taken


@inner
def _pull_until(engine: Engine, source: Ahead, steps: int, budget: int, pace: Pace) -> int:
    """Decide and pull until the run stops (how: ANSWERED, BUDGET or FAULT) or `steps` samples are taken (0)."""
    problem, state = engine.seen.problem, engine.seen.state
    end = state.tally[CLOCK] + steps
    while True:
        left = budget - state.tally[CLOCK]
        planned = plan_pulls(pace, engine, left)
        if planned == 0:
            return ANSWERED
        if planned < 0:
            return FAULT
        if left <= 0:
            return BUDGET
        for k in range(min(planned, left)):
            arm = pace.arms[k]
            draw(source, state.key, arm, state.counts[arm], state.row)
            observe(problem, state, arm, state.row)
        if state.tally[CLOCK] >= end:
            return 0


@inner
def _record(state: State, outcomes: Outcomes, run: int, stopped: int) -> None:
    outcomes.samples[run] = state.tally[CLOCK]
    outcomes.stopped[run] = stopped
    for i in range(state.counts.shape[0]):
        outcomes.pulls[run, i] = state.counts[i]


@entry
def observe_result(problem: ProblemArrays, state: State, arm: int, row: Floats) -> None:
    """Take one result of `arm`, values in the user's order and units."""
    observe(problem, state, arm, row)


@entry
def observe_results(problem: ProblemArrays, state: State, arms: Integers, rows: Floats) -> None:
    """Take many results, one after the other: arms [n] and values [n, d] as in `observe_result`."""
    for k in range(arms.shape[0]):
        observe(problem, state, arms[k], rows[k])


@entry
def decide_next(engine: Engine) -> int:
    """Return how many arms are queued in `state.queue`: 0 where the answer is found, FAULTY where they are none."""
    return int(decide(engine))


@entry
def answer_now(engine: Engine, statuses: Bytes) -> None:
    """Write each arm's status once `decide_next` has returned 0."""
    answer(engine.memory, at_now(engine.seen), statuses)


@entry
def settle_now(view: View, statuses: Bytes, via: Integers) -> None:
    """Write every claim that is certain now: each arm's status and the next arm of its chain (NOBODY, SEVERAL)."""
    settle_anew(view, statuses, via)


@entry
def draw_reward(source: Ahead, key: NDArray[uint64], arm: int, n: int, row: Floats) -> None:
    """Fill `row` with reward number n of `arm`, in the user's units."""
    draw(source, key, arm, n, row)
