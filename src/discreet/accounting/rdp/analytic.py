"""Bounds on Poisson sampling in closed form: looser than the sum, and valid at every real order.

It takes the base curve's values and returns values, rounded up. ``theory/sampling.py`` has more of
them, for comparison.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import raised

if TYPE_CHECKING:
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
