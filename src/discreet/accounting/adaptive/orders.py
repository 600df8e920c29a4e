"""The price of an event at one Rényi order, and what an order's budget is worth.

Source: 004a:E3(8), modern-learn:13.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

from discreet.accounting.pure import PURE
from discreet.accounting.rdp import rdp
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core.errors import Unpriced
from discreet.core.events.event import Event
from discreet.core.parameters import (
    Number,
    exact,
    positive,
    probability,
    rounded_down,
    rounded_up,
)


def renyi_price(event: Event, alpha: Number) -> Number:
    """An upper bound of the Rényi divergence of order ``alpha``, both ways.

    The least of the curve at the order, rounded upward (divergence grows with the order), of the
    pure price and of alpha rho; the last two are exact.
    """
    prices: list[Number] = [float(rdp(event, rounded_up(exact(alpha))))]
    for accountant, factor in ((PURE, Fraction(1)), (ZERO_CONCENTRATED, exact(alpha))):
        with suppress(Unpriced):
            prices.append(accountant.price(event) * factor)
    return min(prices)


def renyi_budget(alpha: Number, *, epsilon: Number, delta: Number) -> float:
    """The largest divergence of order ``alpha`` that is (epsilon, delta)-private, rounded down.

    Zero or below where the order cannot serve at all.

    >>> [round(renyi_budget(alpha, epsilon=2, delta=1e-6), 6) for alpha in (8, 16, 32)]
    [0.45695, 1.328344, 1.697885]
    """
    # Divergence grows with the order: what holds at the order holds at one rounded down.
    order = rounded_down(exact(alpha))
    spend = rounded_down(exact(positive("epsilon", epsilon)))
    slack = rounded_down(exact(probability("delta", delta)))
    if order <= 1 or slack == 0:
        return -math.inf
    log_delta = math.log(slack)
    terms = (spend, math.log1p(1 / (order - 1)), (log_delta + math.log(order)) / (order - 1))
    return math.fsum(terms) - 1e-12 * (1 + math.fsum(map(abs, terms)))
