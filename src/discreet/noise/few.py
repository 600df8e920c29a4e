"""A few draws, one by one, without the table that many draws share.

To build a table takes as long as some hundred draws, and a question with a price of its own has a
law of its own. So few draws are made of coins alone, which need no preparation and are as exact:

* *geometric* numbers by quotient and remainder, which are independent;
* *Laplace* numbers from these and a sign;
* *Gaussian* numbers as Laplace proposals that are kept or drawn again.

Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020),
Algorithms 1 to 3; 000a:C2, 000a:C5. Proof: ``proofs/few.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.bernoulli import exp_coin
from discreet.noise.bins import MARGIN, SATURATION
from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

FEW = 64
"""So many draws cost less than a table."""

_WORD = 64


def drawn(
    number: Callable[[Fraction, Source], int], scale: Fraction, size: int, source: Source
) -> NDArray[np.int64]:
    """``size`` independent numbers; beyond ±2**62 they are replaced by it, as in ``bins``."""
    found = (number(scale, source) for _ in range(size))
    return np.array([max(-SATURATION, min(z, SATURATION)) for z in found], dtype=np.int64)


def geometric_number(scale: Fraction, source: Source) -> int:
    """One k >= 0 with P(k) proportional to exp(-k / scale)."""
    steps, parts = scale.numerator, scale.denominator
    while True:
        remainder = _below(steps, source)
        if exp_coin(remainder, steps, source):
            break
    quotient = 0
    while exp_coin(1, 1, source):
        quotient += 1
    return (quotient * steps + remainder) // parts


def discrete_laplace_number(scale: Fraction, source: Source) -> int:
    """One z with P(z) proportional to exp(-abs(z) / scale)."""
    while True:
        magnitude = geometric_number(scale, source)
        negative = integer(source, 1)
        if magnitude or not negative:  # zero is one number, not two
            return -magnitude if negative else magnitude


def rounded_laplace_number(scale: Fraction, source: Source) -> int:
    """One continuous Laplace number of that scale, rounded."""
    if not exp_coin(scale.denominator, 2 * scale.numerator, source):
        return 0
    magnitude = 1 + geometric_number(scale, source)
    return -magnitude if integer(source, 1) else magnitude


def discrete_gaussian_number(scale: Fraction, source: Source) -> int:
    """One z with P(z) proportional to exp(-z**2 / 2 scale**2)."""
    n, d = scale.numerator, scale.denominator
    wide = n // d + 1
    while True:
        z = discrete_laplace_number(Fraction(wide), source)
        off = abs(z) * wide * d * d - n * n
        if exp_coin(off * off, 2 * (wide * d * n) ** 2, source):
            return z


def rounded_gaussian_number(scale: Fraction, source: Source) -> int:
    """One continuous normal number of standard deviation ``scale`` >= 1, rounded.

    Its magnitude is in half steps: a whole number of them, and a real place between it and the
    next, of which as many bits are revealed as it takes.
    """
    wide = scale.numerator // scale.denominator + 1
    while True:
        halves = geometric_number(Fraction(2 * wide), source)
        if _kept(halves, wide, scale, source):
            magnitude = (halves + 1) // 2
            return -magnitude if integer(source, 1) else magnitude


def _kept(halves: int, wide: int, scale: Fraction, source: Source) -> bool:
    """Heads with chance exp(-t(f)) at a uniform real place f, where t grows with f."""
    bits = _WORD
    place, word = integer(source, bits), integer(source, bits)
    above, below = _exponent(halves, place, bits, wide, scale)
    gap = math.exp(-(above / below)) - word * 2.0**-bits
    if abs(gap) >= MARGIN:
        return gap > 0
    while True:
        far = Fraction(*_exponent(halves, place + 1, bits, wide, scale))
        near = Fraction(*_exponent(halves, place, bits, wide, scale))
        if word + 1 <= exp_minus(far, bits)[0]:
            return True
        if word >= exp_minus(near, bits)[1]:
            return False
        place = place << _WORD | integer(source, _WORD)
        word = word << _WORD | integer(source, _WORD)
        bits += _WORD


def _exponent(halves: int, place: int, bits: int, wide: int, scale: Fraction) -> tuple[int, int]:
    """Numerator and denominator of x**2 / 2s**2 + s**2 / 2w**2 - halves / 2w.

    Here x = (halves + place / 2**bits) / 2, s is the scale and w is ``wide``.
    """
    n, d = scale.numerator**2, scale.denominator**2
    whole = 1 << bits
    x = (halves << bits) + place  # in units of 1 / 2**(bits + 1)
    above = (x * d * wide) ** 2 + 4 * n * whole * whole * (n - halves * wide * d)
    return above, 8 * n * d * (whole * wide) ** 2


def _below(most: int, source: Source) -> int:
    """A uniform whole number below ``most``, by rejection of the surplus."""
    bits = (most - 1).bit_length()
    while True:
        number = integer(source, bits)
        if number < most:
            return number
