"""Intervals for variances and standard deviations from noisy centred sums.

With m the mean and v the variance, s2 - 2 m s1 + (m**2 - v) n is zero for the true totals, so
each v is tested by the exact law of the noise Z2 - 2 m Z1 + (m**2 - v) Zn. The mean is a nuisance
of second order: putting in a wrong one moves the left side by n (m' - m)**2 only.

Source: modern-data:C2 extended; Berger and Boos 1994. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.parameters import count, positive, probability
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.inversion import (
    NUISANCE,
    Ends,
    Widths,
    envelope,
    means,
    steepest,
    tabulated,
    totals,
    within,
)


def variance_intervals(
    n: ArrayLike,
    s1: ArrayLike,
    s2: ArrayLike,
    laws: Sequence[Distribution],
    *,
    confidence: float,
    high: float,
    ddof: int = 0,
) -> Ends:
    """Ends of the intervals for the variance, one per cell.

    Contract: n, s1 and s2 are noisy counts and sums of x - mid and (x - mid)**2, their noises
    independent with the ``laws`` in this order; ``high`` is the largest (x - mid)**2 there can
    be. ``ddof=0`` is the variance of the group, ``ddof=1`` divides by n - 1.

    Guarantee: each interval holds the true value with probability at least ``confidence``, for
    every group; it is all of [0, high] (for ``ddof=1``, twice that) where the count cannot be told
    from ``ddof``.

    >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
    >>> laws = [RoundedLaplace(b, 2.0**-30) for b in (3, 15, 75)]
    >>> ends = variance_intervals([1000], [0], [4000], laws, confidence=0.95, high=25)
    >>> [round(float(end[0]), 3) for end in ends]
    [3.769, 4.239]
    """
    alpha = 1 - float(probability("confidence", confidence))
    top = float(positive("high", high))
    ddof = count("ddof", ddof, least=0)
    n, s1, s2 = totals(n, s1, s2)
    low, up = means(s1, n, (laws[1], laws[0]), NUISANCE * alpha, top)
    tested = 1 - (1 - NUISANCE) * alpha
    slope = steepest(laws[0], tested)
    known = n - ddof > slope
    divisor = np.where(known, n - ddof, 2 * slope + 1)

    def rows(v: Floats) -> Floats:
        corners = ((low, low), (low, up), (up, up))
        return envelope([(a * b - v, a + b, np.ones_like(v)) for a, b in corners])

    least, most = centred_squares(n, s1, s2, (low, up))
    ends = (least / divisor, most / divisor)
    table = Widths(*tabulated(rows, ends, divisor, laws, tested), slope)
    lower, upper = table.least(least, divisor), table.most(most, divisor)
    return within(lower, upper, known, 0.0, top * (1 + ddof))


def stddev_intervals(
    n: ArrayLike,
    s1: ArrayLike,
    s2: ArrayLike,
    laws: Sequence[Distribution],
    *,
    confidence: float,
    high: float,
    ddof: int = 0,
) -> Ends:
    """Ends of the intervals for the standard deviation: the roots of those for the variance.

    Contract and guarantee: as for ``variance_intervals``; ``high`` is again the largest
    (x - mid)**2.
    """
    lower, upper = variance_intervals(n, s1, s2, laws, confidence=confidence, high=high, ddof=ddof)
    return np.sqrt(lower), np.sqrt(upper)


def centred_squares(n: Floats, s1: Floats, s2: Floats, mean: Ends) -> Ends:
    """The range of s2 - 2 m s1 + m**2 n over the means m."""
    best = np.clip(s1 / np.where(n > 0, n, np.inf), *mean)
    at = [s2 - 2 * m * s1 + m * m * n for m in (best, *mean)]
    return np.minimum(np.minimum(at[0], at[1]), at[2]), np.maximum(at[1], at[2])
