"""The discrete Laplace (geometric) mechanism: integer noise with its own event and price."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import DiscreteLaplace as DiscreteLaplaceEvent
from discreet.core.metric import L1, Metric
from discreet.core.parameters import Number, exact
from discreet.mechanisms import grid
from discreet.mechanisms.additive import (
    Additive,
    joint_tail,
    least_spend,
    positive_error,
    whole_bound,
)
from discreet.noise import SYSTEM, Source, discrete_laplace


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(Additive):
    """Adds two-sided geometric noise, P(z) proportional to exp(-|z| epsilon / sensitivity).

    Assumptions: the released vector consists of integers (grid steps), and ``sensitivity``
    bounds its L1 distance between neighbouring data sets; it is rounded up to whole steps.

    Contract: integers in, integers out; reals are refused.

    Guarantee: pure epsilon-differential privacy, exactly. A little more accurate on counts than
    rounded Laplace at the same epsilon, and a little more expensive under composition: its event
    says how many steps the sensitivity spans, and is never priced by the continuous law.

    >>> DiscreteLaplace(epsilon=1, sensitivity=1).event
    DiscreteLaplace(epsilon=1, steps=1)

    Source: 004a:B5, 000a:C2; contract, "Numbers". Proof: ``proofs/laplace.md``.
    """

    epsilon: Number

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive and finite."""
        super().__post_init__()
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))

    @property
    def steps(self) -> int:
        """The sensitivity in whole grid steps, rounded up."""
        return math.ceil(exact(self.sensitivity))

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
        """The cheapest mechanism whose largest error is at most ``error`` at ``confidence``."""
        wanted = whole_bound(positive_error(error))

        def narrow(epsilon: float) -> bool:
            mechanism = cls(epsilon=epsilon, sensitivity=sensitivity)
            return mechanism.error(confidence=confidence, size=size) <= wanted

        return cls(epsilon=least_spend(narrow), sensitivity=sensitivity, randomness=randomness)

    def error(self, *, confidence: float, size: int = 1, kind: type = int) -> float:
        """The least whole number that all errors stay within at ``confidence``."""
        return self._quantile(joint_tail(confidence, size), self.scale(size=size, kind=int), int)

    @staticmethod
    def _whole_only() -> bool:
        return True

    def _exponent(self, size: int, kind: type) -> int:
        return 0

    @staticmethod
    def _metric() -> type[Metric]:
        return L1

    def _scale_per_sensitivity(self) -> Fraction:
        return 1 / exact(self.epsilon)

    def _in_steps(self, distance: Fraction, exponent: int, size: int, kind: type) -> Fraction:
        return Fraction(math.ceil(distance))

    def _event(self, share: Fraction) -> Event:
        if share == 1:
            return DiscreteLaplaceEvent(epsilon=self.epsilon, steps=self.steps)
        steps = math.ceil(share * self.steps)
        return DiscreteLaplaceEvent(epsilon=exact(self.epsilon) * share, steps=steps)

    def _draw(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        return discrete_laplace(scale, size, self.randomness)

    def _quantile(self, tail: float, scale: float, kind: type) -> float:
        # P(|Z| > t) = 2 a**(t+1) / (1 + a) with a = exp(-1/scale).
        reach = scale * (math.log(2) - math.log1p(math.exp(-1 / scale)) - math.log(tail)) - 1
        return float(max(0, math.ceil(reach)))
