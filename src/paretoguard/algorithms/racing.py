"""Racing (the paper's elimination baseline): pull every active arm once a round, and drop arms as they are decided.

After each round, on the arms that were active in it:

1. infeasible: outside P with gamma_i > 0 (this wins if an arm is dominated too);
   dominated: by another active arm j, inside P with gamma_j > 0, with m^-(i,j) > 0;
2. then, all at once on what remains: optimal, if inside P with gamma_i > 0 and, against every other remaining arm j,
   M^-(i,j) > 0 and M^-(j,i) > 0. An optimal arm that might still dominate a remaining one stays active to do so.

With a tolerance on constraints an arm may be certified feasible up to it and, later, infeasible: both are true. Then
the first claim stands, because other arms may have left the race on its strength.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy import uint8

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.questions import answer, choose, dominated, select, undominated
from paretoguard.engine.state import State
from paretoguard.engine.view import View, weight_of
from paretoguard.numeric import Bytes, Integers, integers
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED


class RacingMemory(NamedTuple):
    """Racing at work on one problem."""

    decided: Bytes  # [K] the status of arms that left the race; 0 for active ones
    verdict: Bytes  # [K] what this round decides
    vouched: Bytes  # [K] with a tolerance: 1 once certified feasible up to it
    sure: Bytes  # [K] 1 for arms certified feasible by now
    loose: bool  # is there a tolerance on constraints?
    judged: Integers  # [1] rounds judged


@dataclass(frozen=True)
class Racing(Algorithm):
    """Racing: round robin over the arms not yet decided."""

    name: ClassVar[str] = "racing"
    in_rounds: ClassVar[bool] = True

    def fit(self, problem: ProblemArrays) -> RacingMemory:
        decided, verdict, vouched, sure = (np.full(problem.arms, UNDECIDED, dtype=uint8) for _ in range(4))
        loose = bool(np.any(problem.row_tolerance > 0) or np.any(problem.exact_row_tolerance > 0))
        return RacingMemory(decided, verdict, vouched, sure, loose, integers(1))


@choose.register(RacingMemory)
def _choose(memory: RacingMemory, view: View) -> int:
    problem, state = view.problem, view.state
    done = _rounds_done(memory, problem, state)
    if memory.judged[0] < done:
        memory.judged[0] = done
        for i in range(problem.arms):
            if memory.decided[i] == UNDECIDED:
                is_sure = state.inside[i] == 1 and weight_of(view, i) > view.now.bar
                if memory.loose and is_sure:
                    memory.vouched[i] = 1
                memory.sure[i] = 1 if is_sure else memory.vouched[i]
        _judge(memory, view, False)
        _judge(memory, view, True)
    return select(memory, view)


@select.register(RacingMemory)
def _select(memory: RacingMemory, view: View) -> int:
    """Queue the active arms that the round has not reached yet; all of them when a round begins."""
    problem, state = view.problem, view.state
    most = 0
    for i in range(problem.arms):
        if memory.decided[i] == UNDECIDED:
            most = max(most, state.counts[i])
    new_round = _round_is_over(memory, problem, state)
    queued = 0
    for i in range(problem.arms):
        if memory.decided[i] == UNDECIDED and (new_round or state.counts[i] < most):
            state.queue[queued] = i
            queued += 1
    return queued


@inner
def _rounds_done(memory: RacingMemory, problem: ProblemArrays, state: State) -> int:
    """Return the least results of an active arm: with several workers others may be further on, which is harmless."""
    least = 0
    for i in range(problem.arms):
        if memory.decided[i] == UNDECIDED and (least == 0 or state.counts[i] < least):
            least = state.counts[i]
    return int(least)


@inner
def _round_is_over(memory: RacingMemory, problem: ProblemArrays, state: State) -> bool:
    """True if all active arms have the same number of pulls."""
    least, most = -1, -1
    for i in range(problem.arms):
        if memory.decided[i] == UNDECIDED:
            most = max(most, state.counts[i])
            least = state.counts[i] if least < 0 else min(least, state.counts[i])
    return least == most


@inner
def _judge(memory: RacingMemory, view: View, last: bool) -> None:
    """Decide arms of the race together: who is out (first), then who is optimal among the rest (last)."""
    problem = view.problem
    for i in range(problem.arms):
        memory.verdict[i] = UNDECIDED
        if memory.decided[i] == UNDECIDED:
            if last:
                if _is_winner(memory, view, i):
                    memory.verdict[i] = OPTIMAL
            else:
                memory.verdict[i] = _exit(memory, view, i)
    for i in range(problem.arms):
        if memory.verdict[i] != UNDECIDED:
            memory.decided[i] = memory.verdict[i]


@inner
def _exit(memory: RacingMemory, view: View, i: int) -> int:
    """Return INFEASIBLE, DOMINATED, or UNDECIDED for the active arm i."""
    if memory.vouched[i] == 0 and view.state.inside[i] == 0 and weight_of(view, i) > view.now.bar:
        return INFEASIBLE
    for j in range(view.problem.arms):
        judges = j != i and memory.decided[j] == UNDECIDED and memory.sure[j] == 1
        if judges and dominated(view, i, j) > 0.0:
            return DOMINATED
    return UNDECIDED


@inner
def _is_winner(memory: RacingMemory, view: View, i: int) -> bool:
    """True if the remaining arm i is certified feasible, and neither above nor below any other remaining arm."""
    if memory.sure[i] == 0:
        return False
    for j in range(view.problem.arms):
        if j != i and memory.decided[j] == UNDECIDED:
            ahead = undominated(view, i, j)
            if not (ahead > 0.0 and undominated(view, j, i) > 0.0):
                return False
    return True


@answer.register(RacingMemory)
def _answer(memory: RacingMemory, view: View, statuses: Bytes) -> None:
    for i in range(view.problem.arms):
        statuses[i] = memory.decided[i]
