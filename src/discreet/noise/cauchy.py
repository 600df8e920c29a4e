"""Exact Cauchy noise on the integers: the continuous law, rounded.

A point (x, y) uniform on the half disc has x/y of density 1 / (pi (1 + z**2)). Words of random
bits place the point in a small square; the square decides whether the point lies in the disc and
which integer scale * x/y rounds to, by products and comparisons of integers alone. Where it does
not decide, more bits shrink it.

Tails are heavy. A draw exceeds t scales with probability near 2/(pi t): at the largest scale one
draw in two hundred saturates. See :data:`LARGEST_SUM` for what that asks of a mechanism.

Source: 004b:A18 (smooth sensitivity, pure form). Proof: ``proofs/cauchy.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.noise.bins import SATURATION
from discreet.noise.laplace import checked_scale
from discreet.noise.randomness import SYSTEM, Noiseless, integer, words64
from discreet.noise.table import CHUNK

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source

LARGEST_SUM = SATURATION >> 1
"""Clamp value plus noise to ±this, for values within ±this: the result is then what clamping the
sum with unbounded noise gives. Unclamped, a saturated draw would leave the value in plain sight."""

OUTSIDE: Final = -1
_UNDECIDED: Final = -2
_SLACK = 2.0**-49
_MORE = 64


def rounded_cauchy(scale: Number, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """Continuous Cauchy noise of the given scale, rounded to the nearest integer.

    Contract: ``scale`` is positive, at most 2**55 steps; callers clamp sums to ``LARGEST_SUM``.
    Guarantee: exactly P(k) = (atan((k + 1/2)/scale) - atan((k - 1/2)/scale)) / pi, with draws
    beyond ±2**62 replaced by ±2**62.
    """
    checked = checked_scale(scale)
    if isinstance(source, Noiseless):
        return np.zeros(size, dtype=np.int64)
    return HalfDisc(checked).draw(size, source)


@dataclass(frozen=True)
class HalfDisc:
    """Rounded quotients of points of the half disc.

    ``bits`` is the length of the first words of |x| and y; it affects speed only.
    """

    scale: Fraction
    bits: int = 63

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """``size`` independent draws."""
        out = np.empty(size, dtype=np.int64)
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            waiting = np.arange(len(part))
            while len(waiting):
                magnitudes, negative = self._attempt(len(waiting), source)
                part[waiting] = np.where(negative, -magnitudes, magnitudes)
                waiting = waiting[magnitudes == OUTSIDE]
        return out

    def _attempt(self, size: int, source: Source) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Rounded magnitudes of fresh points, or ``OUTSIDE``, and whether to negate them."""
        signed = words64(source, size) >> np.uint64(63 - self.bits)
        x = signed & np.uint64((1 << self.bits) - 1)
        y = words64(source, size) >> np.uint64(64 - self.bits)
        outcomes = self.rough(x, y)
        for i in np.flatnonzero(outcomes == _UNDECIDED):
            outcomes[i] = self._decide(int(x[i]), int(y[i]), source)
        return outcomes, signed >> np.uint64(self.bits) == 1

    def rough(self, x: NDArray[np.uint64], y: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Outcomes of squares in double precision; ``_UNDECIDED`` where it cannot be sure.

        Numerics: each bound takes at most 8 roundings, 2**-50 of itself; ``_SLACK`` is
        twice that.
        """
        left, low = x.astype(np.float64), y.astype(np.float64)
        right, high = left + 1, low + 1
        radius = 4.0**self.bits
        outside = left * left + low * low >= radius * (1 + _SLACK)
        inside = right * right + high * high <= radius * (1 - _SLACK)
        scale = float(self.scale)
        steepest = np.where(low > 0, scale * right / np.maximum(low, 1), np.inf)
        least = np.floor((scale * left / high + 0.5) * (1 - _SLACK))
        most = np.floor((steepest + 0.5) * (1 + _SLACK))
        least, most = np.minimum(least, SATURATION), np.minimum(most, SATURATION)
        decided = inside & (least == most)
        return np.where(outside, OUTSIDE, np.where(decided, least.astype(np.int64), _UNDECIDED))

    def exact(self, x: int, y: int, bits: int) -> int:
        """The outcome of a square [x, x+1) by [y, y+1), in units of 2**-bits, in integers."""
        radius = 1 << 2 * bits
        if x * x + y * y >= radius:
            return OUTSIDE
        if (x + 1) ** 2 + (y + 1) ** 2 > radius:
            return _UNDECIDED
        # floor(s x/y + 1/2) for s = p/q is floor((2 p x + q y) / (2 q y)).
        p, q = self.scale.numerator, self.scale.denominator
        least = min((2 * p * x + q * (y + 1)) // (2 * q * (y + 1)), SATURATION)
        most = min((2 * p * (x + 1) + q * y) // (2 * q * y), SATURATION) if y else SATURATION
        return least if least == most else _UNDECIDED

    def _decide(self, x: int, y: int, source: Source) -> int:
        """Resolve one point by revealing more bits of it."""
        bits = self.bits
        while (outcome := self.exact(x, y, bits)) == _UNDECIDED:
            x = x << _MORE | integer(source, _MORE)
            y = y << _MORE | integer(source, _MORE)
            bits += _MORE
        return outcome
