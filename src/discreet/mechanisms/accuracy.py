"""How wrong a sum of Laplace noises can be: for totals, prefixes and other composites.

Adding up noisy cells adds up their noises. The union bound grows with the number of terms; the
concentration bounds here grow with its square root.

Source: 000b:B43 (Lemma 12.2 and Corollary 12.3; the printed Corollary 12.4 is garbled), 004d:F25.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, positive, probability


def laplace_sum_error(scales: Sequence[Number], *, confidence: float) -> float:
    """Bound on the absolute sum of independent Laplace noises of the given scales.

    Guarantee: the sum stays within it with probability at least ``confidence``. The least of
    the union bound, the textbook bound and the optimised Chernoff bound; exact for one term.

    >>> laplace_sum_error([10] * 10, confidence=0.95) < textbook_sum_error([10] * 10, 0.05)
    True
    """
    tail = 1 - float(probability("confidence", confidence))
    terms = _terms(scales)
    bounds = [union_sum_error(terms, tail), textbook_sum_error(terms, tail)]
    return min(*bounds, _chernoff(terms, tail))


def union_sum_error(scales: Sequence[Number], tail: float) -> float:
    """Every term within its own bound: sum of b_i ln(k / tail)."""
    terms = _terms(scales)
    return math.fsum(terms) * math.log(len(terms) / tail)


def textbook_sum_error(scales: Sequence[Number], tail: float) -> float:
    """nu sqrt(8 ln(2/tail)) with nu = max(root of the sum of squares, b_max sqrt(ln(2/tail)))."""
    terms = _terms(scales)
    spread = math.log(2 / tail)
    nu = max(math.hypot(*terms), max(terms) * math.sqrt(spread))
    return nu * math.sqrt(8 * spread)


def _chernoff(terms: list[float], tail: float) -> float:
    """Least over t of (ln(2/tail) - sum of ln(1 - b_i**2 t**2)) / t; every t is a valid bound."""
    most = 1 / max(terms)

    def bound(t: float) -> float:
        moments = math.fsum(-math.log1p(-((b * t) ** 2)) for b in terms)
        return (math.log(2 / tail) + moments) / t

    low, high = 0.0, most
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if right >= most or bound(left) < bound(right):
            high = right
        else:
            low = left
    return bound((low + high) / 2) * (1 + 1e-12)


def _terms(scales: Sequence[Number]) -> list[float]:
    terms = [float(positive("scale", scale)) for scale in scales]
    if not terms:
        raise InvalidParameter(
            code="nothing_to_sum",
            expectation="at least one scale",
            remedy="Pass the scale of each noisy term.",
        )
    return terms
