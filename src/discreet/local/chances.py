"""Chances as whole numbers over 2**64, rounded so that no ratio passes ``exp(epsilon)``.

A client compares a random 64-bit word with such a number. What is rounded, and in which direction,
is decided once, when an oracle is made, in rational arithmetic: ``exp`` is enclosed from both
sides, and the side that loses accuracy, never privacy, is taken.

Source: 004a:C1; contract, "Numbers". Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, exact, positive
from discreet.noise.enclosure import exp_minus

WHOLE = 1 << 64
_BITS = 192
_LEAST, _MOST = Fraction(1, 1 << 30), 32


def local_epsilon(value: Number) -> Number:
    """The epsilon of a local randomiser; refuse what 64-bit chances cannot express well."""
    epsilon = positive("epsilon", value)
    if not _LEAST <= exact(epsilon) <= _MOST:
        raise InvalidParameter(
            code="local_epsilon_range",
            expectation="a local epsilon from 2**-30 to 32",
            received=epsilon,
            remedy="Below it reports say nothing; above it they hide nothing.",
        )
    return epsilon


def largest_chance(epsilon: Fraction, odds: Fraction = Fraction(1)) -> int:
    """The largest T with ``T / (2**64 - T) <= odds * exp(epsilon)`` that the enclosure certifies.

    >>> largest_chance(Fraction(1)) / 2**64
    0.7310585786300049
    """
    grown = odds * _exp_below(epsilon)
    return int(WHOLE * grown / (1 + grown))


def within(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether ``ratio <= exp(epsilon)``, for certain."""
    return ratio <= _exp_below(epsilon)


def _exp_below(epsilon: Fraction) -> Fraction:
    """A rational number that is not above ``exp(epsilon)``."""
    return Fraction(1 << _BITS, exp_minus(epsilon, _BITS)[1])
