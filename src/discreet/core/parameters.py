"""Checks of public parameters: one place, one wording, nothing clamped in silence."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

from discreet.core.errors import InvalidParameter

Number: TypeAlias = int | float | Fraction
"""A public real parameter. Floats stand for the exact rational they store."""


def exact(value: Number) -> Fraction:
    """The rational number a parameter stores, with no rounding.

    >>> exact(0.5)
    Fraction(1, 2)
    """
    plain = _numpy_scalar(value)
    return Fraction(value if plain is None else plain)


def finite(name: str, value: object) -> Number:
    """Return ``value`` if it is a finite real number, else refuse it by name."""
    # Numpy's integers are rational too, but their arithmetic wraps around.
    plain = None if isinstance(value, (int, float)) else _numpy_scalar(value)
    value = value if plain is None else plain
    if isinstance(value, bool) or not isinstance(value, (int, float, Rational)):
        raise InvalidParameter(
            code="not_a_number",
            expectation=f"{name} to be a real number",
            received=type(value).__name__,
            remedy=f"Pass {name} as an int, a float or a fractions.Fraction.",
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidParameter(
            code="not_finite",
            expectation=f"{name} to be finite",
            received=value,
            remedy=f"Give {name} a finite value; there is no private answer without one.",
        )
    if isinstance(value, (int, float)):
        return value
    return Fraction(int(value.numerator), int(value.denominator))


def positive(name: str, value: object) -> Number:
    """Return ``value`` if it is finite and greater than zero."""
    number = finite(name, value)
    if number <= 0:
        raise InvalidParameter(
            code="not_positive",
            expectation=f"{name} to be greater than zero",
            received=number,
            remedy=f"Choose {name} > 0; privacy parameters have no default and are never clamped.",
        )
    return number


def nonnegative(name: str, value: object) -> Number:
    """Return ``value`` if it is finite and at least zero."""
    number = finite(name, value)
    if number < 0:
        raise InvalidParameter(
            code="negative",
            expectation=f"{name} to be zero or more",
            received=number,
            remedy=f"Choose {name} >= 0.",
        )
    return number


def probability(name: str, value: object) -> Number:
    """Return ``value`` if it lies strictly between zero and one."""
    number = finite(name, value)
    if not 0 < number < 1:
        raise InvalidParameter(
            code="not_a_probability",
            expectation=f"{name} to lie strictly between 0 and 1",
            received=number,
            remedy=f"Choose 0 < {name} < 1, for example 0.95 for a confidence.",
        )
    return number


def delta_parameter(name: str, value: object) -> Number:
    """Return ``value`` if it lies in [0, 1)."""
    number = finite(name, value)
    if not 0 <= number < 1:
        raise InvalidParameter(
            code="delta_out_of_range",
            expectation=f"{name} to lie in [0, 1)",
            received=number,
            remedy=f"Choose {name} well below one over the number of people, e.g. 1e-6.",
        )
    return number


def count(name: str, value: object, *, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least``."""
    number = finite(name, value)
    if not isinstance(number, int) or number < least:
        raise InvalidParameter(
            code="not_a_count",
            expectation=f"{name} to be a whole number of at least {least}",
            received=number,
            remedy=f"Pass {name} as an int >= {least}.",
        )
    return number


def _numpy_scalar(value: object) -> int | float | None:
    item = getattr(value, "item", None)
    if item is None or getattr(value, "shape", None) != ():
        return None
    plain = item()
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        return None
    return plain


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above ``value``."""
    return -rounded_up(-value)


def rounded_up(value: Fraction) -> float:
    """The least float that is not below ``value``: losses are never rounded in our favour.

    >>> rounded_up(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < value else nearest
