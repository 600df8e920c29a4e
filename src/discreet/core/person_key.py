"""What tells one person from another: identifiers as tables in memory hold them.

Source: contract, "Units and neighbours".
"""

from __future__ import annotations

import math

import numpy as np

PersonKey = tuple[str, object]
"""Hashable, and equal for the same person alone."""


def is_missing(value: object) -> bool:
    """None, and what libraries write for it: NaN, NaT, NA; whatever is not equal to itself.

    >>> from decimal import Decimal
    >>> [is_missing(each) for each in (None, float("nan"), Decimal("NaN"), 0, "")]
    [True, True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  # what NaN is known by
    except Exception:  # a signalling NaN, or an object that does not compare: it names nobody
        return True


def person_key(value: object) -> PersonKey:
    """Numbers by their value, all else by type and text.

    >>> person_key(7) == person_key(7.0) == person_key(np.int32(7))
    True
    >>> person_key("7") == person_key(7)
    False
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int | float):
        return "number", value
    return type(value).__name__, value if isinstance(value, str | bytes) else repr(value)
