"""The best strategy for Gaussian noise where records are exchanged, with a certificate.

The number of records is public then, so only X = AᵀA on vectors of sum zero matters: an exchange
moves the measurements by the root of (e_i - e_j)ᵀ X (e_i - e_j), and the total squared error of a
workload with Gram matrix G is tr(X⁺ G). For weights λ of pairs with sum one, let L be the Laplacian
Σ λ_ij (e_i - e_j)(e_i - e_j)ᵀ. If no pair is more than one apart, tr(X L) ≤ 1, so that by
Cauchy and Schwarz

    tr(X⁺ G) ≥ tr(X⁺ G) tr(X L) ≥ tr((L^½ G L^½)^½)²:

every λ gives a lower bound, and X = L^-½ (L^½ G L^½)^½ L^-½, scaled to a diameter of one, an upper
one. At the fixed point λ_ij ∝ λ_ij (distance of i and j)² they meet.

Source: modern-data:M2–M4, over pairs of values in place of single ones. Proof:
``proofs/matrix.md``.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import positive
from discreet.queries.matrix.gaussian_optimum import Certified
from discreet.queries.matrix.known_total import KnownTotal
from discreet.queries.matrix.strategy import RANK, Strategy, identity

_ROUNDS = 200
_FLOOR = 1e-12
_ROUNDED = 2.0**-18


def exchange_optimum(gram: Floats, *, gap: float = 1e-4) -> Certified:
    """A strategy within ``gap`` of the optimum, relatively, where 200 rounds suffice.

    Errors are totals at one standard deviation for each unit of L2
    that an exchange moves.
    """
    wanted = float(positive("gap", gap))
    size = len(gram)
    centring = np.eye(size) - 1 / size
    asked = centring @ gram @ centring
    if float(np.trace(asked)) <= RANK * float(np.trace(gram)):
        # Nothing but the sum of all is asked, which is known.
        return Certified(identity(size), 0.0, 0.0)
    pairs = _shares(1 - np.eye(size))
    best: tuple[float, Floats] | None = None
    bound = 0.0
    for _ in range(_ROUNDS):
        laplacian = np.diag(pairs.sum(axis=1)) - pairs
        values, vectors = np.linalg.eigh(laplacian)
        # The least eigenvalue is zero, of the vector of ones.
        roots, basis = np.sqrt(np.maximum(values[1:], 0)), vectors[:, 1:]
        inner = (basis * roots).T @ asked @ (basis * roots)
        squares, turned = np.linalg.eigh((inner + inner.T) / 2)
        singular = np.sqrt(np.maximum(squares, 0))
        nuclear = float(singular.sum())
        bound = max(bound, nuclear**2)
        half = (basis / roots @ turned * np.sqrt(singular)).T
        apart = _squared_distances(half)
        largest = float(apart.max())
        if best is None or largest * nuclear < best[0]:
            best = largest * nuclear, half / np.sqrt(largest)
        if best[0] <= bound * (1 + wanted):
            break
        pairs = _shares(pairs * apart)
    assert best is not None
    rows = best[1][np.abs(best[1]).max(axis=1) > _ROUNDED]
    strategy = Strategy.of("exchange optimum", rows)
    moved = strategy.apart_l2_squared / 4.0**strategy.places
    return Certified(strategy, moved * KnownTotal.beside(strategy).trace(gram), bound)


def _shares(weights: Floats) -> Floats:
    """Weights of pairs that sum to one over unordered pairs; none vanishes."""
    raised = np.maximum(weights, _FLOOR * weights.max())
    np.fill_diagonal(raised, 0.0)
    return np.asarray(raised / (raised.sum() / 2))


def _squared_distances(rows: Floats) -> Floats:
    """Of any two columns."""
    products = rows.T @ rows
    lengths = products.diagonal()
    return np.asarray(np.maximum(np.add.outer(lengths, lengths) - 2 * products, 0))
