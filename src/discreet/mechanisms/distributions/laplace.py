"""The two Laplace laws on a grid: the continuous one rounded, and the geometric one.

Source: modern-data:C1; 000a:C2, 004a:B5. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Companion, Distribution


@dataclass(frozen=True)
class RoundedLaplace(Distribution):
    """The continuous Laplace law of ``scale``, rounded to multiples of ``step``.

    >>> RoundedLaplace(scale=10, step=1).half_width(0.95)
    30.0
    """

    kind = "rounded_laplace"
    written = "scale step"

    scale: float
    step: float

    @property
    def spread(self) -> float:
        return self.scale

    @property
    def companion(self) -> Companion:
        """The Laplace law before rounding, plus a uniform for the rounding."""
        return Companion(self.scale, 1.0, 0.0, self.step, self.step / 2)

    def _variance(self, s: float) -> float:
        # The sum of (2k - 1) exp(-(k - 1/2)/s), which is cosh(u) / 2 sinh(u)**2 with u = 1/2s.
        u = 0.5 / s
        return math.exp(-u) * (1 + math.exp(-2 * u)) / math.expm1(-2 * u) ** 2

    def _beyond(self, m: Floats | np.float64) -> Floats:
        beyond: Floats = np.exp(-(m + 0.5) * (self.step / self.scale))
        return beyond

    def _reach(self, alpha: float, s: float) -> float:
        return -s * math.log(alpha) - 0.5

    def _transform(self, u: Floats) -> Floats:
        square, q = _sinh_squared(0.5 * self.step / self.scale), np.sin(u / 2) ** 2
        # 1 - q cosh / (sinh**2 + q), divided by sinh**2 so that nothing overflows.
        return 1 - q * (math.sqrt(1 + square) / square) / (1 + q / square)


@dataclass(frozen=True)
class DiscreteLaplaceDistribution(Distribution):
    """P(z) proportional to exp(-|z| / ``scale``) on the multiples z of ``step``.

    >>> distribution = DiscreteLaplaceDistribution(scale=1, step=1)
    >>> distribution.half_width(0.95), round(distribution.tail(3), 5)
    (3.0, 0.02678)
    """

    kind = "discrete_laplace"
    written = "scale step"

    scale: float
    step: float

    @property
    def spread(self) -> float:
        return self.scale

    @property
    def companion(self) -> Companion:
        """The same density sampled: of total mass tanh(u)/u with u = step / 2 scale."""
        u = 0.5 * self.step / self.scale
        return Companion(self.scale, math.tanh(u) / u, 0.0, 0.0, self.step)

    def _variance(self, s: float) -> float:
        return 2 * math.exp(-1 / s) / math.expm1(-1 / s) ** 2

    def _beyond(self, m: Floats | np.float64) -> Floats:
        rate = self.step / self.scale
        beyond: Floats = np.exp(-(m + 1) * rate) * (2 / (1 + math.exp(-rate)))
        return beyond

    def _reach(self, alpha: float, s: float) -> float:
        return s * (math.log(2 / alpha) - math.log1p(math.exp(-1 / s))) - 1

    def _transform(self, u: Floats) -> Floats:
        return 1 / (1 + np.sin(u / 2) ** 2 / _sinh_squared(0.5 * self.step / self.scale))


def _sinh_squared(x: float) -> float:
    return math.sinh(min(x, 150.0)) ** 2
