"""How precisely to measure each residual, so that the worst answer is as precise as can be.

With precision w_A for residual A, answers of kind T have variance Σ_A c_TA / w_A, and what two
records tell apart is Σ_A w_A d_zA for their pattern of agreement z. The best precisions for one
unit of it,

    minimise max_T Σ_A c_TA / w_A  subject to  Σ_A w_A d_zA ≤ 1 for all z,

are w_A = √(Σ_T π_T c_TA / Σ_z μ_z d_zA), up to scale, for the laws π of kinds and μ of patterns
that maximise Σ_A √(Σ_T π_T c_TA · Σ_z μ_z d_zA): a sum of geometric means, concave, climbed by
multiplying each entry of both laws by its slope. With one kind it is the least weighted sum.
Privacy does not rest on what is found: a strategy is priced by what it measures.

Source: derived here. Proof: ``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.core.arrays import Floats

_ROUNDS = 300
_PASSES = 8
_ACTIVE = 128
_CLOSE = 1.002
_LEAST = 1e-6
_UP = 1 + 1e-9
"""More than all rounding of sums of a few hundred doubles."""


def best_precisions(costs: csr_array, distances: Floats) -> Floats:
    """Precisions of residuals; rows of ``costs`` are kinds, rows of ``distances`` are patterns.

    Few patterns bind, so only those are climbed over that some precisions so far violate most.

    >>> best_precisions(csr_array([[4.0, 1.0]]), np.array([[1.0, 1.0]])).round(3).tolist()
    [0.667, 0.333]
    """
    found = np.sqrt(_needed(costs.T @ np.ones(costs.shape[0])) / distances.mean(axis=0))
    active: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    for _ in range(_PASSES):
        told = distances @ found
        if active.size and told.max() <= _CLOSE * told[active].max():
            break
        active = np.union1d(active, np.argsort(-told)[:_ACTIVE])
        found = _climbed(costs, distances[active])
    return np.asarray(found / ((distances @ found).max() * _UP))


def _climbed(costs: csr_array, distances: Floats) -> Floats:
    patterns = np.full(len(distances), 1 / len(distances))
    many, residuals = costs.shape
    kinds = np.full(many, 1 / many)
    found, least = np.ones(residuals), np.inf
    for _ in range(_ROUNDS if len(distances) + many > 2 else 1):
        tried = np.sqrt(_needed(costs.T @ kinds) / (patterns @ distances))
        told, variances = distances @ tried, costs @ (1 / tried)
        error = float(told.max() * variances.max())
        if error < least:
            found, least = tried / told.max(), error
        patterns = patterns * told / (patterns @ told)
        kinds = kinds * variances / (kinds @ variances)
    return found


def _needed(weights: Floats) -> Floats:
    """Residuals that nobody weighs are measured a little: the synopsis answers a whole class."""
    return np.asarray(np.maximum(weights, _LEAST * weights.max()))
