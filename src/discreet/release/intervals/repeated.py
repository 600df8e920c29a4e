"""Sums of many draws of one noise whose coefficients are few different ones, on a grid.

Source: modern-data:C1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.core.parameters import probability
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.combination import (
    UNKNOWN_SHARE,
    Combination,
    combination_widths,
)
from discreet.release.intervals.lattice import (
    _FORGOTTEN,
    _LARGEST,
    _UPWARD,
    _least,
    raised_off_grid,
)

Counted = Sequence[tuple[float, int]]
"""Coefficients, and how often each occurs."""

_PLACES = 1 << 14
_MISSED = 1e-3
_ROUNDING = 1e-14
"""What powers of characteristic functions err by in a tail, for each draw."""


def repeated_half_width(terms: Counted, noise: Distribution, *, confidence: float) -> float:
    """An h with P(|Σ c Z| <= h) >= ``confidence``, near the least one.

    Guarantee: the least, up to 1e-8, where the coefficients have a common measure that leaves a
    grid of at most 2**21 places. Otherwise they are rounded to one of 2**14, and what that may move
    the sum by, but for a thousandth of the misses, is added.

    >>> from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
    >>> round(repeated_half_width([(1.0, 100)], DiscreteLaplaceDistribution(1, 1), confidence=0.95))
    27
    """
    alpha = 1 - float(probability("confidence", confidence))
    counted = [(abs(c), many) for c, many in terms if c and many]
    if not counted:
        return 0.0
    if len(counted) == 1 and counted[0][1] == 1:
        return counted[0][0] * noise.half_width(confidence)
    steps = [Fraction(c) * Fraction(noise.step) for c, _ in counted]
    unit = _common(steps)
    if 2 * _radius(counted, noise, alpha) <= _LARGEST * unit:
        return raised_off_grid(_on_grid(counted, noise, alpha, unit), steps)
    unit = 2 * _radius(counted, noise, alpha) / _PLACES
    step = unit / noise.step
    near = [(round(c / step) * step, many) for c, many in counted]
    draws = sum(many for _, many in counted)
    # What rounding leaves out is a sum of as many draws, each at most half a step of the grid.
    left = Combination(np.array([step / 2 * math.sqrt(draws)]), np.array([UNKNOWN_SHARE]), draws)
    moved = float(combination_widths(left, noise, confidence=1 - _MISSED * alpha)[0])
    kept = [(c, many) for c, many in near if c]
    inside = _on_grid(kept, noise, (1 - _MISSED) * alpha, unit) if kept else 0.0
    return (inside + moved) * _UPWARD


def _on_grid(terms: Counted, noise: Distribution, alpha: float, unit: float) -> float:
    """The least multiple of ``unit`` that holds all but alpha, all terms on that grid."""
    reach = math.ceil(_radius(terms, noise, alpha) / unit)
    size = 1 << (2 * reach + 1).bit_length()
    t = np.arange(size // 2 + 1, dtype=np.float64) * (2 * math.pi / (size * unit))
    product = np.ones(size // 2 + 1)
    for c, many in terms:
        product *= noise.characteristic(c * t) ** many
    left = alpha - _ROUNDING * sum(many for _, many in terms)
    return _least(np.fft.irfft(product, size), left, 1) * unit


def _radius(terms: Counted, noise: Distribution, alpha: float) -> float:
    """How far out hardly anything lies, as for any sum of log-concave noises."""
    near = noise.companion
    squares = math.fsum(many * c * c for c, many in terms)
    apart = math.fsum(many * c for c, many in terms) * near.apart
    spread = math.sqrt(squares * (2 * near.exponential**2 + near.normal**2))
    return spread * (1 - math.log(_FORGOTTEN * alpha)) + apart


def _common(steps: Sequence[Fraction]) -> float:
    """The largest number of which all are whole multiples."""
    unit = steps[0]
    for step in steps[1:]:
        unit = Fraction(
            math.gcd(unit.numerator * step.denominator, step.numerator * unit.denominator),
            unit.denominator * step.denominator,
        )
    return float(unit)
