"""What tells one person from another: identifiers as tables in memory hold them.

Source: contract, "Units and neighbours".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

PersonKey = tuple[str, object]
"""Hashable, and equal for the same person alone."""


_PLAIN: dict[type, Callable[[Any], object]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: b"".__add__,
}


def is_missing(value: object) -> bool:
    """None, and what libraries write for it: NaN, NaT, NA; whatever is not equal to itself.

    >>> from decimal import Decimal
    >>> [is_missing(each) for each in (None, float("nan"), Decimal("NaN"), 0, "")]
    [True, True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        if value != value:  # noqa: PLR0124  # what NaN is known by
            return True
        if not isinstance(value, str | bytes | int | float | np.generic):
            person_key(value)
    except Exception:  # a signalling NaN, an object that does not compare or print: it names nobody
        return True
    return False


def person_key(value: object) -> PersonKey:
    """Numbers by their value, all else by type and text.

    >>> person_key(7) == person_key(7.0) == person_key(np.int32(7))
    True
    >>> person_key("7") == person_key(7)
    False
    >>> from decimal import Decimal
    >>> person_key(Decimal("7.0")) == person_key(Decimal("7.00")) == person_key(7)
    True
    """
    if isinstance(value, np.generic):
        value = value.item()
    # A type of somebody's own may compare as it likes: what it was derived from decides.
    for kind, plain in _PLAIN.items():
        if isinstance(value, kind):
            value = plain(value)
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int | float | Decimal | Fraction):
        return "number", value
    return type(value).__name__, value if isinstance(value, str | bytes) else repr(value)
