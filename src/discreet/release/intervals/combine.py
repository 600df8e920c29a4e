"""Several noisy versions of the same number, combined by inverse variance.

Source: contract, "Spending"; modern-data:A3, C1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.inversion import Ends
from discreet.release.intervals.linear import half_width


@dataclass(frozen=True)
class Combined:
    """The combined values, the weights that made them, and the laws of the noises they carry."""

    values: Floats
    weights: tuple[float, ...]
    laws: tuple[Distribution, ...]

    @property
    def std(self) -> float:
        """Standard deviation of the combined noise: below that of each version."""
        return float(sum(distribution.std**-2 for distribution in self.laws) ** -0.5)

    def half_width(self, confidence: float) -> float:
        """Half-width of the combined noise, from its exact law.

        >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
        >>> both = inverse_variance([[12.0], [9.0]], [RoundedLaplace(4, 1), RoundedLaplace(2, 1)])
        >>> round(both.half_width(0.95), 2), RoundedLaplace(2, 1).half_width(0.95)
        (5.21, 6.0)
        """
        return half_width(list(zip(self.weights, self.laws, strict=True)), confidence=confidence)

    def intervals(self, confidence: float) -> Ends:
        """Ends that hold each true value with probability at least ``confidence``."""
        width = self.half_width(confidence)
        return self.values - width, self.values + width


def inverse_variance(values: ArrayLike, laws: Sequence[Distribution]) -> Combined:
    """Combine versions (versions x cells, or one number each) whose noises are independent.

    Guarantee: of all weighted means, which are unbiased, the one of least variance. Weights
    depend on the laws alone.

    >>> from discreet.mechanisms.distributions.distribution import RoundedGaussian
    >>> versions = [RoundedGaussian(2, 2.0**-20), RoundedGaussian(1, 2.0**-20)]
    >>> both = inverse_variance([100.0, 80.0], versions)
    >>> round(float(both.values), 4), [round(w, 4) for w in both.weights], round(both.std, 4)
    (84.0, [0.2, 0.8], 0.8944)
    """
    versions = np.asarray(values, dtype=np.float64)
    if len(laws) == 0 or versions.ndim == 0 or len(versions) != len(laws):
        raise InvalidParameter(
            code="versions_misshapen",
            expectation="one law for each of at least one version",
            received=(versions.shape, len(laws)),
            remedy="Stack the versions along the first axis, and pass their laws in order.",
        )
    precision = np.array([distribution.std**-2 for distribution in laws])
    weights = precision / precision.sum()
    combined = np.tensordot(weights, versions, 1)
    return Combined(np.asarray(combined), tuple(weights.tolist()), tuple(laws))
