"""From the user's units to the engine's: larger is better, every noisy objective 1-sub-Gaussian, rows of norm 1.

With x = u/scale (u in engine units), a row a · x <= b reads Σ_c (a_c/scale_c) u_c <= b; it is then divided by the norm
of its noisy part; a row that touches exact objectives only stays as given.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import float64, int64, uint8
from numpy.typing import NDArray

from paretoguard.engine.arrays import ProblemArrays, Ranges, bets
from paretoguard.errors import ProblemError
from paretoguard.geometry.polyhedron import has_point, polyhedron
from paretoguard.numeric import Floats, Integers
from paretoguard.problem.noise import Bernoulli, Gaussian, Noise

# "unknown", "independent", or the covariance of the Gaussian objectives
Dependence = str | tuple[tuple[float, ...], ...]


class EngineRow(NamedTuple):
    """Where a row of the engine comes from: user's slack = engine's slack * norm."""

    constraint: int  # index into problem.constraints
    norm: float


class Units(NamedTuple):
    """A problem in engine units, and the way back: `rows` lists the noisy rows, then the exact ones."""

    space: ProblemArrays
    rows: tuple[EngineRow, ...]


def to_engine(
    *,
    arms: int,
    signs: Floats,
    noise: Sequence[Noise],
    A: Floats,
    b: Floats,
    dependence: Dependence,
    tolerance: Floats,
    row_tolerance: Floats,
) -> Units:
    """Convert a checked problem: signs [d] (+1 max, −1 min, 0 guard), A [m, d], b [m], tolerances [d] and [m]."""
    sigma = np.array([model.sigma for model in noise], dtype=float64)
    guarded = signs == 0
    order = np.lexsort([guarded, sigma == 0]).astype(int64)
    noisy, compared = int(np.count_nonzero(sigma)), ~guarded
    unit = np.where((sigma == 0) | np.isnan(sigma), 1.0, sigma)[order]
    learnt = np.isnan(sigma)[order[:noisy]]
    scale = np.where(guarded, 1.0, signs)[order] / unit
    rows = A[:, order] / scale + 0.0
    is_noisy = np.any(rows[:, :noisy] != 0, axis=1)
    noisy_rows, exact_rows = np.flatnonzero(is_noisy), np.flatnonzero(~is_noisy)
    # Rows over exact objectives stay as given: a value on the boundary must not fall outside by rounding.
    norms = np.where(is_noisy, _norms(rows[:, :noisy]), 1.0)
    with np.errstate(over="ignore"):
        rows, bounds, slacks = rows / norms[:, None], b / norms, row_tolerance / norms
    if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(bounds))):
        raise ProblemError("a constraint overflows once noise scales are divided out; measure in units nearer to 1")
    region, exact_part = np.ascontiguousarray(rows[noisy_rows, :noisy]), np.ascontiguousarray(rows[noisy_rows, noisy:])
    models = [noise[place] for place in order[:noisy]]
    dependence = _reordered(dependence, [int(place) for place in order if isinstance(noise[place], Gaussian)])
    within = ranges(models, scale[:noisy])
    needed = ~redundant(rows, bounds)[noisy_rows]
    row_group = np.full(len(noisy_rows), -1, dtype=int64)
    row_group[needed] = groups(rows[noisy_rows[needed], :noisy] != 0)
    space = ProblemArrays(
        arms=arms,
        objectives=len(noise),
        noisy=noisy,
        compared=int(np.count_nonzero(compared & (sigma != 0))),
        compared_exact=int(np.count_nonzero(compared & (sigma == 0))),
        order=order,
        scale=scale,
        learnt=learnt.astype(uint8),
        region=polyhedron(region, bounds[noisy_rows]),
        exact_part=exact_part,
        exact_A=np.ascontiguousarray(rows[exact_rows, noisy:]),
        exact_b=bounds[exact_rows],
        tolerance=tolerance[order] / unit,
        row_tolerance=slacks[noisy_rows],
        exact_row_tolerance=slacks[exact_rows],
        row_sigma=row_sigma(region * np.sign(scale[:noisy]), models, dependence),
        row_learnt=np.any(region[:, learnt] != 0, axis=1).astype(uint8),
        ranges=within,
        bets=bets(region, bounds[noisy_rows], exact_part, slacks[noisy_rows], within),
        needed=needed.astype(uint8),
        row_group=row_group,
        row_groups=int(row_group.max(initial=-1)) + 1 if dependence == "independent" else 0,
        correlation=known_correlation(models, dependence, np.sign(scale[:noisy])),
        independent=dependence == "independent",
        gaussian=dependence != "unknown" and all(isinstance(model, Gaussian) for model in noise if model.sigma != 0),
        sigma_u=sigma_u(noise, dependence),
    )
    both = np.concatenate([noisy_rows, exact_rows])
    return Units(space, tuple(EngineRow(int(row), float(norms[row])) for row in both))


def sigma_u(noise: Sequence[Noise], dependence: Dependence) -> float:
    """Return the sub-Gaussian norm of the noise vector in engine units (spec §2); 1 if nothing is noisy.

    Groups are the block of Gaussian objectives with a given covariance, with its correlation R, and every other noisy
    objective alone. Independent: max √λ_max(R_g). Otherwise nothing is known between groups: √Σ λ_max(R_g).

    >>> sigma_u([Gaussian(1.0)] * 4, "unknown"), sigma_u([Gaussian(1.0)] * 4, "independent")
    (2.0, 1.0)
    """
    noisy = sum(model.sigma != 0 for model in noise)
    if noisy == 0 or dependence == "independent":
        return 1.0
    if isinstance(dependence, str):
        return float(np.sqrt(noisy))
    block = sum(isinstance(model, Gaussian) for model in noise)
    largest = np.linalg.eigvalsh(correlation(np.array(dependence)))[-1]
    return float(np.sqrt(largest + noisy - block))


def row_sigma(rows: Floats, noise: Sequence[Noise], dependence: Dependence) -> Floats:
    """Return the sub-Gaussian scale along each row [m], over the noisy objectives in engine units (spec §2).

    Each group of objectives (see `sigma_u`) contributes s_g = √(a_gᵀ R_g a_g): independent groups add up to √Σ s_g²,
    others to Σ s_g, since nothing is known between them. Rows and covariance are in the user's signs.

    >>> row_sigma(np.array([[0.6, 0.8]]), [Gaussian(1.0)] * 2, "unknown").round(9).tolist()
    [1.4]
    """
    if isinstance(dependence, str):
        size = np.sqrt((rows**2).sum(axis=1)) if dependence == "independent" else np.abs(rows).sum(axis=1)
        return np.asarray(size, dtype=float64)
    block = np.array([isinstance(model, Gaussian) for model in noise], dtype=bool)
    joint = rows[:, block]
    within = np.einsum("lc,ck,lk->l", joint, correlation(np.array(dependence)), joint)
    return np.asarray(np.sqrt(np.maximum(within, 0.0)) + np.abs(rows[:, ~block]).sum(axis=1), dtype=float64)


def ranges(noise: Sequence[Noise], scale: Floats) -> Ranges:
    """Return the range of each noisy coordinate in engine units, if sigma is half of it."""
    found = np.full(len(noise), -np.inf)
    for c, model in enumerate(noise):
        low, high = model.support
        if np.isfinite(low) and np.isfinite(high) and abs(2 * model.sigma / (high - low) - 1) < 1e-12:
            found[c] = min(low * scale[c], high * scale[c])
    return Ranges(found, np.array([isinstance(model, Bernoulli) for model in noise], dtype=bool) & np.isfinite(found))


def redundant(rows: Floats, bounds: Floats) -> NDArray[np.bool_]:
    """Return which rows of rows · x <= bounds follow from the others; of equivalent rows one is kept.

    >>> redundant(np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 2.0, 0.0])).tolist()
    [False, True, False]
    """
    found = np.zeros(len(rows), dtype=bool)
    if np.all(np.count_nonzero(rows, axis=1) == 1):  # a box: of the limits on one side of an objective, the tightest
        places, size = np.argmax(rows != 0, axis=1), np.abs(rows).max(axis=1, initial=0.0)
        sides = [(int(place), bool(rows[row, place] > 0)) for row, place in enumerate(places)]
        for side in set(sides):
            mine = np.array([row for row, other in enumerate(sides) if other == side])
            found[np.delete(mine, np.argmin(bounds[mine] / size[mine]))] = True
        return found
    for row in np.argsort(-bounds, kind="stable"):  # the farthest first
        others = ~found
        others[row] = False
        clearly = bounds[row] + 1e-8 * (1.0 + abs(bounds[row]))
        if has_point(np.vstack([rows[others], -rows[row]]), np.append(bounds[others], -clearly), 1e-11):
            continue  # it is clearly beyond the row, and within the others
        from scipy.optimize import linprog  # a quarter of a second to import, and seldom needed

        most = linprog(-rows[row], A_ub=rows[others], b_ub=bounds[others], bounds=(None, None), method="highs")
        found[row] = most.status == 0 and -most.fun <= bounds[row] + 1e-9 * (1.0 + abs(bounds[row]))
    return found


def groups(uses: NDArray[np.bool_]) -> Integers:
    """Number the rows from 0, given which objectives [m, d] each uses: rows that share objectives have one number.

    >>> groups(np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]]) > 0).tolist()
    [0, 1, 0, 1]
    """
    number = np.full(len(uses), -1, dtype=int64)
    for row in range(len(uses)):
        if number[row] >= 0:
            continue
        number[row] = number.max(initial=-1) + 1
        reached = uses[row]
        while True:
            joined = (uses & reached).any(axis=1)
            number[joined] = number[row]
            if np.array_equal(grown := reached | uses[joined].any(axis=0), reached):
                break
            reached = grown
    return number


def _reordered(dependence: Dependence, gaussian: Sequence[int]) -> Dependence:
    """Return a covariance of the Gaussian objectives in the order of these places.

    >>> _reordered(((1.0, 0.5), (0.5, 4.0)), [3, 0])
    ((4.0, 0.5), (0.5, 1.0))
    """
    if isinstance(dependence, str):
        return dependence
    ranks = [sorted(gaussian).index(place) for place in gaussian]
    return tuple(tuple(dependence[i][j] for j in ranks) for i in ranks)


def known_correlation(noise: Sequence[Noise], dependence: Dependence, signs: Floats) -> Floats:
    """Return the correlation of the noisy objectives, larger being better; [0, 0] if it is not known of all."""
    if dependence == "independent":
        return np.eye(len(noise))
    if isinstance(dependence, str) or not all(isinstance(model, Gaussian) for model in noise):
        return np.zeros((0, 0))
    return np.asarray(correlation(np.array(dependence)) * signs * signs[:, None], dtype=float64)


def correlation(covariance: Floats) -> Floats:
    """Return R with R_ij = C_ij/√(C_ii C_jj), made exactly symmetric."""
    std = np.sqrt(np.diag(covariance))
    R = covariance / std[:, None] / std
    return np.asarray((R + R.T) / 2, dtype=float64)


def _norms(rows: Floats) -> Floats:
    """Return Euclidean norms [m], without overflow or underflow on the way; 1 for a zero row."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    largest[largest == 0] = 1.0
    norms = largest * np.sqrt(((rows / largest[:, None]) ** 2).sum(axis=1))
    return np.where(norms == 0, 1.0, norms)
