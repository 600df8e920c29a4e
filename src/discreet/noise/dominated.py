"""Exact draws from laws that are known only up to rounding: propose, then correct by one coin.

An outcome is built up in steps. Each step is drawn by whole-number weights that are nowhere much
smaller than the wanted ones, so its chance is a known rational number. One exact coin at the end
keeps the outcome with the chance that turns the product of these rationals into the wanted law.
Rounding in the weights costs a few proposals in a million, and nothing of the law.

Source: rejection sampling (von Neumann); 000a:A11. Proof: ``proofs/dominated.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.bernoulli import enclosed_coin
from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import SYSTEM
from discreet.noise.sampling import uniform_integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

_BITS = 50


def dominated_choice(weights: NDArray[np.float64], source: Source = SYSTEM) -> tuple[int, Fraction]:
    """One of the options, with the chance that it had.

    Contract: ``weights`` are finite, not negative and not all zero; at most ``2**26`` of them.
    Guarantee: option i is drawn with exactly its stated chance, and that is at least
    ``(1 - 2**-22) weights[i] / sum(weights)`` and at least ``2**-51``.
    """
    shares = weights / weights.sum()
    whole = np.floor(shares * 2.0**_BITS).astype(np.int64) + 1
    upto = np.cumsum(whole)
    total = int(upto[-1])
    drawn = int(uniform_integers(total, 1, source)[0])
    place = int(np.searchsorted(upto, drawn, side="right"))
    return place, Fraction(int(whole[place]), total)


def scaled_exp_coin(factor: Fraction, exponent: Fraction, source: Source = SYSTEM) -> bool:
    """One coin, heads with probability exactly ``factor * exp(-exponent)``, which is at most 1.

    Contract: ``factor > 0`` and ``exponent >= 0`` are rational; either may be very large.
    """
    room = max(0, factor.numerator.bit_length() - factor.denominator.bit_length() + 1)

    def enclosed(bits: int) -> tuple[int, int]:
        low, high = exp_minus(exponent, bits + room)
        below = factor.denominator << room
        return low * factor.numerator // below, -(-high * factor.numerator // below)

    return enclosed_coin(enclosed, source)
