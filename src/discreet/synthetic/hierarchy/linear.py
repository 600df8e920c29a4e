"""Least squares on a tree in two passes, and its exact error: no cell meets another.

Each node has a histogram. Its measured cells have one variance; so do those of its estimate from
its subtree, and both passes treat all cells alike. So the problem falls apart into the mean of a
histogram and what is left of it without its mean. A public total fixes the mean and nothing else:
variances are kept apart for the two, in units of one cell.

Upward, a node's own counts and the sum of its children's estimates are two independent estimates
of one vector, weighted by precision. Downward, children share what is missing to their parent in
proportion to their variances: the nearest point with that sum.

Source: 004b:A17; Hay and others 2010; Cohen and others 2021 (ToyDown). Proof:
``proofs/topdown.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.synthetic.hierarchy.tree import Tree


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of one cell of each node of a level, in two parts.

    ``shape``: of what is left without the mean. ``mean``: of the mean, times the number of cells.
    """

    shape: Floats
    mean: Floats

    def summed(self, starts: Ints) -> Spread:
        """Of the sums over children, by parent."""
        return Spread(
            np.add.reduceat(self.shape, starts[:-1]), np.add.reduceat(self.mean, starts[:-1])
        )

    def by_cell(self, detail: int) -> Floats:
        """The variance of a cell."""
        return (self.shape * (detail - 1) + self.mean) / detail


def own_spread(nodes: int, variance: float, fixed: Ints | None) -> Spread:
    """Of a level's measured counts alone; the mean is known where the total is public."""
    shape = np.full(nodes, variance)
    return Spread(shape, shape if fixed is None else np.where(fixed >= 0, 0.0, shape))


def climbed_spread(variance: float, below: Spread, fixed: Ints | None) -> Spread:
    """Of the estimates from a level's own counts and the sums of those below."""
    shape = _parallel(variance, below.shape)
    mean = _parallel(variance, below.mean)
    return Spread(shape, mean if fixed is None else np.where(fixed >= 0, 0.0, mean))


def climbed(
    own: Ints | None, variance: float, sums: Floats, below: Spread, fixed: Ints | None
) -> Floats:
    """The estimates of a level from its own counts and the sums of its children's estimates."""
    found_mean = sums.mean(axis=1)
    if own is not None:
        shape, mean = _weight(variance, below.shape), _weight(variance, below.mean)
        own_mean = own.mean(axis=1)
        found = sums + shape[:, None] * (own - sums)
        found_mean = found_mean + mean * (own_mean - found_mean)
    else:
        found = sums
    if fixed is not None:
        found_mean = np.where(fixed >= 0, fixed / sums.shape[1], found_mean)
    return np.asarray(found + (found_mean - found.mean(axis=1))[:, None])


def own_estimates(own: Ints, fixed: Ints | None) -> Floats:
    """The estimates of the last level from its own counts: shifted to public totals."""
    found = own.astype(np.float64)
    if fixed is None:
        return found
    shift = np.where(fixed >= 0, fixed / own.shape[1] - found.mean(axis=1), 0.0)
    return np.asarray(found + shift[:, None])


def descended(estimates: Floats, spread: Spread, above: Floats, starts: Ints) -> Floats:
    """The final estimates of a level's nodes, given those of their parents."""
    sums = np.add.reduceat(estimates, starts[:-1], axis=0)
    parents = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    total = spread.summed(starts)
    missing = above - sums
    mean = missing.mean(axis=1)
    by_shape = _ratio(spread.shape, total.shape[parents])
    by_mean = _ratio(spread.mean, total.mean[parents])
    rest = missing - mean[:, None]
    return np.asarray(
        estimates + by_shape[:, None] * rest[parents] + (by_mean * mean[parents])[:, None]
    )


def final_spreads(
    tree: Tree, variances: Sequence[float], fixed: Sequence[Ints | None]
) -> list[Spread]:
    """The exact variances of the two passes' outcome, by level, from the whole down.

    A level that is not measured has an infinite variance.
    """
    last = len(variances) - 1
    up = [own_spread(tree.nodes[last], variances[last], fixed[last])]
    for level in range(last - 1, -1, -1):
        below = up[0].summed(tree.starts[level])
        up.insert(0, climbed_spread(variances[level], below, fixed[level]))
    found = [up[0]]
    for level in range(1, last + 1):
        starts = tree.starts[level - 1]
        parents = np.repeat(np.arange(len(starts) - 1), tree.fans[level - 1])
        total, own, above = up[level].summed(starts), up[level], found[-1]
        found.append(
            Spread(
                _shared(own.shape, total.shape[parents], above.shape[parents]),
                _shared(own.mean, total.mean[parents], above.mean[parents]),
            )
        )
    return found


def _shared(own: Floats, total: Floats, above: Floats) -> Floats:
    """v - v²/V + (v/V)² u: what is left of v once the family has a sum of variance u."""
    ratio = _ratio(own, total)
    return own * (1 - ratio) + ratio**2 * above


def _parallel(variance: float, other: Floats) -> Floats:
    """The variance of two independent estimates, weighted by precision."""
    return other if math.isinf(variance) else variance * other / (variance + other)


def _weight(variance: float, other: Floats) -> Floats:
    """The weight of the first of two such estimates."""
    return other / (variance + other)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
