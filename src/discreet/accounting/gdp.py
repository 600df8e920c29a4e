"""The Gaussian accountant: mu adds up in squares, for what provably is Gaussian-private.

Gaussian noise of z sensitivities is 1/z-GDP. Pure events cost the least mu that holds for them
(:mod:`discreet.accounting.tight_mu`), those without a price of their own here as much as the worst
pure event. Subsampled Gaussian noise is refused: what a central limit theorem says of it is no
bound. Source: 004a:D6, modern-learn:13. Proof: ``proofs/tight_mu.md``.
"""

from __future__ import annotations

import math

from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon
from discreet.accounting.pure import PURE
from discreet.accounting.tight_mu import (
    bounded_range_mu,
    geometric_mu,
    laplace_mu,
    pure_mu,
    response_mu,
)
from discreet.core.accountant import Accountant, finite_price
from discreet.core.errors import Unpriced
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Repeated
from discreet.core.guarantee import GaussianDP
from discreet.core.parameters import exact, rounded_down, rounded_up
from discreet.core.pricing import reports

_MARGIN = 1 + 1e-13
_LEAST = 1e-300
"""Smaller squares count as this much: floats below it lose their digits."""


class GaussianAccountant(Accountant[float]):
    """Price: mu squared, rounded up; infinite beyond floats.

    Guarantee: mu-GDP, and the curve of N(0,1) and N(mu,1).
    """

    def price(self, event: Event) -> float:
        """Own prices first; any purely priced event through its two-line curve."""
        if not self.knows(event) and PURE.knows(event):
            try:
                loss = rounded_up(PURE.price(event))
            except Unpriced:
                return super().price(event)
            return _squared(pure_mu(loss)) if loss else 0.0
        return super().price(event)

    def epsilon(self, event: Event, delta: float) -> float:
        """From the exact Gaussian curve."""
        square = self.price(event) * _MARGIN
        if square == 0:
            return 0.0
        endless = delta == 0 or math.isinf(square)
        return math.inf if endless else gaussian_epsilon(1 / math.sqrt(square), delta)

    def delta(self, event: Event, epsilon: float) -> float:
        """From the exact Gaussian curve."""
        square = self.price(event) * _MARGIN
        if math.isinf(square):
            return 1.0
        return gaussian_delta(1 / math.sqrt(square), epsilon) if square else 0.0


GAUSSIAN = GaussianAccountant()


@GAUSSIAN.prices(basic.Gaussian)
def _gaussian(event: basic.Gaussian) -> float:
    return max(rounded_up(1 / exact(event.noise_multiplier) ** 2), _LEAST)


def _squared(mu: float) -> float:
    return max(mu * mu * _MARGIN, _LEAST)


@GAUSSIAN.prices(basic.Laplace)
def _laplace(event: basic.Laplace) -> float:
    return _squared(laplace_mu(rounded_up(exact(event.loss))))


@GAUSSIAN.prices(basic.DiscreteLaplace)
def _discrete_laplace(event: basic.DiscreteLaplace) -> float:
    steps = rounded_down(event.steps)
    return _squared(geometric_mu(rounded_up(exact(event.loss)), steps))


@GAUSSIAN.prices(basic.RandomizedResponse)
def _randomized_response(event: basic.RandomizedResponse) -> float:
    categories = rounded_down(event.categories)
    return _squared(response_mu(rounded_up(exact(event.loss)), categories))


@GAUSSIAN.prices(basic.Exponential)
def _exponential(event: basic.Exponential) -> float:
    # Bounded range: holds for the exponential mechanism and not for permute-and-flip.
    return _squared(bounded_range_mu(rounded_up(exact(event.loss))))


@GAUSSIAN.prices(Composed)
def _composed(event: Composed) -> float:
    return math.fsum(GAUSSIAN.price(part) for part in event.parts) * _MARGIN


@GAUSSIAN.prices(Repeated)
def _repeated(event: Repeated) -> float:
    one = GAUSSIAN.price(event.event)
    return rounded_up(event.times) * one * _MARGIN if one else 0.0


@reports("gdp")
def _report(event: Event) -> GaussianDP:
    mu = math.sqrt(GAUSSIAN.price(event)) * _MARGIN
    return GaussianDP(mu=finite_price(mu, event))
