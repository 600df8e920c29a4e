"""The pure accountant: epsilons add up, exactly, in rational arithmetic.

Source: 000a:D1, 004a:A4. Valid under fully adaptive choice of events.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.accountant import Accountant
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Nothing, Repeated
from discreet.core.parameters import Number, exact, rounded_down, rounded_up


class PureAccountant(Accountant[Fraction]):
    """Price: the epsilon of a pure guarantee, as an exact rational.

    Guarantee: the composition of events is pure with the sum of their epsilons.
    """

    adds_exactly = True

    def epsilon(self, event: Event, delta: Number) -> float:
        """The sum; a positive delta buys nothing here."""
        return rounded_up(self.price(event))

    def delta(self, event: Event, epsilon: Number) -> float:
        """Zero from the total on; below it, what the worst pure mechanism would need.

        Every pure mechanism is post-processing of binary randomized response at the same total
        E, whose delta at e < E is (exp(E) - exp(e)) / (exp(E) + 1).
        """
        price, spend = self.price(event), exact(epsilon)
        if spend >= price:
            return 0.0
        total = rounded_up(price)
        share = -math.expm1(rounded_down(spend) - total) / (1 + math.exp(-total))
        return min(1.0, share * (1 + 2.0**-49))


PURE = PureAccountant()


def _loss(event: basic.Pure) -> Fraction:
    return exact(event.loss)


for _kind in (
    basic.Pure,
    basic.Laplace,
    basic.DiscreteLaplace,
    basic.Exponential,
    basic.PermuteAndFlip,
    basic.NoisyMax,
    basic.RandomizedResponse,
    basic.SparseVector,
):
    PURE.prices(_kind)(_loss)


@PURE.prices(Nothing)
def _nothing(event: Nothing) -> Fraction:
    return Fraction(0)


@PURE.prices(Composed)
def _composed(event: Composed) -> Fraction:
    return sum((PURE.price(part) for part in event.parts), Fraction(0))


@PURE.prices(Repeated)
def _repeated(event: Repeated) -> Fraction:
    return event.times * PURE.price(event.event)
