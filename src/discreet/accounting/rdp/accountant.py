"""The Rényi accountant: curves add up order by order, and the best order is found at the end.

For events fixed in advance. Under adaptive choice of *events* only one order fixed beforehand may
be summed (contract, "Spending"): that is a filter's matter.

Source: 004a:E2, 004a:E9, 004c:7-2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.pure import PURE
from discreet.accounting.rdp.convert import renyi_delta, renyi_epsilon
from discreet.accounting.rdp.curve import RenyiCurve, ZeroCurve, checked_orders, total
from discreet.accounting.rdp.fixed_size import fixed_size
from discreet.accounting.rdp.gaussian import ConcentratedCurve, GaussianCurve
from discreet.accounting.rdp.laplace import DiscreteLaplaceCurve, LaplaceCurve
from discreet.accounting.rdp.poisson import poisson
from discreet.accounting.rdp.response import BoundedRangeCurve, ResponseCurve
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core import pricing
from discreet.core.accountant import Accountant
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import (
    Composed,
    Event,
    FixedSizeSampled,
    Nothing,
    PoissonSampled,
    Repeated,
    require_event,
)
from discreet.core.parameters import Number, exact, rounded_up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.core.arrays import Floats


_LEAST_LOSS = 1e-290


class RenyiAccountant(Accountant[RenyiCurve]):
    """Price: a :class:`RenyiCurve`. Guarantee: that curve at every order, and what it implies."""

    def price(self, event: Event) -> RenyiCurve:
        """Own prices first; then whatever is purely priced, or priced by rho, by others."""
        if not self.knows(event):
            if PURE.knows(event):
                return pure(PURE.price(event))
            if ZERO_CONCENTRATED.knows(event):
                return ConcentratedCurve(ZERO_CONCENTRATED.price(event))
        return super().price(event)

    def epsilon(self, event: Event, delta: float) -> float:
        """The least over all orders."""
        return renyi_epsilon(self.price(event), delta)

    def delta(self, event: Event, epsilon: float) -> float:
        """The least over all orders."""
        return renyi_delta(self.price(event), epsilon)


RENYI = RenyiAccountant()


def rdp(event: Event, orders: ArrayLike) -> Floats:
    """Bounds on the Rényi divergence of ``event`` at each of ``orders``, rounded up.

    Infinite at an order where floats have no room for it.

    >>> from discreet import events
    >>> rdp(events.Gaussian(2), [2, 8]).round(9).tolist()
    [0.25, 1.0]
    """
    curve, wanted = RENYI.price(require_event(event)), checked_orders(orders)
    try:
        with pricing.strict_floats():
            return _replace_nan_by_infinity(curve(wanted))
    except ArithmeticError:
        if wanted.size == 1:
            return np.full(wanted.shape, math.inf)
        each = [rdp(event, alpha) for alpha in wanted.ravel().tolist()]
        return np.array(each, dtype=np.float64).reshape(wanted.shape)


def _replace_nan_by_infinity(bounds: Floats) -> Floats:
    """Infinite where there is no number."""
    return np.where(np.isnan(bounds), math.inf, bounds)


def pure(epsilon: Number) -> RenyiCurve:
    """The worst curve of a pure mechanism: that of randomized response."""
    return ResponseCurve(_loss(epsilon)) if epsilon else ZeroCurve()


def _loss(epsilon: Number) -> float:
    return max(rounded_up(exact(epsilon)), _LEAST_LOSS)


@RENYI.prices(basic.Gaussian)
def _gaussian(event: basic.Gaussian) -> RenyiCurve:
    return GaussianCurve(1 / (2 * exact(event.noise_multiplier) ** 2))


@RENYI.prices(basic.DiscreteGaussian)
def _discrete_gaussian(event: basic.DiscreteGaussian) -> RenyiCurve:
    return ConcentratedCurve(1 / (2 * exact(event.noise_multiplier) ** 2))


@RENYI.prices(basic.Concentrated)
def _concentrated(event: basic.Concentrated) -> RenyiCurve:
    return ConcentratedCurve(exact(event.rho))


@RENYI.prices(basic.Laplace)
def _laplace(event: basic.Laplace) -> RenyiCurve:
    return LaplaceCurve(_loss(event.loss))


@RENYI.prices(basic.DiscreteLaplace)
def _discrete_laplace(event: basic.DiscreteLaplace) -> RenyiCurve:
    loss = _loss(event.loss)
    if math.isinf(loss):  # then how the noise falls from step to step does not matter
        return LaplaceCurve(loss)
    return DiscreteLaplaceCurve(loss, event.steps)


@RENYI.prices(basic.RandomizedResponse)
def _randomized_response(event: basic.RandomizedResponse) -> RenyiCurve:
    return ResponseCurve(_loss(event.loss), event.categories)


@RENYI.prices(basic.Exponential)
def _exponential(event: basic.Exponential) -> RenyiCurve:
    # Bounded range: holds for the exponential mechanism and not for permute-and-flip.
    return BoundedRangeCurve(_loss(event.loss))


@RENYI.prices(basic.Pure)
@RENYI.prices(basic.PermuteAndFlip)
@RENYI.prices(basic.NoisyMax)
@RENYI.prices(basic.SparseVector)
def _pure(event: basic.Pure) -> RenyiCurve:
    return pure(event.loss)


@RENYI.prices(Nothing)
def _nothing(event: Nothing) -> RenyiCurve:
    return ZeroCurve()


@RENYI.prices(Composed)
def _composed(event: Composed) -> RenyiCurve:
    return total((RENYI.price(part), 1) for part in event.parts)


@RENYI.prices(Repeated)
def _repeated(event: Repeated) -> RenyiCurve:
    return RENYI.price(event.event).times(event.times)


@RENYI.prices(PoissonSampled)
def _poisson_sampled(event: PoissonSampled) -> RenyiCurve:
    return poisson(RENYI.price(event.event), rounded_up(exact(event.rate)))


@RENYI.prices(FixedSizeSampled)
def _fixed_size_sampled(event: FixedSizeSampled) -> RenyiCurve:
    return fixed_size(RENYI.price(event.event), event.size, event.of)
