"""The two normal laws on a grid: the continuous one rounded, and the discrete one.

The two differ: at sigma of half a step their variances are .3254 and .2150 squared steps.

Source: modern-data:C1, N1; 000a:C5, 004a:B7. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Companion, Distribution

_TABULATED = 4096.0
_FAR = 41
"""Below sigma of one step, nothing lies further out than this many steps."""
_HARMONICS = 2 * math.pi * np.arange(-1, 2)


@dataclass(frozen=True)
class RoundedGaussian(Distribution):
    """The normal law of standard deviation ``sigma``, rounded to multiples of ``step``.

    >>> round(RoundedGaussian(sigma=0.5, step=1).std ** 2, 6)
    0.325413
    """

    kind = "rounded_gaussian"
    written = "sigma step"

    sigma: float
    step: float

    @property
    def spread(self) -> float:
        """Sigma before rounding."""
        return self.sigma

    @property
    def companion(self) -> Companion:
        """The normal law before rounding, plus a uniform for the rounding."""
        return Companion(0.0, 0.0, self.sigma, self.step, self.step / 2)

    def _variance(self, s: float) -> float:
        if s >= 4:
            return s * s + 1 / 12  # by Poisson summation the rest is below exp(-2 pi**2 s**2)
        k = np.arange(1.0, 4 * _FAR)
        return float(np.sum((2 * k - 1) * 2 * ndtr(-(k - 0.5) / s)))

    def _beyond(self, m: Floats | np.float64) -> Floats:
        return np.asarray(2 * ndtr(-(m + 0.5) * (self.step / self.sigma)))

    def _reach(self, alpha: float, s: float) -> float:
        return -s * float(ndtri(alpha / 2)) - 0.5

    def _transform(self, u: Floats) -> Floats:
        s = self.sigma / self.step
        if s < 1:
            k = np.arange(1.0, _FAR)
            mass = 2 * (ndtr(-(k - 0.5) / s) - ndtr(-(k + 0.5) / s))
            return 1 - 2 * float(ndtr(-0.5 / s)) + np.tensordot(np.cos(u[..., None] * k), mass, 1)
        shifted = _within_pi(u)[..., None] + _HARMONICS
        damped = np.exp(-0.5 * (s * shifted) ** 2) * np.sinc(shifted / (2 * math.pi))
        return np.asarray(damped.sum(axis=-1))


@dataclass(frozen=True)
class DiscreteGaussianDistribution(Distribution):
    """P(z) proportional to exp(-z**2 / 2 ``sigma``**2) on the multiples z of ``step``.

    >>> round(DiscreteGaussianDistribution(sigma=0.5, step=1).std ** 2, 6)
    0.215013
    """

    kind = "discrete_gaussian"
    written = "sigma step"

    sigma: float
    step: float

    @property
    def spread(self) -> float:
        """Sigma, the parameter; the standard deviation is less where steps are coarse."""
        return self.sigma

    @property
    def companion(self) -> Companion:
        """The normal law of the same sigma."""
        return Companion(0.0, 0.0, self.sigma, 0.0, self.step)

    def _variance(self, s: float) -> float:
        if s >= 4:
            return s * s
        k = np.arange(1.0, 4 * _FAR)
        weights = 2 * np.exp(-0.5 * (k / s) ** 2)
        return float(np.sum(k * k * weights) / (1 + np.sum(weights)))

    def _beyond(self, m: Floats | np.float64) -> Floats:
        s = self.sigma / self.step
        if s <= _TABULATED:
            table = _tails(s)
            return table[np.minimum(m, len(table) - 1).astype(np.int64)]
        # The midpoint rule for the sum over k > m, with its first correction.
        edge = (m + 0.5) / s
        density = np.exp(-0.5 * edge * edge) / math.sqrt(2 * math.pi)
        return np.asarray(2 * (ndtr(-edge) - edge * density / (24 * s * s)))

    def _reach(self, alpha: float, s: float) -> float:
        return -s * float(ndtri(alpha / 2)) - 0.5

    def _transform(self, u: Floats) -> Floats:
        s = self.sigma / self.step
        if s < 1:
            k = np.arange(1.0, _FAR)
            weights = 2 * np.exp(-0.5 * (k / s) ** 2)
            total = 1 + float(weights.sum())
            return (1 + np.tensordot(np.cos(u[..., None] * k), weights, 1)) / total
        damped = np.exp(-0.5 * (s * (_within_pi(u)[..., None] + _HARMONICS)) ** 2)
        return np.asarray(damped.sum(axis=-1) / np.exp(-0.5 * (s * _HARMONICS) ** 2).sum())


def _within_pi(u: Floats) -> Floats:
    return np.asarray(np.remainder(u + math.pi, 2 * math.pi) - math.pi)


@lru_cache(maxsize=64)
def _tails(s: float) -> Floats:
    """P(|Z| > m steps) for m = 0, 1, … until it vanishes; discrete normal of s steps."""
    k = np.arange(0.0, math.ceil(39 * s) + 2)
    weights = np.exp(-0.5 * (k / s) ** 2)
    weights[1:] *= 2
    beyond = np.append(weights[:0:-1].cumsum()[::-1], 0.0)
    tails: Floats = beyond / (weights[0] + beyond[0])
    tails.flags.writeable = False
    return tails
