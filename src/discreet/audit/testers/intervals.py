"""One-sided Clopper-Pearson limits of a probability.

Source: Clopper and Pearson 1934.
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, probability


def lower_limit(successes: int, trials: int, *, alpha: float) -> float:
    """A value that the true probability is below with chance at most ``alpha``.

    >>> lower_limit(0, 10, alpha=0.05), round(lower_limit(10, 10, alpha=0.05), 4)
    (0.0, 0.7411)
    """
    _check(successes, trials)
    probability("alpha", alpha)
    if successes == 0:
        return 0.0
    from scipy.special import betaincinv

    return float(betaincinv(successes, trials - successes + 1, alpha))


def upper_limit(successes: int, trials: int, *, alpha: float) -> float:
    """A value that the true probability is above with chance at most ``alpha``.

    >>> round(upper_limit(0, 10, alpha=0.05), 4), upper_limit(10, 10, alpha=0.05)
    (0.2589, 1.0)
    """
    return 1.0 - lower_limit(trials - successes, trials, alpha=alpha)


def _check(successes: int, trials: int) -> None:
    count("trials", trials)
    if not 0 <= successes <= trials:
        raise InvalidParameter(
            code="not_a_count",
            expectation=f"a number of successes between 0 and {trials}",
            received=successes,
            remedy="Count successes among the same trials.",
        )
