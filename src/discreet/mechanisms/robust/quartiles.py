"""The interquartile range in whole steps, its bin, and how many rows keep it there.

With lo = ceil(n/4) and hi = ceil(3n/4) the range is x_(hi) - x_(lo). Bins are intervals of its
logarithm; zero is a bin of its own. All borders are whole numbers of steps.

Source: 000b:B6; the count of moves is derived there. Proof: ``proofs/robust-scale.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.robust.lattice import Lattice


@dataclass(frozen=True)
class Bin:
    """Ranges from ``least`` up to but not including ``beyond``, in steps.

    ``halves`` is twice the logarithm at the lower border, None for the bin of zero alone.
    """

    least: int
    beyond: int
    halves: int | None


@dataclass(frozen=True)
class Quartiles:
    """Sorted whole numbers within [0, width], seen through their quartiles. Private."""

    rows: NDArray[np.int64]
    width: int

    @property
    def ranks(self) -> tuple[int, int]:
        """Places of the two quartiles, counted from one."""
        size = len(self.rows)
        return -(-size // 4), -(-3 * size // 4)

    @property
    def range(self) -> int:
        """The interquartile range."""
        low, high = self.ranks
        return int(self.rows[high - 1] - self.rows[low - 1])

    def bin(self, base: float, shift: int) -> Bin:
        """The bin of the range; ``shift`` 1 moves all borders by half a bin."""
        if self.range == 0:
            return Bin(0, 1, None)
        halves = _halves(self.range, base, shift)
        return Bin(border(base, halves), border(base, halves + 2), halves)

    def moves_out_of(self, place: Bin) -> int:
        """Fewest rows to exchange so that the range leaves ``place``; n + 1 if none suffice.

        Guarantee: at least one; one exchanged row moves it by at most one, and to exactly one on
        both sides where neighbours lie in different bins.
        """
        return min(self._shrink(place.least), self._grow(place.beyond), len(self.rows) + 1)

    def _shrink(self, least: int) -> int:
        """Moves to a range below ``least``: enough rows into some window of that length."""
        if least == 0:
            return len(self.rows) + 1
        low, high = self.ranks
        before = np.searchsorted(self.rows, self.rows, side="left")
        after = len(self.rows) - np.searchsorted(self.rows, self.rows + least, side="left")
        cost = np.maximum(before - low + 1, 0) + np.maximum(after - len(self.rows) + high, 0)
        return int(cost.min())

    def _grow(self, beyond: int) -> int:
        """Moves to a range of ``beyond`` or more: enough rows on either side of a gap that long."""
        low, high = self.ranks
        room = self.width - beyond
        if room < 0 or low == high:
            return len(self.rows) + 1
        starts = np.concatenate((self.rows, self.rows - beyond, [0, room]))
        starts = starts[(starts >= 0) & (starts <= room)]
        size = len(self.rows)
        under = np.searchsorted(self.rows, starts, side="right")
        over = size - np.searchsorted(self.rows, starts + beyond, side="left")
        cost = np.maximum(low - under, 0) + np.maximum(size - high + 1 - over, 0)
        return int(cost.min())


def quartiles(data: Any, lattice: Lattice) -> Quartiles:
    """The data on the lattice, in order."""
    return Quartiles(np.sort(lattice.steps(data)), lattice.width)


def border(base: float, halves: int) -> int:
    """The least whole number, at least one, whose logarithm is halves/2 or more.

    In floating point: borders must be public and increasing, not exact.

    >>> [border(2, h) for h in range(7)]
    [1, 2, 2, 3, 4, 6, 8]
    """
    return math.ceil(math.pow(base, max(halves, 0) / 2))


def _halves(value: int, base: float, shift: int) -> int:
    """The largest h, even or odd as ``shift``, with value >= base**(h/2)."""
    guess = 2 * math.floor(math.log(value) / math.log(base)) + shift
    while border(base, guess) > value:
        guess -= 2
    while border(base, guess + 2) <= value:
        guess += 2
    return guess
