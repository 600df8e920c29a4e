"""The strategy for Gaussian noise whose least exact answer is as exact as can be, with certificate.

The least possible largest deviation of a workload W, at noise of one standard deviation per unit of
L2, is its factorisation norm gamma_2: the largest nuclear norm of diag(u) W diag(v) over unit
vectors u and v. Every pair gives a lower bound. With U S Vᵀ the singular value decomposition of
that matrix, the factors W = B C, B = diag(u)⁻¹ U S^½ and C = S^½ Vᵀ diag(v)⁻¹, give an upper one,
the largest row of B times the largest column of C. At the fixed point u_i² ∝ (U S Uᵀ)_ii,
v_j² ∝ (V S Vᵀ)_jj they meet. Norms of Kronecker products multiply, so attributes are independent.

Source: modern-data:M3, M4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import positive
from discreet.queries.matrix.strategy import Strategy

_ROUNDS = 400
_FLOOR = 1e-12
_ROUNDED = 2.0**-18


@dataclass(frozen=True)
class CertifiedLargest:
    """A strategy, the deviation of its least exact answer, and a bound for all strategies."""

    strategy: Strategy
    deviation: float
    bound: float


def minimax_optimum(rows: Floats, *, gap: float = 1e-3) -> CertifiedLargest:
    """A strategy within ``gap`` of the optimum, relatively, where 400 rounds suffice.

    ``rows`` are the queries on one attribute. Rows of zeros ask nothing and are left out.
    """
    wanted = float(positive("gap", gap))
    asked = np.asarray(rows, dtype=np.float64)
    asked = asked[np.abs(asked).max(axis=1) > 0]
    u = np.full(len(asked), len(asked) ** -0.5)
    v = np.full(asked.shape[1], asked.shape[1] ** -0.5)
    best, bound = (np.inf, np.eye(asked.shape[1])), 0.0
    for _ in range(_ROUNDS):
        left, singular, right = np.linalg.svd(u[:, None] * asked * v, full_matrices=False)
        by_row = np.einsum("ij,j->i", left**2, singular)
        by_column = np.einsum("ji,j->i", right**2, singular)
        nuclear = float(singular.sum())
        bound = max(bound, nuclear)
        largest = float(np.max(by_column / v**2))
        error = float(np.sqrt(np.max(by_row / u**2) * largest))
        if error < best[0]:
            best = error, np.sqrt(singular)[:, None] * right / v / np.sqrt(largest)
        if best[0] <= bound * (1 + wanted):
            break
        u, v = (_unit(np.maximum(each, _FLOOR * each.max())) for each in (by_row, by_column))
    kept = best[1][np.abs(best[1]).max(axis=1) > _ROUNDED]
    strategy = Strategy.of("minimax optimum", kept)
    spread = np.einsum("ij,ij->i", asked @ strategy.inverse_gram, asked)
    scale = strategy.l2_squared / 4.0**strategy.places
    return CertifiedLargest(strategy, float(np.sqrt(spread.max() * scale)), bound)


def _unit(squares: Floats) -> Floats:
    return np.asarray(np.sqrt(squares / squares.sum()))
