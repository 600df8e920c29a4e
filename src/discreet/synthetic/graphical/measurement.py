"""What was measured: noisy counts of a marginal, and how noisy they are.

Source: modern-data:A3 (weights are 1/variance, not 1/deviation).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.synthetic.graphical.junction_tree import Places


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """Noisy counts over some attributes, in increasing order of their places."""

    places: Places
    values: Floats
    variance: Floats | float
    """Of each count's noise, or of all of them."""

    @property
    def deviation(self) -> float:
        """The root of the mean variance."""
        return math.sqrt(float(np.mean(self.variance)))

    def joined(self, other: NoisyMarginal) -> NoisyMarginal:
        """Two measurements of one marginal as one, weighted by the inverse of their variances."""
        first, second = 1 / np.asarray(self.variance), 1 / np.asarray(other.variance)
        values = (self.values * first + other.values * second) / (first + second)
        variance = 1 / (first + second)
        return NoisyMarginal(
            self.places, values, float(variance) if variance.ndim == 0 else variance
        )


def distinct(measured: Iterable[NoisyMarginal]) -> list[NoisyMarginal]:
    """Each marginal once, in the order of first appearance."""
    found: dict[Places, NoisyMarginal] = {}
    for each in measured:
        before = found.get(each.places)
        found[each.places] = each if before is None else before.joined(each)
    return list(found.values())


def noisy_total(measured: Sequence[NoisyMarginal]) -> float:
    """The number of records: the mean of all marginals' sums, by inverse variance; at least one.

    >>> sums = [np.array([30.0, 50.0]), np.array([70.0, 30.0])]
    >>> pair = zip(sums, (1.0, 4.0), strict=True)
    >>> noisy_total([NoisyMarginal((i,), y, v) for i, (y, v) in enumerate(pair)])
    84.0
    """
    weights, sums = [], []
    for each in measured:
        spread = float(np.sum(np.broadcast_to(np.asarray(each.variance), each.values.shape)))
        weights.append(1 / spread if spread else math.inf)
        sums.append(float(each.values.sum()))
    if math.inf in weights:
        weights = [1.0 if weight == math.inf else 0.0 for weight in weights]
    return max(1.0, math.fsum(w * s for w, s in zip(weights, sums, strict=True)) / sum(weights))
