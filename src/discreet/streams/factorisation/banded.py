"""The best few bands: Toeplitz coefficients for a given memory, found by descent.

With C of ``bands`` coefficients c, and g those of 1/((1 - q) c(q)), the worst squared error
is |c|**2 times the sum of g**2; the mean one weighs g_t**2 by the part of ticks it reaches. The
derivative of g is -h with h = g/c, so a gradient costs a few products of series.

Source: modern-learn:6 (optimised banded Toeplitz).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from discreet.core.arrays import Floats
from discreet.streams.factorisation.optimum import ErrorObjective
from discreet.streams.factorisation.series import inverse, multiply, square_root

_FAR = 1e6


@lru_cache(maxsize=64)
def banded_coefficients(horizon: int, bands: int, objective: ErrorObjective) -> tuple[float, ...]:
    """Coefficients of the least error, beginning with one; those of the square root if all.

    >>> [round(c, 3) for c in banded_coefficients(64, 3, ErrorObjective.LARGEST)]
    [1.0, 0.757, 0.641]
    """
    start = square_root(bands)
    if bands in (1, horizon):
        return tuple(start.tolist())
    from scipy.optimize import minimize  # loaded on first use: SciPy is slow to import

    weights = np.ones(horizon)
    if objective is ErrorObjective.MEAN:
        weights = np.arange(horizon, 0.0, -1.0) / horizon

    def loss(free: Floats) -> tuple[float, Floats]:
        with np.errstate(over="ignore", invalid="ignore"):  # steps of a search that went too far
            value, slope = _logarithm(np.concatenate(([1.0], free)), weights)
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return _FAR, np.zeros(len(free))
        return value, slope[1:]

    found = minimize(loss, start[1:], jac=True, method="L-BFGS-B", options={"maxiter": 500})
    kept = found.x if found.fun < loss(start[1:])[0] else start[1:]
    # Sensitivities of several events rest on coefficients that never rise.
    falling = np.minimum.accumulate(np.concatenate(([1.0], np.maximum(kept, 0.0))))
    return tuple(falling.tolist())


def _logarithm(c: Floats, weights: Floats) -> tuple[float, Floats]:
    """The logarithm of |c|**2 times the weighted sum of g**2, and its gradient."""
    size = len(weights)
    inverted = inverse(c, size)
    g = np.cumsum(inverted)
    h = multiply(g, inverted, size)
    squares, norm = float(np.sum(weights * g**2)), float(np.sum(c**2))
    turned = multiply((weights * g)[::-1], h, size)[::-1]
    slope: Floats = 2 * c / norm - 2 * turned[: len(c)] / squares
    return float(np.log(squares * norm)), slope
