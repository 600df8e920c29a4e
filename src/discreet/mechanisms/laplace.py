"""The Laplace mechanism: the continuous law rounded to a public grid, drawn exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Laplace as LaplaceEvent
from discreet.core.metric import L1, Metric
from discreet.core.parameters import Number, exact
from discreet.mechanisms import grid
from discreet.mechanisms.additive import Additive, joint_tail, positive_error, whole_bound
from discreet.noise import SYSTEM, Source, rounded_laplace


@dataclass(frozen=True, kw_only=True)
class Laplace(Additive):
    """Adds Laplace noise of scale ``sensitivity / epsilon`` to each coordinate.

    Assumptions: ``sensitivity`` bounds the L1 distance of the released vector between
    neighbouring data sets; shape and kind (whole or real) of the input are public.

    Contract: integers in, integers out (grid of whole numbers, sensitivity rounded up to it);
    reals are rounded to a public power of two, at most 2**-30 of the scale, with the rounding
    added to the sensitivity.

    Guarantee: pure epsilon-differential privacy, exactly; the output is post-processing of the
    continuous Laplace mechanism, so every price of the continuous law holds.

    >>> Laplace(epsilon=0.5, sensitivity=1).event.epsilon(delta=0)
    0.5
    >>> round(Laplace(epsilon=1, sensitivity=1).error(confidence=0.95), 4)
    2.9957

    Source: 000a:C2–C4, 004a:B3, 004d:F24; contract, "Numbers". Proof: ``proofs/grid.md``.
    """

    epsilon: Number

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive and finite."""
        super().__post_init__()
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        sensitivity: Number,
        size: int = 1,
        kind: type = float,
        randomness: Source = SYSTEM,
    ) -> Self:
        """The cheapest mechanism whose largest error is at most ``error`` at ``confidence``.

        >>> round(Laplace.for_error(5, confidence=0.95, sensitivity=1).epsilon, 4)
        0.5991
        """
        wanted = positive_error(error)
        # Whole-number noise exceeds t exactly when the continuous noise exceeds t + 1/2.
        reach = whole_bound(wanted) + 0.5 if kind is int else wanted
        sensitive = math.ceil(exact(sensitivity)) if kind is int else sensitivity
        tail = joint_tail(confidence, size)
        epsilon = float(sensitive) * -math.log(tail) / reach
        mechanism = cls(epsilon=epsilon, sensitivity=sensitivity, randomness=randomness)
        while (reached := mechanism.error(confidence=confidence, size=size, kind=kind)) > wanted:
            epsilon *= 1 + 2.0**-50 if kind is int else max(reached / wanted, 1 + 2.0**-50)
            mechanism = cls(epsilon=epsilon, sensitivity=sensitivity, randomness=randomness)
        return mechanism

    @staticmethod
    def _metric() -> type[Metric]:
        return L1

    def _scale_per_sensitivity(self) -> Fraction:
        return 1 / exact(self.epsilon)

    def _in_steps(self, distance: Fraction, exponent: int, size: int, kind: type) -> Fraction:
        if kind is int:
            return Fraction(math.ceil(distance))
        return Fraction(math.ceil(distance / Fraction(2) ** exponent) + size)

    def _event(self, share: Fraction) -> Event:
        return LaplaceEvent(epsilon=self.epsilon if share == 1 else exact(self.epsilon) * share)

    def _draw(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        return rounded_laplace(scale, size, self.randomness)

    def _quantile(self, tail: float, scale: float, kind: type) -> float:
        reach = -scale * math.log(tail)
        return float(max(0, math.ceil(reach - 0.5))) if kind is int else reach
