"""How a spend is shared among the levels of a tree.

All levels are measured in one release: the counts of level l are multiplied by a whole weight a_l
before equal noise is added to all of them. One record lies in one node of each level, so it moves
the release by Σ a_l in L1 and by the root of Σ a_l² in L2. The norm of the weights is at most
``STEPS``, whatever they are: the event depends neither on how well they were chosen nor on released
values that they were chosen from.

Where a query sums n_l nodes of level l, the least Σ n_l / s_l² over shares with Σ s_l = 1 has
s_l proportional to the cube root of n_l. For boxes in d dimensions n_l grows by 2^(d-1) a level, so
shares grow geometrically by 2^((d-1)/3). Least squares uses all levels at once, and its best shares
are found by repeating the rule: at any shares the error is at most, and there exactly, a sum of
nodes_l / precision_l, whose least is again at the cube roots (square roots for Gaussian noise).

Source: 004b:A5, A8 (level weights by numeric search). Proof: ``proofs/quadtree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.queries.trees.levels import total_error

STEPS = 1 << 16
"""The norm of the weights of all levels."""
_LEAST = 1e-6
_NEGLIGIBLE = 1e-4
_CONVERGED = 1e-8
_MOST_STEPS = 2000
_MOST_STRIDE = 5


@dataclass(frozen=True)
class Norm:
    """In which norm weights are bounded: their precision is the share to this power."""

    power: int


L1 = Norm(2)
"""Laplace noise: shares of epsilon, precision by their squares."""
L2 = Norm(1)
"""Gaussian noise: shares of rho, precision in proportion."""


def cube_root_shares(nodes: Floats) -> Floats:
    """The shares that are best for a query that sums ``nodes`` of each level, without inference.

    >>> cube_root_shares(np.array([1.0, 8.0])).round(6).tolist()
    [0.333333, 0.666667]
    """
    roots = np.cbrt(nodes)
    return np.asarray(roots / roots.sum())


def geometric_shares(levels: int, dimensions: int) -> Floats:
    """Cube roots for boxes: each level gets 2^((d-1)/3) times the share of the one above."""
    return cube_root_shares(np.exp2((dimensions - 1) * np.arange(levels, dtype=np.float64)))


def best_shares(new: Floats, leaves_under: Floats, norm: Norm) -> Floats:
    """The shares of least total error after least squares, by repeated cube roots.

    ``new`` is what each level adds to the workload's trace; a level of which nothing is asked may
    still get a share. The last level always gets one.
    """
    levels = len(new)
    last = np.asarray(np.eye(levels)[-1])
    if levels == 1 or not new.any():
        return last
    starts = [geometric_shares(levels, 2)]
    if norm is L1:
        # Not convex: the best shares leave out most levels, so several sparse starts are tried.
        for stride in range(1, _MOST_STRIDE + 1):
            for more in range((levels - 1) // stride + 1):
                start = np.full(levels, _LEAST)
                start[levels - 1 - stride * np.arange(more + 1)] = 1 / (more + 1)
                starts.append(start)
    found = [_descended(start, new, leaves_under, norm) for start in starts]
    shares, _ = min(found, key=lambda each: each[1])
    shares[:-1][shares[:-1] < _NEGLIGIBLE] = 0
    return np.asarray(shares / shares.sum())


def _descended(
    shares: Floats, new: Floats, leaves_under: Floats, norm: Norm
) -> tuple[Floats, float]:
    """Shares whose error no further step lowers, and that error at unit noise."""
    before = math.inf
    for _ in range(_MOST_STEPS):
        told = shares**norm.power * leaves_under
        whole = np.cumsum(told[::-1])[::-1]
        error = float((new / whole).sum())
        if error > before * (1 - _CONVERGED):
            break
        before = error
        # The error is at most the sum over levels of nodes_l / precision_l, with equality here.
        nodes = told**2 / leaves_under * np.cumsum(new / whole**2)
        roots = nodes ** (1 / (norm.power + 1))
        shares = np.maximum(roots / roots.sum(), _LEAST)
    return shares / shares.sum(), before


def whole_weights(shares: Floats, norm: Norm) -> Ints:
    """Whole weights in these shares whose norm is at most ``STEPS``; the last is at least one.

    Contract: the norm is checked in whole numbers, whatever the shares are.
    """
    bounded = np.clip(np.nan_to_num(shares), 0, 1)
    ideal = bounded if norm is L1 else np.sqrt(bounded)
    weights = np.floor(ideal * (STEPS - 1)).astype(np.int64)
    # Shares that sum to one leave room for the last to be one at least; others are halved.
    while _too_long(weights, norm):
        weights //= 2
    weights[-1] = max(int(weights[-1]), 1)
    return weights


def _too_long(weights: Ints, norm: Norm) -> bool:
    if norm is L1:
        return int(weights.sum()) >= STEPS
    return int((weights**2).sum()) >= STEPS**2


def planned_error(new: Floats, leaves_under: Floats, weights: Ints, variance: float) -> float:
    """The expected total squared error at these weights, for noise of this variance."""
    return total_error(new, weights.astype(np.float64) ** 2 / variance, leaves_under)
