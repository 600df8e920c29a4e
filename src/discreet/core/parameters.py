"""Checks of public parameters: one place, one wording, nothing clamped in silence."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias, cast

from discreet.core.errors import InvalidParameter

Number: TypeAlias = int | float | Fraction
"""A public real parameter. Floats stand for the exact rational they store."""


def exact(value: Number) -> Fraction:
    """The rational number a parameter stores, with no rounding.

    >>> exact(0.5)
    Fraction(1, 2)
    """
    if type(value) is Fraction:
        return value
    plain = _plain(value)
    return Fraction(value if plain is None else plain)


def finite(name: str, value: object) -> Number:
    """Return ``value`` as a plain finite number, else refuse it by name.

    Guarantee: an ``int``, a ``float`` or a ``Fraction`` itself, never a subclass. NumPy's scalars
    and arrays without dimensions mean the number they store, which for a narrow float is not the
    decimal it was written as; booleans, dates, masked and complex values mean none. Nor does
    ``Decimal``: what its context would round is for the caller to say.

    >>> finite("epsilon", Fraction(1, 10))
    Fraction(1, 10)
    """
    number = _plain(value)
    if number is None:
        raise InvalidParameter(
            code="not_a_number",
            expectation=f"{name} to be a real number",
            received=type(value).__name__,
            remedy=f"Pass {name} as an int, a float or a fractions.Fraction.",
        )
    if isinstance(number, float) and not math.isfinite(number):
        raise InvalidParameter(
            code="not_finite",
            expectation=f"{name} to be finite",
            received=number,
            remedy=f"Give {name} a finite value; there is no private answer without one.",
        )
    return number


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
            remedy=f"Choose 0 < {name} < 1, for example "
            + ("0.95." if name == "confidence" else "0.1."),
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


def _plain(value: object) -> Number | None:
    """The plain number that a value means; None where it means none."""
    if type(value) in (int, float, Fraction):
        return cast("Number", value)
    # NumPy's own arithmetic wraps around, and its text is not a number's: unpack before anything.
    value = _unpacked(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return None


def _unpacked(value: object) -> object:
    """What a NumPy scalar, or an array without dimensions, holds; other values themselves."""
    item = getattr(value, "item", None)
    if item is None or getattr(value, "shape", None) != ():
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("m", "M") or hasattr(value, "mask"):
        return None
    held: object = item()
    return held if type(held) in (bool, int, float) else None


def rounded_down(value: Fraction | int) -> float:
    """The largest float that is not above ``value``."""
    return -rounded_up(-value)


def rounded_up(value: Fraction | int) -> float:
    """The least float that is not below ``value``: losses are never rounded in our favour.

    >>> rounded_up(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    above, below = value.numerator, value.denominator
    try:
        nearest = above / below
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    # Compared in whole numbers: a price takes thousands of these.
    top, bottom = nearest.as_integer_ratio()
    return math.nextafter(nearest, math.inf) if top * below < above * bottom else nearest
