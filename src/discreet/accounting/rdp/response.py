"""The exact curves of randomized response and of mechanisms of bounded range.

Binary randomized response is the worst of all pure mechanisms at its epsilon: each of them is
post-processing of it (Kairouz–Oh–Viswanath), so its curve is the price of ``Pure``
(modern-data:N2). A mechanism whose log-probabilities move within a *range* of epsilon, as the
exponential mechanism's do, is cheaper by a factor of four for small epsilon, and its worst curve is
exact too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import CurveFamily
from discreet.core.parameters import rounded_down

if TYPE_CHECKING:
    from discreet.core.arrays import Floats

_ROUNDING = 2.0**-50


@dataclass(frozen=True)
class ResponseCurve(CurveFamily):
    """One answer out of ``categories``, true with odds exp(``epsilon``) to each other one.

    With x = exp(epsilon), the moment of order alpha less one is

        (x**alpha - x) (1 - x**-alpha) / (x + categories - 1).
    """

    epsilon: float
    categories: int = 2

    def parameters(self) -> tuple[float, ...]:
        """The pure epsilon, and the categories that are false."""
        return (self.epsilon, rounded_down(self.categories - 1))

    def evaluate(self, orders: Floats, *parameters: Floats) -> Floats:
        """Exact, up to rounding."""
        epsilon, false = parameters
        gain = log_expm1((orders - 1) * epsilon)
        other = np.log(-np.expm1(-orders * epsilon))
        whole = np.log1p(false * np.exp(-epsilon))
        size = np.abs(gain) + np.abs(other) + whole + 1
        return log1p_exp(gain + other - whole + _ROUNDING * size) / (orders - 1)


@dataclass(frozen=True)
class BoundedRangeCurve(CurveFamily):
    """Log-probability ratios that lie within some interval of length ``epsilon``.

    The worst law has the two ends of the interval for values. With c = exp(-epsilon), the worst
    place of the interval gives the moment

        u**(alpha-1) (1 - c**alpha) / (alpha (1-c)),
        u = (alpha-1) (1 - c**alpha) / (alpha (c - c**alpha)),

    never more than exp(alpha (alpha-1) epsilon**2 / 8).
    """

    epsilon: float

    def parameters(self) -> tuple[float, ...]:
        return (self.epsilon,)

    def evaluate(self, orders: Floats, *parameters: Floats) -> Floats:
        """The lesser of the closed form, raised by its cancellation, and of the line."""
        (epsilon,) = parameters
        below = orders - 1
        mass = np.log(-np.expm1(-orders * epsilon))
        rest = np.log(-np.expm1(-below * epsilon))
        place = np.log(below / orders) + mass - rest + epsilon
        chord = mass - np.log(orders) - np.log(-np.expm1(-epsilon))
        scale = np.abs(np.log(below / orders)) + np.abs(mass) + np.abs(rest) + epsilon
        scale = below * (scale + 1) + np.abs(chord) + 2 * np.abs(mass) + np.log(orders) + 4
        closed = (below * place + chord + 2 * _ROUNDING * scale) / below
        return np.asarray(np.minimum(closed, orders * epsilon * epsilon / 8))


def log_expm1(x: Floats) -> Floats:
    """log(exp(x) - 1) for x > 0, without overflow."""
    return x + np.log(-np.expm1(-x))


def log1p_exp(x: Floats) -> Floats:
    """log(1 + exp(x)), without overflow."""
    return np.asarray(np.logaddexp(0.0, x))
