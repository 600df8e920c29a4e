"""Intervals for covariances from noisy centred sums.

With means m and k, sxy - k sx - m sy + (m k - c) n is zero for the true totals if c is their
covariance; wrong means move it by n (m' - m) (k' - k) only.

Source: modern-data:C2 extended; Berger and Boos 1994. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

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


def covariance_intervals(
    n: ArrayLike,
    sx: ArrayLike,
    sy: ArrayLike,
    sxy: ArrayLike,
    laws: Sequence[Distribution],
    *,
    confidence: float,
    high: tuple[float, float],
    ddof: int = 0,
) -> Ends:
    """Ends of the intervals for the covariance, one per cell.

    Contract: noisy counts and sums of x, y and x y, each variable centred at the middle of its
    bounds, their noises independent with the ``laws`` in this order; ``high`` holds the largest
    x**2 and y**2. ``ddof=0`` is the covariance of the group, ``ddof=1`` divides by n - 1.

    Guarantee: each interval holds the true value with probability at least ``confidence``, for
    every group.

    >>> from discreet.mechanisms.distributions.distribution import RoundedGaussian
    >>> laws = [RoundedGaussian(b, 2.0**-30) for b in (3, 15, 15, 75)]
    >>> ends = covariance_intervals([1000], [0], [0], [4000], laws, confidence=0.95, high=(25, 25))
    >>> [round(float(end[0]), 2) for end in ends]
    [3.85, 4.15]
    """
    alpha = 1 - float(probability("confidence", confidence))
    tops = [float(positive("high", top)) for top in high]
    ddof = count("ddof", ddof, least=0)
    n, sx, sy, sxy = totals(n, sx, sy, sxy)
    x = means(sx, n, (laws[1], laws[0]), NUISANCE * alpha / 2, tops[0])
    y = means(sy, n, (laws[2], laws[0]), NUISANCE * alpha / 2, tops[1])
    tested = 1 - (1 - NUISANCE) * alpha
    slope = steepest(laws[0], tested)
    known = n - ddof > slope
    divisor = np.where(known, n - ddof, 2 * slope + 1)

    def rows(c: Floats) -> Floats:
        return envelope([(m * k - c, k, m, np.ones_like(c)) for m, k in product(x, y)])

    least, most = centred_products((n, sx, sy, sxy), x, y)
    ends = (least / divisor, most / divisor)
    table = Widths(*tabulated(rows, ends, divisor, laws, tested), slope)
    lower, upper = table.least(least, divisor), table.most(most, divisor)
    largest = (tops[0] * tops[1]) ** 0.5 * (1 + ddof)
    return within(lower, upper, known, -largest, largest)


def centred_products(noisy: Sequence[Floats], x: Ends, y: Ends) -> Ends:
    """The range of sxy - k sx - m sy + m k n over the means m in ``x`` and k in ``y``."""
    n, sx, sy, sxy = noisy
    corners = [sxy - k * sx - m * sy + m * k * n for m, k in product(x, y)]
    return np.min(corners, axis=0), np.max(corners, axis=0)
