"""Bisection that ends on the safe side: the point returned was itself found to pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CLOSE = 2.0**-46


def least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """A point of (low, high] at which ``holds``, near the least one if it is monotone.

    Contract: ``holds(high)``. Guarantee: the point returned passed; it need not be the least if
    rounding leaves the condition not quite monotone.
    """
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def greatest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """A point of [low, high) at which ``holds``, near the greatest one. Contract: ``holds(low)``."""
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def most(holds: Callable[[int], bool]) -> int:
    """The greatest whole number at which a falling condition holds; -1 if it fails at zero."""
    if not holds(0):
        return -1
    high = 1
    while holds(high):
        high *= 2
        if high > 1 << 62:
            return high
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def above(value: float, margin: float) -> float:
    """``value`` raised by a relative ``margin`` and by the least float: an upper bound."""
    return math.nextafter(value * (1 + margin), math.inf) if value else value
