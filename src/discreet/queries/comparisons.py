"""AboveThreshold after AboveThreshold, with the noise of many comparisons drawn at once.

The noise of a comparison depends on no data, so it can be drawn before its question is known. A
draw costs a fraction of a microsecond in a block of thousands and many microseconds alone.

Source: 000a:E1. Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.parameters import exact
from discreet.mechanisms import AboveThreshold
from discreet.noise import rounded_laplace

_FIRST = 32
_MOST = 4096


class Comparisons:
    """Compares exact values with a noisy threshold, which is drawn anew after every yes.

    Guarantee: between two yeses, the law of :class:`~discreet.mechanisms.AboveThreshold`. Whoever
    uses it counts the yeses.
    """

    def __init__(self, mechanism: AboveThreshold) -> None:
        """Put values, threshold and noise on the mechanism's grid, and draw the threshold."""
        exponent = mechanism.exponent()
        step = Fraction(2) ** exponent
        # Rounding values to the grid can part neighbours by one more step.
        sensitivity = math.ceil(exact(mechanism.sensitivity) / step) + 1
        self._scale = 2 * sensitivity / exact(mechanism.epsilon)
        self._value_scale = mechanism.scores.value * self._scale
        self._steps = 2.0**-exponent
        self._origin = round(exact(mechanism.threshold) / step)
        self._randomness = mechanism.randomness
        self._ahead: list[int] = []
        self._block = _FIRST
        self._draw_threshold()

    def above(self, value: float) -> bool:
        """Whether the value is above the threshold, noisily."""
        if not self._ahead:
            self._ahead = rounded_laplace(self._value_scale, self._block, self._randomness).tolist()
            self._block = min(2 * self._block, _MOST)
        # Multiplying by a power of two is exact; so are Python's integers.
        if round(value * self._steps) + self._ahead.pop() < self._bar:
            return False
        self._draw_threshold()
        return True

    def _draw_threshold(self) -> None:
        secret = int(rounded_laplace(self._scale, 1, self._randomness)[0])
        self._bar = self._origin + secret
