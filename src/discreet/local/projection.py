"""Long vectors made short by a public random matrix, before anything is told about them.

Entries of the matrix are nearly normal numbers that everybody can make from its seed and the round.
Its transpose leads back: over the choice of seeds, R' R x is x on average. A vector of which one
coordinate is large becomes one whose coordinates are all alike, so that a smaller clamp serves.

Source: 004a:C27.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import count
from discreet.local.directions import DEVIATION, directions

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RandomProjection:
    """To ``dimensions`` coordinates; seed and round are public and chosen without data.

    Rounds have matrices of their own, so that what one of them does not see another does.

    >>> RandomProjection(dimensions=4, seed=1).matrix(100, turn=3).shape
    (4, 100)
    """

    dimensions: int
    seed: int

    def __post_init__(self) -> None:
        """Refuse dimensions that are no counts, and seeds below zero."""
        count("dimensions", self.dimensions)
        count("seed", self.seed, least=0)

    def matrix(self, features: int, *, turn: int) -> Floats:
        """One row for each coordinate that is left."""
        seeds = np.full(self.dimensions, (self.seed * 0x9E3779B1 + turn) % 2**32, dtype=np.int64)
        rows = directions(seeds, np.arange(self.dimensions, dtype=np.int64), features)
        return rows / (DEVIATION * sqrt(self.dimensions))

    def down(self, vectors: Floats, *, turn: int) -> Floats:
        """Each row with fewer coordinates."""
        found: Floats = vectors @ self.matrix(vectors.shape[1], turn=turn).T
        return found

    def up(self, short: Any, features: int, *, turn: int) -> Floats:
        """A vector of all features, unbiased over seeds."""
        found: Floats = self.matrix(features, turn=turn).T @ short
        return found
