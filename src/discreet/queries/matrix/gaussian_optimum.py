"""The best strategy for Gaussian noise, with a certificate.

The least total squared error of a workload with Gram matrix G is the square of the largest
nuclear norm of W diag(v) over unit vectors v, that is max_v tr((D_v G D_v)^{1/2})². Every v gives
a lower bound; the strategy with AᵀA proportional to D_v⁻¹ (D_v G D_v)^{1/2} D_v⁻¹ gives an upper
one. The fixed point v_j² ∝ diag((D_v G D_v)^{1/2})_j makes them meet.

Source: modern-data:M2–M4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import positive
from discreet.queries.matrix.strategy import Strategy

_ROUNDS = 200
_FLOOR = 1e-12
_ROUNDED = 2.0**-18


@dataclass(frozen=True)
class Certified:
    """A strategy, its error, and a bound below which no strategy's error can be.

    Both errors are totals under Gaussian noise of one standard deviation per unit of L2.
    """

    strategy: Strategy
    error: float
    bound: float


def gaussian_optimum(gram: Floats, *, gap: float = 1e-4) -> Certified:
    """A strategy within ``gap`` of the optimum, relatively, where 200 rounds suffice."""
    wanted = float(positive("gap", gap))
    size = len(gram)
    v = np.full(size, size**-0.5)
    best: tuple[float, Floats] | None = None
    bound = 0.0
    for _ in range(_ROUNDS):
        values, vectors = np.linalg.eigh(gram * np.outer(v, v))
        roots = np.sqrt(np.maximum(values, 0))
        diagonal = np.einsum("ij,j,ij->i", vectors, roots, vectors)
        nuclear = float(roots.sum())
        bound = max(bound, nuclear**2)
        # Columns of A have squared norm diagonal / v²; the largest is brought to one.
        largest = float(np.max(diagonal / v**2))
        error = largest * float(nuclear)
        if best is None or error < best[0]:
            half = np.sqrt(roots)[:, None] * vectors.T / v / np.sqrt(largest)
            best = error, half
        if best[0] <= bound * (1 + wanted):
            break
        v = np.sqrt(np.maximum(diagonal, _FLOOR * diagonal.max()) / nuclear)
        v /= np.linalg.norm(v)
    assert best is not None
    rows = best[1][np.abs(best[1]).max(axis=1) > _ROUNDED]
    strategy = Strategy.of("gaussian optimum", rows)
    return Certified(strategy, strategy.gaussian_error(gram), bound)
