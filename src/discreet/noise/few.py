"""A few draws, one by one, without the table that many draws share.

To build a table takes as long as some hundred draws, and a question with a price of its own has a
law of its own. So few draws are made by means that need no preparation and are as exact:

* *exponential* numbers, whole parts of ``-scale * log(U)``: doubles name the only whole number that
  may be in doubt, and where it is, further bits of the same U decide it in integers;
* *Laplace* numbers from these and a sign;
* *Gaussian* numbers as Laplace proposals that are kept or drawn again, by exact coins.

Source: inversion (Devroye, "Non-Uniform Random Variate Generation" (1986), II.2); Canonne, Kamath,
Steinke, "The Discrete Gaussian for Differential Privacy" (2020), Algorithm 3; 000a:C2, 000a:C5.
Proof: ``proofs/few.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.bernoulli import exp_coin
from discreet.noise.bins import MARGIN, SATURATION
from discreet.noise.enclosure import exp_minus, log_inverse
from discreet.noise.randomness import integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

FEW = 64
"""So many draws cost less than a table."""

_WORD = 64
_ROUNDING = 2.0**-49
"""More than doubles err in a logarithm and its product with a scale, relatively and absolutely."""


def draw_numbers(
    number: Callable[[Fraction, Source], int], scale: Fraction, size: int, source: Source
) -> NDArray[np.int64]:
    """``size`` independent numbers; beyond ±2**62 they are replaced by it, as in ``bins``."""
    found = (number(scale, source) for _ in range(size))
    return np.array([max(-SATURATION, min(z, SATURATION)) for z in found], dtype=np.int64)


def geometric_number(scale: Fraction, source: Source) -> int:
    """One k >= 0 with P(k) proportional to exp(-k / scale)."""
    return _whole_part(scale, 0, integer(source, _WORD), source)


def discrete_laplace_number(scale: Fraction, source: Source) -> int:
    """One z with P(z) proportional to exp(-abs(z) / scale)."""
    while True:
        bits = integer(source, _WORD + 1)
        magnitude = _whole_part(scale, 0, bits >> 1, source)
        if not bits & 1:
            return magnitude
        if magnitude:  # zero is one number, not two
            return -magnitude


def rounded_laplace_number(scale: Fraction, source: Source) -> int:
    """One continuous Laplace number of that scale, rounded."""
    bits = integer(source, _WORD + 1)
    magnitude = _whole_part(scale, 1, bits >> 1, source)
    return -magnitude if bits & 1 else magnitude


def _whole_part(scale: Fraction, halves: int, word: int, source: Source) -> int:
    """The whole part of ``-scale * log(U) + halves / 2``, where U begins with the bits of ``word``.

    U is uniform on [0, 1); further bits of it are drawn where these leave the answer open.
    """
    steps, parts = scale.numerator, scale.denominator
    if word:
        size = steps / parts
        depth = -math.log((word + 0.5) * 2.0**-_WORD)
        near = size * depth + 0.5 * halves
        doubt = size * (_ROUNDING + _ROUNDING * depth + 1.0 / word) + _ROUNDING
        whole = math.floor(near)
        if doubt < near - whole < 1.0 - doubt:
            return whole
    bits = _WORD
    while True:
        if word:
            low, high = log_inverse(word, word + 1, bits)
            first, last = (
                (2 * steps * end + (halves * parts << bits)) // (2 * parts << bits)
                for end in (low, high)
            )
            if first == last:
                return first
        word = word << _WORD | integer(source, _WORD)
        bits += _WORD


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
        if _toss_keep_coin(halves, wide, scale, source):
            magnitude = (halves + 1) // 2
            return -magnitude if integer(source, 1) else magnitude


def _toss_keep_coin(halves: int, wide: int, scale: Fraction, source: Source) -> bool:
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
