"""Where rows lie: in a cube or in a ball, so that gradients of one row are bounded.

Source: 004b:C1; contract, "Columns" (clamped, never trusted).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.parameters import count
from discreet.learn.row_products import row_sums
from discreet.noise import Source, rounded_euclidean, rounded_max_norm


@dataclass(frozen=True)
class Cube:
    """Rows with coordinates within [-1, 1]; noise in the norm of the largest coordinate."""

    dimension: int

    def __post_init__(self) -> None:
        """Refuse dimensions that are not counts."""
        count("dimension", self.dimension)

    @property
    def longest(self) -> float:
        """The greatest length of a row, rounded up."""
        return math.nextafter(math.sqrt(self.dimension), math.inf)

    def clamped(self, rows: Floats) -> Floats:
        """Each row moved into the cube; NaN counts as zero."""
        moved: Floats = np.clip(rows, -1, 1)
        np.copyto(moved, 0.0, where=np.isnan(moved))
        return moved

    def noise(self, scale: Fraction, source: Source) -> NDArray[np.int64]:
        """One vector of density proportional to exp(-max |z_i| / scale), rounded."""
        drawn: NDArray[np.int64] = rounded_max_norm(scale, self.dimension, 1, source)[0]
        return drawn


@dataclass(frozen=True)
class Ball:
    """Rows of length at most one; noise in the Euclidean norm."""

    dimension: int

    def __post_init__(self) -> None:
        """Refuse dimensions that are not counts."""
        count("dimension", self.dimension)

    @property
    def longest(self) -> float:
        """The greatest length of a row."""
        return 1.0

    def clamped(self, rows: Floats) -> Floats:
        """Each row scaled into the ball, a little inside for rounding; NaN counts as zero."""
        cleaned = np.nan_to_num(np.clip(rows, -(2.0**300), 2.0**300), nan=0.0)
        length = np.sqrt(row_sums(cleaned**2))[:, None]
        scaled: Floats = cleaned * (1 - 2.0**-40) / np.maximum(length, 1)
        return scaled

    def noise(self, scale: Fraction, source: Source) -> NDArray[np.int64]:
        """One vector of density proportional to exp(-|z| / scale), rounded."""
        drawn: NDArray[np.int64] = rounded_euclidean(scale, self.dimension, 1, source)[0]
        return drawn


RowSet = Cube | Ball
