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
from discreet.mechanisms.sparse_vector.hidden import HiddenThreshold
from discreet.noise import rounded_laplace

_FIRST = 32
_MOST = 4096


class Comparisons:
    """Compares exact values with a noisy threshold, one for each round; a yes ends the round.

    Guarantee: within a round, the law of :class:`~discreet.mechanisms.AboveThreshold`. Whoever
    uses it counts the yeses, and may keep the threshold of a round to go on with it elsewhere.
    """

    def __init__(self, mechanism: AboveThreshold) -> None:
        """Put values, threshold and noise on the mechanism's grid; no round is under way."""
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
        self._bar: int | None = None

    @property
    def under_way(self) -> bool:
        """Whether a round has its threshold."""
        return self._bar is not None

    def begin(self) -> HiddenThreshold:
        """Draw the threshold of a round."""
        hidden = HiddenThreshold(int(rounded_laplace(self._scale, 1, self._randomness)[0]))
        self.go_on(hidden)
        return hidden

    def go_on(self, hidden: HiddenThreshold) -> None:
        """Take up a round whose threshold was drawn before."""
        self._bar = self._origin + hidden.steps

    def above(self, value: float) -> bool:
        """Whether the value is above the threshold, noisily; draws one if no round is under way."""
        if self._bar is None:
            self.begin()
        assert self._bar is not None
        if not self._ahead:
            self._ahead = rounded_laplace(self._value_scale, self._block, self._randomness).tolist()
            self._block = min(2 * self._block, _MOST)
        # Multiplying by a power of two is exact; so are Python's integers.
        if round(value * self._steps) + self._ahead.pop() < self._bar:
            return False
        self._bar = None
        return True
