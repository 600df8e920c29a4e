"""How far sums of noise reach: exactly where that is possible, and by the book's lemma.

Source: 000b:B43 (errata: the printed Corollary 12.4 has its inequality reversed); modern-data:C1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import positive, probability
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.release.intervals.combination import Combination, combination_widths
from discreet.release.intervals.repeated import repeated_half_width

_FEW = 3
_MANY = 64


def sum_half_width(
    terms: Sequence[tuple[float, int]], noise: Distribution, *, confidence: float
) -> float:
    """An h that holds a sum of draws with at least ``confidence``; ``terms`` as (c, how many).

    Guarantee: never too narrow. The least for sums of equal draws, near it for normal noise.
    """
    counted = [(abs(c), many) for c, many in terms if c and many]
    if len(counted) <= _FEW:
        return repeated_half_width(counted, noise, confidence=confidence)
    draws = sum(many for _, many in counted)
    squares = math.fsum(many * c * c for c, many in counted)
    peak = min(1.0, max(c for c, _ in counted) ** 2 / squares)
    combined = Combination(np.array([math.sqrt(squares)]), np.array([peak]), draws)
    bounded = float(combination_widths(combined, noise, confidence=confidence)[0])
    if len(counted) > _MANY:
        return bounded
    return min(bounded, repeated_half_width(counted, noise, confidence=confidence))


def combined_half_width(coefficients: Floats, noise: Distribution, *, confidence: float) -> float:
    """The same for many draws, each with its own coefficient."""
    squares = float(np.sum(coefficients**2))
    if squares == 0:
        return 0.0
    peak = min(1.0, float(np.max(coefficients**2)) / squares)
    combined = Combination(np.array([math.sqrt(squares)]), np.array([peak]), len(coefficients))
    return float(combination_widths(combined, noise, confidence=confidence)[0])


def laplace_sum_tail(scales: Sequence[float], *, confidence: float) -> float:
    """Lemma 12.2 for a sum of Laplace variables: |Y| is within this with the given confidence.

    nu sqrt(8 ln(2/beta)) with nu = max(sqrt(sum b**2), b_max sqrt(ln(2/beta))).

    >>> round(laplace_sum_tail([10.0] * 10, confidence=0.95), 1)
    171.8
    """
    if not len(scales):
        raise InvalidParameter(
            code="nothing_to_add",
            expectation="the scales of the variables in the sum",
            remedy="Pass one scale for each Laplace variable.",
        )
    spread = [float(positive("scale", scale)) for scale in scales]
    far = math.log(2 / (1 - float(probability("confidence", confidence))))
    nu = max(math.sqrt(math.fsum(b * b for b in spread)), max(spread) * math.sqrt(far))
    return nu * math.sqrt(8 * far)
