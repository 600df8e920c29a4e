"""Rows from a graphical model: whole numbers of them, as near to the model's counts as they can be.

Cliques are filled in turn, parents first. All rows with the same values in the separator share the
law of what the clique adds; of m such rows, a cell with probability p gets either the whole number
below or above m p, by one systematic sample in each group. So every row has exactly the model's
law, and its counts vary much less than independent draws would. Which rows of a group get which
values is a random order.

Source: modern-data:A3 (a weighted draw without replacement would be biased).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.noise.randomness import Source, words64
from discreet.noise.sampling import permutation
from discreet.synthetic.graphical.inference import CalibratedTree

_BLOCK = 1 << 22
"""Cells that are shared out at once."""


def sample_rows(model: CalibratedTree, n: int, randomness: Source) -> NDArray[np.int64]:
    """``n`` rows of codes, a column for each attribute."""
    tree = model.tree
    rows = np.zeros((n, len(tree.sizes)), dtype=np.int64)
    if not n:
        return rows
    for node, law in zip(tree.nodes, model.conditionals, strict=True):
        group = np.zeros(n, dtype=np.int64)
        for place in node.separator:
            group = group * tree.sizes[place] + rows[:, place]
        order = permutation(n, randomness)
        order = order[np.argsort(group[order], kind="stable")]
        present, sizes = np.unique(group[order], return_counts=True)
        cells = np.empty(n, dtype=np.int64)
        done = 0
        step = max(1, _BLOCK // law.shape[1])
        for first in range(0, len(present), step):
            part = slice(first, first + step)
            shared = shares(law[present[part]], sizes[part], randomness)
            codes = np.broadcast_to(np.arange(law.shape[1]), shared.shape)
            drawn = np.repeat(codes.ravel(), shared.ravel())
            cells[done : done + len(drawn)] = drawn
            done += len(drawn)
        for place in reversed(node.rest):
            cells, code = np.divmod(cells, tree.sizes[place])
            rows[order, place] = code
    return rows


def shares(law: Floats, sizes: NDArray[np.int64], randomness: Source) -> NDArray[np.int64]:
    """Each group's rows shared out by its law: a systematic sample with one offset a group.

    Contract: laws of non-negative numbers, a row for each group; one that sums to nothing is
    taken as uniform.
    """
    mass = law.sum(axis=1, keepdims=True)
    law = np.where(mass > 0, law, 1.0)
    ends = np.cumsum(law, axis=1)
    ends *= sizes[:, None] / ends[:, -1:]
    ends[:, -1] = sizes
    offsets = words64(randomness, len(sizes)).astype(np.float64) * 2.0**-64
    # The last end may not gain a row from rounding up the sum.
    starts = np.minimum(np.floor(ends + offsets[:, None]), sizes[:, None])
    starts[:, -1] = sizes
    return np.diff(starts, axis=1, prepend=0.0).astype(np.int64)
