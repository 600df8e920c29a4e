"""Intervals for a ratio of two noisy totals, by Fieller's construction: averages above all.

The interval holds every r for which s - r n = 0 is not refuted: |s' - r n'| is at most the
half-width h(r) of the noise Z_s - r Z_n, whose law is computed for each r. It keeps its level at
every n, which the delta method never does for Laplace noise (modern-data:C2: .941 for .95 at
n = 1000, .927 at n = 10).

Source: modern-data:C2; E. C. Fieller, *Some problems in interval estimation*, JRSS B 16 (1954).
Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import finite, probability
from discreet.mechanisms.distributions.symmetric import Law
from discreet.release.intervals.linear import half_widths

_NODES = 512
_FINE = 1e-6


def ratio_intervals(
    numerator: ArrayLike,
    denominator: ArrayLike,
    law_s: Law,
    law_n: Law,
    *,
    confidence: float,
    low: float,
    high: float,
) -> tuple[Floats, Floats]:
    """Ends of the intervals for r = s/n from noisy s and n, one per cell.

    Contract: the noises are independent, of these laws; the true ratio is within [low, high]
    (for an average shifted to the middle of its bounds, so are they).

    Guarantee: each interval holds the true ratio with probability at least ``confidence``, for
    every n > 0. Where the denominator cannot be told from zero, or no ratio fits, it is the whole
    of [low, high].

    >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
    >>> five, three = RoundedLaplace(5, 2.0**-30), RoundedLaplace(3, 2.0**-30)
    >>> lower, upper = ratio_intervals([2000], [1000], five, three, confidence=0.95, low=0, high=9)
    >>> round(float(lower[0]), 4), round(float(upper[0]), 4)
    (1.9774, 2.0229)
    """
    confidence = float(probability("confidence", confidence))
    low, high = float(finite("low", low)), float(finite("high", high))
    if low > high:
        raise InvalidParameter(
            code="bounds_crossed",
            expectation="low to be at most high",
            received=(low, high),
            remedy="Swap the bounds.",
        )
    s, n = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    # The set of ratios is the same for (s, n) and (-s, -n).
    s, n = np.where(n < 0, -s, s), np.abs(n)
    bounded = n > law_n.half_width(confidence)
    lower, upper = np.full(n.shape, low), np.full(n.shape, high)
    if bounded.any():
        if _normal(law_s) and _normal(law_n):
            first, last = _quadratic(s[bounded], n[bounded], law_s, law_n, confidence)
        else:
            nodes = _nodes(law_s, law_n, confidence, low, high)
            first, last = _piecewise(s[bounded], n[bounded], *nodes)
        some = (first <= last) & (first <= high) & (last >= low)
        lower[bounded] = np.where(some, np.maximum(first, low), low)
        upper[bounded] = np.where(some, np.minimum(last, high), high)
    return lower, upper


def _normal(law: Law) -> bool:
    """Whether the law is normal and its step negligible."""
    return law.companion.exponential == 0 and law.companion.apart <= _FINE * law.spread


def _quadratic(
    s: Floats, n: Floats, law_s: Law, law_n: Law, confidence: float
) -> tuple[Floats, Floats]:
    """Roots of (s - r n)**2 = z**2 (sigma_s**2 + r**2 sigma_n**2), the steps being negligible."""
    z = -float(ndtri((1 - confidence) / 2)) * (1 + _FINE) + 2 * _FINE
    a, b = z * law_s.spread, z * law_n.spread
    leading = (n - b) * (n + b)
    root = np.sqrt((a * n) ** 2 + (b * s) ** 2 - (a * b) ** 2)
    return (s * n - root) / leading, (s * n + root) / leading


def _piecewise(s: Floats, n: Floats, r: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Where s - r n meets h(r) and -h(r), h being linear between nodes; beyond them, infinite.

    h is a norm of (1, r), so it is convex, its chords are above it, and its slope is at most the
    half-width of the denominator's noise, less than n: each meeting point is the only one.
    """
    return _meeting(s, n, r, h), -_meeting(-s, n, -r[::-1], h[::-1])


def _meeting(s: Floats, n: Floats, r: Floats, h: Floats) -> Floats:
    """The least r with h(r) + r n >= s."""
    behind, ahead = np.full(s.shape, -1), np.full(s.shape, len(r))
    while (gap := ahead - behind).max() > 1:
        middle = np.clip((behind + ahead) // 2, 0, len(r) - 1)
        held = (h[middle] + r[middle] * n >= s) & (gap > 1)
        ahead = np.where(held, middle, ahead)
        behind = np.where(held | (gap <= 1), behind, middle)
    left = np.clip(behind, 0, len(r) - 2)
    slope = (h[left + 1] - h[left]) / (r[left + 1] - r[left])
    met = (s - h[left] + slope * r[left]) / np.maximum(n + slope, _FINE * n)
    met = np.clip(met, r[left], r[left + 1])
    return np.where(ahead == 0, -np.inf, np.where(behind == len(r) - 1, np.inf, met))


@lru_cache(maxsize=64)
def _nodes(
    law_s: Law, law_n: Law, confidence: float, low: float, high: float
) -> tuple[Floats, Floats]:
    """Ratios, evenly spread in angle, and the half-widths there."""
    balance = law_n.spread / law_s.spread
    angles = np.linspace(math.atan(low * balance), math.atan(high * balance), _NODES)
    r = np.unique(np.concatenate(([low], np.tan(angles[1:-1]) / balance, [high])))
    r = r[(r >= low) & (r <= high)]
    if len(r) < 2:
        r = np.array([low, math.nextafter(high, math.inf)])
    h = half_widths(np.stack((np.ones_like(r), r), axis=1), (law_s, law_n), confidence)
    if any(law.companion.apart > 1e-3 * law.spread for law in (law_s, law_n)):
        # On coarse grids h is not quite convex: between nodes, the largest around.
        padded = np.concatenate((h[:1], h, h[-1:]))
        h = np.maximum(np.maximum(padded[:-2], padded[2:]), h)
    r.flags.writeable = h.flags.writeable = False
    return r, h
