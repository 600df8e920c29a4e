"""The Gaussian mechanism: the continuous law rounded to a public grid, analytic calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Gaussian as GaussianEvent
from discreet.core.metric import L2, Metric
from discreet.core.parameters import Number, exact, finite
from discreet.mechanisms import grid
from discreet.mechanisms.additive import Additive, joint_tail, positive_error, whole_bound
from discreet.mechanisms.grid import sqrt_above
from discreet.noise import SYSTEM, Source, rounded_gaussian


@dataclass(frozen=True, kw_only=True)
class Gaussian(Additive):
    """Adds normal noise, as little as (epsilon, delta) allows, to each coordinate.

    Assumptions: ``sensitivity`` bounds the L2 distance of the released vector between
    neighbouring data sets; shape and kind (whole or real) of the input are
    public.

    Contract: integers in, integers out; reals are rounded to a public power of two, at most
    2**-30 of sigma, with the rounding added to the sensitivity. Calibrated by the exact curve
    at any epsilon > 0; the classic formula, wrong above one, is not used.

    Guarantee: (epsilon, delta)-differential privacy, and every price of a continuous Gaussian
    of which the output is post-processing, in any dimension.

    >>> round(Gaussian(epsilon=1, delta=1e-5, sensitivity=1).noise_multiplier, 5)
    3.73063

    Source: 000a:C5, 004a:B6, 004a:B7; contract, "Numbers". Proof: ``proofs/grid.md``.
    """

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        """Refuse parameters out of range, delta = 0 included."""
        super().__post_init__()
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "delta", finite("delta", self.delta))
        # Evaluated now, so that impossible parameters fail when the mechanism is built.
        _ = self.noise_multiplier

    @cached_property
    def noise_multiplier(self) -> float:
        """Sigma over sensitivity, rounded up."""
        from discreet.accounting.gaussian import gaussian_multiplier  # loads all accountants

        return gaussian_multiplier(self.epsilon, self.delta)

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        delta: Number,
        sensitivity: Number,
        size: int = 1,
        kind: type = float,
        randomness: Source = SYSTEM,
    ) -> Self:
        """The cheapest mechanism at ``delta`` whose largest error is at most ``error``."""
        from discreet.accounting.gaussian import gaussian_epsilon  # loads all accountants

        cls(epsilon=1, delta=delta, sensitivity=sensitivity)  # refuse what no epsilon mends
        wanted = positive_error(error)
        reach = whole_bound(wanted) + 0.5 if kind is int else wanted
        unit = float(grid.ordinary("sensitivity", sensitivity))
        multiplier = reach / _two_sided_quantile(joint_tail(confidence, size)) / unit
        while True:
            # Where even epsilon zero would do, the least one that a mechanism takes.
            epsilon = max(gaussian_epsilon(multiplier, delta), 2.0**-400)
            mechanism = cls(
                epsilon=epsilon, delta=delta, sensitivity=sensitivity, randomness=randomness
            )
            reached = mechanism.error(confidence=confidence, size=size, kind=kind)
            if reached <= wanted:
                return mechanism
            multiplier *= 1 - 2.0**-50 if kind is int else min(wanted / reached, 1 - 2.0**-50)

    @staticmethod
    def _metric() -> type[Metric]:
        return L2

    def _scale_per_sensitivity(self) -> Fraction:
        return exact(self.noise_multiplier)

    def _in_steps(self, distance: Fraction, exponent: int, size: int, kind: type) -> Fraction:
        if kind is int:
            # Euclidean distances of whole vectors are roots; rounding them up would only waste.
            return distance
        return distance / Fraction(2) ** exponent + sqrt_above(Fraction(size))

    def _event(self, share: Fraction) -> Event:
        if share == 1:
            return GaussianEvent(self.noise_multiplier)
        return GaussianEvent(exact(self.noise_multiplier) / share)

    def _draw(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        return rounded_gaussian(scale, size, self.randomness)

    def _quantile(self, tail: float, scale: float, kind: type) -> float:
        reach = scale * _two_sided_quantile(tail)
        return float(max(0, math.ceil(reach - 0.5))) if kind is int else reach


def _two_sided_quantile(tail: float) -> float:
    from scipy.special import ndtri  # loaded on first use: SciPy is slow to import

    return float(-ndtri(tail / 2))
