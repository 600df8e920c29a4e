"""The best few buffers: decays and weights of a buffered linear Toeplitz factorisation.

c(q) = 1 + sum of w_j q/(1 - t_j q) is a quotient of two polynomials, with poles 1/t_j and zeros
1/z_j that interlace, t_1 > z_1 > t_2 > ..., exactly where all weights are positive. Its inverse has
the same form with t and z exchanged, so both norms are sums of geometric series and an error is
found in time that does not grow with the horizon.

Source: modern-learn:6 (Dvijotham, McMahan, Pillutla, Steinke and Thakurta, *Efficient and
near-optimal noise generation for streaming differential privacy*, 2024); the parametrisation by
zeros is our own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.streams.factorisation.optimum import ErrorObjective

_FAR = 1e6


@lru_cache(maxsize=64)
def buffered_coefficients(
    horizon: int, buffers: int, objective: ErrorObjective
) -> tuple[tuple[float, float], ...]:
    """Decay and weight of each buffer, for the least error over so many ticks.

    >>> [round(decay, 2) for decay, _ in buffered_coefficients(1024, 2, ErrorObjective.LARGEST)]
    [1.0, 0.91]
    """
    from scipy.optimize import minimize  # loaded on first use: SciPy is slow to import

    apart = np.geomspace(1.0 / max(horizon, 8), 0.9, 2 * buffers)
    start = np.log(np.diff(apart, prepend=0.0))

    def loss(free: Floats) -> float:
        with np.errstate(all="ignore"):  # steps of a search that went too far
            found = _logarithm(free, horizon, objective)
        return found if np.isfinite(found) else _FAR

    found = minimize(loss, start, method="L-BFGS-B", options={"maxiter": 2000, "maxfun": 50_000})
    decays, zeros = _roots(found.x if found.fun < loss(start) else start)
    return tuple(zip(decays.tolist(), _weights(decays, zeros).tolist(), strict=True))


def _roots(free: Floats) -> tuple[Floats, Floats]:
    """Decays and zeros in turn, each below the one before."""
    below = 1.0 - np.cumsum(np.exp(free))
    return below[0::2], below[1::2]


def _weights(decays: Floats, zeros: Floats) -> Floats:
    apart = decays[:, None] - decays + np.eye(len(decays))
    return np.asarray(np.prod(decays[:, None] - zeros, axis=1) / np.prod(apart, axis=1))


def _logarithm(free: Floats, horizon: int, objective: ErrorObjective) -> float:
    """The logarithm of |c|**2 times the largest or mean squared error of a prefix sum."""
    decays, zeros = _roots(free)
    if decays[-1] <= 0 or zeros[-1] <= -1:
        return _FAR
    weights = _weights(decays, zeros)
    norm = 1.0 + weights @ _series(np.outer(decays, decays), horizon - 1) @ weights
    poles = np.concatenate(([1.0], zeros))
    apart = poles[:, None] - poles + np.eye(len(poles))
    parts = np.prod(poles[:, None] - decays, axis=1) / np.prod(apart, axis=1)
    both = np.outer(poles, poles)
    if objective is ErrorObjective.MEAN:
        squares = parts @ _falling_series(both, horizon) @ parts
    else:
        squares = parts @ _series(both, horizon) @ parts
    return float(np.log(norm * squares))


def _series(ratio: Floats, terms: int) -> Any:
    """1 + r + ... + r**(terms - 1)."""
    return np.where(ratio >= 1, float(terms), (1 - ratio**terms) / (1 - ratio))


def _falling_series(ratio: Floats, terms: int) -> Any:
    """The sum of r**i (terms - i)/terms over i below ``terms``."""
    closed = (terms * (1 - ratio) - ratio * (1 - ratio**terms)) / (1 - ratio) ** 2
    return np.where(ratio >= 1, terms * (terms + 1) / 2, closed) / terms
