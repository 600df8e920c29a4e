"""How variances, deviations, covariances and correlations move with their noisy totals.

To first order the error of such a number is a sum of noises, each times a slope, and so is that of
a formula of several such numbers. What this leaves out of a centred sum is the product of the
errors of two means times the number of rows. It is close where the count is far from zero
compared with its noise, where that product is small beside the noise itself, and, under a root or
a quotient, where the variance is far from zero too. Elsewhere the slopes are NaN.

Source: modern-data:C2, extended. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.distribution import Distribution
from discreet.release.estimate import FAR

Slopes: TypeAlias = list[Floats]
"""One array over the cells for each total."""
Close: TypeAlias = NDArray[np.bool_]

_CURVED = 0.1
"""The most that what is left out may be in the mean, in standard deviations of the noise."""
_WIDTH = 2.0
"""Standard deviations in a half-width, about."""


def covariance_slopes(
    totals: Sequence[Floats], laws: Sequence[Distribution], ddof: int = 0
) -> Slopes:
    """Of the covariance by the count, both totals and the products, which ``totals`` holds."""
    slopes = _centred(totals, ddof)
    return _where(_is_close(totals, laws, _spread(slopes, laws)), slopes)


def variance_slopes(totals: Sequence[Floats], laws: Sequence[Distribution], ddof: int) -> Slopes:
    """Of the variance by the count, the total and the squares."""
    slopes, noise = _variance(totals, laws, ddof)
    n, first, squares = totals
    of_both = (laws[0], laws[1], laws[1])
    return _where(_is_close((n, first, first, squares), of_both, noise), slopes)


def deviation_slopes(totals: Sequence[Floats], laws: Sequence[Distribution], ddof: int) -> Slopes:
    """Of the root of the variance, by the same."""
    slopes, variance = variance_slopes(totals, laws, ddof), _value(totals, ddof)
    away = _is_away(variance, _variance(totals, laws, ddof)[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return _where(away, [slope / (2 * np.sqrt(variance)) for slope in slopes])


def correlation_slopes(totals: Sequence[Floats], laws: Sequence[Distribution]) -> Slopes:
    """Of the correlation by count, both totals, the products, and the squares of both."""
    n, first, second, products, squares, others = totals
    left, right = (n, first, squares), (n, second, others)
    laws_left, laws_right = (laws[0], laws[1], laws[4]), (laws[0], laws[2], laws[5])
    both = covariance_slopes((n, first, second, products), laws[:4])
    x, noise_x = _variance(left, laws_left, 0)
    y, noise_y = _variance(right, laws_right, 0)
    spread_x, spread_y = _value(left, 0), _value(right, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(spread_x * spread_y)
        r = (products / n - first * second / n**2) / root
        half_x, half_y = r / (2 * spread_x), r / (2 * spread_y)
        slopes = [
            both[0] / root - half_x * x[0] - half_y * y[0],
            both[1] / root - half_x * x[1],
            both[2] / root - half_y * y[1],
            both[3] / root,
            -half_x * x[2],
            -half_y * y[2],
        ]
    return _where(_is_away(spread_x, noise_x) & _is_away(spread_y, noise_y), slopes)


def _centred(totals: Sequence[Floats], ddof: int) -> Slopes:
    """Derivatives of (sxy - sx sy / n) / (n - ddof)."""
    n, sx, sy, sxy = totals
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = n - ddof
        by_n = -sxy / rows**2 + sx * sy * (2 * n - ddof) / (n * rows) ** 2
        return [by_n, -sy / (n * rows), -sx / (n * rows), 1 / rows]


def _variance(
    totals: Sequence[Floats], laws: Sequence[Distribution], ddof: int
) -> tuple[Slopes, Floats]:
    """Derivatives of the variance, and the standard deviation of its noise."""
    n, first, squares = totals
    by_n, one, other, by_squares = _centred((n, first, first, squares), ddof)
    slopes = [by_n, one + other, by_squares]
    return slopes, _spread(slopes, laws)


def _value(totals: Sequence[Floats], ddof: int) -> Floats:
    n, first, squares = totals
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((squares - first**2 / n) / (n - ddof))


def _spread(slopes: Slopes, laws: Sequence[Distribution]) -> Floats:
    parts = [(slope * law.std) ** 2 for slope, law in zip(slopes, laws, strict=True)]
    return np.asarray(np.sqrt(np.sum(parts, axis=0)))


def _is_close(totals: Sequence[Floats], laws: Sequence[Distribution], noise: Floats) -> Close:
    """Whether what is left out of a centred mean of products is small beside its noise."""
    n, *sums = totals[:3]
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (
            np.hypot(law.std, total / n * laws[0].std) / n
            for total, law in zip(sums, laws[1:3], strict=True)
        )
        return np.asarray((n >= FAR * _WIDTH * laws[0].std) & (x * y <= _CURVED * noise))


def _is_away(variance: Floats, noise: Floats) -> Close:
    """Whether a variance is far from zero, compared with its noise."""
    return np.asarray(variance >= FAR * _WIDTH * noise)


def _where(close: Close, slopes: Slopes) -> Slopes:
    return [np.where(close, slope, np.nan) for slope in slopes]
