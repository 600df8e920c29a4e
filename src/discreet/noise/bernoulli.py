"""Exact coins: heads with a rational probability, or with probability exp(-x).

Contract: coins are independent and come up heads with exactly the stated probability.
A few bits nearly always decide; certified integer bounds decide the rest.
Source: 000a:A11, 000a:C1. Proof: ``proofs/bernoulli.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact, finite
from discreet.noise.bins import MARGIN
from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import SYSTEM, integer, words16, words64

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source

_BITS = 16
_HOPELESS = 20
"""From 2**20 on an exponent is as good as infinite to double precision."""


def bernoulli(probability: Number, size: int, source: Source = SYSTEM) -> NDArray[np.bool_]:
    """``size`` coins with heads at a rational ``probability`` in [0, 1], floats taken exactly."""
    p = exact(finite("probability", probability))
    if not 0 <= p <= 1:
        raise InvalidParameter(
            code="not_a_probability",
            expectation="probability to lie in [0, 1]",
            received=probability,
            remedy="Pass the probability of heads.",
        )
    words = words16(source, size)
    border = (p.numerator << _BITS) // p.denominator
    heads = words < border
    rest = (p * (1 << _BITS)) - border
    if rest:
        # A word equal to the border leaves the decision to the following bits.
        for i in np.flatnonzero(words == border):
            heads[i] = _rational_coin(rest, source)
    return heads


def bernoulli_exp(
    exponents: NDArray[np.float64],
    exactly: Callable[[int], Fraction],
    source: Source = SYSTEM,
) -> NDArray[np.bool_]:
    """One coin for each exponent x >= 0, heads with probability exactly exp(-x).

    ``exponents`` are double-precision values off by at most 2**-48 of themselves plus 2**-48 (and
    by anything from 2**20 on, if they stay that large); ``exactly(i)`` is the i-th exponent as a
    rational, asked for only where bits leave doubt.
    """
    words = words64(source, len(exponents))
    gap = np.exp(-exponents) - words * 2.0**-64
    heads: NDArray[np.bool_] = gap > 0
    for i in np.flatnonzero(np.abs(gap) < MARGIN):
        heads[i] = _exp_coin(exactly(int(i)), int(words[i]), source)
    return heads


def exp_coin(above: int, below: int, source: Source) -> bool:
    """One coin, heads with probability exactly exp(-above/below), for whole above >= 0, below > 0.

    A quotient of integers is rounded once, whatever their size.
    """
    word = integer(source, 64)
    exponent = above / below if above < below << _HOPELESS else math.inf
    gap = math.exp(-exponent) - word * 2.0**-64
    if abs(gap) >= MARGIN:
        return gap > 0
    return _exp_coin(Fraction(above, below), word, source)


def bernoulli_enclosed(
    chances: NDArray[np.float64],
    enclosed: Callable[[int, int], tuple[int, int]],
    source: Source = SYSTEM,
) -> NDArray[np.bool_]:
    """One coin for each chance, heads with exactly the probability that ``enclosed`` closes in on.

    ``chances`` are double-precision values off by less than 2**-41; ``enclosed(i, bits)`` gives
    integers ``low <= 2**bits p <= high`` that are as close as any ``bits`` ask, and is called only
    where bits leave doubt.
    """
    words = words64(source, len(chances))
    gap = chances - words * 2.0**-64
    heads: NDArray[np.bool_] = gap > 0
    for i in np.flatnonzero(np.abs(gap) < MARGIN):
        heads[i] = _enclosed_coin(enclosed, int(i), int(words[i]), source)
    return heads


def enclosed_coin(enclosed: Callable[[int], tuple[int, int]], source: Source) -> bool:
    """One coin of the probability that ``enclosed(bits)`` closes in on, as above."""
    return _enclosed_coin(lambda _, bits: enclosed(bits), 0, integer(source, 64), source)


def _rational_coin(p: Fraction, source: Source) -> bool:
    while True:
        word = integer(source, 64)
        border = (p.numerator << 64) // p.denominator
        if word != border:
            return word < border
        p = p * (1 << 64) - border


def _exp_coin(exponent: Fraction, word: int, source: Source) -> bool:
    bits = 64
    while True:
        low, high = exp_minus(exponent, bits)
        if word < low:
            return True
        if word >= high:
            return False
        word = word << 64 | integer(source, 64)
        bits += 64


def _enclosed_coin(
    enclosed: Callable[[int, int], tuple[int, int]], index: int, word: int, source: Source
) -> bool:
    bits = 64
    while True:
        low, high = enclosed(index, bits)
        if word + 1 <= low:
            return True
        if word >= high:
            return False
        word = word << 64 | integer(source, 64)
        bits += 64
