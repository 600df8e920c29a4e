"""From a Rényi curve to (epsilon, delta), and the search for the best order.

At every order alpha (004a:E3(8)),

    epsilon = R(alpha) + log((alpha-1)/alpha) - (log delta + log alpha)/(alpha-1),

and delta the other way round. The classic conversion of the moments accountant (004c:7-2),
epsilon = R(alpha) - log(delta)/(alpha-1), is never better and is kept for comparison. Any order
gives a valid bound, so the search needs no proof; it is fine because alpha - 1 times the
right-hand side is convex in alpha for exact curves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import checked_orders
from discreet.core.parameters import Number, delta_parameter, exact, nonnegative, rounded_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from discreet.accounting.rdp.curve import RenyiCurve
    from discreet.core.arrays import Floats

_ROUNDING = 2.0**-46
_LEAST_EXCESS, _MOST_EXCESS, _PLACES = 1e-6, 1e9, 24
_ROUNDS, _FINER = 6, 9


def renyi_epsilon(curve: RenyiCurve, delta: Number, *, orders: ArrayLike | None = None) -> float:
    """The least epsilon at ``delta``, rounded up, over all orders or those given."""
    slack = rounded_down(exact(delta_parameter("delta", delta)))
    pure = curve.ceiling
    if pure == 0 or slack == 0:
        return pure
    log_delta = math.log(slack)

    def at(alpha: Floats) -> Floats:
        below = alpha - 1
        gain = np.log(below) - np.log(alpha)
        cost = (log_delta + np.log(alpha)) / below
        size = 1 + np.abs(gain) + (abs(log_delta) + np.log(alpha)) / below
        return np.asarray(curve(alpha) + gain - cost + _ROUNDING * size)

    return max(0.0, min(pure, _least(at, orders)))


def moments_epsilon(curve: RenyiCurve, delta: Number, *, orders: ArrayLike | None = None) -> float:
    """Epsilon by the classic conversion, rounded up; the order is the moment's plus one."""
    slack = rounded_down(exact(delta_parameter("delta", delta)))
    if curve.ceiling == 0 or slack == 0:
        return curve.ceiling
    log_delta = math.log(slack)

    def at(alpha: Floats) -> Floats:
        cost = -log_delta / (alpha - 1)
        return curve(alpha) + cost * (1 + _ROUNDING)

    return min(curve.ceiling, _least(at, orders))


def renyi_delta(curve: RenyiCurve, epsilon: Number, *, orders: ArrayLike | None = None) -> float:
    """The least delta at ``epsilon``, rounded up, over all orders or those given."""
    loss = rounded_down(exact(nonnegative("epsilon", epsilon)))
    if loss >= curve.ceiling:
        return 0.0

    def at(alpha: Floats) -> Floats:
        below = alpha - 1
        gain = np.log(below) - np.log(alpha)
        bounds = curve(alpha)
        with np.errstate(over="ignore"):
            size = below * (bounds + loss + np.abs(gain)) + np.log(alpha) + 1
            logs = below * (bounds - loss + gain) - np.log(alpha) + _ROUNDING * size
        return np.asarray(logs)

    least = _least(at, orders)
    return 1.0 if least >= 0 else max(math.exp(least) * (1 + _ROUNDING), 5e-324)


def _least(objective: Callable[[Floats], Floats], orders: ArrayLike | None) -> float:
    """The least value over ``orders``; if none are given, over a grid refined around its best."""
    if orders is not None:
        return float(objective(checked_orders(orders).ravel()).min())
    places = np.linspace(math.log(_LEAST_EXCESS), math.log(_MOST_EXCESS), _PLACES)
    best = math.inf
    for _ in range(_ROUNDS):
        values = objective(1 + np.exp(places))
        index = int(np.argmin(values))
        best = min(best, float(values[index]))
        low, high = places[max(index - 1, 0)], places[min(index + 1, places.size - 1)]
        middle = float(places[index])
        places = np.linspace(low, high, _FINER + 2)[1:-1]
    # Curves known at integer orders only have their corners there.
    whole = math.floor(1 + math.exp(middle))
    corners = np.array([order for order in (whole, whole + 1.0) if order >= 2])
    return min(best, float(objective(corners).min()))
