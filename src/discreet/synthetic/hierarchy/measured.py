"""Noisy counts of every level: leaves counted block by block, all others added up from them.

Only this module reads private counts. A block of leaf cells is counted, added to the levels above,
released with the noise of the last level, and forgotten.

Source: Abowd and others 2022; contract, "What may be seen". Proof: ``proofs/topdown.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Ints
from discreet.queries.workload.cell_counts import Counted, block_counts
from discreet.synthetic.hierarchy.kept_blocks import KeptBlocks
from discreet.synthetic.hierarchy.level_noise import LevelNoises
from discreet.synthetic.hierarchy.tree import Tree


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy counts: a table for each level above the last, and the last level's in blocks."""

    above: tuple[Ints | None, ...]
    leaves: KeptBlocks


def measure(tree: Tree, noises: LevelNoises, counts: Counted, leaves: KeptBlocks) -> Measured:
    """Release all levels, each with its own noise; one release of each. ``leaves`` is filled."""
    last = noises[-1]
    assert last is not None
    lowest = np.zeros((tree.nodes[-2], tree.detail), dtype=np.int64)
    for block in tree.blocks():
        table = block_counts(counts, tree.universe, tree.names, block.within)
        exact = table.reshape(block.last - block.first, tree.detail)
        starts = tree.starts[-1][block.parents] - block.first
        lowest[block.parents] = np.add.reduceat(exact, starts, axis=0)
        leaves.keep(_noisy(last, exact))
    tables = [lowest]
    for level in range(len(tree.nodes) - 3, -1, -1):
        tables.insert(0, tree.summed(level, tables[0]))
    above = tuple(
        None if noise is None else _noisy(noise, table)
        for noise, table in zip(noises[:-1], tables, strict=True)
    )
    return Measured(above, leaves)


def _noisy(noise: object, table: Ints) -> Ints:
    released = noise.release(table.ravel())  # type: ignore[attr-defined]
    return np.asarray(released, dtype=np.int64).reshape(table.shape)
