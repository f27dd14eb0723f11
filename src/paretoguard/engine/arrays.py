"""A problem in engine units: what a kernel knows of it.

In engine units larger is better in every coordinate and every noisy coordinate is 1-sub-Gaussian, so distances are
counted in standard deviations; a coordinate whose scale is to be learnt keeps the user's unit. Coordinates that carry
noise come first, exact ones (a price, a size) last; in each of the two parts, guarded ones last.
"""

from typing import NamedTuple

from paretoguard.engine.bets import Bets, Ranges
from paretoguard.geometry.polyhedron import Polyhedron
from paretoguard.numeric import Bytes, Floats, Integers


class ProblemArrays(NamedTuple):
    """The engine's view of a problem with K arms, d objectives (the first `noisy` of them noisy) and m + e rows.

    Row l of the m noisy rows reads: region.A[l] · x[:noisy] + exact_part[l] · x[noisy:] <= region.b[l], with
    region.A[l] of unit norm. The e rows that touch exact coordinates only read:
    exact_A · x[noisy:] <= exact_b; they are not rescaled, so that comparing them is exact.
    """

    arms: int
    objectives: int
    noisy: int
    compared: int  # of the noisy ones the first so many count in dominance; the others are there for constraints
    compared_exact: int  # of the exact ones
    order: Integers  # [d] engine coordinate -> position of the objective in the user's list
    scale: Floats  # [d] engine value = user's value * scale (sign / sigma; only the sign where exact or learnt)
    learnt: Bytes  # [noisy] 1 where the scale of the noise is to be learnt from the results
    region: Polyhedron  # the noisy rows over the noisy coordinates
    exact_part: Floats  # [m, d - noisy]
    exact_A: Floats  # [e, d - noisy]
    exact_b: Floats  # [e]
    tolerance: Floats  # [d] how far a returned arm may be beaten in every objective; 0 = not at all
    row_tolerance: Floats  # [m] how far a returned arm may violate a noisy row, in its unit; 0 = not at all
    exact_row_tolerance: Floats  # [e]
    row_sigma: Floats  # [m] sub-Gaussian scale of the noise along each noisy row
    row_learnt: Bytes  # [m] 1 for a row over a coordinate whose scale is learnt
    ranges: Ranges  # of the noisy coordinates
    bets: Bets  # e-values of rows over one coordinate with values in a range
    needed: Bytes  # [m] 0 for a noisy row that the others imply
    row_group: Integers  # [m] needed rows that share an objective have the same number; -1: not needed
    row_groups: int  # how many numbers there are; 0 where groups are not known to be independent
    correlation: Floats  # [noisy, noisy] where all are Gaussian of known covariance, or independent; else [0, 0]
    independent: bool  # were the noisy objectives declared independent?
    gaussian: bool  # are they Gaussian with a known covariance?
    sigma_u: float  # sub-Gaussian norm of the noise vector (spec: depends on the declared dependence)
