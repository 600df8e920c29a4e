"""The zero-concentrated accountant: rho adds up, also when events are chosen adaptively.

Discrete Gaussian noise costs as much rho as continuous: its Rényi divergence on integer vectors is
at most sensitivity**2 / 2 sigma**2 per order (modern-data:N1). Pure events cost the least rho that
holds for them (:mod:`discreet.accounting.tight_rho`), those without a price of their own here as
much as the worst pure event. These prices are irrational and rounded up.

Conversion (004a:E3(8), 004a:D7): for every order alpha > 1, rho-zCDP is (epsilon, delta) with

    epsilon = alpha rho + ln((alpha-1)/alpha) - (ln delta + ln alpha)/(alpha-1).

Any order gives a valid bound; the best of a fine search is returned, rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting.pure import PURE
from discreet.accounting.tight_rho import (
    bounded_range_rho,
    geometric_rho,
    laplace_rho,
    pure_rho,
    response_rho,
)
from discreet.core.accountant import Accountant
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Repeated
from discreet.core.parameters import (
    Number,
    delta_parameter,
    exact,
    nonnegative,
    positive,
    probability,
    rounded_down,
    rounded_up,
)
from discreet.core.search import doubled, greatest

if TYPE_CHECKING:
    from collections.abc import Callable

_MARGIN = 1e-12
_LARGEST = 2.0**1000


def zcdp_epsilon(rho: Number, delta: Number) -> float:
    """The least epsilon at ``delta`` for rho-zCDP, rounded up; infinite at delta zero.

    >>> round(zcdp_epsilon(0.5, 1e-6), 5)
    5.22153
    """
    rate = rounded_up(exact(nonnegative("rho", rho)))
    slack = rounded_down(exact(delta_parameter("delta", delta)))
    if rate == 0:
        return 0.0
    if slack == 0 or math.isinf(rate):
        return math.inf
    log_delta = math.log(slack)

    def at(excess: float) -> float:
        alpha = 1 + excess
        return alpha * rate - math.log1p(1 / excess) - (log_delta + math.log(alpha)) / excess

    return max(0.0, _least_over_orders(at)) * (1 + _MARGIN)


def zcdp_delta(rho: Number, epsilon: Number) -> float:
    """The least delta at ``epsilon`` for rho-zCDP, rounded up."""
    rate = rounded_up(exact(nonnegative("rho", rho)))
    spend = rounded_down(exact(nonnegative("epsilon", epsilon)))
    if rate == 0:
        return 0.0
    if math.isinf(rate):
        return 1.0

    def at(excess: float) -> float:
        alpha = 1 + excess
        return excess * (alpha * rate - spend - math.log1p(1 / excess)) - math.log(alpha)

    return min(1.0, max(math.exp(min(_least_over_orders(at), 0.0)) * (1 + _MARGIN), 5e-324))


def zcdp_rho(epsilon: Number, delta: Number) -> float:
    """The largest rho that is (epsilon, delta)-private by the conversion, rounded down.

    >>> round(zcdp_rho(1, 1e-6), 6)
    0.024356
    """
    spend = rounded_down(exact(positive("epsilon", epsilon)))
    probability("delta", delta)

    def private(rho: float) -> bool:
        return zcdp_epsilon(rho, delta) <= spend

    high = doubled(lambda rho: rho >= _LARGEST or not private(rho), 1.0)
    return greatest(private, high / 2 if high > 1 else 0.0, high, close=0.0)


def _least_over_orders(objective: Callable[[float], float]) -> float:
    """Minimum over alpha - 1 in (1e-6, 1e9), by golden section on its logarithm."""
    golden = (math.sqrt(5) - 1) / 2
    low, high = math.log(1e-6), math.log(1e9)
    inner, outer = high - golden * (high - low), low + golden * (high - low)
    left, right = objective(math.exp(inner)), objective(math.exp(outer))
    for _ in range(100):
        if left <= right:
            high, outer, right = outer, inner, left
            inner = high - golden * (high - low)
            left = objective(math.exp(inner))
        else:
            low, inner, left = inner, outer, right
            outer = low + golden * (high - low)
            right = objective(math.exp(outer))
    return min(left, right)


class ZeroConcentrated(Accountant[Fraction]):
    """Price: rho, as an exact rational. Guarantee: rho-zCDP, and what it converts into."""

    def price(self, event: Event) -> Fraction:
        """Own prices first; any purely priced event as the worst of its epsilon."""
        if not self.knows(event) and PURE.knows(event):
            return pure_rho(PURE.price(event))
        return super().price(event)

    def epsilon(self, event: Event, delta: float) -> float:
        """Through the conversion; infinite at delta zero unless nothing was spent."""
        return zcdp_epsilon(self.price(event), delta)

    def delta(self, event: Event, epsilon: float) -> float:
        """Through the conversion."""
        return zcdp_delta(self.price(event), epsilon)


ZERO_CONCENTRATED = ZeroConcentrated()


@ZERO_CONCENTRATED.prices(basic.Gaussian)
@ZERO_CONCENTRATED.prices(basic.DiscreteGaussian)
def _gaussian(event: basic.Gaussian | basic.DiscreteGaussian) -> Fraction:
    return 1 / (2 * exact(event.noise_multiplier) ** 2)


@ZERO_CONCENTRATED.prices(basic.Concentrated)
def _concentrated(event: basic.Concentrated) -> Fraction:
    return exact(event.rho)


@ZERO_CONCENTRATED.prices(basic.Laplace)
def _laplace(event: basic.Laplace) -> Fraction:
    return laplace_rho(exact(event.loss))


@ZERO_CONCENTRATED.prices(basic.DiscreteLaplace)
def _discrete_laplace(event: basic.DiscreteLaplace) -> Fraction:
    return geometric_rho(exact(event.loss), event.steps)


@ZERO_CONCENTRATED.prices(basic.RandomizedResponse)
def _randomized_response(event: basic.RandomizedResponse) -> Fraction:
    return response_rho(exact(event.loss), event.categories)


@ZERO_CONCENTRATED.prices(basic.Exponential)
def _exponential(event: basic.Exponential) -> Fraction:
    # Bounded range: holds for the exponential mechanism and not for permute-and-flip.
    return bounded_range_rho(exact(event.loss))


@ZERO_CONCENTRATED.prices(Composed)
def _composed(event: Composed) -> Fraction:
    return sum((ZERO_CONCENTRATED.price(part) for part in event.parts), Fraction(0))


@ZERO_CONCENTRATED.prices(Repeated)
def _repeated(event: Repeated) -> Fraction:
    return event.times * ZERO_CONCENTRATED.price(event.event)
