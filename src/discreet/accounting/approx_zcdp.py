"""The approximate concentrated accountant: rho adds up, and so do deltas set apart.

delta-approximate rho-zCDP: but for events of probability delta on either side, the laws are
rho-zCDP. An (epsilon, delta) mechanism is delta-approximately rho-zCDP with the rho of a pure one,
epsilon tanh(epsilon / 2), since by the decomposition lemma (004a:D10) both laws are mixtures, with
weight delta, of something arbitrary and of laws within exp(±epsilon). Back: (epsilon, delta +
delta') for every (epsilon, delta') that rho-zCDP gives.

Source: 004a:D7, 004a:D9, 004a:D10. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.tight_rho import pure_rho
from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_delta, zcdp_epsilon
from discreet.core.accountant import Accountant
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Composed, Event, Repeated
from discreet.core.parameters import Number, exact, rounded_down, rounded_up


@dataclass(frozen=True)
class ApproxZCDPPrice:
    """What adds up: rho, and the delta set apart."""

    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: ApproxZCDPPrice) -> ApproxZCDPPrice:
        return ApproxZCDPPrice(self.rho + other.rho, self.delta + other.delta)


class ApproximatelyConcentrated(Accountant[ApproxZCDPPrice]):
    """Price: :class:`ApproxZCDPPrice`. Guarantee: delta-approximate rho-zCDP, and conversions."""

    adds_exactly = True

    def price(self, event: Event) -> ApproxZCDPPrice:
        """Own prices first; what has a rho needs no delta."""
        if not self.knows(event):
            return ApproxZCDPPrice(rho=ZERO_CONCENTRATED.price(event))
        return super().price(event)

    def epsilon(self, event: Event, delta: Number) -> float:
        """At the delta that is left after what was set apart."""
        apart = self.price(event)
        left = exact(delta) - apart.delta
        if left < 0 or (left == 0 and apart.rho):
            return math.inf
        return zcdp_epsilon(apart.rho, rounded_down(left))

    def delta(self, event: Event, epsilon: Number) -> float:
        """What was set apart, and what rho needs."""
        apart = self.price(event)
        needed = exact(zcdp_delta(apart.rho, epsilon))
        return min(1.0, rounded_up(apart.delta + needed))


APPROXIMATELY_CONCENTRATED = ApproximatelyConcentrated()


@APPROXIMATELY_CONCENTRATED.prices(basic.Approximate)
def _approximate(event: basic.Approximate) -> ApproxZCDPPrice:
    return ApproxZCDPPrice(pure_rho(exact(event.loss)), exact(event.slack))


@APPROXIMATELY_CONCENTRATED.prices(Composed)
def _composed(event: Composed) -> ApproxZCDPPrice:
    return sum((APPROXIMATELY_CONCENTRATED.price(part) for part in event.parts), ApproxZCDPPrice())


@APPROXIMATELY_CONCENTRATED.prices(Repeated)
def _repeated(event: Repeated) -> ApproxZCDPPrice:
    one = APPROXIMATELY_CONCENTRATED.price(event.event)
    return ApproxZCDPPrice(event.times * one.rho, event.times * one.delta)
