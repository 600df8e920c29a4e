"""Complete trees of boxes, level by level: exact sums, their least squares, and its error.

Level l halves every attribute l times, down to its single values. With precision p_l for every node
of level l and m_l leaves under it, the information matrix of the leaves is diagonal in the tree's
own contrasts: what is new at level l, constant on its boxes and cancelling in every box above, has
precision

    mu_l = sum of p_k m_k over the levels k >= l.

With P_l the projection onto what is constant on the boxes of level l, a workload W has the total
squared error Σ_l (tr(P_l WᵀW) - tr(P_{l-1} WᵀW)) / mu_l. For products the trace is the product of
the attributes' own, so it is known before anything is spent and nothing is written down for it.

Source: 004b:A5 (least-squares consistency), A17. Proof: ``proofs/quadtree.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.queries.workload.workload import Product


@dataclass(frozen=True)
class Levels:
    """A tree over attributes of ``widths`` bits each, ``depth`` times halved."""

    widths: tuple[int, ...]
    depth: int

    def shape(self, level: int) -> tuple[int, ...]:
        """How many boxes there are along each attribute."""
        return tuple(1 << min(level, width) for width in self.widths)

    def nodes(self, level: int) -> int:
        """How many boxes there are."""
        return math.prod(self.shape(level))

    @property
    def leaves_under(self) -> Floats:
        """The leaves under a node of each level."""
        whole = self.nodes(self.depth)
        return np.array([float(whole // self.nodes(level)) for level in range(self.depth + 1)])

    def sums(self, leaves: Ints) -> list[Ints]:
        """The counts of all nodes, level by level from the root, given those of the leaves."""
        found = [leaves]
        for level in reversed(range(self.depth)):
            found.append(self._pooled(found[-1], level))
        return found[::-1]

    def estimate(
        self, measured: Sequence[Floats | None], precision: Floats, total: float | None
    ) -> Floats:
        """The leaves by weighted least squares, from levels of equal precision each.

        Levels of precision zero were not measured; the last must have been. ``total`` is the root
        where it is known.
        """
        last = measured[self.depth]
        assert last is not None
        upward, spread = [last], 1 / float(precision[self.depth])
        for level in reversed(range(self.depth)):
            below = self._pooled(upward[-1], level)
            spread *= self.nodes(level + 1) // self.nodes(level)
            here, weight = measured[level], float(precision[level])
            if here is not None and weight > 0:
                joint = 1 / (weight + 1 / spread)
                below = joint * (weight * here + below / spread)
                spread = joint
            upward.append(below)
        upward.reverse()
        known = upward[0] if total is None else np.full(upward[0].shape, total)
        for level in range(self.depth):
            found = upward[level + 1]
            fan = self.nodes(level + 1) // self.nodes(level)
            known = found + self._repeated((known - self._pooled(found, level)) / fan, level)
        return known

    def traces(self, grams: Sequence[Floats]) -> Floats:
        """tr(P_l G) at every level, for the product of Gram matrices over the leaves' sides."""
        found = np.ones(self.depth + 1)
        for width, gram in zip(self.widths, grams, strict=True):
            pooled, side = gram, 1.0
            least = min(self.depth, width)
            own = [float(np.trace(pooled))]
            for _ in range(least):
                pooled = pooled[0::2] + pooled[1::2]
                pooled = pooled[:, 0::2] + pooled[:, 1::2]
                side *= 2
                own.append(float(np.trace(pooled)) / side)
            own.reverse()
            found *= np.array([own[min(level, least)] for level in range(self.depth + 1)])
        return found

    def sum_precisions_below(self, precision: Floats) -> Floats:
        """mu_l of every level, for nodes of these precisions."""
        return np.asarray(np.cumsum((precision * self.leaves_under)[::-1])[::-1])

    def query_squares(self, product: Product, level: int) -> Floats:
        """|P_l q|² for each query q of a product over cells that are the leaves."""
        found: Floats = np.ones(1)
        for width, family in zip(self.widths, product.families, strict=True):
            side = 1 << max(width - level, 0)
            box = np.arange(family.size) // side
            found = np.outer(found, family.variances((box[:, None] == box) / side)).ravel()
        return found

    def _pooled(self, table: Any, level: int) -> Any:
        """Sums over the children of each node of a level."""
        for axis, width in enumerate(self.widths):
            if level < width:
                even = (slice(None),) * axis + (slice(0, None, 2),)
                odd = (slice(None),) * axis + (slice(1, None, 2),)
                table = table[even] + table[odd]
        return table

    def _repeated(self, table: Floats, level: int) -> Floats:
        """The value of each node of a level for all its children."""
        for axis, width in enumerate(self.widths):
            if level < width:
                table = np.repeat(table, 2, axis=axis)
        return table


def query_lengths(levels: Levels, product: Product, weights: Ints, *, first: int) -> Floats:
    """The length of each query's coefficients on the measured numbers, after least squares.

    ``weights`` are those of the levels, of which those before ``first`` are known exactly. At noise
    of variance one it is the standard deviation of the answer.

    Contract: leaves are the cells that queries are about.
    """
    told = levels.sum_precisions_below(weights.astype(np.float64) ** 2)
    squares = [levels.query_squares(product, level) for level in range(levels.depth + 1)]
    new = np.maximum(np.diff([np.zeros_like(squares[0]), *squares], axis=0), 0)
    total = sum((new[level] / told[level] for level in range(first, len(new))), np.zeros(1))
    return np.asarray(np.sqrt(total))


def total_error(new: Floats, precision: Floats, leaves_under: Floats) -> float:
    """Σ new_l / mu_l; levels whose ``new`` is zero may be infinitely uncertain."""
    told = np.cumsum((precision * leaves_under)[::-1])[::-1]
    return float((new[new > 0] / told[new > 0]).sum())


def new_traces(traces: Floats) -> Floats:
    """What each level adds to the trace of the level above."""
    return np.maximum(np.diff(traces, prepend=0.0), 0)
