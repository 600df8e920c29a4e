"""Expected rank errors where rows are many and lie on many candidates, from public quantities.

There an answer's rank is off by a Laplace variable whose scale is one over the rate of the choice,
whatever the data. Answers that build on others are off by sums of such variables, and answers that
are chosen together by the steps of a walk with Laplace steps that ends where it began. These are
forecasts, not bounds: they rank the ways to several quantiles against each other.

Source: modern-data:Q5 has measurements, which the tests repeat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from discreet.core.arrays import Floats

_POINTS = 800
_REACH = 1e4
_GRID = 1 << 13


def mean_of_sum(scales: Sequence[float]) -> float:
    """The expected size of a sum of independent Laplace variables of these scales.

    By the characteristic function: ``E|X| = 2/pi * integral of (1 - phi(t)) / t**2``.

    >>> round(mean_of_sum([3]), 3), round(mean_of_sum([2, 1]), 3)
    (3.0, 2.333)
    """
    given = np.array([scale for scale in scales if scale > 0])
    width = math.sqrt(math.fsum(given**2))
    if not width:
        return 0.0
    unit = given / width
    points = np.exp(np.linspace(-math.log(_REACH), math.log(_REACH), _POINTS))
    rest = -np.expm1(-np.log1p(np.multiply.outer(points**2, unit**2)).sum(axis=1))
    inside = float(np.trapezoid(rest / points, np.log(points)))
    return width * 2 / math.pi * (inside + 2 / _REACH)


@lru_cache(maxsize=64)
def bridge(levels: int) -> Floats:
    """Expected sizes of a walk with Laplace steps of scale 1 that is back after ``levels + 1``.

    >>> bridge(3).round(2).tolist()
    [0.75, 0.9, 0.75]
    """
    reach = 12 + 6 * math.sqrt(levels)
    places = np.fft.fftfreq(_GRID) * 2 * reach
    frequencies = np.fft.fftfreq(_GRID, d=2 * reach / _GRID) * 2 * math.pi
    steps = np.arange(1, levels + 1)[:, None]
    reached = np.fft.ifft(np.exp(-steps * np.log1p(frequencies**2)), axis=1).real.clip(0)
    both = reached * reached[::-1]
    sizes: Floats = (both * np.abs(places)).sum(axis=1) / both.sum(axis=1)
    return sizes
