"""The Gaussian accountant: mu adds up in squares, for what provably is Gaussian-private.

Gaussian noise of z sensitivities is 1/z-GDP. A pure epsilon event is mu-GDP with
mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)): its trade-off curve is made of two lines through the
point where both errors are 1/(1 + e^epsilon), and the convex Gaussian curve through that point
lies below them. Subsampled Gaussian noise is refused: what a central limit theorem says of it is
no bound. Source: 004a:D6, modern-learn:13. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon
from discreet.accounting.pure import PURE
from discreet.core.accountant import Accountant, finite_price
from discreet.core.errors import Unpriced
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Repeated
from discreet.core.guarantee import GaussianDP
from discreet.core.parameters import exact, rounded_up
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
                mu = pure_mu(rounded_up(PURE.price(event)))
            except Unpriced:
                return super().price(event)
            return max(mu * mu * _MARGIN, _LEAST) if mu else 0.0
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


def pure_mu(epsilon: float) -> float:
    """The mu of a pure epsilon guarantee, rounded up."""
    from scipy.special import erfinv, ndtri_exp  # loaded on first use: SciPy is slow to import

    if epsilon < 1:
        # Phi(mu/2) - 1/2 = tanh(epsilon/2)/2, which small epsilon does not make cancel.
        return math.sqrt(8) * float(erfinv(math.tanh(epsilon / 2))) * _MARGIN
    # Phi^-1 of 1/(1 + e^epsilon), from its logarithm so that large epsilon keeps its digits.
    return -2 * float(ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon)))) * _MARGIN


GAUSSIAN = GaussianAccountant()


@GAUSSIAN.prices(basic.Gaussian)
def _gaussian(event: basic.Gaussian) -> float:
    return max(rounded_up(1 / exact(event.noise_multiplier) ** 2), _LEAST)


@GAUSSIAN.prices(Composed)
def _composed(event: Composed) -> float:
    return math.fsum(GAUSSIAN.price(part) for part in event.parts) * _MARGIN


@GAUSSIAN.prices(Repeated)
def _repeated(event: Repeated) -> float:
    one = GAUSSIAN.price(event.event)
    return rounded_up(Fraction(event.times)) * one * _MARGIN if one else 0.0


@reports("gdp")
def _report(event: Event) -> GaussianDP:
    mu = math.sqrt(GAUSSIAN.price(event)) * _MARGIN
    return GaussianDP(mu=finite_price(mu, event))
