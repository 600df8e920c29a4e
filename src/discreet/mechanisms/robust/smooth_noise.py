"""Noise that bears both a shift and a stretch: what scaling to smooth sensitivity needs.

Between neighbours the centre moves by at most S and the scale changes by at most exp(beta). A law
is fit for this if sliding it by 1/multiplier and stretching it by exp(beta) cost epsilon together,
up to delta.

Source: 004b:A18; Nissim, Raskhodnikova and Smith 2007, whose constants are checked, and for the
Cauchy law improved threefold, in ``proofs/robust-smooth-sensitivity.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Approximate, Pure
from discreet.core.parameters import Number, exact
from discreet.mechanisms.robust.noisy_test import checked_price, log_inverse_above
from discreet.noise import Source, rounded_laplace
from discreet.noise.cauchy import rounded_cauchy

_DOWN = 1 - 2.0**-50


class SmoothNoise(ABC):
    """A law of noise with the smoothing and the scale that make it private."""

    @abstractmethod
    def beta(self, epsilon: Number) -> float:
        """Smoothing: the scale may change by exp(beta) between neighbours."""

    @abstractmethod
    def multiplier(self, epsilon: Number) -> Fraction:
        """Noise scale over smooth sensitivity."""

    @abstractmethod
    def event(self, epsilon: Number) -> Event:
        """The whole price."""

    @abstractmethod
    def draw(self, scale: Fraction, source: Source) -> int:
        """One draw in steps; beyond ±2**62 saturated, so callers clamp sums."""

    @abstractmethod
    def quantile(self, tail: float) -> float:
        """Least t, in scales, that a draw exceeds in magnitude with probability ``tail``."""


@dataclass(frozen=True, kw_only=True)
class SmoothLaplace(SmoothNoise):
    """Laplace noise of 2 S/epsilon, smoothed with beta = epsilon / 2 ln(2/delta).

    Guarantee: (epsilon, delta). For epsilon beyond about 6 ln(2/delta)/(ln(2/delta) + 1) the
    published beta is too large, so the smaller 3/(ln(2/delta) + 1) is used; likewise epsilon/2
    where delta is nearly one.

    >>> round(SmoothLaplace(delta=1e-6).beta(1), 6)
    0.034462
    """

    delta: Number

    def __post_init__(self) -> None:
        """Refuse a delta that is not positive: that is Cauchy noise's case."""
        object.__setattr__(self, "delta", checked_price(1, self.delta)[1])

    def beta(self, epsilon: Number) -> float:
        """The published value, within the range in which it is proven."""
        length = log_inverse_above(exact(self.delta) / 2)
        half = exact(epsilon) / 2
        return _DOWN * float(min(half / length, 3 / (length + 1), half))

    def multiplier(self, epsilon: Number) -> Fraction:
        """Sliding by S costs epsilon/2."""
        return 2 / exact(epsilon)

    def event(self, epsilon: Number) -> Event:
        """Known to be (epsilon, delta) and no more."""
        return Approximate(epsilon=epsilon, delta=self.delta)

    def draw(self, scale: Fraction, source: Source) -> int:
        """Continuous Laplace noise, rounded."""
        return int(rounded_laplace(scale, 1, source)[0])

    def quantile(self, tail: float) -> float:
        """ln(1/tail)."""
        return -math.log(tail)


@dataclass(frozen=True, kw_only=True)
class SmoothCauchy(SmoothNoise):
    """Cauchy noise of 2 S/epsilon, smoothed with beta = epsilon/2.

    Guarantee: pure epsilon. Stretching by exp(beta) costs exactly beta and sliding by d scales
    costs exactly 2 asinh(d/2) <= d, so the published 6 S/epsilon and epsilon/6 are three times
    more expensive than need be. Tails are heavy: one draw in a hundred exceeds 63 scales.

    >>> SmoothCauchy().beta(1) < 0.5, SmoothCauchy().multiplier(1)
    (True, Fraction(2, 1))
    """

    def beta(self, epsilon: Number) -> float:
        """Half of the price goes into stretching."""
        return _DOWN * float(exact(epsilon) / 2)

    def multiplier(self, epsilon: Number) -> Fraction:
        """The other half goes into sliding by S."""
        return 2 / exact(epsilon)

    def event(self, epsilon: Number) -> Event:
        """Known to be pure and no more."""
        return Pure(epsilon=epsilon)

    def draw(self, scale: Fraction, source: Source) -> int:
        """Continuous Cauchy noise, rounded."""
        return int(rounded_cauchy(scale, 1, source)[0])

    def quantile(self, tail: float) -> float:
        """tan(pi (1 - tail) / 2)."""
        return math.tan(math.pi * (1 - tail) / 2)
