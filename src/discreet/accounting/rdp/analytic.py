"""Bounds on Poisson sampling in closed form: looser than the sum, and valid at every real order.

Each takes the base curve's values and returns values, rounded up (the floor: down).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import MARGIN, raised

if TYPE_CHECKING:
    from discreet.accounting.rdp.curve import RenyiCurve
    from discreet.core.arrays import Floats

_LARGE = 600.0


def mixed(x: Floats, rate: float) -> Floats:
    """log(1 + rate (exp(x) - 1)) for x >= 0, without overflow."""
    near = np.log1p(rate * np.expm1(np.minimum(x, _LARGE)))
    if rate >= 1:
        return np.asarray(np.where(x > _LARGE, x, near))
    far = np.logaddexp(math.log1p(-rate), math.log(rate) + x)
    return np.asarray(np.where(x > _LARGE, far, near))


def large_order_bound(base: Floats, rate: float, orders: Floats) -> Floats:
    """alpha/(alpha-1) log(1 - q + q exp((1 - 1/alpha) D_alpha)) (004a:E8, Prop 3.41).

    Exact in the limit of large orders. ``base`` is D_alpha of the unsampled laws.
    """
    with np.errstate(over="ignore"):
        return raised(orders / (orders - 1) * mixed((orders - 1) / orders * base, rate))


def analytic_bound(curve: RenyiCurve, rate: float, order: float, omega: float) -> float:
    """The bound of 004a:E7 (Prop 3.40), for rates up to 1 - 1/e and any ``omega`` >= ``order``.

    (1/(alpha-1)) log(1 + (e/2) alpha (alpha-1) q**2 (e**D_2 - 1) + ((alpha-1) q)**omega
    e**((omega-1) D_omega)). May exceed the unsampled curve.
    """
    if rate > 1 - math.exp(-1) or omega < order:
        return math.inf
    below = order - 1
    second, last = (float(value) for value in curve(np.array([2.0, omega])))
    middle = 1 + math.log(order * below / 2) + 2 * math.log(rate) + math.log(math.expm1(second))
    far = omega * math.log(below * rate) + (omega - 1) * last
    return float(np.logaddexp(0.0, np.logaddexp(middle, far))) / below * (1 + MARGIN)


def amplification_floor(base: Floats, rate: float, orders: Floats) -> Floats:
    """No sampling at ``rate`` brings a curve below D_alpha - alpha/(alpha-1) log(1/q) (004a:E8)."""
    return base * (1 - MARGIN) + orders / (orders - 1) * math.log(rate) * (1 + MARGIN)
