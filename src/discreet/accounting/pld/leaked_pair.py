"""A pair that, with some probability, tells everything: the price of an approximation.

Discrete noise of many grid steps is all but post-processing of continuous noise. Draw a normal y of
variance sigma**2 - r**2, then an integer by the discrete law of parameter r around y: for the r
chosen here the result has, up to a factor of 1 - 4 exp(-2 pi**2 r**2) for each coordinate that
moves, the law of discrete noise of sigma. What the factor leaves out is counted as leaked. This
holds in all dimensions and directions, and costs about 1.3 / sigma**2 of epsilon.

Source: modern-data:N1. Proof: ``proofs/discrete_gaussian.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.pld.pair import ULP, DominatingPair, NormalPair
from discreet.core.arrays import Floats
from discreet.core.parameters import rounded_up

_LEAK = 1e-22
_MARGIN = 1 + 1e-3


@dataclass(frozen=True)
class LeakedPair(DominatingPair):
    """A pair without atoms, and with probability ``leak`` an outcome that gives it away."""

    base: DominatingPair
    leak: float

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        p, q = self.base.above(losses)
        return (1 - self.leak) * p, (1 - self.leak) * q

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        p, q = self.base.below(losses)
        return (1 - self.leak) * p, (1 - self.leak) * q

    def rounding(self, losses: Floats) -> Floats:
        """That of the base, and of a product."""
        return self.base.rounding(losses) + 2 * ULP

    def blur(self, losses: Floats) -> Floats:
        return self.base.blur(losses)

    def unbounded(self) -> float:
        """The leak."""
        return self.leak

    def reach(self, tail: float) -> tuple[float, float]:
        return self.base.reach(tail)

    def distance(self) -> float:
        """All of the leak, and the rest as far as the base goes."""
        return self.leak + (1 - self.leak) * self.base.distance()


def smoothed_pair(sigma: Fraction, square: int) -> LeakedPair:
    """Discrete noise of ``sigma`` steps, moved by integers with squares up to ``square`` in all.

    Contract: sigma**2 is above ``smoothing(square)``.
    """
    spread = smoothing(square)
    variance = sigma**2 - Fraction(spread)
    mu = math.sqrt(rounded_up(square / variance)) * (1 + 4 * ULP)
    leak = math.exp(math.log(4 * square) - 2 * math.pi**2 * spread) * _MARGIN
    return LeakedPair(NormalPair(mu), leak)


def smoothing(square: int) -> float:
    """r**2: as much as makes the leak about 1e-22."""
    return (math.log(4 * square) - math.log(_LEAK)) / (2 * math.pi**2)
