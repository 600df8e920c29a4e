"""The pass upward: what is known of each node from its own counts and all below it.

Leaves stay in blocks, which are read again for every pass over them.

Source: 004b:A17. Proof: ``proofs/topdown.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.synthetic.hierarchy.linear import (
    Spread,
    climbed,
    climbed_spread,
    own_estimates,
    own_spread,
)
from discreet.synthetic.hierarchy.measured import Measured
from discreet.synthetic.hierarchy.tree import LeafBlock, Tree


@dataclass(frozen=True, eq=False)
class LeafEstimates:
    """The leaves of one block: estimates from their own counts, and where families begin."""

    block: LeafBlock
    values: Floats
    spread: Spread
    starts: Ints


class Climb:
    """Estimates of each level from its own counts and all below, and their variances."""

    def __init__(
        self,
        tree: Tree,
        variances: Sequence[float],
        fixed: Sequence[Ints | None],
        measured: Measured,
    ) -> None:
        """Climb from the leaves to the whole."""
        self._tree, self._fixed, self._measured = tree, fixed, measured
        self._last = own_spread(tree.nodes[-1], variances[-1], fixed[-1])
        self.tables: list[Floats] = []
        self.spreads: list[Spread] = []
        sums = np.zeros((tree.nodes[-2], tree.detail))
        for leaves in self.leaves():
            sums[leaves.block.parents] = np.add.reduceat(leaves.values, leaves.starts[:-1], axis=0)
        above = self._last
        for level in range(len(tree.nodes) - 2, -1, -1):
            below = above.summed(tree.starts[level])
            made = climbed(measured.above[level], variances[level], sums, below, fixed[level])
            above = climbed_spread(variances[level], below, fixed[level])
            self.tables.insert(0, made)
            self.spreads.insert(0, above)
            if level:
                sums = np.add.reduceat(made, tree.starts[level - 1][:-1], axis=0)

    def leaves(self) -> Iterator[LeafEstimates]:
        """The last level, block by block."""
        tree, fixed = self._tree, self._fixed[-1]
        for block, own in zip(tree.blocks(), self._measured.leaves.read_blocks(), strict=True):
            inside = slice(block.first, block.last)
            values = own_estimates(own, None if fixed is None else fixed[inside])
            spread = Spread(self._last.shape[inside], self._last.mean[inside])
            begin = tree.starts[-1][block.parents.start : block.parents.stop + 1]
            yield LeafEstimates(block, values, spread, begin - block.first)
