"""Intervals for correlations from noisy centred sums.

With means m and k, and q the quotient of the standard deviations, y over x,

    (sxy - k sx - m sy + m k n) - r/2 (q (sxx - 2 m sx + m**2 n) + (syy - 2 k sy + k**2 n) / q)

is zero for the true totals if r is their correlation. A wrong m, k or q moves it by a square only,
so all three are nuisances of second order.

Source: modern-data:C2 extended; Berger and Boos 1994. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.parameters import positive, probability
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.covariance import centred_products
from discreet.release.intervals.dispersion import centred_squares, variance_intervals
from discreet.release.intervals.inversion import (
    NUISANCE,
    Ends,
    Widths,
    envelope,
    means,
    slopes,
    tabulated,
    totals,
    within,
)

_NUISANCES = 2 * NUISANCE
"""The share of alpha for two means and two variances."""


def correlation_intervals(  # noqa: PLR0917
    n: ArrayLike,
    sx: ArrayLike,
    sy: ArrayLike,
    sxx: ArrayLike,
    syy: ArrayLike,
    sxy: ArrayLike,
    laws: Sequence[Distribution],
    *,
    confidence: float,
    high: tuple[float, float],
) -> Ends:
    """Ends of the intervals for the correlation, one per cell.

    Contract: noisy counts and sums of x, y, x**2, y**2 and x y, each variable centred at the
    middle of its bounds, their noises independent with the ``laws`` in this order; ``high`` holds
    the largest x**2 and y**2. Sample and group have the same correlation.

    Guarantee: each interval holds the true value with probability at least ``confidence``, for
    every group whose variances are not zero; it is [-1, 1] where they cannot be told from zero.
    """
    alpha = 1 - float(probability("confidence", confidence))
    tops = [float(positive("high", top)) for top in high]
    n, sx, sy, sxx, syy, sxy = totals(n, sx, sy, sxx, syy, sxy)
    share = _NUISANCES * alpha / 4
    x = means(sx, n, (laws[1], laws[0]), share, tops[0])
    y = means(sy, n, (laws[2], laws[0]), share, tops[1])
    spread_x = variance_intervals(
        n, sx, sxx, (laws[0], laws[1], laws[3]), confidence=1 - share, high=tops[0]
    )
    spread_y = variance_intervals(
        n, sy, syy, (laws[0], laws[2], laws[4]), confidence=1 - share, high=tops[1]
    )
    known = (spread_x[0] > 0) & (spread_y[0] > 0)
    quotient = [
        np.sqrt(np.divide(b, a, out=np.ones_like(n), where=known))
        for b, a in zip(spread_y, spread_x[::-1], strict=True)
    ]
    box = _Box(x, y, (quotient[0], quotient[1]))
    tested = 1 - (1 - _NUISANCES) * alpha
    slope = slopes(box.change(), laws, tested)
    small, large = box.norms(centred_squares(n, sx, sxx, x), centred_squares(n, sy, syy, y))
    known &= small > slope
    small, large = np.where(known, small, 2 * slope + 1), np.where(known, large, 2 * slope + 1)
    least, most = centred_products((n, sx, sy, sxy), x, y)
    ends = (least / large, most / small)
    table = Widths(*tabulated(box.rows, ends, small, laws, tested), slope)
    # The left end divides by the large norm above zero, by the small one below; the right end not.
    lower, upper = table.least(least, large), table.most(most, large)
    return within(
        np.where(lower > 0, lower, np.minimum(table.least(least, small), 0.0)),
        np.where(upper < 0, upper, np.maximum(table.most(most, small), 0.0)),
        known,
        -1.0,
        1.0,
    )


@dataclass(frozen=True)
class _Box:
    """Ranges that hold both means and the quotient of the standard deviations, together."""

    x: Ends
    y: Ends
    quotient: Ends

    def rows(self, r: Floats) -> Floats:
        """The largest coefficients of the six noises, for a correlation r."""
        corners = [
            (m * k - r / 2 * (q * m * m + k * k / q), r * q * m - k, r * k / q - m, r * q / 2,
             r / (2 * q), np.ones_like(r))
            for m, k, q in product(self.x, self.y, self.quotient)
        ]  # fmt: skip
        return envelope(corners) + self._bend()

    def change(self) -> Floats:
        """The largest derivatives of the coefficients with respect to r."""
        corners = [
            ((q * m * m + k * k / q) / 2, q * m, k / q, q / 2, 1 / (2 * q), np.zeros_like(q))
            for m, k, q in product(self.x, self.y, self.quotient)
        ]
        return envelope(corners) + self._bend()

    def _bend(self) -> Floats:
        """How far coefficients may exceed those at the corners, for |r| <= 1.

        Those with m**2, k**2 or 1/q are not linear along the sides: between the ends they are off
        the chord by up to a quarter of the squared length, or by ``bend``.
        """
        low, high = self.quotient
        bend = (1 / np.sqrt(low) - 1 / np.sqrt(high)) ** 2
        far = np.maximum(np.abs(self.y[0]), np.abs(self.y[1]))
        squares = high * (self.x[1] - self.x[0]) ** 2 + (self.y[1] - self.y[0]) ** 2 / low
        none = np.zeros_like(bend)
        off = ((far**2 * bend + squares / 4) / 2, none, far * bend, none, bend / 2, none)
        return np.stack(off, axis=-1)

    def norms(self, squares_x: Ends, squares_y: Ends) -> Ends:
        """The range of (q X + Y/q) / 2 over the quotients and the centred squares X and Y."""
        low, high = self.quotient
        x, y = squares_x[0], squares_y[0]
        best = np.clip(np.sqrt(np.maximum(y, 0) / np.where(x > 0, x, np.inf)), low, high)
        least = np.min([(q * x + y / q) / 2 for q in (low, best, high)], axis=0)
        x, y = squares_x[1], squares_y[1]
        return least, np.max([(q * x + y / q) / 2 for q in (low, high)], axis=0)
