"""The approximate accountant: pure parts and deltas add up, Gaussian parts combine exactly.

A composition of Gaussian events is itself Gaussian, with 1/z**2 adding up, so the whole of them
is priced by one exact curve; the rest is summed. Tighter accountants come on top.

Source: 000a:D1 (Thm 3.16), 000a:C5, 004a:A4. For events fixed in advance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.gaussian import gaussian_delta, gaussian_epsilon
from discreet.accounting.pure import PURE
from discreet.core.accountant import Accountant
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Repeated
from discreet.core.parameters import Number, exact, rounded_down, rounded_up


@dataclass(frozen=True)
class ApproxPrice:
    """What adds up: pure losses, deltas, and inverse squared Gaussian multipliers."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    inverse_squares: Fraction = Fraction(0)

    def __add__(self, other: ApproxPrice) -> ApproxPrice:
        return ApproxPrice(
            self.epsilon + other.epsilon,
            self.delta + other.delta,
            self.inverse_squares + other.inverse_squares,
        )

    def times(self, k: int) -> ApproxPrice:
        """The price of ``k`` such events together."""
        return ApproxPrice(k * self.epsilon, k * self.delta, k * self.inverse_squares)

    def noise_multiplier(self) -> float:
        """The single Gaussian that equals all Gaussian parts, rounded down."""
        square = 1 / self.inverse_squares
        root = math.sqrt(rounded_down(square))
        above = math.nextafter(root, math.inf)
        fitting = [z for z in (above, root) if Fraction(z) ** 2 <= square]
        return fitting[0] if fitting else math.nextafter(root, 0)


class ApproxAccountant(Accountant[ApproxPrice]):
    """Price: :class:`ApproxPrice`. Guarantee: (epsilon, delta), by basic composition."""

    adds_exactly = True

    def price(self, event: Event) -> ApproxPrice:
        """Own prices first; whatever else is purely priced, by others included, adds up."""
        if not self.knows(event) and PURE.knows(event):
            return ApproxPrice(epsilon=PURE.price(event))
        return super().price(event)

    def epsilon(self, event: Event, delta: Number) -> float:
        """Pure parts, plus the Gaussian parts at whatever delta is left."""
        sums = self.price(event)
        left = exact(delta) - sums.delta
        if left < 0 or (left == 0 and sums.inverse_squares):
            return math.inf
        if not sums.inverse_squares:
            return rounded_up(sums.epsilon)
        multiplier = sums.noise_multiplier()
        if multiplier == 0:
            return math.inf
        gaussian = gaussian_epsilon(multiplier, rounded_down(left))
        if math.isinf(gaussian):
            return math.inf
        return rounded_up(sums.epsilon + exact(gaussian))

    def delta(self, event: Event, epsilon: Number) -> float:
        """Summed deltas, plus the Gaussian curve at whatever epsilon is left."""
        sums = self.price(event)
        left = exact(epsilon) - sums.epsilon
        if left < 0:
            return 1.0
        if not sums.inverse_squares:
            return min(1.0, rounded_up(sums.delta))
        multiplier = sums.noise_multiplier()
        gaussian = gaussian_delta(multiplier, rounded_down(left)) if multiplier else 1.0
        return min(1.0, rounded_up(sums.delta + exact(gaussian)))


APPROX = ApproxAccountant()


@APPROX.prices(basic.Gaussian)
def _gaussian(event: basic.Gaussian) -> ApproxPrice:
    return ApproxPrice(inverse_squares=1 / exact(event.noise_multiplier) ** 2)


@APPROX.prices(basic.Approximate)
def _approximate(event: basic.Approximate) -> ApproxPrice:
    return ApproxPrice(epsilon=exact(event.loss), delta=exact(event.slack))


@APPROX.prices(Composed)
def _composed(event: Composed) -> ApproxPrice:
    return sum((APPROX.price(part) for part in event.parts), ApproxPrice())


@APPROX.prices(Repeated)
def _repeated(event: Repeated) -> ApproxPrice:
    return APPROX.price(event.event).times(event.times)
