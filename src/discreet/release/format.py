"""Numbers as people read them: no more digits than the noise justifies.

An error of 0.83 makes the third decimal of a mean meaningless, so it is not shown. What bounds
something is rounded outward. Exports hold every number in full.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from discreet.core.parameters import Number, exact

_LARGEST = 10**16
"""From here on floats are shown with an exponent."""

_NEAR = 1e-9
"""Prices this close to a short decimal, relative to it, are shown as that decimal."""


def decimals(width: float) -> int | None:
    """How many decimals an error of ``width`` leaves meaningful; None if it does not say.

    >>> [decimals(width) for width in (0.012, 0.83, 6.3, 12, 1200, 0, math.inf)]
    [3, 2, 1, 0, 0, None, None]
    """
    if not 0 < width < math.inf:
        return None
    return min(max(0, 1 - math.floor(math.log10(width))), 300)


def format_number(value: float | None, places: int | None) -> str:
    """``value`` with so many decimals; whole numbers in full, what is missing as a dash.

    >>> format_number(41.2345, 2), format_number(-0.01, 1), format_number(12, 2)
    ('41.23', '0.0', '12')
    >>> format_number(None, 1), format_number(1 / 3, None)
    ('–', '0.33333')
    """
    if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
        return "–"
    if isinstance(value, int):
        return str(value)
    if places is None or abs(value) >= _LARGEST:
        return _short(value)
    text = f"{value:.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def above(value: float, places: int | None) -> str:
    """The least number with so many decimals that is not below ``value``.

    >>> above(0.8312, 2), above(6, None), above(math.inf, 1), above(-0.831, 2)
    ('0.84', '6', '∞', '-0.83')
    """
    return _bound(value, places, math.ceil)


def below(value: float, places: int | None) -> str:
    """The largest number with so many decimals that is not above ``value``.

    >>> below(0.8399, 2), below(-math.inf, 1), below(-0.01, 1), below(0.01, 1)
    ('0.83', '-∞', '-0.1', '0.0')
    """
    return _bound(value, places, math.floor)


def at_most(value: Number) -> str:
    """A price: what is an upper bound is rounded up, to six digits.

    A sum that lies above a short decimal by less than a billionth of it is shown as that decimal.

    >>> at_most(0.5), at_most(Fraction(1, 3)), at_most(1e-6), at_most(3), at_most(0.1 + 0.2)
    ('0.5', '0.333334', '1e-06', '3', '0.3')
    """
    if isinstance(value, int):
        return str(value)
    short = f"{float(value):.6g}"
    if exact(float(short)) >= value or math.isclose(float(short), float(value), rel_tol=_NEAR):
        return short
    step = Fraction(10) ** (math.floor(math.log10(abs(float(value)))) - 5)
    return f"{float(math.ceil(exact(value) / step) * step):.6g}"


def percent(confidence: float) -> str:
    """A confidence in words.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * float(confidence), 9):.9g} %"


def _bound(value: float, places: int | None, rounding: Callable[[Fraction], int]) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    if places is None or abs(value) >= _LARGEST:
        return _short(value)
    steps = rounding(Fraction(value) * 10**places)
    return f"{Decimal(steps).scaleb(-places):f}" if steps else f"{0:.{places}f}"


def _short(value: float) -> str:
    return f"{value:.5g}"


def one_line(text: str) -> str:
    r"""Text without what would move the cursor: control signs are shown as escapes.

    >>> one_line("a\nb")
    'a\\nb'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
