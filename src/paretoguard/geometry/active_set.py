"""Projection onto general polyhedra: the dual active-set method of Goldfarb and Idnani (1983), its matrix the identity.

- The rows W held with equality are kept linearly independent, with their weights >= 0, so that every accepted point is
  the projection of x onto the rows held, and its distance a lower bound that grows from one accepted point to the next;
- everything is relative to x. With z = point - x, s = rhs - A x and A_W' = Q R (orthonormal columns, triangle):
      R' w = s_W,   z = Q w,   distance = |w|,   R weights = -w;
- Q, R and w are rebuilt from the rows of A whenever a row leaves and never updated, so rounding cannot build up: what
  is returned is the solution of one triangular system of the final active set, however long the way to it was.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import bool_
from numpy.typing import NDArray

from paretoguard.compiler.jit import aside, inner
from paretoguard.numeric import Floats, Integers, floats, integers

EPSILON = 2.0**-52
ROUNDING = 32 * EPSILON  # what a row of unit norm may be off by in its sums; differences below it are not believed


class Workspace(NamedTuple):
    """The memory `outside` works in, one per thread: its answers in the first two, scratch in the rest."""

    point: Floats  # [d] the projection
    multipliers: Floats  # [m] >= 0, with x - point = A' multipliers
    slack: Floats  # [m] s
    shift: Floats  # [d] z
    rows: Integers  # [d + 1] W in the order held; here and below the last place is for a row on trial
    is_held: NDArray[bool_]  # [m]
    basis: Floats  # [d + 1, d] Q'
    triangle: Floats  # [d + 1, d + 1] R
    along: Floats  # [d + 1] w
    weights: Floats  # [d + 1] multipliers of W before the row on trial pushes
    push: Floats  # [d + 1] how fast they shrink as it does: it is A_W' push plus a part orthogonal to W


def workspace(m: int, d: int) -> Workspace:
    place = d + 1
    return Workspace(
        point=floats(d),
        multipliers=floats(m),
        slack=floats(m),
        shift=floats(d),
        rows=integers(place),
        is_held=np.zeros(m, bool_),
        basis=floats(place, d),
        triangle=floats(place, place),
        along=floats(place),
        weights=floats(place),
        push=floats(place),
    )


@inner
def declare_empty(work: Workspace) -> None:
    """Write that there is no point, and no multipliers yet that would prove it."""
    for c in range(work.point.shape[0]):
        work.point[c] = math.nan
    for row in range(work.multipliers.shape[0]):
        work.multipliers[row] = 0.0


@aside
def beyond_rows(A: Floats, rhs: Floats, x: Floats, work: Workspace) -> float:
    """Hold the most violated row, letting go of held rows whose weight would turn negative, until none is violated.

    Each pass puts one row on trial. It ends, since an accepted point is farther from x than all before it and belongs
    to one of finitely many sets of rows; against rounding there is a cap that no known input comes near. Were it hit,
    the answer would be the last accepted distance, a lower bound, with point = x and multipliers 0: visibly unproved.
    """
    m, d = A.shape
    trial = _measure_slack(A, rhs, x, work)
    if trial < 0:
        return 0.0
    held, distance, loosened = 0, 0.0, 0.0
    for _ in range(100 + 20 * (m + d)):
        gap = _append(A, trial, held, work)
        height = work.triangle[held, held]
        spread = _back_substitute(held, work)
        noise = ROUNDING * spread
        dependent = held == d or height <= noise
        leaving = _first_to_leave(held, math.inf if dependent else -gap / (height * height), noise, work)
        if leaving >= 0:
            # It leaves before the trial row is reached: that row goes on trial again, with one row less to push.
            work.is_held[work.rows[leaving]] = False
            held -= 1
            for place in range(leaving, held):
                _append(A, work.rows[place + 1], place, work)
            continue
        if not dependent:
            held += 1
            distance = _move(held, work)
        elif _is_contradiction(rhs, held, work):
            return math.inf
        else:
            loosened = max(2.0 * loosened, 2.0 * abs(gap) / spread, EPSILON * distance)
            held, distance = 0, _loosen(loosened, work)
        trial = _most_violated(A, distance, work)
        if trial < 0:
            _write_answer(x, held, work)
            return distance
    return distance


@inner
def _measure_slack(A: Floats, rhs: Floats, x: Floats, work: Workspace) -> int:
    """Fill work.slack, hold no row, and return the row with the least slack, or -1 if none is negative."""
    m, d = A.shape
    worst, least = -1, 0.0
    for row in range(m):
        slack = rhs[row]
        for c in range(d):
            slack -= A[row, c] * x[c]
        work.slack[row] = slack
        work.is_held[row] = False
        if slack < least:
            worst, least = row, slack
    return worst


@inner
def _most_violated(A: Floats, distance: float, work: Workspace) -> int:
    """Return the row not held that x + shift violates most, and by more than rounding; -1 if there is none."""
    m, d = A.shape
    worst, most = -1, 0.0
    for row in range(m):
        violation = -work.slack[row]
        for c in range(d):
            violation += A[row, c] * work.shift[c]
        if violation > most and not work.is_held[row] and violation > ROUNDING * (abs(work.slack[row]) + distance):
            worst, most = row, violation
    return worst


@inner
def _append(A: Floats, row: int, place: int, work: Workspace) -> float:
    """Complete Q, R and w with one more row, from its entries in A; its slack at the point of the rows before it.

    Gram–Schmidt, repeated if it cancelled (Kahan and Parlett: twice is enough to be orthogonal to rounding).
    """
    d = A.shape[1]
    work.rows[place] = row
    for c in range(d):
        work.basis[place, c] = A[row, c]
    for i in range(place):
        work.triangle[i, place] = 0.0
    square = 0.0
    for _ in range(2):
        for i in range(place):
            share = 0.0
            for c in range(d):
                share += work.basis[i, c] * work.basis[place, c]
            work.triangle[i, place] += share
            for c in range(d):
                work.basis[place, c] -= share * work.basis[i, c]
        square = 0.0
        for c in range(d):
            square += work.basis[place, c] * work.basis[place, c]
        if square > 0.5:
            break
    height = math.sqrt(square)
    gap: float = work.slack[row]
    for i in range(place):
        gap -= work.triangle[i, place] * work.along[i]
    work.triangle[place, place] = height
    if height > 0.0:
        work.along[place] = gap / height
        for c in range(d):
            work.basis[place, c] /= height
    return gap


@inner
def _back_substitute(held: int, work: Workspace) -> float:
    """Solve R weights = -w and R push = triangle[:held, held]; 1 + Σ|push|.

    Rows known to rounding ε leave the part of the trial row that is orthogonal to W known to ε (1 + Σ|push|).
    """
    spread = 1.0
    for i in range(held - 1, -1, -1):
        weight, push = -work.along[i], work.triangle[i, held]
        for k in range(i + 1, held):
            weight -= work.triangle[i, k] * work.weights[k]
            push -= work.triangle[i, k] * work.push[k]
        work.weights[i] = weight / work.triangle[i, i]
        work.push[i] = push / work.triangle[i, i]
        spread += abs(work.push[i])
    return spread


@inner
def _first_to_leave(held: int, full_step: float, noise: float, work: Workspace) -> int:
    """Return the held row whose weight, weights - t push, first reaches 0 before t = full_step; -1 if none does."""
    leaving, step = -1, full_step
    floor = noise if full_step == math.inf else 0.0
    for i in range(held):
        if work.push[i] > floor and work.weights[i] < step * work.push[i]:
            leaving, step = i, work.weights[i] / work.push[i]
    return leaving


@inner
def _move(held: int, work: Workspace) -> float:
    """Accept the row just appended: go to the point nearest to x on all rows held; return its distance."""
    work.is_held[work.rows[held - 1]] = True
    for c in range(work.shift.shape[0]):
        work.shift[c] = 0.0
    square = 0.0
    for i in range(held):
        square += work.along[i] * work.along[i]
        for c in range(work.shift.shape[0]):
            work.shift[c] += work.along[i] * work.basis[i, c]
    return math.sqrt(square)


@inner
def _is_contradiction(rhs: Floats, held: int, work: Workspace) -> bool:
    """Whether the trial row t = A_W' push with push <= 0 leaves no point: rhs_t - rhs_W · push < 0 (Farkas).

    If so, leave the proof in work.multipliers.
    """
    trial = work.rows[held]
    total, size = rhs[trial], 1.0 + abs(rhs[trial])
    for i in range(held):
        total -= rhs[work.rows[i]] * work.push[i]
        size += (1.0 + abs(rhs[work.rows[i]])) * abs(work.push[i])
    if total >= -ROUNDING * size:
        return False
    declare_empty(work)
    work.multipliers[trial] = 1.0
    for i in range(held):
        work.multipliers[work.rows[i]] = max(0.0, -work.push[i])
    return True


@inner
def _loosen(amount: float, work: Workspace) -> float:
    """Widen the set by what rounding explains, let go of every row and return to x; the distance there, 0.

    For rows that clash to within rounding only. All rows move, and twice as far the next time, since where some clash
    others tend to: a single point held by many rows. Beginning anew is needed, as the weights are no longer those of an
    accepted point once a row has left for the one on trial.
    """
    for row in range(work.slack.shape[0]):
        work.slack[row] += amount
        work.is_held[row] = False
    for c in range(work.shift.shape[0]):
        work.shift[c] = 0.0
    return 0.0


@inner
def _write_answer(x: Floats, held: int, work: Workspace) -> None:
    for c in range(work.point.shape[0]):
        work.point[c] = x[c] + work.shift[c]
    _back_substitute(held, work)
    for i in range(held):
        # Negative by rounding only: no weight was let below 0.
        work.multipliers[work.rows[i]] = max(0.0, work.weights[i])
