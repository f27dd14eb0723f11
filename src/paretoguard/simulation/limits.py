"""Exact binomial limits for error rates."""

from scipy.special import betaincinv


def upper_limit(errors: int, runs: int, confidence: float = 0.95) -> float:
    """One-sided Clopper–Pearson upper limit: with this confidence the true rate is not above it.

    >>> round(upper_limit(0, 500), 5)
    0.00597
    """
    if runs == 0 or errors >= runs:
        return 1.0
    return float(betaincinv(errors + 1, runs - errors, confidence))
