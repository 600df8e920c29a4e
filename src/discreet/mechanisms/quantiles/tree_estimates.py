"""Counts of a complete tree with noise, made to agree: the best linear estimates of its leaves.

Every node is counted with noise of one variance. Bottom up, the count of a node and the sum of its
children are averaged by their precision; top down, what is missing is given to the children alike.

Source: Hay, Rastogi, Miklau and Suciu (VLDB 2010), without a root. Proof:
``proofs/quantile_tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints


@dataclass(frozen=True)
class TreeShape:
    """``height`` levels of nodes, each with ``fan_out`` children; the leaves are level one."""

    fan_out: int
    height: int

    @property
    def leaves(self) -> int:
        """How many there are."""
        return int(self.fan_out**self.height)

    @property
    def nodes(self) -> int:
        """How many are counted, without a root."""
        return sum(self.fan_out**level for level in range(1, self.height + 1))

    def weight(self, level: int) -> float:
        """Of a node's own count against the sum of its children; its variance in units of one."""
        below = float(self.fan_out ** (level - 1))
        return below * (self.fan_out - 1) / (below * self.fan_out - 1)

    def counts(self, leaves: Ints) -> Ints:
        """The counts of all nodes, leaves first, of histograms of shape (groups, leaves)."""
        found, groups = [leaves], len(leaves)
        for _ in range(1, self.height):
            found.append(found[-1].reshape(groups, -1, self.fan_out).sum(axis=2))
        return np.concatenate(found, axis=1)

    def estimates(self, noisy: Ints) -> Floats:
        """Estimates of the leaves from noisy counts of all nodes."""
        groups, ends = len(noisy), np.cumsum(self.fan_out ** np.arange(self.height, 0, -1))
        levels = np.split(noisy.astype(np.float64), ends[:-1], axis=1)
        merged = [levels[0]]
        for level in range(2, self.height + 1):
            own, below = self.weight(level), merged[-1].reshape(groups, -1, self.fan_out)
            merged.append(own * levels[level - 1] + (1 - own) * below.sum(axis=2))
        agreed = merged.pop()
        while merged:
            below = merged.pop().reshape(groups, -1, self.fan_out)
            missing = (agreed - below.sum(axis=2)) / self.fan_out
            agreed = (below + missing[:, :, None]).reshape(groups, -1)
        return agreed

    def mean_variance(self) -> float:
        """Of a rank against its share of all rows, averaged over the leaves, in units of one count.

        Each level contributes the variance of some of ``fan_out`` numbers given their sum.
        """
        within = (self.fan_out**2 - 1) / (6 * self.fan_out)
        return within * math.fsum(self.weight(level) for level in range(1, self.height + 1))

    def largest_variance(self, level: float) -> float:
        """Of a rank less ``level`` times all rows, at any leaf."""
        top = self.fan_out * max(level, 1 - level) ** 2 * self.weight(self.height)
        below = math.fsum(self.weight(each) for each in range(1, self.height))
        return top + self.fan_out / 4 * below


def shapes(candidates: int) -> list[TreeShape]:
    """All sensible shapes with a leaf for each candidate: the narrowest for each height."""
    found = []
    for height in range(1, max(2, candidates.bit_length() + 1)):
        fan_out = max(2, math.floor(candidates ** (1 / height)))
        while fan_out**height < candidates:
            fan_out += 1
        if fan_out**height <= 4 * max(candidates, 2):
            found.append(TreeShape(fan_out, height))
    return found
