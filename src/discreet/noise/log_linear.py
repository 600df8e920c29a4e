"""Exact draws from a density on a line whose logarithm is linear between equally spaced knots.

A cell is chosen by inverting the cells' masses, e**(-low) (1 - e**(-d)) / d each, enclosed in
integers as closely as a draw needs. Within a cell the density is exponential, so that the binary
digits of the place are independent coins: digit k is one with odds of e**(-d / 2**k). Nothing is
rejected, and the place rounded down to any number of digits has exactly its law.

Source: 004b:C2 (one dimension); 000a:A11. Proof: ``proofs/log_linear.md``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.bernoulli import enclosed_coin
from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import SYSTEM, Noiseless, integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

_GUARD = 16


def log_linear(
    heights: NDArray[np.int64], rate: Fraction, digits: int, source: Source = SYSTEM
) -> int:
    """A place on the line, in units of 2**-digits of a cell, rounded down.

    The density at knot i is proportional to exp(-rate heights[i]), and log-linear between knots.

    Contract: two knots or more, ``rate > 0``, ``digits >= 0``. Guarantee: exactly the stated law.
    Without noise, the lowest knot.
    """
    if isinstance(source, Noiseless):
        return int(np.argmin(heights)) << digits
    knots = [rate * int(each) for each in heights]
    cell = _cell(knots, source)
    return (cell << digits) + _within(knots[cell + 1] - knots[cell], digits, source)


def _cell(knots: list[Fraction], source: Source) -> int:
    """One cell, by its mass, inverting a uniform number that is revealed 64 bits at a time."""
    pairs = [(min(a, b), abs(b - a)) for a, b in pairwise(knots)]
    least, last = min(low for low, _ in pairs), len(pairs) - 1
    word, bits = 0, 0
    while True:
        word, bits = word << 64 | integer(source, 64), bits + 64
        work = bits + 2 * len(pairs).bit_length() + 64
        masses = [_mass(low - least, fall, work) for low, fall in pairs]
        below = list(accumulate(mass[0] for mass in masses))
        above = list(accumulate(mass[1] for mass in masses))
        # U lies in [word, word + 1) / 2**bits: the first cell whose border is surely above it.
        cell = next((i for i in range(last) if (word + 1) * above[-1] <= below[i] << bits), last)
        if cell == 0 or word * below[-1] >= above[cell - 1] << bits:
            return cell


def _mass(low: Fraction, fall: Fraction, bits: int) -> tuple[int, int]:
    """Enclose 2**bits e**(-low) (1 - e**(-fall)) / fall; of a level cell, e**(-low)."""
    if not fall:
        return exp_minus(low, bits)
    extra = _GUARD + max(0, fall.denominator.bit_length() - fall.numerator.bit_length() + 1)
    work = bits + extra
    outer, inner = exp_minus(low, work), exp_minus(fall, work)
    one = 1 << work
    down = outer[0] * (one - inner[1]) * fall.denominator // fall.numerator
    up = -(-outer[1] * (one - inner[0]) * fall.denominator // fall.numerator)
    return max(0, down) >> (work + extra), -(-up >> (work + extra))


def _within(slope: Fraction, digits: int, source: Source) -> int:
    """The first digits of a place in [0, 1) of density ∝ exp(-slope place): a coin for each."""
    place = 0
    for digit in range(1, digits + 1):
        tilt = abs(slope) / 2**digit

        def odds(bits: int, tilt: Fraction = tilt) -> tuple[int, int]:
            low, high = exp_minus(tilt, bits + _GUARD)
            one = 1 << (bits + _GUARD)
            # x / (1 + x) grows with x.
            return (low << bits) // (one + low), -(-(high << bits) // (one + high))

        place = place << 1 | enclosed_coin(odds, source)
    return place if slope >= 0 else (1 << digits) - 1 - place
