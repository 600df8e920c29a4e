"""Inverting a test that is linear in the noisy totals: the step all moment intervals share.

A parameter v of interest and a few nuisances fix a combination T(v) of the true totals that is
zero. Its noisy value is T'(v) = A - v N with noise of half-width H(v), so v is refuted unless
|A - v N| <= H(v). The nuisances are only known to lie in a box that holds them with probability
1 - gamma; A, N and H then have ranges, and v is kept if any of them keeps it. With the test at
1 - alpha + gamma the interval holds v with probability 1 - alpha, whatever the nuisances.

Source: R. L. Berger and D. D. Boos, *P values maximized over a confidence set for the nuisance
parameter*, JASA 89 (1994); modern-data:C2 for the ratio. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.linear import half_width_bounds, half_widths
from discreet.release.intervals.ratio import ratio_intervals

Ends = tuple[Floats, Floats]
Rows = Callable[[Floats], Floats]

NUISANCE = 0.05
"""The share of alpha that goes into the box of the nuisances."""


def totals(*given: ArrayLike) -> tuple[Floats, ...]:
    """Noisy totals as arrays of one shape."""
    return tuple(np.asarray(one, dtype=np.float64) for one in np.broadcast_arrays(*given))


def means(
    total: Floats, n: Floats, laws: tuple[Distribution, Distribution], alpha: float, high: float
) -> Ends:
    """Where the mean of a centred variable of at most ``high`` squared is, but for alpha."""
    most = high**0.5
    return ratio_intervals(total, n, *laws, confidence=1 - alpha, low=-most, high=most)


def envelope(corners: Sequence[Sequence[Floats]]) -> Floats:
    """Per cell and noise the largest coefficient, in magnitude, over the corners of a box.

    Half-widths grow with each coefficient's magnitude, so that of the envelope is a bound for the
    whole box, if coefficients are linear along its sides.
    """
    most = [np.max(np.abs(column), axis=0) for column in zip(*corners, strict=True)]
    return np.stack(np.broadcast_arrays(*most), axis=-1)


def bounds(rows: Floats, laws: Sequence[Distribution], confidence: float) -> Floats:
    """Half-widths for coefficients in the last axis, whatever the shape of the others."""
    found = half_widths(rows.reshape(-1, rows.shape[-1]), laws, confidence)
    return found.reshape(rows.shape[:-1])


def slopes(rows: Floats, laws: Sequence[Distribution], confidence: float) -> Floats:
    """The most that half-widths can grow as coefficients grow by those in the last axis.

    The half-width of the continuous variables and all that noises may be apart from them: a slope
    need not be sharp, and what is exact on grids takes a hundred times as long.
    """
    _, most = half_width_bounds(rows.reshape(-1, rows.shape[-1]), laws, confidence)
    return most.reshape(rows.shape[:-1])


def steepest(distribution: Distribution, confidence: float) -> float:
    """The most that a half-width can grow as the coefficient of this noise grows by one.

    Half-widths are those of continuous variables and the distance from them, both at most
    ``apart`` more than the law's own.
    """
    return distribution.half_width(confidence) + 2 * distribution.companion.apart


@dataclass(frozen=True)
class Widths:
    """H at two guesses per cell, and how fast it may change.

    H is convex with slopes of at most ``slope``, so between the guesses the chord is above it and
    beyond them a line of that slope is.
    """

    left: Floats
    right: Floats
    at_left: Floats
    at_right: Floats
    slope: Floats | float

    def least(self, total: Floats, count: Floats) -> Floats:
        """Per cell the least v with H(v) + v * count >= total.

        Contract: ``count`` exceeds ``slope``, so the left side increases.
        """
        gap = self.right - self.left
        chord = np.divide(self.at_right - self.at_left, gap, out=np.zeros_like(gap), where=gap > 0)
        chord = np.clip(chord, -self.slope, self.slope)
        before = self._meet(total, count, self.left, self.at_left, -self.slope)
        between = self._meet(total, count, self.left, self.at_left, chord)
        after = self._meet(total, count, self.right, self.at_right, self.slope)
        inside = np.clip(between, self.left, self.right)
        return np.where(before < self.left, before, np.where(after > self.right, after, inside))

    def most(self, total: Floats, count: Floats) -> Floats:
        """Per cell the largest v with v * count - H(v) <= total."""
        mirrored = Widths(-self.right, -self.left, self.at_right, self.at_left, self.slope)
        return -mirrored.least(-total, count)

    @staticmethod
    def _meet(
        total: Floats, count: Floats, at: Floats, height: Floats, slope: Floats | float
    ) -> Floats:
        """Where height + slope (v - at) + v count = total."""
        return (total - height + slope * at) / (count + slope)


def tabulated(
    rows: Rows, ends: Ends, divisor: Floats, laws: Sequence[Distribution], confidence: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """H at two guesses of where the interval will end; ``ends`` are the least and largest A / N."""
    z = -float(ndtri((1 - confidence) / 2))
    variances = np.array([distribution.std**2 for distribution in laws])
    left, right = (
        end + sign * z * np.sqrt(rows(end) ** 2 @ variances) / divisor
        for end, sign in zip(ends, (-1, 1), strict=True)
    )
    both = bounds(np.stack((rows(left), rows(right))), laws, confidence)
    return left, right, both[0], both[1]


def within(
    lower: Floats, upper: Floats, known: NDArray[np.bool_], low: float, high: float
) -> tuple[Floats, Floats]:
    """The intervals cut to [low, high], and all of it where nothing is known.

    An interval wholly outside, which noise brings about where the truth is near an end, is moved
    to that end with its width.
    """
    width = upper - lower
    below, above = upper < low, lower > high
    lower = np.where(above, np.maximum(high - width, low), np.clip(lower, low, high))
    upper = np.where(below, np.minimum(low + width, high), np.clip(upper, low, high))
    return np.where(known, lower, low), np.where(known, upper, high)
