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
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import int64, uint8
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner
from paretoguard.engine.arrays import Space
from paretoguard.engine.certify import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED
from paretoguard.engine.questions import answer, decide, dominated, restart, select, undominated
from paretoguard.engine.state import QUEUED, State, present, queue_unseen, refresh, weight_of


class RacingMemory(NamedTuple):
    """Racing at work on one problem."""

    decided: NDArray[uint8]  # [K] the status of arms that left the race; 0 for active ones
    verdict: NDArray[uint8]  # [K] what this round decides
    vouched: NDArray[uint8]  # [K] with a tolerance: 1 once certified feasible up to it
    loose: bool  # is there a tolerance on constraints?
    judged: NDArray[int64]  # [1] rounds judged


@dataclass(frozen=True)
class Racing:
    """Racing: round robin over the arms not yet decided."""

    name: ClassVar[str] = "racing"
    in_rounds: ClassVar[bool] = True

    def fit(self, space: Space) -> RacingMemory:
        """Room for what was decided."""
        flags = np.zeros(space.arms, dtype=uint8), np.zeros(space.arms, dtype=uint8)
        loose = bool(np.any(space.row_tolerance > 0) or np.any(space.exact_row_tolerance > 0))
        return RacingMemory(*flags, np.zeros(space.arms, dtype=uint8), loose, np.zeros(1, dtype=int64))


@restart.register(RacingMemory)
def _restart(policy: RacingMemory) -> None:
    policy.judged[0] = 0
    for i in range(policy.decided.shape[0]):
        policy.decided[i] = UNDECIDED
        policy.vouched[i] = 0


@decide.register(RacingMemory)
def _decide(policy: RacingMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    queued = queue_unseen(space, state)
    if queued > 0:
        return queued
    refresh(evidence, space, state)
    done = _rounds_done(policy, space, state)
    if policy.judged[0] < done:
        policy.judged[0] = done
        now = present(evidence, state)
        for i in range(space.arms):
            if policy.loose and state.inside[i] == 1 and weight_of(evidence, space, state, i) > now.bar:
                policy.vouched[i] = 1
        _judge(policy, evidence, now, space, state, False)
        _judge(policy, evidence, now, space, state, True)
    return select(policy, evidence, space, state)


@select.register(RacingMemory)
def _select(policy: RacingMemory, evidence: NamedTuple, space: Space, state: State) -> int:
    """The active arms that the round has not reached yet; all of them when a round begins."""
    most = 0
    for i in range(space.arms):
        if policy.decided[i] == UNDECIDED:
            most = max(most, state.counts[i])
    new_round = _round_is_over(policy, space, state)
    queued = 0
    for i in range(space.arms):
        if policy.decided[i] == UNDECIDED and (new_round or state.counts[i] < most):
            state.queue[queued] = i
            queued += 1
    state.tally[QUEUED] = queued
    return queued


@inner
def _rounds_done(policy: RacingMemory, space: Space, state: State) -> int:
    """The least results of an active arm: with several workers others may be further on, which changes no claim."""
    least = 0
    for i in range(space.arms):
        if policy.decided[i] == UNDECIDED and (least == 0 or state.counts[i] < least):
            least = state.counts[i]
    return int(least)


@inner
def _round_is_over(policy: RacingMemory, space: Space, state: State) -> bool:
    """Have all active arms the same number of pulls?"""
    least, most = -1, -1
    for i in range(space.arms):
        if policy.decided[i] == UNDECIDED:
            most = max(most, state.counts[i])
            least = state.counts[i] if least < 0 else min(least, state.counts[i])
    return least == most


@inner
def _judge(policy: RacingMemory, evidence: NamedTuple, now: Any, space: Space, state: State, last: bool) -> None:
    """Decide arms of the race together: who is out (first), then who is optimal among the rest (last)."""
    for i in range(space.arms):
        policy.verdict[i] = UNDECIDED
        if policy.decided[i] == UNDECIDED:
            if last:
                if _is_winner(policy, evidence, now, space, state, i):
                    policy.verdict[i] = OPTIMAL
            else:
                policy.verdict[i] = _exit(policy, evidence, now, space, state, i)
    for i in range(space.arms):
        if policy.verdict[i] != UNDECIDED:
            policy.decided[i] = policy.verdict[i]


@inner
def _is_sure(policy: RacingMemory, evidence: NamedTuple, now: Any, space: Space, state: State, j: int) -> bool:
    """Is j certified feasible?"""
    if policy.vouched[j] == 1:
        return True
    return bool(state.inside[j] == 1 and weight_of(evidence, space, state, j) > now.bar)


@inner
def _exit(policy: RacingMemory, evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> int:
    """INFEASIBLE, DOMINATED, or UNDECIDED for the active arm i."""
    if policy.vouched[i] == 0 and state.inside[i] == 0 and weight_of(evidence, space, state, i) > now.bar:
        return INFEASIBLE
    for j in range(space.arms):
        judge = j != i and policy.decided[j] == UNDECIDED and _is_sure(policy, evidence, now, space, state, j)
        if judge and dominated(evidence, now, space, state, i, j) > 0.0:
            return DOMINATED
    return UNDECIDED


@inner
def _is_winner(policy: RacingMemory, evidence: NamedTuple, now: Any, space: Space, state: State, i: int) -> bool:
    """Is the remaining arm i certified feasible, and neither above nor below any other remaining arm?"""
    if not _is_sure(policy, evidence, now, space, state, i):
        return False
    for j in range(space.arms):
        if j != i and policy.decided[j] == UNDECIDED:
            ahead = undominated(evidence, now, space, state, i, j)
            if not (ahead > 0.0 and undominated(evidence, now, space, state, j, i) > 0.0):
                return False
    return True


@answer.register(RacingMemory)
def _answer(policy: RacingMemory, evidence: NamedTuple, space: Space, state: State, statuses: NDArray[uint8]) -> None:
    for i in range(space.arms):
        statuses[i] = policy.decided[i]
