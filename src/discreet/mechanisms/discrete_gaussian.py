"""The discrete Gaussian mechanism: integer noise priced by zero-concentrated privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import DiscreteGaussian as DiscreteGaussianEvent
from discreet.core.metric import L2, Metric
from discreet.core.parameters import Number, exact
from discreet.mechanisms import grid
from discreet.mechanisms.additive import (
    Additive,
    joint_tail,
    least_spend,
    positive_error,
    whole_bound,
)
from discreet.noise import SYSTEM, Source, discrete_gaussian


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(Additive):
    """Adds noise with P(z) proportional to exp(-z**2 / 2 sigma**2) to each integer.

    Assumptions: the released vector consists of integers (grid steps), and ``sensitivity``
    bounds its L2 distance between neighbouring data sets.

    Contract: integers in, integers out; reals are refused. ``sigma`` is
    ``sensitivity / sqrt(2 rho)``, rounded up.

    Guarantee: rho-zCDP on integer vectors of any dimension, and what it converts into. Never
    priced by the continuous Gaussian curve, which understates its delta.

    >>> DiscreteGaussian(rho=0.5, sensitivity=1).sigma
    1.0

    Source: modern-data:N1, 004a:D7; contract, "Numbers". Proof: ``proofs/gaussian.md``.
    """

    rho: Number

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive and finite."""
        super().__post_init__()
        object.__setattr__(self, "rho", grid.ordinary("rho", self.rho))

    @classmethod
    def calibrated(
        cls, *, epsilon: Number, delta: Number, sensitivity: Number, randomness: Source = SYSTEM
    ) -> Self:
        """The least noise that is (epsilon, delta)-private through zCDP."""
        from discreet.accounting.zcdp import zcdp_rho  # loads all accountants

        rho = zcdp_rho(epsilon, delta)
        return cls(rho=rho, sensitivity=sensitivity, randomness=randomness)

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        sensitivity: Number,
        size: int = 1,
        randomness: Source = SYSTEM,
    ) -> Self:
        """The least rho whose largest error is at most ``error`` at ``confidence``."""
        wanted = whole_bound(positive_error(error))

        def narrow(rho: float) -> bool:
            mechanism = cls(rho=rho, sensitivity=sensitivity)
            return mechanism.error(confidence=confidence, size=size) <= wanted

        return cls(rho=least_spend(narrow), sensitivity=sensitivity, randomness=randomness)

    @cached_property
    def noise_multiplier(self) -> Fraction:
        """Sigma over sensitivity: a rational not below 1/sqrt(2 rho)."""
        needed = 1 / (2 * exact(self.rho))
        rounded = Fraction(math.sqrt(needed))
        return rounded if rounded**2 >= needed else Fraction(math.nextafter(rounded, math.inf))

    @property
    def sigma(self) -> float:
        """The parameter of the law in grid steps."""
        return float(self._scale_in_steps(0, 1, int))

    def error(self, *, confidence: float, size: int = 1, kind: type = int) -> float:
        """The least whole number that all errors stay within at ``confidence``."""
        return self._quantile(joint_tail(confidence, size), self.sigma, int)

    @staticmethod
    def _whole_only() -> bool:
        return True

    def _exponent(self, size: int, kind: type) -> int:
        return 0

    @staticmethod
    def _metric() -> type[Metric]:
        return L2

    def _scale_per_sensitivity(self) -> Fraction:
        return self.noise_multiplier

    def _in_steps(self, distance: Fraction, exponent: int, size: int, kind: type) -> Fraction:
        return distance

    def _event(self, share: Fraction) -> Event:
        return DiscreteGaussianEvent(
            noise_multiplier=self.noise_multiplier / share, sigma=self._scale_in_steps(0, 1, int)
        )

    def _draw(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        return discrete_gaussian(scale, size, self.randomness)

    def _quantile(self, tail: float, scale: float, kind: type) -> float:
        reach = math.ceil(scale * (math.sqrt(-2 * math.log(tail)) + 4)) + 1
        if reach > 1 << 20:
            # Beyond here the two-sided normal tail, one step wider, is an upper bound.
            from scipy.special import ndtri  # loaded on first use: SciPy is slow to import

            return float(math.ceil(-scale * ndtri(tail / 2)) + 1)
        weights = np.exp(-(np.arange(reach + 1) ** 2) / (2 * scale**2))
        masses = np.concatenate((weights[:1], 2 * weights[1:]))
        beyond = masses[::-1].cumsum()[::-1] / masses.sum()
        # beyond[t] = P(|Z| >= t); the least t with P(|Z| >= t + 1) <= tail.
        return float(np.argmax(np.append(beyond[1:], 0.0) <= tail * (1 - 1e-9)))
