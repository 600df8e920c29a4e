"""Solve for one parameter: the noise, rate, number of steps or spend that meets a target.

``make`` turns a number into an event; which way privacy improves is found out, and the value
returned is on the private side: the event it gives has been priced and meets the target.

Source: 000a:D4, 004a:B7.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.accounting.rdp import RENYI
from discreet.core import pricing
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.core.events.event import Event
from discreet.core.parameters import delta_parameter, positive
from discreet.core.search import greatest_whole

_TOLERANCE = 1e-7
_FARTHEST = 40
"""Doublings and halvings of the start that are tried."""


def calibrate(
    make: Callable[[float], Event],
    *,
    epsilon: float,
    delta: float,
    start: float = 1.0,
    least: float = 0.0,
    most: float = math.inf,
) -> float:
    """The value closest to the limit at which ``make(value)`` costs at most (epsilon, delta).

    >>> from discreet import events
    >>> round(calibrate(lambda z: events.Gaussian(z), epsilon=1, delta=1e-5), 4)
    3.7306
    """
    spend = float(positive("epsilon", epsilon))
    slack = float(delta_parameter("delta", delta))

    def private(value: float) -> bool:
        return pricing.epsilon(make(value), slack) <= spend

    inside, outside = _bracket(private, float(positive("start", start)), least, most)
    while abs(inside - outside) > _TOLERANCE * max(abs(inside), abs(outside)):
        middle = math.sqrt(inside * outside) if inside > 0 < outside else (inside + outside) / 2
        if private(middle):
            inside = middle
        else:
            outside = middle
    return inside


def calibrate_count(
    make: Callable[[int], Event], *, epsilon: float, delta: float, most: int = 1 << 40
) -> int:
    """The largest whole number up to ``most`` at which ``make(number)`` stays within budget.

    The Rényi accountant, which is quick, finds where to begin; the tightest one finishes.

    >>> from discreet import events
    >>> calibrate_count(lambda k: events.Laplace(epsilon=0.125) * k, epsilon=1, delta=0)
    8
    """
    spend = float(positive("epsilon", epsilon))
    slack = float(delta_parameter("delta", delta))

    def private(number: int) -> bool:
        return pricing.epsilon(make(number), slack) <= spend

    def surely_private(number: int) -> bool:
        try:
            return RENYI.epsilon(make(number), slack) <= spend
        except Unpriced:
            return False

    if not private(1):
        raise _unreachable()
    low = _largest(surely_private, 1, most)
    if low == most:
        return most
    return _largest(private, low, most)


def _largest(holds: Callable[[int], bool], low: int, most: int) -> int:
    """The largest number up to ``most`` at which a falling condition holds, known at ``low``."""
    step = 1
    high = low
    while high < most:
        high = min(low + step, most)
        if not holds(high):
            break
        low, step = high, step * 2
    else:
        return most
    return greatest_whole(holds, low, high)


def _bracket(
    private: Callable[[float], bool], start: float, least: float, most: float
) -> tuple[float, float]:
    """A private value and one that is not, found by doubling and halving from ``start``."""
    here = min(max(start, least), most)
    begins_private = private(here)
    up, down = here, here
    for _ in range(_FARTHEST):
        next_up, next_down = min(up * 2, most), max(down / 2, least)
        for value, previous in ((next_up, up), (next_down, down)):
            if value != previous and private(value) != begins_private:
                return (previous, value) if begins_private else (value, previous)
        if (next_up, next_down) == (up, down):
            break
        up, down = next_up, next_down
    raise _unreachable()


def _unreachable() -> InvalidParameter:
    return InvalidParameter(
        code="target_out_of_reach",
        expectation="a parameter for which the price crosses the target",
        remedy="Check the target, start nearer to the answer, or widen `least` and `most`.",
    )
