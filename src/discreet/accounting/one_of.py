"""Prices of a choice that looks at no data: under every accountant the largest of the parts'.

Given what was chosen, the release is one of the parts, and each loses at most the largest price.
Averaged over a choice that is the same for neighbouring data, it loses no more: the hockey-stick
divergence and the exponential of the Rényi divergence are jointly convex. Where a price is made of
several numbers that add up, the largest of each is taken, since every bound grows with each.

Source: 000a:A6 (convex mixtures), 004a:A6. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from discreet.accounting.approx import APPROX, ApproxPrice
from discreet.accounting.approx_zcdp import APPROXIMATELY_CONCENTRATED, ApproxZCDPPrice
from discreet.accounting.gdp import GAUSSIAN
from discreet.accounting.pure import PURE
from discreet.accounting.rdp.accountant import RENYI
from discreet.accounting.rdp.curve import RenyiCurve
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core import pricing
from discreet.core.accountant import Accountant
from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.events.one_of import OneOf
from discreet.core.parameters import Number


class WorstPart(Accountant[tuple[Event, ...]]):
    """Price: the parts. Guarantee: what holds for each of them, by whichever accountant."""

    adds_exactly = True

    def epsilon(self, event: Event, delta: Number) -> float:
        """The largest of the least epsilons of the parts."""
        return max(pricing.epsilon(part, delta) for part in self.price(event))

    def delta(self, event: Event, epsilon: Number) -> float:
        """The largest of the least deltas of the parts."""
        return max(pricing.delta(part, epsilon) for part in self.price(event))


WORST_PART = WorstPart()


@dataclass(frozen=True)
class LargestCurve(RenyiCurve):
    """At every order the largest of several curves."""

    curves: tuple[RenyiCurve, ...]

    @property
    def ceiling(self) -> float:
        return max(curve.ceiling for curve in self.curves)

    def bounds(self, orders: Floats) -> Floats:
        values = [np.minimum(curve.bounds(orders), curve.ceiling) for curve in self.curves]
        return reduce(np.maximum, values)


@WORST_PART.prices(OneOf)
def _parts(event: OneOf) -> tuple[Event, ...]:
    return event.parts


@PURE.prices(OneOf)
def _pure(event: OneOf) -> Fraction:
    return max(PURE.price(part) for part in event.parts)


@APPROX.prices(OneOf)
def _approx(event: OneOf) -> ApproxPrice:
    prices = [APPROX.price(part) for part in event.parts]
    return ApproxPrice(
        max(price.epsilon for price in prices),
        max(price.delta for price in prices),
        max(price.inverse_squares for price in prices),
    )


@ZERO_CONCENTRATED.prices(OneOf)
def _zcdp(event: OneOf) -> Fraction:
    return max(ZERO_CONCENTRATED.price(part) for part in event.parts)


@APPROXIMATELY_CONCENTRATED.prices(OneOf)
def _approx_zcdp(event: OneOf) -> ApproxZCDPPrice:
    prices = [APPROXIMATELY_CONCENTRATED.price(part) for part in event.parts]
    return ApproxZCDPPrice(max(price.rho for price in prices), max(price.delta for price in prices))


@GAUSSIAN.prices(OneOf)
def _gaussian(event: OneOf) -> float:
    return max(GAUSSIAN.price(part) for part in event.parts)


@RENYI.prices(OneOf)
def _renyi(event: OneOf) -> RenyiCurve:
    return LargestCurve(tuple(RENYI.price(part) for part in event.parts))
