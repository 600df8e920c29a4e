"""Intervals for smooth functions of noisy totals, by the delta method with the exact law.

Near the true totals a smooth function is linear, so its error is the gradient times the noise, and
the law of that combination is computed rather than taken as normal. What the delta method leaves
out is of second order in noise over denominator; ``trusted`` says, from released values alone,
where that is small. Averages, variances, covariances and correlations have intervals of their own
that need no such proviso: ``ratio``, ``dispersion``, ``covariance`` and ``correlation``.

Source: modern-data:C1, C2. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.correlation import correlation_intervals
from discreet.release.intervals.covariance import covariance_intervals
from discreet.release.intervals.dispersion import stddev_intervals, variance_intervals
from discreet.release.intervals.inversion import Ends
from discreet.release.intervals.linear import half_widths

__all__ = [
    "correlation_intervals",
    "covariance_intervals",
    "smooth_intervals",
    "stddev_intervals",
    "trusted",
    "variance_intervals",
]

_FAR = 10.0


def smooth_intervals(
    value: ArrayLike, gradient: ArrayLike, laws: Sequence[Distribution], *, confidence: float
) -> Ends:
    """Value plus and minus the half-width of the gradient (cells x noises) times the noises.

    Contract: the gradient is taken at the noisy totals, whose noises are independent.

    Guarantee: none for small groups; where ``trusted`` holds for each denominator, coverage within
    .02 of ``confidence`` (measured for ratios and variances at 95 %).

    >>> from discreet.mechanisms.distributions.distribution import RoundedGaussian
    >>> noise = RoundedGaussian(1, 2.0**-30)
    >>> lower, upper = smooth_intervals([4.0], [[3.0, 4.0]], [noise, noise], confidence=0.95)
    >>> round(float(upper[0] - lower[0]), 4)
    19.5996
    """
    centre = np.asarray(value, dtype=np.float64)
    rows = np.asarray(gradient, dtype=np.float64)
    width = half_widths(rows.reshape(-1, len(laws)), laws, confidence).reshape(centre.shape)
    return centre - width, centre + width


def trusted(
    denominator: ArrayLike, distribution: Distribution, *, confidence: float
) -> NDArray[np.bool_]:
    """Whether each noisy denominator is at least ten half-widths of its noise from zero.

    >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
    >>> trusted([20, 100], RoundedLaplace(3, 1), confidence=0.95).tolist()
    [False, True]
    """
    far = np.abs(np.asarray(denominator, dtype=np.float64))
    return np.asarray(far >= _FAR * distribution.half_width(confidence))
