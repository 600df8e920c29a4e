"""What no counter can beat, for curves under measured errors.

Source: 000b:B44 (errata: the printed proof separates errors below k/2 only, and needs the first
crossing); modern-data:M3 for matrix mechanisms with normal noise.
"""

from __future__ import annotations

import math

from discreet.core.parameters import Number, positive
from discreet.streams.counter import require_horizon
from discreet.streams.factorisation.optimum import spectral_bound

__all__ = ["pure_counter_bound", "spectral_bound"]


def pure_counter_bound(*, horizon: int, epsilon: Number) -> float:
    """An error that every pure counter reaches on some input with probability above one third.

    k/2 for the largest k with (T/k - 1) (2/3) exp(-2 epsilon k) > 1/3.

    >>> [pure_counter_bound(horizon=2**e, epsilon=1) for e in (10, 20, 40)]
    [1.5, 3.0, 6.0]
    """
    ticks, rate = require_horizon(horizon), 2 * float(positive("epsilon", epsilon))

    def holds(k: int) -> bool:
        return ticks > k and math.log(ticks / k - 1) + math.log(2) > rate * k

    k = 0
    while holds(k + 1):
        k += 1
    return k / 2
