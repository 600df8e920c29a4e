"""Random trees: features and thresholds that are drawn before anybody looks at the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.noise import Source, uniform_integers


@dataclass(frozen=True, eq=False)
class RandomSplits:
    """A full binary tree: a feature and a threshold, in units, for each inner node."""

    features: Ints
    thresholds: Floats
    depth: int

    @classmethod
    def draw_splits(cls, features: int, depth: int, source: Source) -> RandomSplits:
        """Features at random, thresholds in the middle half of what the path has left."""
        nodes = (1 << depth) - 1
        chosen = uniform_integers(features, nodes, source)
        places = 0.25 + uniform_integers(1 << 30, nodes, source) * 2.0**-31
        low, high = np.full((2 * nodes + 1, features), -1.0), np.ones((2 * nodes + 1, features))
        thresholds = np.empty(nodes)
        for node in range(nodes):
            feature = int(chosen[node])
            at = low[node, feature] + places[node] * (high[node, feature] - low[node, feature])
            thresholds[node] = at
            for child in (2 * node + 1, 2 * node + 2):
                low[child], high[child] = low[node], high[node]
            high[2 * node + 1, feature] = at
            low[2 * node + 2, feature] = at
        return cls(chosen, thresholds, depth)

    def leaves(self, units: Floats) -> Ints:
        """The leaf of each row."""
        node = np.zeros(len(units), dtype=np.int64)
        every = np.arange(len(units))
        for _ in range(self.depth):
            right = units[every, self.features[node]] > self.thresholds[node]
            node = 2 * node + 1 + right
        return node - ((1 << self.depth) - 1)
