"""A triangle inequality for Rényi divergence, for groups and for replaced units (004a:E3(7), E11).

For 1 < alpha < alpha',

    D_alpha(P||R) <= alpha'/(alpha'-1) D_beta(P||Q) + D_alpha'(Q||R),
    beta = alpha (alpha'-1) / (alpha'-alpha).

Corrected: the source prints beta = alpha (alpha'-1)/alpha', which is false. Normal laws one apart,
alpha = 2, alpha' = 4: the truth and the bound above are 4, the printed bound is 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import RenyiCurve, raised
from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.core.arrays import Floats

_PLACES = 129
_ROUNDS = 3


def triangle(first: RenyiCurve, second: RenyiCurve, order: float, pivot: float) -> float:
    """The bound on D_order(P||R) with alpha' = ``pivot``, from the curves of (P, Q) and (Q, R).

    >>> from fractions import Fraction
    >>> from discreet.accounting.rdp.gaussian import GaussianCurve
    >>> unit = GaussianCurve(Fraction(1, 2))
    >>> round(triangle(unit, unit, 2, 4), 9)
    4.0
    """
    if not 1 < order < pivot:
        raise InvalidParameter(
            code="order_out_of_range",
            expectation="1 < order < pivot",
            received=(order, pivot),
            remedy="Choose a pivot above the order; twice the order is a good start.",
        )
    orders = np.array([float(order)])
    ratio = (pivot - 1) / (order - 1)
    return float(_at(first, second, orders, np.array([[float(ratio)]]))[0, 0])


@dataclass(frozen=True)
class ChainCurve(RenyiCurve):
    """The curve of (P, R) from those of (P, Q) and (Q, R), at the best pivot of a fine search.

    As every curve it bounds both directions, so the inequality is used both ways round.
    """

    first: RenyiCurve
    second: RenyiCurve

    @property
    def ceiling(self) -> float:
        """Pure epsilons add up."""
        return float(raised(np.array(self.first.ceiling + self.second.ceiling)))

    def bounds(self, orders: Floats) -> Floats:
        """The larger of the two ways round."""
        bound = _best(self.first, self.second, orders)
        if self.first != self.second:
            bound = np.maximum(bound, _best(self.second, self.first, orders))
        return bound


def replaced(curve: RenyiCurve) -> RenyiCurve:
    """The curve about replaced units, from one about added or removed units: two such steps."""
    return ChainCurve(curve, curve)


def _best(first: RenyiCurve, second: RenyiCurve, orders: Floats) -> Floats:
    """Every pivot gives a bound; the least found is returned."""
    low = np.full_like(orders, np.log(1e-4))
    high = np.full_like(orders, np.log(1e4))
    rows = np.arange(orders.size)
    best = np.full_like(orders, np.inf)
    for _ in range(_ROUNDS):
        places = np.linspace(low, high, _PLACES, axis=1)
        values = _at(first, second, orders, 1 + np.exp(places))
        index = np.argmin(values, axis=1)
        best = np.minimum(best, values[rows, index])
        low = places[rows, np.maximum(index - 1, 0)]
        high = places[rows, np.minimum(index + 1, _PLACES - 1)]
    return best


def _at(first: RenyiCurve, second: RenyiCurve, orders: Floats, ratios: Floats) -> Floats:
    """The bound for pivots 1 + (order - 1) ratio; a row of ratios for each order.

    The orders asked for are rounded up, which is safe as curves of divergences rise.
    """
    column = orders[:, np.newaxis]
    pivots = (1 + (column - 1) * ratios) * (1 + 2.0**-50)
    middles = column * ratios / (ratios - 1) * (1 + 2.0**-48)
    weight = 1 + 1 / ((column - 1) * ratios)
    return raised(weight * first(middles) + second(pivots))
