"""Half-widths of answers that combine independent draws of one noise.

An answer is off by X = Σ c_i Z_i. Of the coefficients c it is enough to know their length, the
largest of them, and how many there are at most. With L_i the normal or Laplace variable next to Z_i
(``Companion``), X is within Σ |c_i| |Z_i - L_i| of Σ c_i L_i, whose width is exact for normal
noise and bounded for Laplace noise (:mod:`discreet.release.intervals.laplace_sums`). The difference
is at most the root of their number times their length; or, since its terms are independent and
symmetric, rarely more than Hoeffding's inequality says. A single draw has its own exact width.

Source: modern-data:C1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from discreet.core.arrays import Floats
from discreet.core.parameters import probability
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.laplace_sums import laplace_width, parts_of

_ALONE = 1.0
"""The share of the squares of a coefficient that is the only one, but for rounding."""
_ROUNDING = 1 + 1e-7
UNKNOWN_SHARE = 1 - 2.0**-20
"""The largest share where nothing is known of the coefficients: any, but for one alone."""
_SPLIT = 0.01
"""The part of the allowed misses that goes to the distance from the continuous noise."""
_UPWARD = 1 + 1e-9


@dataclass(frozen=True)
class Combination:
    """Coefficients of many answers: lengths, and the largest share of a square in each.

    ``many`` is how many coefficients an answer has at most.
    """

    lengths: Floats
    peaks: Floats
    many: int


def combination_widths(combined: Combination, noise: Distribution, *, confidence: float) -> Floats:
    """A half-width for each answer; infinite where its length is.

    Guarantee: each error is within it with probability at least ``confidence``.
    """
    level = float(probability("confidence", confidence))
    apart, lengths = noise.companion.apart, np.asarray(combined.lengths)
    found = np.zeros(lengths.shape)
    unknown = ~np.isfinite(lengths)
    alone = ~unknown & (combined.peaks >= _ALONE)
    found[unknown] = np.inf
    found[alone] = lengths[alone] * noise.half_width(level) * _ROUNDING
    rest = ~unknown & ~alone & (lengths > 0)
    if rest.any():
        spread, peaks = _spread(noise), combined.peaks[rest]
        near = _continuous(level, noise, peaks) * spread + math.sqrt(combined.many) * apart
        missed = 1 - level
        rarely = math.sqrt(2 * math.log(2 / (_SPLIT * missed))) * apart
        split = _continuous(1 - (1 - _SPLIT) * missed, noise, peaks) * spread + rarely
        found[rest] = lengths[rest] * np.minimum(near, split) * _UPWARD
    return found


def _spread(noise: Distribution) -> float:
    """The standard deviation of the normal or Laplace variable."""
    near = noise.companion
    return math.sqrt(2) * near.exponential if near.exponential else near.normal


def _continuous(confidence: float, noise: Distribution, peaks: Floats) -> Floats:
    """Deviations within which combinations of the continuous variables lie."""
    if not noise.companion.exponential:
        return np.full(peaks.shape, -float(ndtri((1 - confidence) / 2)))
    parts, places = np.unique([parts_of(peak) for peak in peaks], return_inverse=True)
    widths = np.array([laplace_width(confidence, parts=int(each)) for each in parts])
    return np.asarray(widths[places])
