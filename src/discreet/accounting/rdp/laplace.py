"""The exact curves of Laplace noise, continuous and on a grid.

With E = exp((alpha-1) epsilon) and F = exp(-alpha epsilon), the moment of order alpha is

    1 + w (E - 1) + (1-w) (F - 1),    w = alpha / (2 alpha - 1)                   continuous,
                                      w = sinh(alpha d) / (sinh(alpha d) + sinh((alpha-1) d))

for the two-sided geometric law, with d = epsilon / steps the decay per grid step; its loss takes
the values epsilon (1 - 2 x / steps), x = 0..steps. The continuous law is the limit d -> 0. One
coordinate that moves by the whole sensitivity is the worst: proofs/rdp.md, where the forms used
below for small losses, free of cancellation, are derived too.

Source: 004a:B3, 004a:B5; contract, "Numbers".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import CurveFamily

if TYPE_CHECKING:
    from discreet.core.arrays import Floats

_LARGE = 600.0


@dataclass(frozen=True)
class LaplaceCurve(CurveFamily):
    """Continuous Laplace noise of 1/``epsilon`` sensitivities."""

    epsilon: float

    def parameters(self) -> tuple[float, ...]:
        return (self.epsilon,)

    def evaluate(self, orders: Floats, *parameters: Floats) -> Floats:
        """Exact, up to rounding."""
        (epsilon,) = parameters
        weight, other = orders / (2 * orders - 1), (orders - 1) / (2 * orders - 1)
        small = np.minimum(orders * epsilon, 1.0) / orders
        surplus = weight * _past_linear((orders - 1) * small)
        surplus = surplus + other * _past_linear(-orders * small)
        return _renyi(orders, epsilon, weight, other, surplus)


@dataclass(frozen=True)
class DiscreteLaplaceCurve(CurveFamily):
    """Two-sided geometric noise of ``steps``/``epsilon`` grid steps, at ``steps`` apart."""

    epsilon: float
    steps: int

    def parameters(self) -> tuple[float, ...]:
        """The pure epsilon, and the decay of the noise per grid step."""
        return (self.epsilon, float(Fraction(self.epsilon) / self.steps))

    def evaluate(self, orders: Floats, *parameters: Floats) -> Floats:
        """Exact, up to rounding."""
        epsilon, decay = parameters
        below = orders - 1
        whole = (1 + np.exp(-decay)) * -np.expm1(-(2 * orders - 1) * decay)
        weight = -np.expm1(-2 * orders * decay) / whole
        other = np.exp(-decay) * -np.expm1(-2 * below * decay) / whole
        share = np.minimum(orders * epsilon, 1.0) / (orders * epsilon)
        loss, step = epsilon * share, decay * share
        first, second = np.sinh(orders * step), np.sinh(below * step)
        surplus = first * _past_linear(below * loss) + second * _past_linear(-orders * loss)
        surplus = (surplus + loss * _sinh_difference(orders, step)) / (first + second)
        return _renyi(orders, epsilon, weight, other, surplus)


def _renyi(
    orders: Floats, epsilon: Floats, weight: Floats, other: Floats, surplus: Floats
) -> Floats:
    """The divergence; ``surplus`` is the moment less one where alpha epsilon is at most one."""
    gain = (orders - 1) * epsilon
    direct = weight * np.expm1(np.minimum(gain, _LARGE)) + other * np.expm1(-orders * epsilon)
    logarithm = np.log1p(np.where(orders * epsilon <= 1, surplus, direct))
    # The moment is also weight E + other F; here the second term is lost in the margin.
    return np.where(gain > _LARGE, gain + np.log(weight), logarithm) / (orders - 1)


def _past_linear(x: Floats) -> Floats:
    """exp(x) - 1 - x for |x| <= 1, by its series: positive, and right to some ulps."""
    tail = np.ones_like(x)
    for n in range(19, 2, -1):
        tail = 1 + x * tail / n
    return x * x / 2 * tail


def _sinh_difference(orders: Floats, step: Floats) -> Floats:
    """(alpha-1) sinh(alpha d) - alpha sinh((alpha-1) d) for alpha d <= 1, by a positive series."""
    high, low = (orders * step) ** 2, ((orders - 1) * step) ** 2
    powers, sums = np.ones_like(high), np.ones_like(high)
    result = sums / 6
    for j in range(2, 10):
        powers = powers * high
        sums = sums * low + powers
        result = result + sums / math.factorial(2 * j + 1)
    return orders * (orders - 1) * (2 * orders - 1) * step**3 * result
