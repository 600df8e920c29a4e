"""The Gaussian accountant: mu adds up in squares, for what provably is Gaussian-private.

Gaussian noise of z sensitivities is 1/z-GDP. A pure epsilon event is mu-GDP with
mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)): its trade-off curve is made of two lines through the
point where both errors are 1/(1 + e^epsilon), and the convex Gaussian curve through that point
lies below them. Subsampled Gaussian noise is refused: what a central limit theorem says of it is
no bound. Source: 004a:D6, modern-learn:13. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math

from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon
from discreet.accounting.pure import PURE
from discreet.core.accountant import Accountant
from discreet.core.errors import Unpriced
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Repeated
from discreet.core.guarantee import GaussianDP
from discreet.core.parameters import exact, rounded_up
from discreet.core.pricing import reports

_MARGIN = 1 + 1e-13


class GaussianAccountant(Accountant[float]):
    """Price: mu squared, rounded up. Guarantee: mu-GDP, and the curve of N(0,1) and N(mu,1)."""

    def price(self, event: Event) -> float:
        """Own prices first; any purely priced event through its two-line curve."""
        if not self.knows(event) and PURE.knows(event):
            try:
                return pure_mu(rounded_up(PURE.price(event))) ** 2 * _MARGIN
            except Unpriced:
                return super().price(event)
        return super().price(event)

    def epsilon(self, event: Event, delta: float) -> float:
        """From the exact Gaussian curve."""
        square = self.price(event)
        if square == 0:
            return 0.0
        return math.inf if delta == 0 else gaussian_epsilon(1 / math.sqrt(square * _MARGIN), delta)

    def delta(self, event: Event, epsilon: float) -> float:
        """From the exact Gaussian curve."""
        square = self.price(event)
        return gaussian_delta(1 / math.sqrt(square * _MARGIN), epsilon) if square else 0.0


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
    return rounded_up(1 / exact(event.noise_multiplier) ** 2)


@GAUSSIAN.prices(Composed)
def _composed(event: Composed) -> float:
    return math.fsum(GAUSSIAN.price(part) for part in event.parts) * _MARGIN


@GAUSSIAN.prices(Repeated)
def _repeated(event: Repeated) -> float:
    return event.times * GAUSSIAN.price(event.event) * _MARGIN


@reports("gdp")
def _report(event: Event) -> GaussianDP:
    return GaussianDP(mu=math.sqrt(GAUSSIAN.price(event)) * _MARGIN)
