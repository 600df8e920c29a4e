"""Trade-off curves: the least type II error of any test of a given type I error.

From the certified privacy curve, for every epsilon >= 0 and delta = delta(epsilon),

    beta >= max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).

The curve is the largest of these lower bounds over a grid of epsilons, and therefore itself a
certified lower bound. Source: 004a:D3, 000a:D2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core import pricing
from discreet.core.events.event import Event

_ROUNDING = 4e-16
_FARTHEST = 50.0


@dataclass(frozen=True)
class Tradeoff:
    """Pairs (epsilon, delta) that hold, seen as a trade-off between the errors of a test."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    def __call__(self, alpha: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Lower bound of the type II error at type I error ``alpha``."""
        level = np.atleast_1d(np.asarray(alpha, dtype=np.float64))[:, None]
        growth = np.exp(np.asarray(self.epsilons))
        kept = 1 - np.asarray(self.deltas) - _ROUNDING
        steep = kept - growth * level
        flat = (kept - level) / growth
        best: NDArray[np.float64] = np.maximum(np.maximum(steep, flat), 0.0).max(axis=1)
        return best

    def advantage(self) -> float:
        """Upper bound of 1 - alpha - beta: how much better than guessing any test can be.

        (epsilon, delta) leaves at most (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).
        """
        bounds = (
            math.tanh(e / 2) + 2 * d * math.exp(-e) / (1 + math.exp(-e))
            for e, d in zip(self.epsilons, self.deltas, strict=True)
        )
        return min(1.0, min(bounds) + _ROUNDING)


@pricing.reports("tradeoff")
def tradeoff(event: Event) -> Tradeoff:
    """The trade-off curve of an event, from its privacy curve at 60 epsilons."""
    far = pricing.epsilon(event, 1e-9)
    top = min(far, _FARTHEST)
    epsilons = [0.0, *np.geomspace(max(top, 1e-6) * 1e-3, max(top, 1e-6), 59).tolist()]
    deltas = [pricing.delta(event, e) for e in epsilons]
    return Tradeoff(tuple(epsilons), tuple(deltas))
