"""Strategies for Laplace noise: all single values and a few weighted sums, found by descent.

A(Θ) = [I; Θ] diag(d)⁻¹ with d = 1 + the column sums of Θ ≥ 0, so that every column has L1 norm
one. With K = (I + ΘᵀΘ)⁻¹ and M = (I + ΘΘᵀ)⁻¹ the total error is

    f(Θ) = Σ_ij d_i d_j G_ij K_ij,   K = I - ΘᵀMΘ,
    ∇f   = -2 MΘ (d G d) K + 1 (2 (G ∘ K) d)ᵀ,

which costs p n² for p sums over n values. The search only chooses a strategy; whatever it finds,
privacy rests on the exact column norms of the rounded matrix.

Source: 004b:A7; modern-data:M1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from discreet.core.parameters import count
from discreet.queries.matrix.strategy import Strategy

Floats = NDArray[np.float64]

_ITERATIONS = 250
_RESTARTS = 2


def p_identity(gram: Floats, sums: int | None = None) -> Strategy:
    """A strategy for a workload with this Gram matrix; never worse than single values.

    ``sums`` is the number p of weighted sums, by default n/32 and at least 4.
    """
    size = len(gram)
    p = max(4, size // 32) if sums is None else count("sums", sums)
    best, least = np.zeros((0, size)), float(np.trace(gram))
    scale = least / size

    def objective(flat: Floats) -> tuple[float, Floats]:
        return _error(flat.reshape(p, size), gram, scale)

    for start in _starts(p, size):
        found = minimize(
            objective,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * (p * size),
            options={"maxiter": _ITERATIONS, "maxcor": 20},
        )
        error = float(found.fun) * scale
        if error < least:
            best, least = found.x.reshape(p, size), error
    columns = 1 + best.sum(axis=0)
    return Strategy.of("p-identity", np.vstack([np.eye(size), best]) / columns)


def _starts(p: int, size: int) -> list[Floats]:
    """Starting points without chance: overlapping windows of several widths, and waves."""
    place = np.arange(size)
    starts = []
    for turn in range(_RESTARTS):
        rows = []
        for row in range(p):
            centre = (row + 0.5) * size / p
            width = size / p * (1.0 + turn)
            bump = np.exp(-(((place - centre) / width) ** 2))
            wave = 1 + 0.5 * np.cos((row + 1) * (place + turn) * np.pi / size * (1 + turn))
            rows.append(0.5 * bump + 0.1 * wave)
        starts.append(np.array(rows))
    return starts


def _error(theta: Floats, gram: Floats, scale: float) -> tuple[float, Floats]:
    """The error in units of ``scale``, and its gradient."""
    d = 1 + theta.sum(axis=0)
    inner = np.linalg.inv(np.eye(len(theta)) + theta @ theta.T)
    left = inner @ theta
    weighted = gram * np.outer(d, d)
    kernel = np.eye(len(d)) - theta.T @ left
    error = float(np.einsum("ij,ij->", weighted, kernel))
    through = left @ weighted
    gradient = -2 * (through - (through @ theta.T) @ left)
    gradient += 2 * ((gram * kernel) @ d)[None, :]
    return error / scale, (gradient / scale).ravel()
