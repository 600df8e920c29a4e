"""Doubling and bisection that end on the safe side: the point returned was itself found to pass.

The one place for searches over a monotone condition, so that each ends on the same side of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

Step = TypeVar("Step", int, float)

_CLOSE = 2.0**-40
_HALVINGS = 40
_STEEP = 100.0


@overload
def doubled(holds: Callable[[Step], bool], start: Step) -> Step: ...
@overload
def doubled(holds: Callable[[Step], bool], start: Step, *, at_most: float) -> Step | None: ...


def doubled(
    holds: Callable[[Step], bool], start: Step, *, at_most: float = math.inf
) -> Step | None:
    """The first of ``start``, twice it, four times it, ... at which ``holds``; None if beyond."""
    high = start
    while not holds(high):
        high *= 2
        if high > at_most:
            return None
    return high


def least(
    holds: Callable[[float], bool], low: float, high: float, *, close: float = _CLOSE
) -> float:
    """A point of (low, high] at which ``holds``, near the least one if it is monotone.

    Contract: ``holds(high)``. Guarantee: the point returned passed; it need not be the least if
    rounding leaves the condition not quite monotone. ``close`` is relative; zero goes on to the
    last float.
    """
    while high - low > close * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def crossing(curve: Callable[[float], float], target: float, high: float) -> float:
    """A point of [0, high] at which a falling ``curve`` is at most ``target``, near the least one.

    Contract: ``curve(high) <= target``. Guarantee: the point returned passed. Interpolates the
    logarithm of the curve (the ITP method: never more than one step worse than bisection).
    """

    def height(value: float) -> float:
        top = math.log(value / target) if target and value else math.inf
        return min(_STEEP, top) if value > target else max(-_STEEP, top if value else -_STEEP)

    low, above = 0.0, curve(0.0)
    if above <= target:
        return 0.0
    y_low, y_high = height(above), height(curve(high))
    tolerance = _CLOSE * high
    steps = _HALVINGS + 1
    step = 0
    while high - low > max(tolerance, _CLOSE * high):
        middle = (low + high) / 2
        guess = (y_low * high - y_high * low) / (y_low - y_high) if y_low > y_high else middle
        side = math.copysign(1.0, middle - guess)
        nudge = 0.2 * (high - low) * min(1.0, (high - low) / high)
        guess = guess + side * nudge if nudge <= abs(middle - guess) else middle
        radius = tolerance * 2.0 ** (steps - step) - (high - low) / 2
        if abs(guess - middle) > radius:
            guess = middle - side * max(radius, 0.0)
        if not low < guess < high:
            guess = middle
            if not low < guess < high:
                break
        value = curve(guess)
        if value <= target:
            high, y_high = guess, height(value)
        else:
            low, y_low = guess, height(value)
        step += 1
    return high


def greatest(
    holds: Callable[[float], bool], low: float, high: float, *, close: float = _CLOSE
) -> float:
    """A point of [low, high) at which ``holds``, near the greatest. Contract: ``holds(low)``."""
    while high - low > close * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def greatest_above_zero(holds: Callable[[float], bool], *, close: float = _CLOSE) -> float:
    """The greatest point at which a condition holds that falls from zero on, found by doubling.

    Contract: it holds near zero and fails somewhere. Zero where it holds at no point tried.
    """
    low, high = 0.0, 1.0
    while holds(high):
        low, high = high, high * 2
    return greatest(holds, low, high, close=close)


def most(holds: Callable[[int], bool]) -> int:
    """The greatest whole number at which a falling condition holds; -1 if it fails at zero."""
    if not holds(0):
        return -1
    high = 1
    while holds(high):
        high *= 2
        if high > 1 << 62:
            return high
    return greatest_whole(holds, high // 2, high)


def greatest_whole(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The greatest number of [low, high) at which a falling condition holds.

    Contract: ``holds(low)`` and not ``holds(high)``.
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def least_whole(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least number of (low, high] at which a rising condition holds.

    Contract: not ``holds(low)``, or ``low`` is out of the question; ``holds(high)``. Beyond what
    floats tell apart it is one at which the condition holds, and close to the least.
    """
    while high - low > max(1, high >> 53):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
