"""Strategies for Laplace noise: all single values and a few weighted sums, found by descent.

A(Θ) = [I; Θ] diag(d)⁻¹ with d = 1 + the column sums of Θ ≥ 0, so that every column has L1 norm
one. With K = (I + ΘᵀΘ)⁻¹ and M = (I + ΘΘᵀ)⁻¹ the total error is

    f(Θ) = Σ_ij d_i d_j G_ij K_ij,   K = I - ΘᵀMΘ,
    ∇f   = -2 MΘ (d G d) K + 1 (2 (G ∘ K) d)ᵀ,

which costs one product of p n² for p sums over n values. The search only chooses a strategy;
whatever it finds, privacy rests on the exact column norms of the rounded matrix.

Source: 004b:A7; modern-data:M1.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from discreet.core.arrays import Floats
from discreet.core.parameters import count
from discreet.queries.matrix.strategy import Strategy

_ITERATIONS = 250
_RESTARTS = 2


def p_identity(gram: Floats, sums: int | None = None, *, total_known: bool = False) -> Strategy:
    """A strategy for a workload with this Gram matrix; never worse than single values.

    ``sums`` is the number p of weighted sums, by default n/16 up to 32, then n/32; at least 4.
    ``total_known`` says that the sum of all values is known besides.
    """
    size = len(gram)
    p = max(4, min(size // 16, 32), size // 32) if sums is None else count("sums", sums)
    best, least = np.zeros((0, size)), float(np.trace(gram))
    scale = least / size
    if total_known:
        least -= float(gram.sum()) / size

    def objective(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(p, size)
        error, gradient = (_error_beside_total if total_known else _error)(theta, gram)
        return error / scale, (gradient / scale).ravel()

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


def _error(theta: Floats, gram: Floats) -> tuple[float, Floats]:
    """The error and its gradient.

    With X = Θ diag(d) and Y = X G, every product with G that is needed is in Y:
    f = Σ d_i² G_ii - tr(M Y Xᵀ), and (G ∘ K) d = diag(G) d - the column sums of MΘ ∘ Y.
    """
    d = 1 + theta.sum(axis=0)
    diagonal = gram.diagonal()
    inner = np.linalg.inv(np.eye(len(theta)) + theta @ theta.T)
    left = inner @ theta
    scaled = theta * d
    product = scaled @ gram
    error = float(d**2 @ diagonal) - float(np.einsum("ij,ij->", inner @ product, scaled))
    through = (inner @ product) * d
    gradient = -2 * (through - (through @ theta.T) @ left)
    gradient += 2 * (diagonal * d - (left * product).sum(axis=0))[None, :]
    return error, gradient


def _error_beside_total(theta: Floats, gram: Floats) -> tuple[float, Floats]:
    """The same where the sum of all values is known.

    With g = K d and s = d·g, K' = K - g gᵀ / s takes the place of K; since the known sum is d in
    the scale of K, the gradient by d has one term more, -2 K' (d G d) g / s.
    """
    d = 1 + theta.sum(axis=0)
    diagonal = gram.diagonal()
    inner = np.linalg.inv(np.eye(len(theta)) + theta @ theta.T)
    left = inner @ theta
    solved = d - theta.T @ (left @ d)
    length = float(d @ solved)
    scaled, told = theta * d, gram @ (solved * d)
    product = scaled @ gram
    error = float(d**2 @ diagonal) - float(np.einsum("ij,ij->", inner @ product, scaled))
    error -= float((solved * d) @ told) / length
    reduced = left - np.outer(left @ d, solved) / length
    through = ((reduced * d) @ gram) * d
    gradient = through - (through @ theta.T) @ left - np.outer(through @ solved, solved) / length
    moved = d * told / length
    turned = moved - theta.T @ (left @ moved) - solved * float(solved @ moved) / length
    by_scale = diagonal * d - (left * product).sum(axis=0) - solved * told / length
    return error, -2 * gradient + 2 * (by_scale - turned)[None, :]
