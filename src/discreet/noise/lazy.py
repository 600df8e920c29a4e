"""Continuous Laplace variables known to a grid step, and further only when a comparison asks.

Comparing noisy scores on a grid can tie, and a tie rule changes the law. Instead, a variable is
drawn to the nearest step and its fraction is revealed on demand, 32 bits at a time, so that
comparisons have exactly the law of continuous noise. Proof: ``proofs/lazy.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.bernoulli import bernoulli_exp
from discreet.noise.randomness import integer

if TYPE_CHECKING:
    from discreet.noise.randomness import Source

_BITS = 32


class LazyLaplace:
    """A Laplace variable of the given scale whose rounding to an integer is already known.

    Contract: given that it rounds to ``rounded``, the variable has exactly the conditional law
    of a continuous Laplace variable, however its bits are asked for. It is symmetric, so a cell
    of zero takes a random sign first. A refinement takes 1 + 1/scale trials on average, so scales
    should not be far below one step.

    Assumptions: the scale is public, and ``rounded`` was drawn as the rounding of such a variable.

    Guarantee: comparisons have exactly the law of continuous noise, however many bits they ask for.

    Source: 000a:A11. Proof: ``proofs/lazy.md``.
    """

    def __init__(self, rounded: int, scale: Fraction, source: Source) -> None:
        """Start from the rounded value; no further bits are drawn yet."""
        self._scale = scale
        self._source = source
        self._bits = 0
        self._place = 0
        if rounded == 0:
            # Magnitude in [0, 1/2): half a step, so places count half steps.
            self._sign = 1 if integer(source, 1) else -1
            self._start, self._width = Fraction(0), Fraction(1, 2)
        else:
            self._sign = 1 if rounded > 0 else -1
            self._start, self._width = abs(rounded) - Fraction(1, 2), Fraction(1)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """An interval that contains the variable, its end points having probability zero."""
        step = self._width / (1 << self._bits)
        near = self._start + self._place * step
        far = near + step
        return (near, far) if self._sign > 0 else (-far, -near)

    def refine(self) -> None:
        """Reveal 32 more bits: within a cell, place r is as likely as exp(-r * step / scale)."""
        self._bits += _BITS
        step = self._width / (1 << self._bits) / self._scale
        while True:
            place = integer(self._source, _BITS)
            if self._coin(place * step):
                break
        self._place = self._place << _BITS | place

    def _coin(self, exponent: Fraction) -> bool:
        return bool(bernoulli_exp(np.array([float(exponent)]), lambda _: exponent, self._source)[0])
