"""Finite partitions of the outcomes of a law, fixed before any sample is seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats, Ints

IMPOSSIBLE = -1
"""The cell of a value that the law gives probability zero."""


class CellPartition(Protocol):
    """Cells, their probabilities, and the cell of every value."""

    @property
    def masses(self) -> Floats:
        """The probability of each cell under the law that made the partition."""

    def locate(self, values: NDArray[np.generic]) -> Ints:
        """The cell of each value, or ``IMPOSSIBLE``."""


@dataclass(frozen=True)
class BlockCells:
    """A partition of discrete outcomes; ``rest`` is the cell of those not listed."""

    masses: Floats
    cell_of: Mapping[Hashable, int]
    rest: int
    possible: Callable[[Hashable], bool]

    def locate(self, values: NDArray[np.generic]) -> Ints:
        """The cell of each value, or ``IMPOSSIBLE``."""
        return np.array([self._cell(value) for value in values.tolist()], dtype=np.int64)

    def _cell(self, value: Hashable) -> int:
        cell = self.cell_of.get(value)
        if cell is not None:
            return cell
        return self.rest if self.possible(value) else IMPOSSIBLE


@dataclass(frozen=True)
class IntervalCells:
    """The partition of the line into (−∞, e₁], (e₁, e₂], …, (e_k, ∞)."""

    masses: Floats
    edges: Floats

    def locate(self, values: NDArray[np.generic]) -> Ints:
        """The cell of each value; infinities and NaN are ``IMPOSSIBLE``."""
        numbers = values.astype(np.float64)
        cells = np.searchsorted(self.edges, numbers, side="left").astype(np.int64)
        return np.where(np.isfinite(numbers), cells, IMPOSSIBLE)


def fine_levels(size: int) -> Floats:
    """Eighths for the body, and halving steps into both tails down to about 32 draws.

    The body shows a wrong scale or place; the tails show a law cut short.
    """
    depth = max(3, int(np.log2(max(size, 1) / 32)))
    tail = 0.5 ** np.arange(4, depth + 1)
    return np.unique(np.concatenate([tail, np.arange(1, 8) / 8, 1 - tail]))


def coarse_levels() -> Floats:
    """Quarters: few cells, because pairs of draws have the square of their number."""
    return np.array([0.25, 0.5, 0.75])
